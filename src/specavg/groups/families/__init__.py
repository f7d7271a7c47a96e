"""Families of groups: a structure each, those of one kind in one file.

A structure is a small immutable value that says what a group is. It gives the order, random elements, the
elements one by one and, where the action on floating-point numbers is exact, canonical points. Closed forms
elsewhere in the library dispatch on these classes and never on the name of a group. Every structure is
rebuilt from its public fields.
"""

from specavg.groups._structure import Structure
from specavg.groups.families._affine_group import AffineGroup
from specavg.groups.families._connected import CircleSubgroup, OrthogonalGroup, Semisimple, ShiftGroup
from specavg.groups.families._cyclic import Cyclic, CyclicShifts, Dihedral, DihedralShifts
from specavg.groups.families._made_of_groups import Composite, CrystalSymmetry, Diagonal, DirectProduct, Wreath
from specavg.groups.families._permutations import (
    Alternating,
    Hyperoctahedral,
    SignedSubgroup,
    SignFlips,
    Symmetric,
    Trivial,
    WithInversion,
)
from specavg.groups.families._point_group import AxialGroup, PointGroup, Turn

__all__ = [
    "AffineGroup",
    "Alternating",
    "AxialGroup",
    "CircleSubgroup",
    "Composite",
    "CrystalSymmetry",
    "Cyclic",
    "CyclicShifts",
    "Diagonal",
    "Dihedral",
    "DihedralShifts",
    "DirectProduct",
    "Hyperoctahedral",
    "OrthogonalGroup",
    "PointGroup",
    "Semisimple",
    "ShiftGroup",
    "SignFlips",
    "SignedSubgroup",
    "Structure",
    "Symmetric",
    "Trivial",
    "Turn",
    "WithInversion",
    "Wreath",
]
