"""Maps of matrices from both sides: X ↦ A X Bᵀ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from numpy.typing import ArrayLike

from specavg.isometries._isometry import Isometry
from specavg.isometries._linear import Orthogonal, SignedPermutation, identity, linear, orthogonal


@final
@dataclass(frozen=True, repr=False)
class LeftRight(Isometry):
    """gX = A X Bᵀ on matrices.

    Examples
    --------
    >>> from specavg import isometries
    >>> g = isometries.left_right([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[0, 1], [1, 0]])
    >>> g.left, g.right
    (permutation([1, 2, 0]), permutation([1, 0]))
    """

    left: SignedPermutation | Orthogonal
    right: SignedPermutation | Orthogonal

    @property
    def size(self) -> int:
        return self.left.size

    @property
    def is_exact(self) -> bool:
        return self.left.is_exact and self.right.is_exact

    @property
    def is_identity(self) -> bool:
        return self.left.is_identity and self.right.is_identity

    def inverse(self) -> LeftRight:
        return LeftRight(self.left.inverse(), self.right.inverse())

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation | Orthogonal):
            other = LeftRight(other, identity(self.right.size))
        if not isinstance(other, LeftRight):
            return None
        return LeftRight(linear(self.left @ other.left), linear(self.right @ other.right))

    def _before(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation | Orthogonal):
            return LeftRight(linear(other @ self.left), self.right)
        return None

    def __repr__(self) -> str:
        return f"left_right({_written(self.left)}, {_written(self.right)})"


def _written(g: SignedPermutation | Orthogonal) -> str:
    """The matrix as Python reads it back; integers where it has nothing else."""
    if g.size > 4:
        return f"<{g.size} x {g.size}>"
    return str((g.matrix.astype(int) if isinstance(g, SignedPermutation) else g.matrix).tolist())


def left_right(A: ArrayLike, B: ArrayLike) -> LeftRight:
    """The map X ↦ A X Bᵀ, on rotations and Stiefel manifolds.

    Examples
    --------
    >>> g = left_right([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    >>> (g @ g.inverse()).is_identity
    True
    """
    return LeftRight(orthogonal(A), orthogonal(B))
