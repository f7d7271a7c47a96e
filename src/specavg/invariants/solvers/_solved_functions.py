"""The functions of several solutions together, and the arrays that a saved basis keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from specavg.functions._combinations import Joined
from specavg.functions._functions import Array, Functions
from specavg.functions._vector_functions import JoinedOutputs, Summand, VectorFunctions
from specavg.invariants.solvers._solver import Solution
from specavg.spaces import Eigenspace


def functions_of(solutions: Sequence[Solution[Any]]) -> Functions:
    """The invariant functions of several solutions, in order."""
    families: list[Any] = [s.functions(list(run)) for s, run in groupby(solutions, key=lambda s: s.solver)]
    return families[0] if len(families) == 1 else Joined(families)


def vector_functions_of(solutions: Sequence[Solution[Any]], outputs: int) -> VectorFunctions:
    """The equivariant functions of several solutions, in order."""
    runs = groupby([s for s in solutions if s.invariant_dim], key=lambda s: s.solver)
    families: list[Any] = [solver.functions(list(run)) for solver, run in runs]
    if len(families) == 1:
        return families[0]
    ends = np.cumsum([0, *(family.dim for family in families)])
    places = (np.arange(a, b)[None] for a, b in pairwise(ends))
    summands = [Summand(f, np.eye(outputs)[None], at) for f, at in zip(families, places, strict=True)]
    return JoinedOutputs(outputs, summands, apart=False)


class Places:
    """Which columns of the functions of one copy or factor belong to which of its solutions: those asked for so far."""

    def __init__(self) -> None:
        self._columns: dict[Eigenspace, range] = {}
        self.solutions: list[Solution[Any]] = []
        self._end = 0

    def columns(self, solution: Solution[Any]) -> range:
        """The columns of `solution`, which come after those asked for before."""
        if solution.eigenspace not in self._columns:
            start, self._end = self._end, self._end + solution.invariant_dim
            self._columns[solution.eigenspace] = range(start, self._end)
            self.solutions.append(solution)
        return self._columns[solution.eigenspace]


def arrays_of(solutions: Sequence[Solution[Any]], path: str = "") -> dict[str, Array]:
    """The arrays of solutions and of the parts that they were made from, each once: path, number, solver, name."""
    found: dict[str, Array] = {}
    parts: dict[str, dict[Eigenspace, Solution[Any]]] = {}
    for number, solution in enumerate(solutions):
        solver = type(solution.solver).__name__
        found.update({f"{path}{number}.{solver}.{name}": array for name, array in solution.arrays.items()})
        for part, inner in solution.parts:
            parts.setdefault(part, {}).setdefault(inner.eigenspace, inner)
    for part, chosen in parts.items():
        found.update(arrays_of(list(chosen.values()), f"{path}{part}."))
    return found
