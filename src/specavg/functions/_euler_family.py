"""What harmonics of S² and functions of SO(3) share: whole degrees, a recurrence, and waves in Euler angles."""

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

NOISE = 1e-14  # a coefficient of an orthonormal combination below this is rounding


class EulerFamily(Compiled, Derivations):
    """All functions of some degrees l, by a recurrence that knows every degree up to the highest.

    Functions are Σ_l T_{jkl}(β) (A_{jkl} cos(jα + kγ) + B_{jkl} sin(jα + kγ)), j ≥ 0; where j = 0, k ≥ 0 too. On S²
    there is no γ.
    """

    power: ClassVar[int]  # a degree l has (2l + 1)^power functions
    _program: Any = None  # the recurrence, as the loops read it

    def __init__(self, degrees: Sequence[int]) -> None:
        self._degrees = tuple(degrees)
        self.top = max(self._degrees, default=0)
        ends = np.cumsum([0, *((2 * l + 1) ** self.power for l in range(self.top + 1))])
        self._full = int(ends[-1])
        # Where the recurrence has the functions of this family.
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

    # --- as waves: see `_euler_gram` ---

    @property
    @abc.abstractmethod
    def steps(self) -> tuple[int, int]:
        """What all orders j, and all orders k, are multiples of; 0 where there is no other order than 0."""

    @abc.abstractmethod
    def angles(self, X: Array) -> tuple[Array, Array, Array]:
        """α, β, γ; zeros for γ where there is no such angle."""  # (n, n_features) -> (n,), (n,), (n,)

    @abc.abstractmethod
    def wave_table(self, j: Orders, k: Orders, cosines: Array) -> Array:
        """T at the nodes cos β."""  # (P,), (P,), (N,) -> (P, N, top + 1)

    @abc.abstractmethod
    def to_waves(self, C: Array, j: Orders, k: Orders) -> Array:
        """A and B from coefficients of the functions."""  # (dim, q) -> (P, top + 1, 2, q)

    @abc.abstractmethod
    def from_waves(self, waves: Array, j: Orders, k: Orders) -> Array:
        """Sums with the functions from sums with waves: the transpose of `to_waves`."""

    @abc.abstractmethod
    def _twice(self) -> EulerFamily:
        """All functions of up to twice the degree, of orders with the same steps."""

    @abc.abstractmethod
    def _loop_nanoseconds(self, n: int) -> float:
        """A forecast of the sums of all functions of twice the degree over n points."""

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
        # On matrices M^l(X) rotations act from the left: on each column alike.
        moved = [[kron(M.T, eye_array(M.shape[0] ** (self.power - 1))) for M in axis] for axis in axes]
        return [block_diag(blocks, format="csr") for blocks in moved] or [csr_array((0, 0))] * 3
