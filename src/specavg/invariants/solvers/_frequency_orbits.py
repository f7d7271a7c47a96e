"""Functions on a torus as orbit sums of waves, with exact rational phases: invariants, and permuted outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._functions import Array, Functions
from specavg.functions._trigonometric_sums import TrigonometricSums
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Group, Representation
from specavg.groups.recognition._affine_maps import dual_lattice
from specavg.invariants._fixed_space import fixed_space
from specavg.invariants._summands_of_outputs import split_functions
from specavg.invariants.solvers._orbits import orbits
from specavg.invariants.solvers._solver import QUICK, OutputSolver, Solution, Solver, eigenspace_below
from specavg.isometries import SignedPermutation
from specavg.isometries.fields import ShiftField
from specavg.spaces import Eigenspace, Space, Torus
from specavg.spaces._frequency_action import FrequencyAction, frequency_speeds


@dataclass(frozen=True, eq=False)
class WaveSums:
    """Sums of waves: the frequencies that occur, and a sparse matrix of coefficients of their cosines, then sines."""

    K: NDArray[np.int64]  # (h, d)
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Array


@final
class FrequencyOrbits(Solver[WaveSums]):
    """Orbits of frequencies under integer matrices, with exact rational phases from the shifts.

    The flow of a shift along v leaves the waves with k·v = 0 alone, and no others.
    """

    name: ClassVar[str] = "orbits"
    sweeps: ClassVar[bool] = True
    space: Torus  # pyright: ignore[reportIncompatibleVariableOverride]

    @classmethod
    def fits(cls, space: Space, group: Group) -> bool:
        if not isinstance(space, Torus):
            return False
        fields = [space.check_field(f) for f in group.fields]
        return all(space.check_isometry(g).is_exact for g in group.generators) and all(
            isinstance(f, ShiftField) and f.is_exact for f in fields
        )

    @cached_property
    def _dual(self) -> NDArray[np.int64]:
        """A basis of the frequencies that the pure shifts of the group leave alone: no others are listed."""
        return dual_lattice([self.space.check_isometry(g) for g in self.group.generators], self.space.dim)

    @cached_property
    def _index(self) -> int:
        """How many frequencies there are for each one that is listed."""
        return max(1, abs(round(float(np.linalg.det(self._dual.astype(float))))))

    def seconds(self, eigenspace: Eigenspace) -> float:
        # cyclic_shifts(8) on Torus(8): m = 112, 1136, 3136 took 0.4, 1.0, 2.6 ms; many eigenspaces together less.
        return QUICK + 3.5e-7 * (len(self.group.generators) + 1) * eigenspace.dim / self._index

    def memory(self, eigenspace: Eigenspace) -> float:
        return self._bytes(eigenspace.dim / self._index)

    def _bytes(self, frequencies: float) -> float:
        return 4.0 * 8 * frequencies * self.space.dim

    def solve(self, eigenspace: Eigenspace) -> Solution[WaveSums]:
        return self.solve_together([eigenspace])[0]

    def solve_together(self, eigenspaces: Sequence[Eigenspace]) -> list[Solution[WaveSums]]:
        """One sweep over the orbits of all frequencies; the same solutions as one by one."""
        K, counts = self._frequencies(eigenspaces)
        segment = np.repeat(np.arange(len(eigenspaces)), counts)
        actions = [self.space.moved_frequencies(self.space.check_isometry(g), K) for g in self.group.generators]
        still = self._still(K)
        if not still.all():
            still, actions = _restricted(actions, still)
            K, segment = K[still], segment[still]
        _, (rows, columns, values) = real_invariants(len(K), actions)
        # Orbits are numbered by their first frequency: those of one eigenspace follow each other, as they would alone.
        k, is_sine = rows % max(len(K), 1), rows >= len(K)
        order = np.lexsort((np.arange(len(k)), segment[k]))
        k, is_sine, columns, values = k[order], is_sine[order], columns[order], values[order]
        bounds = np.searchsorted(segment[k], np.arange(len(eigenspaces) + 1))
        used, place, ends = _numbered(k, bounds)  # frequencies that occur
        _, column, invariants = _numbered(columns, bounds)
        rows = place + np.diff(ends, prepend=0)[segment[k]] * is_sine
        found: list[Solution[WaveSums]] = []
        dims = np.diff(invariants, prepend=0).tolist()
        for V, dim, waves, start, end in zip(
            eigenspaces, dims, np.split(K[used], ends[:-1]), bounds[:-1], bounds[1:], strict=True
        ):
            if V.dim == 1:  # the constant 1, which is √½ · √2 cos 0
                zero = np.zeros(1, dtype=np.intp)
                constant = np.zeros((1, self.space.dim), dtype=np.int64)
                found.append(Solution(V, 1, self, WaveSums(constant, zero, zero, np.full(1, np.sqrt(0.5)))))
                continue
            some = slice(start, end)
            found.append(Solution(V, dim, self, WaveSums(waves, rows[some], column[some], values[some])))
        return found

    def _frequencies(self, eigenspaces: Sequence[Eigenspace]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The frequencies that no pure shift changes, without the constant's, and how many each eigenspace has."""
        size = sum(V.dim for V in eigenspaces) / self._index
        require_memory(
            self._bytes(size),
            f"listing {size:.0f} frequencies in {self.space.dim} dimensions",
            "Lower the cutoff, or use a group whose invariants have a closed form.",
        )
        K, counts = self.space.frequencies_together(eigenspaces, None if self._index == 1 else self._dual)
        constant = [V.dim == 1 for V in eigenspaces]
        return K[~np.repeat(constant, counts)], np.where(constant, 0, counts)

    def _still(self, K: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which waves no field moves: k·v = 0, in exact arithmetic."""
        still = np.ones(len(K), dtype=bool)
        for field in self.group.fields:
            checked = self.space.check_field(field)
            assert isinstance(checked, ShiftField)
            still &= frequency_speeds(K, checked) == 0
        return still

    def functions(self, solutions: Sequence[Solution[WaveSums]]) -> Functions:
        solutions = [s for s in solutions if s.invariant_dim]
        Q = joined_coefficients(solutions)
        Q.data[np.abs(Q.data) < 1e-15] = 0.0  # sums of opposite terms
        Q.eliminate_zeros()
        return TrigonometricSums(self.space.period, np.concatenate([s.data.K for s in solutions]), Q)


@final
class WaveOrbitsOfOutputs(OutputSolver[WaveSums]):
    """Orbits of (frequency, output) under integer matrices and signed permutations, with exact rational phases."""

    name: ClassVar[str] = "orbits"

    @classmethod
    def fits(cls, space: Space, output: Representation) -> bool:
        return (
            isinstance(space, Torus)
            and output.is_exact
            and all(space.check_isometry(g).is_exact for g in output.group.generators)
        )

    @property
    def is_closed(self) -> bool:
        return self.space.dim == 1  # two waves of each frequency: there is nothing to search

    def seconds(self, eigenspace: Eigenspace) -> float:
        return 4 * QUICK + 3.5e-7 * (len(self.group.generators) + 1) * eigenspace.dim  # as for invariants

    def memory(self, eigenspace: Eigenspace) -> float:
        return 4.0 * 8 * eigenspace.dim * self.space.dim

    def solve(self, eigenspace: Eigenspace) -> Solution[WaveSums]:
        space, V, p = self.space, eigenspace_below(eigenspace), self.output.dim
        assert isinstance(space, Torus)
        K = space.frequencies(V)
        if V.dim == 1:  # constants: 1 is √½ · √2 cos 0
            fixed = fixed_space(self.output.images, size=p).basis  # what every ρ(g) fixes, every ρ(g)ᵀ does
            rows, columns = np.nonzero(fixed)
            data = WaveSums(K, rows, columns, fixed[rows, columns] * np.sqrt(0.5))
            return Solution(eigenspace, fixed.shape[1], self, data)
        actions: list[Any] = []
        for g, rho in zip(self.group.generators, self.output.images, strict=True):
            assert isinstance(rho, SignedPermutation)
            target, sign, phase, N = space.frequency_action(space.check_isometry(g), V)
            # ρᵀ sends output i to the output that it is made from, with its sign.
            place = (np.asarray(target)[:, None] * p + rho.image_array).ravel()
            exact = np.asarray(phase, dtype=np.int64 if N < 2**60 else object)
            flipped = exact[:, None] * 2 + (rho.signs_array < 0).astype(exact.dtype) * N
            actions.append((place, np.repeat(sign, p), flipped.ravel() % (2 * N), 2 * N))
        count, (rows, columns, values) = real_invariants(len(K) * p, actions)
        return Solution(eigenspace, count, self, WaveSums(K, rows, columns, values))

    def functions(self, solutions: Sequence[Solution[WaveSums]]) -> VectorFunctions:
        from scipy.sparse import eye_array

        assert isinstance(self.space, Torus)
        K = np.concatenate([s.data.K for s in solutions])
        waves = TrigonometricSums(self.space.period, K, eye_array(2 * len(K), format="csr"))
        found = CombinedOutputs(self.output.dim, waves, joined_coefficients(solutions, self.output.dim))
        numbers = sum(eigenspace_below(s.eigenspace).dim for s in solutions)
        return split_functions(found, self.output, [s.invariant_dim for s in solutions], numbers)


def _numbered(
    values: NDArray[np.intp], bounds: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Different integers, the place of each value among the different ones of its part, and where those of a part end.

    Parameters
    ----------
    values : ndarray of int, shape (n,)
        Larger in each part than in the parts before it.
    bounds : ndarray of int, shape (parts + 1,)
        Where the parts begin, and the end of the last.
    """
    different, number = np.unique(values, return_inverse=True)
    last = np.append(np.maximum.accumulate(number), -1) if len(number) else np.full(1, -1)
    ends = last[bounds[1:] - 1] + 1
    starts = np.concatenate([[0], ends[:-1]])
    return different, number - np.repeat(starts, np.diff(bounds)), ends


def joined_coefficients(solutions: Sequence[Solution[WaveSums]], outputs: int = 1) -> Any:
    """The coefficients of several solutions on the waves of all of them, as one sparse matrix."""
    from scipy.sparse import coo_array

    sizes = np.array([len(s.data.K) * outputs for s in solutions])
    total, starts = int(sizes.sum()), np.cumsum(sizes) - sizes
    ends = np.cumsum([0, *(s.invariant_dim for s in solutions)])
    # Each solution has its cosines before its sines; together, all cosines before all sines.
    rows = [
        np.where(s.data.rows < size, s.data.rows + start, s.data.rows - size + start + total)
        for s, size, start in zip(solutions, sizes, starts, strict=True)
    ]
    columns = [s.data.columns + end for s, end in zip(solutions, ends, strict=False)]
    values = np.concatenate([s.data.values for s in solutions])
    places = (np.concatenate(rows), np.concatenate(columns))
    return coo_array((values, places), shape=(2 * total, int(ends[-1]))).tocsr()


def _restricted(
    actions: Sequence[FrequencyAction], still: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], list[FrequencyAction]]:
    """The frequencies whose whole orbit is `still`, and the actions on them."""
    size = -1
    while size != still.sum():  # g moves the fields too: k stays only if all that it is moved to stays
        size = still.sum()
        for action in actions:
            still = still & still[action.target]
    place = np.cumsum(still) - 1
    return still, [FrequencyAction(place[a.target[still]], a.sign[still], a.phase[still], a.modulus) for a in actions]


def real_invariants(
    h: int, actions: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]]
) -> tuple[int, tuple[NDArray[Any], NDArray[Any], Array]]:
    """Orthonormal invariants in the basis √2cos, √2sin of h frequencies: how many; rows, columns, entries."""
    modulus = lcm(*(N for *_, N in actions)) if actions else 1
    kind = np.int64 if modulus < 2**61 else object
    targets, phases = [], []
    for target, sign, phase, N in actions:
        # Function k < h is e_k, function h + k is e_{-k}.
        plus = np.where(sign > 0, target, target + h)
        minus = np.where(sign > 0, target + h, target)
        scaled = phase.astype(kind) * (modulus // N)
        targets.append(np.concatenate([plus, minus]))
        phases.append(np.concatenate([scaled, -scaled % modulus]))
    found = orbits(2 * h, targets, phases, modulus)
    opposite = np.concatenate([np.arange(h, 2 * h), np.arange(h)])
    partner = found.label[opposite[found.first]]  # the orbit of -k, for one k of each orbit
    own = partner == np.arange(found.count)
    chosen = own | (partner > np.arange(found.count))  # one orbit of each pair of opposite ones
    # An orbit that is its own opposite: c_k c_{-k} is one constant, and half its phase makes the sum real.
    half_turn = np.zeros(found.count)
    half_turn[own] = _turns(found.phase[opposite[found.first[own]]], modulus) / 2
    columns = np.cumsum(np.where(chosen, np.where(own, 1, 2), 0)) - np.where(own, 1, 2)
    k = np.flatnonzero(found.label >= 0)
    k = k[chosen[found.label[k]]]
    label = found.label[k]
    angle = 2 * np.pi * (_turns(found.phase[k], modulus) - half_turn[label])
    row, sign = np.where(k < h, k, k - h), np.where(k < h, 1.0, -1.0)
    # Σ cos(±2πk·u + angle)/√|O| over an orbit that is its own opposite; otherwise √2 times that, and its sine.
    scale = np.where(own[label], np.sqrt(0.5), 1.0) / np.sqrt(found.size[label])
    pair = ~own[label]
    entries = [
        (row, columns[label], scale * np.cos(angle)),
        (row + h, columns[label], -sign * scale * np.sin(angle)),
        (row[pair], columns[label[pair]] + 1, scale[pair] * np.sin(angle[pair])),
        (row[pair] + h, columns[label[pair]] + 1, (sign * scale * np.cos(angle))[pair]),
    ]
    rows, cols, values = (np.concatenate([entry[i] for entry in entries]) for i in range(3))
    count = int(np.where(chosen, np.where(own, 1, 2), 0).sum())
    kept = np.abs(values) >= 1e-15  # cos(π/2) is zero
    return count, (rows[kept], cols[kept], values[kept])


def _turns(phase: NDArray[Any], modulus: int) -> Array:
    return (phase / modulus).astype(float)
