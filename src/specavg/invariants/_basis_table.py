"""What invariant and equivariant bases share: a row for each eigenspace, and comparison by what they were made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._html import Records
from specavg._immutable import Immutable
from specavg.invariants._cutoff import Cutoff
from specavg.invariants.solvers._solver import Solution
from specavg.spaces import Space
from specavg.spaces._orders import Order

__all__ = ["BasisTable", "Row"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One eigenspace of an invariant basis.

    Attributes
    ----------
    eigenvalue : float
        λ, or the value in the order of the basis.
    dim : int
        m_λ, all functions counted.
    invariant_dim : int
        m_{λ,G}, invariant functions counted.
    solver : str
        "closed form", "orbits" or "null space".
    residual : float
        max‖D(g)Q − Q‖ over the generators; 0 where the solver is exact. Polynomials that are invariant by
        construction have the error of being harmonic instead.
    gap : float
        The smallest singular value that was not taken for zero; infinite where no rank was decided.

    Examples
    --------
    >>> import specavg as sa
    >>> row = sa.invariant_basis(sa.Torus(10), sa.groups.symmetric(10), max_eigenvalue=20).table[1]
    >>> row.dim, row.invariant_dim, row.solver
    (20, 2, 'closed form')
    """

    eigenvalue: float
    dim: int
    invariant_dim: int
    solver: str
    residual: float
    gap: float

    @classmethod
    def of(cls, solution: Solution[Any]) -> Row:
        """The row of one solution."""
        V, parts = solution.eigenspace, solution.parts
        solver = parts[0][1].solver if parts and parts[0][0] == "scalar" else solution.solver
        return cls(V.eigenvalue, V.dim, solution.invariant_dim, solver.name, solution.residual, solution.gap)


class BasisTable(Immutable):
    """Functions by increasing value of an order, eigenspace after eigenspace; immutable."""

    def __init__(
        self,
        space: Space,
        moved_by: Any,
        cutoff: Cutoff,
        order: Order,
        solver: str,
        table: Iterable[Row],
        arrays: Mapping[str, Array],
    ) -> None:
        self.space = space
        self.cutoff = cutoff
        self.order = order
        self.solver = solver
        self.table = Records(table)
        self.arrays = dict(arrays)
        dims = [row.invariant_dim for row in self.table]
        self.eigenvalues = np.repeat([row.eigenvalue for row in self.table], dims).astype(float)
        below = np.cumsum([0.0, *(row.dim for row in self.table)])  # types of one eigenvalue count together
        self.counts = below[np.searchsorted([row.eigenvalue for row in self.table], self.eigenvalues, side="right")]
        for array in (self.eigenvalues, self.counts):
            array.setflags(write=False)
        self.dimension = space.dim
        self._key = (space, moved_by, cutoff, order, solver)

    @property
    def dim(self) -> int:
        """Number of functions."""
        return len(self.eigenvalues)

    @property
    def total_dim(self) -> int:
        """Number of all functions up to the cutoff, whether the group leaves them alone or not."""
        return sum(row.dim for row in self.table)

    @property
    def residual(self) -> float:
        """The largest residual of any eigenspace."""
        return max(row.residual for row in self.table)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)
