"""The registry of cases: every space and every catalogue group, with the laws to hold on each.

A new space, or a new function of the catalogue, needs one line here: `case(space, function, *arguments)`.
`test_laws.py` fails until it has one, and then runs every law of `specavg.testing` on it.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups, isometries, spaces
from specavg.groups import Group
from specavg.isometries import fields


@dataclass(frozen=True)
class Case:
    space: spaces.Space
    group: Group
    maker: str  # the function of the catalogue that made the group
    max_functions: int = 60
    order: str = "eigenvalue"
    homogeneous: bool = True  # whether all points of the space are alike

    def __str__(self) -> str:
        order = "" if self.order == "eigenvalue" else f"-{self.order}"
        return f"{self.space!r}-{self.group!r}{order}".replace(" ", "")


def case(space, maker, *arguments, max_functions=60, order="eigenvalue", homogeneous=True):
    """One (space, group) pair: the group is `maker(*arguments)`."""
    return Case(space, maker(*arguments), maker.__name__, max_functions, order, homogeneous)


# --- groups given by matrices -------------------------------------------------------------------------


def reflection_group(name, *edges, rank):
    """The finite reflection group of a Coxeter diagram with edges (i, j, m), as floating-point matrices."""
    m = np.full((rank, rank), 2)
    for i, j, order in edges:
        m[i, j] = m[j, i] = order
    gram = -np.cos(np.pi / m)
    np.fill_diagonal(gram, 1.0)
    roots = np.linalg.cholesky(gram)  # rows: unit normals at the right angles
    return Group([np.eye(rank) - 2 * np.outer(r, r) for r in roots], name)


H4 = reflection_group("H4", (0, 1, 5), (1, 2, 3), (2, 3, 3), rank=4)
E8 = reflection_group("E8", (0, 1, 3), (1, 2, 3), (2, 3, 3), (3, 4, 3), (4, 5, 3), (5, 6, 3), (4, 7, 3), rank=8)


def _mathieu():
    """M24 on the projective line over GF(23), ∞ being the last coordinate: x+1, −1/x, and x³/9 or 9x³."""
    p = 23
    squares = {x * x % p for x in range(1, p)}
    shift = [(x + 1) % p for x in range(p)] + [p]
    turn = [p] + [-pow(x, -1, p) % p for x in range(1, p)] + [0]
    cube = [0] + [x**3 * (pow(9, -1, p) if x in squares else 9) % p for x in range(1, p)] + [p]
    return Group([isometries.permutation(image) for image in (shift, turn, cube)], "M24")


M24 = _mathieu()


def random_rotation(seed):
    return Rotation.random(random_state=seed).as_matrix()


def turned_mirror(seed):
    R = random_rotation(seed)
    return R @ np.diag([1.0, 1.0, -1.0]) @ R.T


def conjugate(group, R):
    """A group of R³ turned to other axes: exact matrices become floating-point ones."""
    return [R @ g.matrix @ R.T for g in group.generators]


def conjugate_field(A, R):
    """A field of R³ turned to other axes."""
    moved = R @ np.array(A) @ R.T
    return fields.rotation((moved - moved.T) / 2)


def planes_of_r4():
    """The rotations of the first two and of the last two coordinates."""
    planes = np.zeros((2, 4, 4))
    planes[0, :2, :2] = planes[1, 2:, 2:] = [[0, -1], [1, 0]]
    return planes


# --- the registry ---------------------------------------------------------------------------------------

_TURNED = conjugate(groups.point_group("T"), random_rotation(1))
_GLIDE = [
    isometries.affine([[1, 0], [0, -1]], [Fraction(1, 2), 0]),
    isometries.affine([[-1, 0], [0, -1]], [0, 0]),
]
_MIXED = [isometries.signed_permutation([1, 0, 2], [1, -1, 1]), isometries.permutation([2, 1, 0])]
_IMPROPER = [isometries.left_right(turned_mirror(4), turned_mirror(5))]
_HEXAGON = [isometries.affine([[0, -1], [1, 1]], [0, 0])]
FACE_CENTRED = groups.reciprocal_lattice(groups.primitive_lattice(216, np.eye(3)))
_QUINTIC = [Rotation.from_rotvec([0, 0, 2 * np.pi / 5]).as_matrix()[:2, :2]]
_TURNED_AXIS = [conjugate_field([[0, -2, 0], [2, 0, 0], [0, 0, 0]], random_rotation(2))]  # in the plane of a mirror
_TWO_PLANES = [fields.rotation(plane) for plane in planes_of_r4()]
_HOPF = [_TWO_PLANES[0] + _TWO_PLANES[1]]
_CENTRED = groups.Group([isometries.shift([Fraction(1, 2), Fraction(1, 2)])], "centred")
_MIRROR = groups.Group([isometries.signed_permutation([0, 1, 2], [1, 1, -1])], "mirror")

CASES = [
    # tori
    case(sa.Torus(2), groups.trivial, 2),
    case(sa.Torus(3), groups.sign_flips, 3),
    case(sa.Torus(3), groups.symmetric, 3),
    case(sa.Torus(4), groups.alternating, 4),
    case(sa.Torus(3), groups.hyperoctahedral, 3),
    case(sa.Torus(4), groups.cyclic_shifts, 4),
    case(sa.Torus(5), groups.dihedral_shifts, 5),
    case(sa.Torus(1), groups.cyclic, 4),
    case(sa.Torus(2, period=[1.0, 3.0]), groups.sign_flips, 2),
    case(sa.Torus(3, period=[1.0, 1.0, 2.5]), groups.direct_product, groups.symmetric(2), groups.cyclic(3)),
    case(sa.Torus(2), groups.Group, _GLIDE, "p2gg-like"),
    case(sa.Torus(4), groups.alternating, 4, order="few coordinates"),
    case(sa.Torus(4), groups.cyclic_shifts, 4, order="few coordinates"),
    case(sa.Torus(3, period=[1.0, 1.0, 2.5]), groups.sign_flips, 3, order="few coordinates"),
    case(sa.Torus(3), groups.hyperoctahedral, 3, order="degree"),
    case(sa.Torus(lattice=[[1, 0], [0.5, np.sqrt(0.75)]]), groups.Group, _HEXAGON, "six-fold axis"),
    case(sa.Circle(), groups.cyclic, 6),
    case(sa.Circle(), groups.dihedral, 5),
    case(sa.Circle(), groups.cyclic, 10**12),
    # spheres
    case(sa.Sphere(2), groups.Group, _QUINTIC, "five-fold axis"),
    case(sa.Sphere(3), groups.trivial, 3),
    case(sa.Sphere(4), groups.sign_flips, 4),
    case(sa.Sphere(4), groups.symmetric, 4),
    case(sa.Sphere(5), groups.alternating, 5),
    case(sa.Sphere(4), groups.hyperoctahedral, 4),
    case(sa.Sphere(5), groups.cyclic_shifts, 5),
    case(sa.Sphere(4), groups.dihedral_shifts, 4),
    case(sa.Sphere(3), groups.point_group, "D6h"),
    case(sa.Sphere(3), groups.point_group, "Oh"),
    case(sa.Sphere(3), groups.point_group, "Ih"),
    case(sa.Sphere(5), groups.direct_product, groups.symmetric(2), groups.sign_flips(3)),
    case(sa.Sphere(3), groups.Group, _MIXED, "signed permutations"),
    case(sa.Sphere(3), groups.Group, _TURNED, "T on other axes"),
    Case(sa.Sphere(4), H4, "Group"),
    Case(sa.Sphere(24), M24, "Group"),
    # rotations, frames and crystals
    case(spaces.Rotations(), groups.crystal_symmetry, "O", "D2", max_functions=84),
    case(spaces.Rotations(), groups.Group, _IMPROPER, "a mirror on both sides"),
    case(spaces.Stiefel(4, 2), groups.symmetric, 4),
    case(spaces.Stiefel(4, 2), groups.left_right, groups.cyclic_shifts(4), groups.hyperoctahedral(2)),
    case(sa.Torus(lattice=np.eye(2)), groups.plane_group, "p4gm"),
    case(sa.Torus(lattice=np.diag([1.0, 1.0, 0.7])), groups.space_group, 136),
    case(sa.Torus(lattice=FACE_CENTRED), groups.reciprocal_point_group, 216),
    # intervals and boxes
    case(sa.Interval(), groups.sign_flips, 1, max_functions=20, homogeneous=False),
    case(sa.Interval(0.5, 3.0), groups.sign_flips, 1, max_functions=20, homogeneous=False),
    case(sa.Power(sa.Interval(0.0, 2.0), 4), groups.symmetric, 4, order="degree", homogeneous=False),
    case(sa.Power(sa.Interval(0.0, 2.0), 3), groups.wreath, groups.sign_flips(1), 3, homogeneous=False),
    case(sa.Power(sa.Interval(0.0, 2.0), 4), groups.cyclic_shifts, 4, order="degree", homogeneous=False),
    # groups with a continuous part
    case(sa.Torus(2), groups.shifts, [1, -1]),
    case(sa.Torus(3), groups.joined, groups.shifts([1, 1, 1]), groups.symmetric(3)),
    case(sa.Torus(2), groups.Group, _GLIDE, [fields.shift([0, 1])]),
    case(sa.Sphere(3), groups.point_group, "C∞v"),
    case(sa.Sphere(3), groups.point_group, "D∞"),
    case(sa.Sphere(3), groups.point_group, "Kh"),
    case(sa.Sphere(3), groups.Group, [turned_mirror(2)], _TURNED_AXIS),
    case(sa.Sphere(4), groups.special_orthogonal, 4),
    case(sa.Sphere(5), groups.direct_product, groups.special_orthogonal(3), groups.symmetric(2)),
    case(sa.Sphere(4), groups.Group, [isometries.permutation([2, 3, 0, 1])], _TWO_PLANES),
    case(sa.Sphere(4), groups.Group, [], _HOPF),
    case(spaces.Rotations(), groups.crystal_symmetry, "O", "C∞", max_functions=165),
    case(spaces.Rotations(), groups.crystal_symmetry, "D6", "D∞", max_functions=84),
    case(spaces.Stiefel(4, 2), groups.Group, [], _TWO_PLANES),
    case(spaces.Stiefel(4, 2), groups.left_right, groups.trivial(4), groups.orthogonal(2)),
    case(sa.Power(sa.Sphere(3), 2), groups.diagonal, groups.orthogonal(3), 2, max_functions=100),
    case(sa.Power(sa.Sphere(3), 3), groups.joined, groups.diagonal(groups.orthogonal(3), 3), groups.symmetric(3)),
    case(sa.Power(sa.Sphere(3), 3), groups.diagonal, groups.special_orthogonal(3), 3, max_functions=120),
    case(
        sa.Power(sa.Sphere(3), 3),
        groups.joined,
        groups.diagonal(groups.special_orthogonal(3), 3),
        groups.direct_product(groups.symmetric(2), groups.symmetric(1)),
    ),
    case(sa.Power(sa.Circle(), 3), groups.joined, groups.diagonal(groups.shifts([1]), 3), groups.symmetric(3)),
    case(sa.Power(sa.Sphere(3), 2), groups.wreath, groups.point_group("C∞"), 2),
    case(sa.Sphere(4), groups.orthogonal, 4, order="few coordinates"),
    # products and powers
    case(sa.Product(sa.Circle(), sa.Sphere(3)), groups.direct_product, groups.cyclic(3), groups.point_group("D3")),
    case(sa.Power(sa.Sphere(3), 3), groups.symmetric, 3, max_functions=20),
    case(sa.Power(sa.Sphere(3), 2), groups.wreath, _MIRROR, 2),
    case(sa.Power(sa.Sphere(3), 2), groups.diagonal, groups.point_group("D3"), 2),
    case(sa.Circle(), groups.joined, groups.cyclic(2), groups.dihedral(3)),
    case(sa.Power(sa.Circle(), 4), groups.wreath, groups.dihedral(3), 4),
    case(sa.Sphere(3), groups.point_group, "D3d", order="few coordinates"),
    case(sa.Power(sa.Sphere(3), 2), groups.wreath, _MIRROR, 2, order="few coordinates"),
    case(sa.Power(sa.Torus(2), 2), groups.wreath, _CENTRED, 2, order="few coordinates"),
    case(sa.Power(sa.Circle(), 4), groups.alternating, 4, order="few coordinates"),
    case(
        sa.Product(sa.Power(sa.Circle(), 2), sa.Torus(2)),
        groups.direct_product,
        groups.symmetric(2),
        groups.sign_flips(2),
        order="few coordinates",
    ),
]


def case_id(entry):
    return str(entry)
