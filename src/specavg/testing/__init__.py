"""Laws: what every space, group and invariant basis must satisfy, for people who extend or check.

`check_space` runs all of them; each is also a function of its own. A law that does not hold raises `LawBroken`,
an `AssertionError` with the law's name and the residual, so all of them can be used in tests as they are.
"""

from specavg.testing._check_space import check_space
from specavg.testing._equivariant_laws import (
    check_equivariant_functions,
    check_multiplicities,
    check_tangency,
    check_vector_orthonormality,
)
from specavg.testing._field_laws import check_antisymmetry, check_bracket, check_flow, check_velocity, random_fields
from specavg.testing._geometry_laws import check_completeness, check_energies, check_samples, check_weyl
from specavg.testing._gradient_laws import check_gradient, check_gradient_equivariance
from specavg.testing._invariant_laws import (
    check_invariance,
    check_mean_character,
    check_projector,
    check_solvers_agree,
    solver_names,
)
from specavg.testing._law import Checked, LawBroken
from specavg.testing._projectors import average_projector, chain_projector, paper_projector
from specavg.testing._space_laws import (
    check_action,
    check_addition_theorem,
    check_composition,
    check_equivariance,
    check_orthogonality,
    check_orthonormality,
    check_spectrum,
)

__all__ = [
    "Checked",
    "LawBroken",
    "average_projector",
    "chain_projector",
    "check_action",
    "check_addition_theorem",
    "check_antisymmetry",
    "check_bracket",
    "check_completeness",
    "check_composition",
    "check_energies",
    "check_equivariance",
    "check_equivariant_functions",
    "check_flow",
    "check_gradient",
    "check_gradient_equivariance",
    "check_invariance",
    "check_mean_character",
    "check_multiplicities",
    "check_orthogonality",
    "check_orthonormality",
    "check_projector",
    "check_samples",
    "check_solvers_agree",
    "check_space",
    "check_spectrum",
    "check_tangency",
    "check_vector_orthonormality",
    "check_velocity",
    "check_weyl",
    "paper_projector",
    "random_fields",
    "solver_names",
]
