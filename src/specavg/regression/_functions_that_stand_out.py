"""Functions that stand out: coefficients far larger than any spectrum of the grid allows them to be.

A spectrum is a rule for all functions, and a target may have one that breaks it: a sum over pairs of angles, and the
cosine of the sum of all of them. The fit takes such a function for noise. Under the prior τ²f and the penalty α = σ²/τ²
its coefficient c has the variance τ²fL, with L = Σ V² s²/(s² + α) the share of the function that the data can show. A
square c² that chance has in one fit of a hundred is taken at its word: the function is penalised like the first. Those
that it hid are looked for next.

The one chance in a hundred is spent unequally, 1/j of it on the function with the j-th largest prior variance: most of
the functions are far down the spectrum, where a false one does the most harm and a true one is the least likely.

Points on a regular grid do not tell a wave from its aliases, cos 3θ from cos 33θ at 36 angles. A function whose values
at the data follow from those of other functions is not named: the spectrum is all that says which of them is meant.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._decomposed_path import DecomposedPath
from specavg.regression._leave_one_out import LeaveOneOut
from specavg.regression._regression_problem import evidence_sums

_CHANCE = 0.01  # probability of naming any function, if all of them obey the spectrum
_OF_ITS_OWN = 0.5  # share of a function that others must not predict: 0 for an alias, 0.9 to 1 at random points


def shares(scale: Array) -> Array:
    """The part of the chance that is spent on each function: 1/j of it, j functions having at least its variance."""
    j = len(scale) - np.searchsorted(np.sort(scale), scale)
    return 1.0 / j / np.sum(1.0 / j)


def bounds(scale: Array) -> Array:
    """What the square of a coefficient has to exceed, in its variances: that of a normal number does so by chance."""
    return -2 * np.log(_CHANCE * shares(scale))


def standing_out(path: DecomposedPath, left_out: LeaveOneOut, alpha: float) -> NDArray[np.intp]:
    """The numbers of the functions whose coefficients are too large for a single output's prior."""
    shrunk = 1.0 / (path.s**2 + alpha)
    over_prior = path.combined_directions((path.s * shrunk * path.c[:, 0])[:, None])[:, 0]  # c/√f: no underflow
    # τ² by rows of different orbits alone: repeated ones tell the noise, and nothing of the size of functions.
    freedom = max(left_out.rows.count - 1, 1)
    size = float(evidence_sums(path.s, path.c, left_out.rows.rest, freedom, np.array([alpha]))[0][0, 0]) / freedom
    bound = bounds(path.scale)

    def larger(functions: NDArray[np.intp], shown: Array) -> NDArray[np.intp]:
        most = bound[functions] * np.maximum(shown * size, np.finfo(float).tiny)
        return functions[over_prior[functions] ** 2 > most]

    some = np.flatnonzero(path.scale < 1.0)  # the others are penalised like the first, or less
    some = larger(some, path.least_shown(alpha)[some])
    return larger(some, path.shown(alpha, some)) if len(some) else some


def of_its_own(left_out: LeaveOneOut, values: Array, variances: Array, alpha: float) -> NDArray[np.bool_]:
    """Whether the values of functions at the data are their own, and not predicted by the other functions.

    A row of a function φ is left out and predicted from its other rows by the prior without φ. With M = (K + αI)⁻¹ and
    the prior variance f, taking φ out of K leaves M + M φ φᵀM f/(1 − f φᵀMφ); the formula of `LeaveOneOut` does the
    rest.

    Parameters
    ----------
    left_out : LeaveOneOut
    values : ndarray of shape (n, k)
        The centred features of k functions, in the range of `left_out.left`.
    variances : ndarray of shape (k,)
        f, in the units of α.
    alpha : float
    """
    among = replace(left_out.rows, centred=values, rest=np.zeros_like(values), variance=np.ones(values.shape[1]))
    c = left_out.left.T @ values
    _, residual, h = next(replace(left_out, rows=among, c=c).residuals(np.array([alpha])))
    solved = residual[:, 0] * h  # Mφ, (n, k)
    kept = np.maximum(1.0 - variances * np.sum(values * solved, axis=0), np.finfo(float).eps)
    residual = solved / (h * kept + variances * solved**2)
    return np.sum(residual**2, axis=0) >= _OF_ITS_OWN * np.sum(values**2, axis=0)


def price(named: NDArray[np.intp], scale: Array) -> float:
    """Nats over all rows that naming some of the functions has to gain: minus the logarithm of the share of each."""
    return -float(np.sum(np.log(shares(scale)[named])))
