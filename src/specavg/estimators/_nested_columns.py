"""The columns of the nested models that a test of a symmetry compares: all functions, and those with the symmetry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.data._checked_samples import checked_chunks
from specavg.estimators._affordable_eigenspaces import bearable, known_rows
from specavg.estimators._finer_detail import order_compared
from specavg.groups import Group
from specavg.invariants import InvariantBasis, fixed_space, invariant_basis
from specavg.regression._nested_models import Models
from specavg.spaces import Eigenspace, Space

PIECE = 5_000  # rows whose functions are held at a time: 2,000 functions of them take 80 MB
_MAX_INVARIANT = 300  # invariant functions fitted in both models, at most, and at most a quarter of the samples
FURTHER = 5000.0  # functions, all counted, among which invariant ones are looked for
_SURE = 0.001  # p-value of what functions explain beside those compared, below which it is no chance


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """The constant, all functions of some eigenspaces, and invariant ones of others."""

    space: Space
    eigenspaces: tuple[Eigenspace, ...]
    further: InvariantBasis | None
    beyond: NDArray[np.intp]

    @classmethod
    def of(cls, space: Space, group: Group, rows: int | None, eigenspaces: tuple[Eigenspace, ...]) -> Columns:
        """With as many further invariant functions as the rows bear."""
        try:
            most, order = max(FURTHER, 1 + sum(V.dim for V in eigenspaces)), order_compared(space)
            further = invariant_basis(space, group, max_dim=most, order=order)
        except MemoryError:
            return cls(space, eigenspaces, None, np.empty(0, dtype=np.intp))
        tested = {*islice(space.ordered(order), 1), *eigenspaces}
        other = [V not in tested for V, _ in zip(space.ordered(order), further.table, strict=False)]
        beyond = np.flatnonzero(np.repeat(other, [row.invariant_dim for row in further.table]))
        levels = further.eigenvalues[beyond]
        room = min(_MAX_INVARIANT, int(known_rows(rows) / 4)) - (further.dim - len(beyond))
        if rows is not None:  # so few that `max_dim` leaves no room for a quarter of them
            room = min(room, bearable(rows) - 1 - sum(V.dim for V in eigenspaces))
        if max(room, 0) < len(beyond):  # whole eigenspaces only: no generator is to be favoured
            beyond = beyond[levels < levels[max(room, 0)] * (1 - 1e-9)]
        if not len(beyond):
            return cls(space, eigenspaces, None, beyond)
        # Functions that are not fitted are not evaluated: 2,500 under the inversion, of which 300 are.
        last = int(np.searchsorted(np.cumsum([row.invariant_dim for row in further.table]), beyond[-1], side="right"))
        reach = sum(row.dim for row in further.table[: last + 1])
        further = invariant_basis(space, group, max_dim=reach, order=order)
        return cls(space, eigenspaces, further, beyond)

    @property
    def size(self) -> int:
        """How many columns there are."""
        return 1 + sum(V.dim for V in self.eigenspaces) + len(self.beyond)

    def evaluate(self, X: Array) -> Array:
        """All columns at `X`."""  # (n, n_features) -> (n, size)
        values = [np.ones((len(X), 1)), self.space.functions(self.eigenspaces).evaluate(X)]
        return np.hstack(values if self.further is None else [*values, self.further.evaluate(X)[:, self.beyond]])

    def explained(self, models: Models) -> tuple[float, float]:
        """Shares of the variance of y that the functions compared explain, and that only others do; 0 if by chance."""
        alone, missed = models.explained(self._compared), self.chance_of_further(models) < _SURE
        return alone, max(models.explained() - alone, 0.0) if missed else 0.0

    def chance_of_further(self, models: Models) -> float:
        """The probability that further invariant functions explain as much beside those compared by chance (F test)."""
        return models.compare([self._compared], None)[0].p_value

    @property
    def _compared(self) -> Array:
        return np.eye(self.size)[:, : 1 + sum(V.dim for V in self.eigenspaces)]

    def pieces(self, chunks: Any, *, ask: bool = False) -> Iterator[tuple[Array, ...]]:
        """Checked points, targets and weights in pieces of bounded working memory."""
        every = (
            tuple(part[start : start + PIECE] for part in checked)
            for checked in checked_chunks(self.space, chunks, ask=ask)
            for start in range(0, len(checked[0]), PIECE)
        )
        return reported(every, "symmetry test", f"pieces of {PIECE:,} rows")

    def span(self, group: Group) -> Array:
        """The columns that are invariant under `group`, as combinations of all."""  # (size, k)
        from scipy.linalg import block_diag

        return np.asarray(block_diag(1.0, _fixed(self.space, self.eigenspaces, group), np.eye(len(self.beyond))))


@lru_cache(maxsize=64)
def _fixed(space: Space, eigenspaces: tuple[Eigenspace, ...], group: Group) -> Array:
    """The functions of eigenspaces that are invariant under `group`, as combinations of all."""  # (dim, k)
    from scipy.linalg import block_diag

    blocks = []
    for V in eigenspaces:
        matrices = [space.representation(g, V) for g in group.generators]
        matrices += [space.infinitesimal(field, V) for field in group.fields]
        blocks.append(fixed_space(matrices, V.dim).basis)
    return np.asarray(block_diag(*blocks), dtype=np.float64)
