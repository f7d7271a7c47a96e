"""Operators: Gram matrices that are multiplied by and never formed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, final

import numpy as np

from specavg._arrays import Array
from specavg._config import settings


class GramOperator(Protocol):
    """The symmetric matrix Φᵀ diag(w) Φ, as something to multiply by."""

    @property
    def density(self) -> Array:
        """The density of the weighted data, band-limited; the operator keeps nothing else of the data."""
        ...

    @property
    def solver(self) -> str:
        """The name of the method, as users see it."""
        ...

    def __matmul__(self, C: Array) -> Array:
        """The product with the columns of C."""  # (dim, q) -> (dim, q)
        ...


def in_batches(product: Callable[[Array], Array], C: Array, batch_bytes: float, column_bytes: float) -> Array:
    """The product with the columns of C, some columns at a time.

    Parameters
    ----------
    product : callable
        The product with a few columns.
    C : ndarray of shape (dim, q)
    batch_bytes : float
        Bytes of working memory that the columns of one call may take together.
    column_bytes : float
        Bytes of working memory that one column takes.
    """
    step = max(1, int(min(batch_bytes, settings().memory_limit / 8) / column_bytes))
    batches = [product(C[:, start : start + step]) for start in range(0, C.shape[1], step)]
    return np.concatenate([np.empty((len(C), 0)), *batches], axis=1)


@final
class MappedGram:
    """Qᵀ G Q: the operator of combinations φQ, from the operator G of φ.

    Parameters
    ----------
    gram : GramOperator
        G.
    spread, reduced : callable
        The products of Q, and of Qᵀ, with columns.
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
