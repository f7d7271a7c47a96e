"""Learn functions on manifolds that are exactly invariant to a group, from the group's generators alone.

Everything is imported when it is first used, so that ``import specavg`` costs little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specavg._lazy_names import lazy_names

__version__ = "0.2.0"

__all__ = [
    "Circle",
    "EquivariantKernelRidge",
    "Group",
    "Interval",
    "InvariantDensity",
    "InvariantFeatures",
    "InvariantKernelRidge",
    "InvariantPotential",
    "Power",
    "Product",
    "Rotations",
    "SpecAvgRegressor",
    "Sphere",
    "Stiefel",
    "Symmetrized",
    "Torus",
    "__version__",
    "baselines",
    "config",
    "crystals",
    "datasets",
    "discover_symmetry",
    "discovery",
    "equivariant_basis",
    "estimators",
    "experiments",
    "groups",
    "invariance_discrepancy",
    "invariant_basis",
    "invariant_tensors",
    "invariants",
    "io",
    "isometries",
    "load",
    "molecules",
    "plot",
    "spaces",
    "symmetry_test",
    "testing",
    "textures",
    "theory",
]

if TYPE_CHECKING:
    from specavg import (
        baselines,
        crystals,
        datasets,
        discovery,
        estimators,
        experiments,
        groups,
        invariants,
        io,
        isometries,
        molecules,
        plot,
        spaces,
        testing,
        textures,
        theory,
    )
    from specavg._config import config
    from specavg.discovery import discover_symmetry
    from specavg.estimators import (
        EquivariantKernelRidge,
        InvariantDensity,
        InvariantFeatures,
        InvariantKernelRidge,
        SpecAvgRegressor,
        Symmetrized,
        invariance_discrepancy,
        symmetry_test,
    )
    from specavg.groups import Group
    from specavg.invariants import equivariant_basis, invariant_basis, invariant_tensors
    from specavg.io import load
    from specavg.molecules import InvariantPotential
    from specavg.spaces import Circle, Interval, Power, Product, Rotations, Sphere, Stiefel, Torus

__getattr__ = lazy_names(
    __name__,
    {
        "._config": "config",
        ".discovery": "discover_symmetry",
        ".estimators": (
            "EquivariantKernelRidge InvariantDensity InvariantFeatures InvariantKernelRidge SpecAvgRegressor "
            "Symmetrized invariance_discrepancy symmetry_test"
        ),
        ".groups": "Group",
        ".invariants": "equivariant_basis invariant_basis invariant_tensors",
        ".io": "load",
        ".molecules": "InvariantPotential",
        ".spaces": "Circle Interval Power Product Rotations Sphere Stiefel Torus",
    },
    modules=(
        "baselines crystals datasets discovery estimators experiments groups invariants io isometries molecules plot "
        "spaces testing textures theory"
    ),
)


def __dir__() -> list[str]:
    return __all__
