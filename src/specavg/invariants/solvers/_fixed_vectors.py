"""What solvers share whose invariants are columns of coefficients of the eigenfunctions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from specavg.functions._combinations import Blockwise
from specavg.functions._functions import Array, Functions
from specavg.functions._vector_functions import VectorFunctions
from specavg.invariants.solvers._solver import Solution, StoringSolver
from specavg.invariants.solvers._stored_arrays import orthonormal
from specavg.spaces import Eigenspace


class FixedVectorSolver(StoringSolver[Array]):
    """Solutions hold Q, of shape (m, r), with orthonormal columns."""

    def fixed(
        self, eigenspace: Eigenspace, Q: Array, residual: float = 0.0, gap: float = inf, inner_products: int = 0
    ) -> Solution[Array]:
        """The solution with the columns of `Q`."""
        Q = np.ascontiguousarray(Q)
        return Solution(eigenspace, Q.shape[1], self, Q, residual, gap, inner_products, {"Q": Q})

    def restore(self, eigenspace: Eigenspace, arrays: Mapping[str, Array]) -> Solution[Array]:
        return self.fixed(eigenspace, orthonormal(arrays, "Q", eigenspace.dim))

    def functions(self, solutions: Sequence[Solution[Array]]) -> Functions | VectorFunctions:
        kept = [s for s in solutions if s.invariant_dim]
        functions = self.space.functions([s.eigenspace for s in kept])
        return Blockwise(functions, [(s.eigenspace.dim, s.data) for s in kept])
