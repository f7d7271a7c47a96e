"""A Gram matrix that is multiplied by and never formed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, final

import numpy as np

from specavg._arrays import Array
from specavg._config import settings


class GramOperator(Protocol):
    """Φᵀ diag(w) Φ, symmetric."""

    @property
    def density(self) -> Array:
        """The density of the data: the operator keeps nothing else of them."""
        ...

    @property
    def solver(self) -> str:
        """The name that users see."""
        ...

    def __matmul__(self, C: Array) -> Array:
        """Its product with columns."""  # (dim, q) -> (dim, q)
        ...


def in_batches(product: Callable[[Array], Array], C: Array, memory: float, column: float) -> Array:
    """The product with columns, as many at a time as the memory of `column` bytes each allows."""
    step = max(1, int(min(memory, settings().memory_limit / 8) / column))
    parts = [product(C[:, start : start + step]) for start in range(0, C.shape[1], step)]
    return np.concatenate([np.empty((len(C), 0)), *parts], axis=1)


@final
class MappedGram:
    """Qᵀ G Q, with G an operator and Q a map of coefficients.

    Parameters
    ----------
    gram : GramOperator
        G.
    spread, reduced : callable
        Q and Qᵀ times columns.
    """

    def __init__(self, gram: GramOperator, spread: Callable[[Array], Array], reduced: Callable[[Array], Array]) -> None:
        self._gram, self._spread, self._reduced = gram, spread, reduced

    @property
    def density(self) -> Array:
        return self._gram.density

    @property
    def solver(self) -> str:
        return self._gram.solver

    def __matmul__(self, C: Array) -> Array:
        return self._reduced(self._gram @ self._spread(C))
