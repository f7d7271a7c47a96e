"""What spaces of matrices share that isometries move from both sides: rotations, and frames of vectors."""

from __future__ import annotations

import abc

import numpy as np

from specavg._arrays import Array, block_diagonal
from specavg.isometries import Isometry, LeftRight, Orthogonal, SignedPermutation, identity
from specavg.isometries.fields import Field
from specavg.spaces._eigenspace import Eigenspace
from specavg.spaces._infinitesimal import kronecker_sum
from specavg.spaces._space import Space


class MatrixSpace(Space):
    """n × k matrices with the isometries X ↦ A X Bᵀ. Functions fall into types, each with a D_left and a D_right."""

    @abc.abstractmethod
    def left_sizes(self, eigenspace: Eigenspace) -> list[int]:
        """The size of D_left of each type in the eigenspace."""

    @abc.abstractmethod
    def right_sizes(self, eigenspace: Eigenspace) -> list[int]:
        """The size of D_right of each type in the eigenspace."""

    @abc.abstractmethod
    def one_sided_representations(self, g: Isometry, eigenspace: Eigenspace, side: int) -> list[Array]:
        """D_left of each type (side 0), or D_right (side 1): matrices of the left may be far larger."""

    @abc.abstractmethod
    def factor_infinitesimals(self, field: Field, eigenspace: Eigenspace) -> list[tuple[Array, Array]]:
        """dD_left and dD_right of each type: dD(ξ) is block-diagonal in dD_left ⊗ 1 + 1 ⊗ dD_right."""

    def factor_representations(self, g: Isometry, eigenspace: Eigenspace) -> list[tuple[Array, Array]]:
        """D_left and D_right of each type in the eigenspace: D(g) is block-diagonal in np.kron(D_left, D_right)."""
        left, right = (self.one_sided_representations(g, eigenspace, side) for side in (0, 1))
        return list(zip(left, right, strict=True))

    def _membership_unit(self, point: Array) -> float:
        # Files have six decimals: entries are off by 5e-7, columns of n entries by √n as much, and their products by
        # twice that. This is the tolerance, 1e-6, in this unit; `nearest_orthonormal` makes rounding errors of it.
        return float(self.shape[0]) ** 0.5

    def check_isometry(self, g: Isometry) -> LeftRight:
        n, k = self.shape
        if isinstance(g, SignedPermutation | Orthogonal):
            g = LeftRight(g, identity(k))
        if not isinstance(g, LeftRight):
            raise ValueError(
                f"{g!r} does not act on {self!r}: its isometries are X ↦ A X Bᵀ (isometries.left_right(A, B), "
                "or isometries.orthogonal(A) for B = I)."
            )
        if (g.left.size, g.right.size) != (n, k):
            sizes = f"{g.left.size} and {g.right.size}"
            right = f". From the right: isometries.left_right(np.eye({n}), B)" if g.left.size == k != n else ""
            raise ValueError(f"{g!r} has factors of size {sizes}; {self!r} needs {n} and {k}{right}")
        return g

    def _act(self, g: Isometry, X: Array) -> Array:
        assert isinstance(g, LeftRight)
        moved = g.left(X.reshape(-1, *self.shape).transpose(0, 2, 1)).transpose(0, 2, 1)
        return g.right(moved).reshape(X.shape)

    def _differential(self, g: Isometry) -> Array:
        assert isinstance(g, LeftRight)
        return np.asarray(np.kron(g.left.matrix, g.right.matrix), dtype=float)

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        return block_diagonal([np.kron(*pair) for pair in self.factor_representations(g, eigenspace)])

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        return block_diagonal([kronecker_sum(list(pair)) for pair in self.factor_infinitesimals(field, eigenspace)])
