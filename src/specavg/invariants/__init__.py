"""Invariant bases: what survives of a space under a group. Each name is imported when it is first asked for."""

from typing import TYPE_CHECKING

from specavg._lazy_names import lazy_names

if TYPE_CHECKING:
    from specavg.invariants._acting_group import default_group
    from specavg.invariants._basis import InvariantBasis, invariant_basis
    from specavg.invariants._basis_table import Cutoff, Row
    from specavg.invariants._certified_null_space import FixedSpace
    from specavg.invariants._equivariant_basis import EquivariantBasis, equivariant_basis
    from specavg.invariants._fixed_space import fixed_space
    from specavg.invariants._invariant_tensors import InvariantTensors, invariant_tensors
    from specavg.invariants._plan import Plan, PlanRow, plan
    from specavg.invariants._restored_basis import restored_basis, restored_equivariant_basis
    from specavg.invariants.solvers._stored_arrays import StoredArraysError
    from specavg.spaces._order_of_functions import (
        ByDegree,
        ByEigenvalue,
        ByType,
        FewCoordinates,
        Order,
        default_order,
        further_orders,
    )

__all__ = [
    "ByDegree",
    "ByEigenvalue",
    "ByType",
    "Cutoff",
    "EquivariantBasis",
    "FewCoordinates",
    "FixedSpace",
    "InvariantBasis",
    "InvariantTensors",
    "Order",
    "Plan",
    "PlanRow",
    "Row",
    "StoredArraysError",
    "default_group",
    "default_order",
    "equivariant_basis",
    "fixed_space",
    "further_orders",
    "invariant_basis",
    "invariant_tensors",
    "plan",
    "restored_basis",
    "restored_equivariant_basis",
]

__getattr__ = lazy_names(
    __name__,
    {
        "._acting_group": "default_group",
        "._basis": "InvariantBasis invariant_basis",
        "._basis_table": "Cutoff Row",
        "._certified_null_space": "FixedSpace",
        "._equivariant_basis": "EquivariantBasis equivariant_basis",
        "._fixed_space": "fixed_space",
        "._invariant_tensors": "InvariantTensors invariant_tensors",
        "._plan": "Plan PlanRow plan",
        "._restored_basis": "restored_basis restored_equivariant_basis",
        ".solvers._stored_arrays": "StoredArraysError",
        "specavg.spaces._order_of_functions": (
            "ByDegree ByEigenvalue ByType FewCoordinates Order default_order further_orders"
        ),
    },
)


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
