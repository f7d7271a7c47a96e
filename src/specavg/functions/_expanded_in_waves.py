"""Families on tori of few dimensions, beside the sums of waves that they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

from specavg._arrays import Array
from specavg.functions import _nufft
from specavg.functions._factor_table import FactorTable
from specavg.functions._functions import Functions
from specavg.functions._toeplitz_gram import ToeplitzGram
from specavg.functions._trigonometric_sums import FEWEST_TO_COMBINE, TrigonometricSums

FOURIER_DIMENSIONS = 3  # up to here a non-uniform FFT is worth the expansion in waves


@final
class Expanded(Functions):
    """A family and the same functions as sums of waves: sums over data go the way that is faster.

    Parameters
    ----------
    functions : Functions
    nanoseconds : callable
        A forecast of the time that `functions` takes for a point.
    expansion : callable
        Makes the sums of waves. It is called when a non-uniform FFT is installed and they are needed.
    """

    def __init__(
        self, functions: Functions, nanoseconds: Callable[[], float], expansion: Callable[[], TrigonometricSums]
    ) -> None:
        self._functions = functions
        self.dim = functions.dim
        self._nanoseconds = nanoseconds
        self._expansion = expansion

    @cached_property
    def expansion(self) -> TrigonometricSums:
        """The functions as sums of waves."""
        return self._expansion()

    @property
    def row_bytes(self) -> float:
        return self._functions.row_bytes

    @property
    def copy_table(self) -> FactorTable | None:
        return self._functions.copy_table

    def values(self, X: Array) -> Array:
        return self._functions.values(X)

    def plain_values(self, X: Array) -> Array:
        return self._functions.plain_values(X)

    def gradient(self, X: Array) -> Array:
        return self._functions.gradient(X)

    def mixed_values(self, X: Array, Q: Any) -> Array:
        return self._functions.mixed_values(X, Q)

    def evaluate(self, X: Array) -> Array:
        return self._functions.evaluate(X)

    def _faster(self, n: int, fewest: int = 1) -> Functions:
        """The faster of the two families for sums over n points; the functions themselves below `fewest` points."""
        if n < fewest or not _nufft.available():
            return self._functions
        by_transform = _nufft.cost(n, self.expansion.waves.K) <= n * self._nanoseconds()
        return self.expansion if by_transform else self._functions

    def correlate(self, X: Array, Y: Array) -> Array:
        return self._faster(len(X)).correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        return self._faster(len(X), FEWEST_TO_COMBINE).combine(X, C)

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        return self._faster(len(X)).correlate_gradient(X, G)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        return self._faster(len(X), FEWEST_TO_COMBINE).combine_gradient(X, C)

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        return self.expansion.pointwise_gradient(X, W)

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array | None = None) -> tuple[Array, Array]:
        if _nufft.available() and self.expansion.gram_by_transform(len(X)):
            return self.expansion.correlate_and_gram(X, Y, weights)
        return self._functions.correlate_and_gram(X, Y, weights)

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[ToeplitzGram, Array] | None:
        return self.expansion.gram_operator(X, weights, Y)

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        return self.expansion.gram_nanoseconds(n)

    def gram_of_density(self, density: Array) -> ToeplitzGram:
        return self.expansion.gram_of_density(density)
