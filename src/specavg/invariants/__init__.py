"""Invariant bases: what survives of a space under a group."""

from specavg.invariants._basis import (
    InvariantBasis,
    Row,
    default_group,
    default_space,
    invariant_basis,
)
from specavg.invariants._cutoff import Cutoff
from specavg.invariants._fixed_space import FixedSpace, fixed_space
from specavg.invariants._orders import mixed_spaces
from specavg.invariants._restored import restored_basis
from specavg.invariants._tape import TapeError

__all__ = [
    "Cutoff",
    "FixedSpace",
    "InvariantBasis",
    "Row",
    "TapeError",
    "default_group",
    "default_space",
    "fixed_space",
    "invariant_basis",
    "mixed_spaces",
    "restored_basis",
]
