"""Modified Bessel functions I_ν(κ) of many orders, as logarithms: the coefficients of e^(κ cos θ)."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array

Series = Callable[[float], Array]
"""Maps κ to the logarithms of the coefficients of a kernel, each divided by the coefficient of the constant."""

# The recurrence starts this many orders above the last one that is wanted. Each step reduces the error of the start.
_STEPS = 40
_UNDERFLOW = 1e-280  # SciPy's Bessel functions below this are not used: floats lose digits from 1e-308 on


def bessel_series(order: float, degrees: ArrayLike, unit: float = 1.0) -> Series:
    """The series of a product of kernels e^(κ·unit·cos θ_j), one for each angle θ_j.

    Its coefficients are ∏_j I_{order + k_j}(κ·unit) / I_order(κ·unit).

    Parameters
    ----------
    order : float
        0 for angles of a torus, d/2 − 1 on the sphere in R^d.
    degrees : array-like of int, shape (n,) or (n, p)
        The degrees k_j of each of n functions, for one angle or for p of them.
    unit : float, default 1.0
        What κ is multiplied by.
    """
    K = np.asarray(degrees, dtype=np.intp)
    K = K[:, None] if K.ndim == 1 else K
    count = int(K.max(initial=0)) + 1
    return lambda kappa: log_bessel(order, count, kappa * unit)[K].sum(axis=1)


def log_bessel(order: float, count: int, kappa: float) -> Array:
    """Log I_{order + k}(κ) / I_order(κ) for k = 0, …, count − 1.

    The ratios r_ν = I_{ν+1}/I_ν follow from r_{ν−1} = κ/(2ν + κ r_ν), from high orders to low ones. This is stable: a
    step multiplies errors by r² < 1. The first ratio is SciPy's. Where SciPy's Bessel functions underflow, r is small,
    and the bound κ/(ν + ½ + √((ν + 3/2)² + κ²)) of Amos (1974) is close enough.

    Examples
    --------
    >>> from scipy.special import iv
    >>> bool(np.abs(np.exp(log_bessel(0.5, 4, 2.0)) - iv(0.5 + np.arange(4), 2.0) / iv(0.5, 2.0)).max() < 1e-15)
    True
    """
    from scipy.special import ive

    last = order + count + _STEPS
    below, above = ive([last, last + 1], kappa)
    ratio = above / below if above > _UNDERFLOW else kappa / (last + 0.5 + sqrt((last + 1.5) ** 2 + kappa**2))
    found = np.zeros(count)
    for k in range(count + _STEPS, 0, -1):
        ratio = kappa / (2 * (order + k) + kappa * ratio)  # I_{order+k} / I_{order+k−1}
        if k < count:
            found[k] = ratio
    found[1:] = np.cumsum(np.log(found[1:]))
    return found
