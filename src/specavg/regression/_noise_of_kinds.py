"""The noise of each kind of rows in one least-squares problem: of values, and of derivatives."""

from __future__ import annotations

from specavg._arrays import Array


def noise_of_kind(squares: Array, freedom: float, common: Array) -> Array:
    """The noise variance of one kind of rows, each multiplied so that all kinds would have the noise `common`.

    The likelihood of several variances, restricted to what the constant leaves, has its maximum where that of each kind
    is the sum of squares of its own residuals over its rows less the trace of its own block of the hat matrix. So it is
    right where rows of the other kind have less noise than they were given, which the variance in common is not. One
    more row with that variance says something where a kind has hardly any freedom left.

    Parameters
    ----------
    squares : ndarray of shape (q,)
    freedom : float
    common : ndarray of shape (q,)
    """
    return (squares + common) / (max(freedom, 0.0) + 1.0)
