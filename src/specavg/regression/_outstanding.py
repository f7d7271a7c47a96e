"""Functions that stand out: coefficients far larger than any spectrum of the grid allows them to be.

A spectrum is a rule for all functions, and a target may have one that breaks it: a sum over pairs of angles, and the
cosine of the sum of all of them. The fit takes such a function for noise. Under the prior τ²f and the penalty α = σ²/τ²
its coefficient c has the variance τ²fL, with L = Σ V² s²/(s² + α) the share of the function that the data can show. A
square c² that chance has in one fit of a hundred is taken at its word: the function is penalised like the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._decomposed_path import DecomposedPath

__all__ = ["STEPS", "price", "standing_out"]

_CHANCE = 0.01  # of naming any function, if all obey the spectrum

STEPS = 10.0 ** np.arange(1.0, -1.1, -0.25)
"""Penalties that are tried after functions were named, over the one before."""


def standing_out(path: DecomposedPath, alpha: float) -> NDArray[np.intp]:
    """The numbers of the functions whose coefficients are too large for a single output's prior."""
    shrunk = 1.0 / (path.s**2 + alpha)
    over_prior = path.combined_directions((path.s * shrunk * path.c[:, 0])[:, None])[:, 0]  # c/√f: no underflow
    size = float(path.noise_variance(alpha)[0]) / alpha
    bound = 2 * np.log(len(over_prior) / _CHANCE)  # of D squares of normal numbers

    def larger(functions: NDArray[np.intp], shown: Array) -> NDArray[np.intp]:
        return functions[over_prior[functions] ** 2 > bound * np.maximum(shown * size, np.finfo(float).tiny)]

    some = larger(np.arange(len(over_prior)), path.least_shown(alpha))
    return larger(some, path.shown(alpha, some)) if len(some) else some


def price(named: NDArray[np.intp], functions: int) -> float:
    """Nats over all rows that naming some of the functions has to gain: log D each."""
    return len(named) * float(np.log(functions))
