"""Groups: who acts.

A `Group` is its generators, a name and, where it is known, its structure. The lowercase functions are the
catalogue: symmetric, sign_flips, point_group and others. Orders are exact, random elements are uniform, and
neither needs the group to be listed.
"""

from specavg.groups._catalogue import (
    alternating,
    cyclic,
    cyclic_shifts,
    diagonal,
    dihedral,
    dihedral_shifts,
    direct_product,
    hyperoctahedral,
    joined,
    orthogonal,
    shifts,
    sign_flips,
    special_orthogonal,
    symmetric,
    trivial,
    wreath,
)
from specavg.groups._crystal_symmetry import crystal_symmetry
from specavg.groups._group import Group
from specavg.groups._index_symmetry import IndexSymmetry, index_symmetry
from specavg.groups._minimal_generators import minimal_generators
from specavg.groups._named_outputs import representation
from specavg.groups._point_group_names import point_group
from specavg.groups._representation import Representation
from specavg.groups._space_groups import (
    plane_group,
    primitive_lattice,
    reciprocal_lattice,
    reciprocal_point_group,
    space_group,
)
from specavg.groups._two_sided_groups import left_right

__all__ = [
    "Group",
    "IndexSymmetry",
    "Representation",
    "alternating",
    "crystal_symmetry",
    "cyclic",
    "cyclic_shifts",
    "diagonal",
    "dihedral",
    "dihedral_shifts",
    "direct_product",
    "hyperoctahedral",
    "index_symmetry",
    "joined",
    "left_right",
    "minimal_generators",
    "orthogonal",
    "plane_group",
    "point_group",
    "primitive_lattice",
    "reciprocal_lattice",
    "reciprocal_point_group",
    "representation",
    "shifts",
    "sign_flips",
    "space_group",
    "special_orthogonal",
    "symmetric",
    "trivial",
    "wreath",
]


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
