"""Families on tori of few dimensions that can also be written as sums of waves, for a non-uniform FFT."""

from __future__ import annotations

import abc
from functools import cached_property

from specavg._arrays import Array
from specavg.functions import _nufft
from specavg.functions._functions import Functions
from specavg.functions._gram_operator import GramOperator
from specavg.functions._toeplitz_gram import ToeplitzGram
from specavg.functions._trigonometric_sums import FEWEST_TO_COMBINE, TrigonometricSums

FOURIER_DIMENSIONS = 3  # the most dimensions of a torus for which there is a non-uniform FFT


class ExpandedInWaves(Functions):
    """A family that uses its expansion in waves, and a non-uniform FFT, where this is forecast to be faster."""

    @cached_property
    @abc.abstractmethod
    def expansion(self) -> TrigonometricSums | None:
        """The same functions as sums of waves; None on tori of more than `FOURIER_DIMENSIONS` dimensions."""

    @abc.abstractmethod
    def nanoseconds(self) -> float:
        """A forecast of the time that the family takes for one point without its expansion."""

    def _waves_if_faster(self, n: int, fewest: int = 1) -> Functions | None:
        """The expansion, if it is forecast to be faster for n points; None otherwise, and for n < `fewest`."""
        if n < fewest or not _nufft.available() or self.expansion is None:
            return None
        return self.expansion if _nufft.cost(n, self.expansion.waves.K) <= n * self.nanoseconds() else None

    def _faster(self, n: int, fewest: int = 1) -> Functions | None:
        """The same functions as another family that is faster for n points; None where there is none."""
        return self._waves_if_faster(n, fewest)

    def correlate(self, X: Array, Y: Array) -> Array:
        faster = self._faster(len(X))
        return super().correlate(X, Y) if faster is None else faster.correlate(X, Y)

    def combine(self, X: Array, C: Array) -> Array:
        faster = self._faster(len(X), FEWEST_TO_COMBINE)
        return super().combine(X, C) if faster is None else faster.combine(X, C)

    def combine_gradient(self, X: Array, C: Array) -> Array:
        faster = self._faster(len(X), FEWEST_TO_COMBINE)
        return super().combine_gradient(X, C) if faster is None else faster.combine_gradient(X, C)

    def combine_both(self, X: Array, C: Array) -> tuple[Array, Array]:
        faster = self._faster(len(X), FEWEST_TO_COMBINE)
        return super().combine_both(X, C) if faster is None else faster.combine_both(X, C)

    def correlate_gradient(self, X: Array, G: Array) -> Array:
        waves = self._waves_if_faster(len(X))
        return super().correlate_gradient(X, G) if waves is None else waves.correlate_gradient(X, G)

    def pointwise_gradient(self, X: Array, W: Array) -> Array:
        waves = self.expansion
        return super().pointwise_gradient(X, W) if waves is None else waves.pointwise_gradient(X, W)

    def correlate_and_gram(self, X: Array, Y: Array, weights: Array | None = None) -> tuple[Array, Array]:
        if _nufft.available() and self.expansion is not None and self.expansion.gram_by_transform(len(X)):
            return self.expansion.correlate_and_gram(X, Y, weights)
        return super().correlate_and_gram(X, Y, weights)

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[ToeplitzGram, Array] | None:
        return None if self.expansion is None else self.expansion.gram_operator(X, weights, Y)

    def gram_nanoseconds(self, n: int) -> tuple[float, float] | None:
        return None if self.expansion is None else self.expansion.gram_nanoseconds(n)

    def gram_of_density(self, density: Array) -> GramOperator:
        waves = self.expansion
        return super().gram_of_density(density) if waves is None else waves.gram_of_density(density)
