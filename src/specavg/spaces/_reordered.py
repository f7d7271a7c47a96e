"""A space whose eigenfunctions have other eigenvalues than the Laplacian's: what such spaces share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg.isometries import Isometry
from specavg.spaces._space import Space

__all__ = ["Reordered"]

_STEEPNESS = 4


class Reordered(Space):
    """Points, isometries and volume of `base`, under eigenvalues that a constant c makes more or less steep.

    A subclass says what the eigenvalues are, and has `steepness` = 4 as its default.
    """

    def __init__(self, base: Space, steepness: float = _STEEPNESS) -> None:
        self._base = base
        self._steepness = steepness

    @property
    def steepness(self) -> float:
        """The constant c."""
        return self._steepness

    @property
    def dim(self) -> int:
        return self._base.dim

    @property
    def volume(self) -> float:
        return self._base.volume

    @property
    def shape(self) -> tuple[int, ...]:
        return self._base.shape

    @property
    def identity(self) -> Isometry:
        return self._base.identity

    @property
    def mixed(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reordered) and self._key() == other._key()

    def _key(self) -> tuple[type, Space, float]:
        return type(self), self._base, self._steepness

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        steepness = "" if self._steepness == _STEEPNESS else f", steepness={self._steepness:g}"
        return f"{type(self).__name__}({self._base!r}{steepness})"

    def check_isometry(self, g: Isometry) -> Isometry:
        return self._base.check_isometry(g)

    def _act(self, g: Isometry, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._base._act(g, X)

    def sample(self, n: int, random_state: Any = None) -> NDArray[np.float64]:
        return self._base.sample(n, random_state)
