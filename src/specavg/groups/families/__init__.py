"""Families of groups: one structure a file.

A structure is a small immutable value that says what a group is. It gives the order, random elements, the
elements one by one and, where the action on floating-point numbers is exact, canonical points. Closed forms
elsewhere in the library dispatch on these classes and never on the name of a group. Every structure is
rebuilt from its public fields.
"""

from specavg.groups._structure import Structure
from specavg.groups.families._affine_group import AffineGroup
from specavg.groups.families._alternating import Alternating
from specavg.groups.families._axial_group import AxialGroup
from specavg.groups.families._circle import Cyclic, Dihedral
from specavg.groups.families._circle_subgroup import CircleSubgroup
from specavg.groups.families._composite import Composite
from specavg.groups.families._diagonal import Diagonal
from specavg.groups.families._direct_product import DirectProduct
from specavg.groups.families._hyperoctahedral import Hyperoctahedral
from specavg.groups.families._orthogonal_group import OrthogonalGroup
from specavg.groups.families._point_group import PointGroup
from specavg.groups.families._ring import CyclicShifts, DihedralShifts
from specavg.groups.families._semisimple import Semisimple
from specavg.groups.families._shift_group import ShiftGroup
from specavg.groups.families._sign_flips import SignFlips
from specavg.groups.families._signed_subgroup import SignedSubgroup
from specavg.groups.families._symmetric import Symmetric
from specavg.groups.families._trivial import Trivial
from specavg.groups.families._turns import Turn
from specavg.groups.families._two_sided import CrystalSymmetry
from specavg.groups.families._with_inversion import WithInversion
from specavg.groups.families._wreath import Wreath

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
