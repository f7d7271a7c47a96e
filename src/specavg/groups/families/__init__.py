"""Families of groups: a structure each, those of one kind in one file.

A structure is a small immutable value that says what a group is. It gives the order, random elements, the
elements one by one and, where the action on floating-point numbers is exact, canonical points. Closed forms
elsewhere in the library dispatch on these classes and never on the name of a group. Every structure is
rebuilt from its public fields.
"""

from specavg.groups._structure import Structure
from specavg.groups.families._affine_group import AffineGroup
from specavg.groups.families._circle import Cyclic, Dihedral
from specavg.groups.families._composite import Composite
from specavg.groups.families._connected import CircleSubgroup, Semisimple, ShiftGroup
from specavg.groups.families._direct_product import DirectProduct
from specavg.groups.families._of_copies import Diagonal, Wreath
from specavg.groups.families._orthogonal_group import OrthogonalGroup
from specavg.groups.families._permutations import Alternating, Hyperoctahedral, SignFlips, Symmetric, Trivial
from specavg.groups.families._point_group import AxialGroup, PointGroup
from specavg.groups.families._ring import CyclicShifts, DihedralShifts
from specavg.groups.families._signatures import SignedSubgroup, WithInversion
from specavg.groups.families._turns import Turn
from specavg.groups.families._two_sided import CrystalSymmetry

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
