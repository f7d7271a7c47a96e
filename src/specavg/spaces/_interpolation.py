"""Matrices on an eigenspace from values at random points, by least squares."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED

if TYPE_CHECKING:
    from specavg.spaces._eigenspace import Eigenspace
    from specavg.spaces._space import Space

_OVERSAMPLING = 1.6  # points per function: the condition number stays below 10


class LeastSquares:
    """Solve Φ D = Ψ for D, many times with one factorisation of Φ."""

    def __init__(self, values: Array) -> None:
        from scipy.linalg import cho_factor

        self._values = values
        self._factor = cho_factor(values.T @ values, overwrite_a=True, check_finite=False)

    def __call__(self, targets: Array) -> tuple[Array, float]:
        from scipy.linalg import cho_solve

        D = cho_solve(self._factor, self._values.T @ targets, check_finite=False)
        check = slice(0, 64)  # a wrong map shows at every point; a few rows are enough to see it
        scale = np.sqrt(self._values.shape[1])
        return D, float(np.abs(self._values[check] @ D - targets[check]).max() / scale)


@lru_cache(maxsize=2)
def interpolation(space: Space, eigenspace: Eigenspace) -> tuple[Array, LeastSquares]:
    """Random points, and what finds a matrix on an eigenspace from values there; the last two are kept."""
    n = int(_OVERSAMPLING * eigenspace.dim) + 30
    X = space.sample(n, random_state=np.random.default_rng(OWN_SEED))
    return X, LeastSquares(space._evaluate(eigenspace, X))  # pyright: ignore[reportPrivateUsage]
