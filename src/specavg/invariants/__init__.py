"""Invariant bases: what survives of a space under a group."""

from specavg.invariants._basis import (
    Cutoff,
    InvariantBasis,
    Row,
    default_group,
    default_space,
    invariant_basis,
)
from specavg.invariants._fixed_space import FixedSpace, fixed_space

__all__ = [
    "Cutoff",
    "FixedSpace",
    "InvariantBasis",
    "Row",
    "default_group",
    "default_space",
    "fixed_space",
    "invariant_basis",
]
