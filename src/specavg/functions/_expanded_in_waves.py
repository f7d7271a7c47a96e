"""Families on tori of few dimensions that are sums of waves too: sums over data go the way that is faster."""

from __future__ import annotations

import abc
from functools import cached_property

from specavg._arrays import Array
from specavg.functions import _nufft
from specavg.functions._functions import Functions
from specavg.functions._toeplitz_gram import ToeplitzGram
from specavg.functions._trigonometric_sums import FEWEST_TO_COMBINE, TrigonometricSums

FOURIER_DIMENSIONS = 3  # the dimensions in which there is a non-uniform FFT, which is worth the expansion in waves


class ExpandedInWaves(Functions):
    """A family whose functions may be sums of waves too, which a non-uniform FFT sums faster over many points."""

    @cached_property
    @abc.abstractmethod
    def expansion(self) -> TrigonometricSums | None:
        """The functions as sums of waves; None where they are not written so."""

    @abc.abstractmethod
    def nanoseconds(self) -> float:
        """A forecast of the time that the family itself takes for a point."""

    def _waves_if_faster(self, n: int, fewest: int = 1) -> Functions | None:
        """The sums of waves, if they are faster for n points and there are at least `fewest` points; else None."""
        if n < fewest or not _nufft.available() or self.expansion is None:
            return None
        return self.expansion if _nufft.cost(n, self.expansion.waves.K) <= n * self.nanoseconds() else None

    def _faster(self, n: int, fewest: int = 1) -> Functions | None:
        """The same functions as a family that sums over n points faster; None where there is none."""
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

    def gram_of_density(self, density: Array) -> ToeplitzGram:
        assert self.expansion is not None
        return self.expansion.gram_of_density(density)
