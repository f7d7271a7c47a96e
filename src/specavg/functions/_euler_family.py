"""What harmonics of S² and functions of SO(3) share: whole degrees, and waves in Euler angles."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from specavg._arrays import Array
from specavg.functions._compiled import Compiled
from specavg.functions._derivations import Derivations
from specavg.functions._euler_gram import EulerGram, euler_gram, gram_nanoseconds
from specavg.functions._euler_sums import Orders
from specavg.functions._wigner_matrices import rotation_derivatives

NOISE = 1e-14  # coefficients of orthonormal combinations that are smaller are rounding errors


class EulerFamily(Compiled, Derivations):
    """All functions of some degrees l. A recurrence computes every degree up to the highest.

    In Euler angles each function is a sum, over pairs of orders (j, k) and degrees l, of
    T_{jkl}(β) (A_{jkl} cos(jα + kγ) + B_{jkl} sin(jα + kγ)), with j ≥ 0, and k ≥ 0 where j = 0. On S² there is no γ,
    and k is 0.

    Parameters
    ----------
    degrees : sequence of int
    """

    power: ClassVar[int]  # a degree l has (2l + 1)^power functions: 1 on S², 2 on SO(3)
    _program: Any = None  # the recurrence, as the loops read it

    def __init__(self, degrees: Sequence[int]) -> None:
        self._degrees = tuple(degrees)
        self.top = max(self._degrees, default=0)
        ends = np.cumsum([0, *((2 * l + 1) ** self.power for l in range(self.top + 1))])
        self._full = int(ends[-1])
        # The places of the functions of this family among those of all degrees.
        self._places = np.concatenate([np.empty(0, dtype=np.intp), *(np.arange(ends[l], ends[l + 1]) for l in degrees)])
        self._everything = np.array_equal(self._places, np.arange(self._full))
        self.dim = len(self._places)

    @property
    def row_bytes(self) -> float:
        return 8.0 * (self._full + self.dim)

    @property
    def _selects(self) -> bool:
        return not self._everything

    @property
    def _width(self) -> int:
        return self._full

    def _selected(self, values: Array) -> Array:
        return values if self._everything else values[:, self._places]

    # --- as waves in Euler angles, for Gram operators: see `_euler_gram` ---

    @property
    @abc.abstractmethod
    def steps(self) -> tuple[int, int]:
        """The numbers that all orders j, and all orders k, are multiples of; 0 where the only order is 0."""

    @abc.abstractmethod
    def angles(self, X: Array) -> tuple[Array, Array, Array]:
        """The Euler angles α, β, γ of points; γ = 0 on S²."""  # (n, n_features) -> (n,), (n,), (n,)

    @abc.abstractmethod
    def wave_table(self, j: Orders, k: Orders, cosines: Array) -> Array:
        """T_{jkl}(β) at nodes cos β, for P pairs of orders and all degrees l."""  # (P,), (P,), (N,) -> (P, N, top + 1)

    @abc.abstractmethod
    def to_waves(self, C: Array, j: Orders, k: Orders) -> Array:
        """A_{jkl} and B_{jkl} of combinations of the functions, for P pairs of orders."""
        # (dim, q), (P,), (P,) -> (P, top + 1, 2, q)

    @abc.abstractmethod
    def from_waves(self, waves: Array, j: Orders, k: Orders) -> Array:
        """The transpose of `to_waves`: sums of the functions over data, from those of the T cos and T sin."""
        # (P, top + 1, 2, q), (P,), (P,) -> (dim, q)

    @abc.abstractmethod
    def _twice(self) -> EulerFamily:
        """The family of all functions of up to twice the degree, with orders of the same steps."""

    @abc.abstractmethod
    def _loop_nanoseconds(self, n: int) -> float:
        """A forecast of the time that loops take to sum the functions of `_twice` over n points."""

    def gram_operator(self, X: Array, weights: Array, Y: Array) -> tuple[EulerGram, Array]:
        return euler_gram(self, self._twice(), X, weights, Y, self._loop_nanoseconds(len(X)))

    def gram_nanoseconds(self, n: int) -> tuple[float, float]:
        return gram_nanoseconds(self, n, self._loop_nanoseconds(n))

    def gram_of_density(self, density: Array) -> EulerGram:
        return EulerGram(self, density)

    # --- derivatives along rotations ---

    @cached_property
    def _derivations(self) -> list[Any]:
        from scipy.sparse import block_diag, csr_array, eye_array, kron

        axes = zip(*(rotation_derivatives(l) for l in self._degrees), strict=True)
        # On the matrices M^l(X) of SO(3) rotations act from the left: on each column in the same way.
        moved = [[kron(M.T, eye_array(M.shape[0] ** (self.power - 1))) for M in axis] for axis in axes]
        return [block_diag(blocks, format="csr") for blocks in moved] or [csr_array((0, 0))] * 3
