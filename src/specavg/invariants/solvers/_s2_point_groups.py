"""Groups of rotations and mirrors on S²: an axis sorts the harmonics, a small null space does the rest.

The functions of degree l that are fixed by a turn around z are known by their orders, one in q for a q-fold axis. Only
inside of them the other generators are looked at: D(g) − 1 has 2l + 1 rows and (2l + 1)/q columns, whose entries come
degree after degree by recurrence. The residual is that of all rows, so that nothing outside escapes. A field
leaves order 0 about its axis only. Groups of matrices are recognised as point groups, whatever way their axes lie (see
`groups.recognition`): the axis of the most folds is then known even if no generator turns about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from specavg._config import require_memory
from specavg.functions._functions import Array
from specavg.functions._wigner_columns import wigner_columns
from specavg.functions._wigner_matrices import euler_angles
from specavg.groups import Group
from specavg.groups.families import PointGroup
from specavg.groups.recognition._point_group_of import nearest_elements
from specavg.invariants._certified_null_space import FixedSpace, clear_zeros, common_null_space, rounding
from specavg.invariants.solvers._s2_frames import LARGEST_DEGREE, Columns, Frame, frame, waves
from specavg.invariants.solvers._solver import QUICK, ClosedForm, FixedVectorSolver, Solution, Unsuitable
from specavg.isometries import Orthogonal, SignedPermutation
from specavg.isometries.fields import RotationField
from specavg.spaces import Eigenspace, Space, Sphere
from specavg.spaces._eigenspace import degree_label

_LISTED = 1_000  # elements of a group whose characters are added up: milliseconds


class AxisThenNullSpace(FixedVectorSolver):
    """O(l²) numbers a degree l by recurrence, and a null space in (2l + 1)/q unknowns."""

    name: ClassVar[str] = "null space"

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        return isinstance(space, Sphere) and space.n_features == 3 and bool(group.generators or group.fields)

    def seconds(self, eigenspace: Eigenspace) -> float:
        # One degree after another: Oh, 148,000 harmonics up to degree 385, took 1.6 s; T on other axes, 7,000 up to
        # degree 83, took 0.1 s. From degree 0 on, as a single degree needs it: Oh at degree 200 took 40 ms.
        m, turnings = float(eigenspace.dim), 1 + len(self._others) + (not self._frame.plain)
        return 2 * QUICK + turnings * (2e-8 * m**2 + 2e-10 * m**3 / self._frame.step**2)

    def memory(self, eigenspace: Eigenspace) -> float:
        return 8.0 * (2 * len(self.group.generators) + 8) * float(eigenspace.dim) ** 2 / self._frame.step

    def count(self, eigenspace: Eigenspace) -> int | None:
        """The mean character, for point groups: they are small enough to be listed."""
        if len(self._field_axes) > 1:
            return int(eigenspace.dim == 1)
        if not isinstance(self.group.structure, PointGroup) or self.group.order > _LISTED:
            return None
        parity, angle = self._turns
        m, degree = eigenspace.dim, self.space.degree(eigenspace)
        half = np.where(angle > 1e-6, angle, 1.0) / 2
        characters = np.where(angle > 1e-6, np.sin(m * half) / np.sin(half), float(m))
        return round(float(np.mean(parity**degree * characters)))

    @cached_property
    def _turns(self) -> tuple[Array, Array]:
        """The determinant of each element, and the angle of its rotation."""
        matrices = np.array([_matrix(self.space.check_isometry(g)) for g in self.group.elements()])
        parity = np.sign(np.linalg.det(matrices))
        trace = parity * np.trace(matrices, axis1=1, axis2=2)
        return parity, np.arccos(np.clip((trace - 1) / 2, -1.0, 1.0))

    @cached_property
    def _matrices(self) -> list[Array]:
        """The generators; those of a point group that was recognised, with its exact angles."""
        given = [_matrix(self.space.check_isometry(g)) for g in self.group.generators]
        structure = self.group.structure
        if isinstance(structure, PointGroup) and self.group.said_structure is None:
            return nearest_elements(given, structure)
        return given

    @cached_property
    def _frame(self) -> Frame:
        # Other elements that are known to be in the group sort harmonics as well as generators do.
        axes = self._field_axes
        return frame([*self._matrices, *self._known_turns], axes[0] if len(axes) else None)

    @cached_property
    def _known_turns(self) -> list[Array]:
        """Elements of a point group that generate it, with exact angles."""
        structure = self.group.structure
        return [_matrix(turn.isometry) for turn in structure.turns] if isinstance(structure, PointGroup) else []

    @cached_property
    def _field_axes(self) -> Array:
        """Unit vectors along the axes of the fields: one if all agree; with several, all turns are in the group."""
        fields = [self.space.check_field(f) for f in self.group.fields]
        A = np.array([f.matrix for f in fields if isinstance(f, RotationField) and not f.is_zero]).reshape(-1, 3, 3)
        axes = np.stack([A[:, 2, 1], A[:, 0, 2], A[:, 1, 0]], axis=1)  # dx/dt = axis × x
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        across = np.linalg.norm(np.cross(axes[:1], axes), axis=1)
        if len(across) and clear_zeros(across, rounding(3)).all():
            return axes[:1]
        return axes

    @cached_property
    def _others(self) -> list[_Turning]:
        """The generators that `Frame.columns` leaves to do, of the generating set that has fewer of them."""
        here = self._frame
        sets = [self._matrices, self._known_turns] if self._known_turns else [self._matrices]
        fewest = min(([A for A in some if not here.sorts(A)] for some in sets), key=len)
        return [_Turning.of(*here.moved(A), here.step) for A in fewest]

    @cached_property
    def _back(self) -> _Turning:
        return _Turning.of(1, self._frame.rotation.T, self._frame.step)

    def solve(self, eigenspace: Eigenspace) -> Solution[Array]:
        degree, m = degree_label(eigenspace), eigenspace.dim
        require_memory(
            self.memory(eigenspace), f"the null space on the {m} harmonics of degree {degree}", "Lower the cutoff."
        )
        if degree > LARGEST_DEGREE:
            raise Unsuitable(f"axes are sorted up to degree {LARGEST_DEGREE}; got {degree}.")
        found = self._fixed(degree)
        if found.residual > rounding(m, degree):
            raise Unsuitable(f"turns by very small angles leave a residual of {found.residual:.1e} at degree {degree}.")
        entries = len(self._others) * m * (degree // self._frame.step + 1)
        return self.fixed(eigenspace, found.basis, found.residual, found.gap, entries)

    def _fixed(self, degree: int) -> FixedSpace:
        if len(self._field_axes) > 1 and degree:  # fields about two axes are all of SO(3)
            return FixedSpace(np.empty((2 * degree + 1, 0)), self.name, float(degree * (degree + 1)) ** 0.5, 0.0)
        columns = self._frame.columns(degree)
        V, residual, gap = np.eye(len(columns)), columns.residual, columns.gap
        if self._others and len(columns):
            found = common_null_space([g.deviation(degree, columns) for g in self._others], 2 * degree + 1, degree)
            V, residual, gap = found.basis, max(residual, found.residual), min(gap, found.gap)
        pairs = np.zeros((2, degree + 1, V.shape[1]))  # coefficients of cosines and of sines, by order
        pairs[columns.sine.astype(int), columns.orders] = V
        if not self._frame.plain and V.shape[1]:
            pairs = self._back.applied(degree, pairs)
            error = np.einsum("cir,cis->rs", pairs, pairs) - np.eye(V.shape[1])
            residual += float(np.abs(error).max())  # what turning back has lost
        Q = np.empty((2 * degree + 1, V.shape[1]))  # in the order 0, 1c, 1s, 2c, 2s, …
        Q[0], Q[1::2], Q[2::2] = pairs[0, 0], pairs[0, 1:], pairs[1, 1:]
        return FixedSpace(Q, self.name, gap, residual)


@final
class OrdersAlongAnAxis(ClosedForm, AxisThenNullSpace):
    """Point groups with one axis, wherever it points: orders and signs along it say all, and no null space is left."""

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not super().fits(space, group) or not isinstance(group.structure, PointGroup):
            return False
        return not cls(space, group)._others

    def count(self, eigenspace: Eigenspace) -> int | None:
        degree = degree_label(eigenspace)
        return len(self._frame.columns(degree)) if degree <= LARGEST_DEGREE else None


def _matrix(g: object) -> Array:
    assert isinstance(g, SignedPermutation | Orthogonal)
    return np.asarray(g.matrix, dtype=float)


@dataclass(eq=False)
class _Turning:
    """M(g) of ±Rz(α) Ry(β) Rz(γ) on columns of the orders 0, step, 2·step, …, for increasing degrees.

    Angles α and γ are in full turns, as `waves` needs them.
    """

    parity: int
    alpha: float
    beta: float
    gamma: float
    step: int
    _degree: int = -1
    _blocks: tuple[Array, Array] | None = None
    _series: Iterator[tuple[Array, Array]] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, parity: int, rotation: Array, step: int) -> _Turning:
        alpha, beta, gamma = (float(angle[0]) for angle in euler_angles(rotation[None]))
        return cls(parity, alpha / (2 * np.pi), beta, gamma / (2 * np.pi), step)

    def blocks(self, degree: int) -> tuple[Array, Array]:
        """The blocks of cosines and of sines of M(Ry(β))."""  # (degree + 1, degree // step + 1) each
        if self._series is None or degree < self._degree:
            self._series = wigner_columns(abs(np.cos(self.beta / 2)), abs(np.sin(self.beta / 2)), self.step)
            self._degree, self._blocks = -1, None
        while self._blocks is None or self._degree < degree:
            self._blocks = next(self._series)
            self._degree += 1
        return self._blocks

    def deviation(self, degree: int, columns: Columns) -> Array:
        """M(β)M(γ)E − M(−α)E, E the unit vectors `columns`: as long as M(g)E − E."""  # (2(degree + 1), n)
        C, S = self.blocks(degree)
        k, place, sine = columns.orders, columns.orders // self.step, columns.sine
        (cg, sg), (ca, sa) = waves(self.gamma, k), waves(self.alpha, k)
        sign = self.parity**degree
        cosines = sign * C[:, place] * np.where(sine, -sg, cg)
        sines = sign * S[:, place] * np.where(sine, cg, sg)
        every = np.arange(len(k))
        cosines[k, every] -= np.where(sine, sa, ca)
        sines[k, every] -= np.where(sine, ca, -sa)
        return np.concatenate([cosines, sines])

    def applied(self, degree: int, pairs: Array) -> Array:
        """M(g) on coefficients of cosines and sines."""  # (2, degree + 1, r) -> (2, degree + 1, r)
        C, S = self.blocks(degree)
        k = np.arange(degree + 1)
        turned = _turned(waves(self.gamma, k), pairs)[:, :: self.step]
        return _turned(waves(self.alpha, k), self.parity**degree * np.stack([C @ turned[0], S @ turned[1]]))


def _turned(wave: Array, pairs: Array) -> Array:
    """M(Rz) on coefficients of cosines and sines."""
    cosine, sine = wave[0][:, None], wave[1][:, None]
    return np.stack([cosine * pairs[0] - sine * pairs[1], sine * pairs[0] + cosine * pairs[1]])
