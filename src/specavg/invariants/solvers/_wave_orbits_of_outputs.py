"""Equivariant functions on a torus whose outputs are permuted up to sign: orbits of waves, exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

from specavg.functions._trigonometric_sums import TrigonometricSums
from specavg.functions._vector_functions import CombinedOutputs, VectorFunctions
from specavg.groups import Representation
from specavg.invariants._fixed_space import fixed_space
from specavg.invariants._split_functions import split_functions
from specavg.invariants.solvers._frequency_orbits import WaveSums, joined_coefficients, real_invariants
from specavg.invariants.solvers._output_solver import OutputSolver, eigenspace_below
from specavg.invariants.solvers._solver import QUICK, Solution
from specavg.isometries import SignedPermutation
from specavg.spaces import Eigenspace, Space, Torus


@final
class WaveOrbitsOfOutputs(OutputSolver[WaveSums]):
    """Orbits of (frequency, output) under integer matrices and signed permutations, with exact rational phases."""

    name: ClassVar[str] = "orbits"

    @classmethod
    def carries(cls, space: Space, output: Representation) -> bool:
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
        if V.dim == 1:  # constants, √½ times √2 cos 0
            fixed = fixed_space(self.output.images, size=p).basis  # of ρ(g), so of ρ(g)ᵀ
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
