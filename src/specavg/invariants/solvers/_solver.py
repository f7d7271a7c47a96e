"""What a solver is: one way to find the invariant functions of an eigenspace."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from specavg.functions._functions import Functions
from specavg.groups import Group
from specavg.spaces import Eigenspace, Space

__all__ = ["Solution", "Solver", "Unsuitable"]


class Unsuitable(ValueError):
    """The solver cannot answer for this eigenspace: the message says why."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The invariants of one eigenspace, as one solver found them."""

    eigenspace: Eigenspace
    invariant_dim: int
    solver: Solver
    data: Any  # what the solver needs to build functions
    residual: float = 0.0  # 0 where exact
    gap: float = float("inf")
    inner_products: int = 0  # entries <φ_l, φ_k∘g> that were computed


class Solver(abc.ABC):
    """One way to find invariants, for one space and one group."""

    name: ClassVar[str]

    def __init__(self, space: Space, group: Group) -> None:
        self.space = space
        self.group = group

    @classmethod
    @abc.abstractmethod
    def fits(cls, space: Space, group: Group) -> bool:
        """Whether this solver can work on the pair at all."""

    @abc.abstractmethod
    def cost(self, eigenspace: Eigenspace) -> float:
        """A forecast of the work, in floating-point operations."""

    def memory(self, eigenspace: Eigenspace) -> float:
        """A forecast of the working memory, in bytes; 0 where only invariants are ever touched."""
        return 0.0

    @abc.abstractmethod
    def solve(self, eigenspace: Eigenspace) -> Solution:
        """The invariants of one eigenspace; raises `Unsuitable` where it would lose accuracy."""

    @abc.abstractmethod
    def functions(self, solutions: Sequence[Solution]) -> Functions:
        """The invariant functions of several of its own solutions, in order."""
