"""Flat tori of crystal lattices: eigenvalues, isometries, and space groups acting on them."""

from itertools import islice

import numpy as np
import pytest

from specavg import groups, isometries
from specavg.spaces import Torus

TOLERANCE = 1e-12
HEXAGONAL = np.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)]])
CUBIC = 4.0 * np.eye(3)
TETRAGONAL = np.diag([4.7, 4.7, 3.2])
HEXAGONAL_3 = np.array([[3.2, 0.0, 0.0], [-1.6, 3.2 * np.sqrt(0.75), 0.0], [0.0, 0.0, 5.2]])
MONOCLINIC = np.array([[5.0, 0.0, 0.0], [0.0, 6.1, 0.0], [-1.3, 0.0, 4.4]])
ORTHORHOMBIC = np.diag([3.1, 4.3, 5.9])

CRYSTALS = [
    (1, MONOCLINIC), (14, MONOCLINIC), (15, MONOCLINIC), (62, ORTHORHOMBIC), (70, ORTHORHOMBIC),
    (136, TETRAGONAL), (141, TETRAGONAL), (152, HEXAGONAL_3), (166, HEXAGONAL_3), (194, HEXAGONAL_3),
    (198, CUBIC), (225, CUBIC), (227, CUBIC), (230, CUBIC),
]  # fmt: skip

PLANE = [(name, HEXAGONAL) for name in ("p3", "p3m1", "p31m", "p6", "p6m")] + [
    (name, np.eye(2)) for name in ("p1", "p2", "pm", "pg", "cm", "pmm", "pmg", "pgg", "cmm", "p4", "p4m", "p4g")
]


def space_group(number):
    pytest.importorskip("spglib")
    return groups.space_group(number)


def check_action(space, G, count):
    X = space.sample(20, 0)
    for V in islice(space.eigenspaces(), count):
        values = space.evaluate(V, X)
        for g in G.generators:
            D = space.representation(g, V)
            assert np.abs(space.evaluate(V, space.act(g, X)) - values @ D).max() < TOLERANCE
            assert np.abs(D @ D.T - np.eye(V.dim)).max() < TOLERANCE
        if len(G.generators) > 1:
            g, h = G.generators[:2]
            both = space.representation(h, V) @ space.representation(g, V)
            assert np.abs(space.representation(g @ h, V) - both).max() < TOLERANCE


@pytest.mark.parametrize("number, lattice", CRYSTALS)
def test_space_groups_act_by_isometries(number, lattice):
    check_action(Torus(lattice=lattice), space_group(number), 8)


@pytest.mark.parametrize("name, lattice", PLANE)
def test_plane_groups_act_by_isometries(name, lattice):
    check_action(Torus(lattice=lattice), groups.plane_group(name), 10)


@pytest.mark.parametrize("number, lattice", [(136, TETRAGONAL), (166, HEXAGONAL_3), (225, CUBIC), (15, MONOCLINIC)])
def test_point_groups_act_on_the_brillouin_zone(number, lattice):
    pytest.importorskip("spglib")
    zone = Torus(lattice=groups.reciprocal_lattice(groups.primitive_lattice(number, lattice)))
    check_action(zone, groups.reciprocal_point_group(number), 8)


@pytest.mark.parametrize("lattice", [HEXAGONAL, MONOCLINIC, HEXAGONAL_3])
def test_basis_is_orthonormal_by_exact_quadrature(lattice):
    space = Torus(lattice=lattice)
    spaces = list(islice(space.eigenspaces(), 8))
    X, w = space.quadrature(spaces[-1].eigenvalue)
    values = np.concatenate([space.evaluate(V, X) for V in spaces], axis=1)
    assert np.abs((values.T * w) @ values - np.eye(values.shape[1])).max() < TOLERANCE
    for V in spaces:
        assert np.abs((space.evaluate(V, X) ** 2).sum(axis=1) / V.dim - 1).max() < TOLERANCE


def test_hexagonal_eigenvalues_have_sixfold_multiplicities():
    space = Torus(lattice=HEXAGONAL)
    unit = 16 * np.pi**2 / 3
    found = [(V.eigenvalue / unit, V.dim) for V in islice(space.eigenspaces(), 6)]
    assert [dim for _, dim in found] == [1, 6, 6, 6, 12, 6]
    assert np.allclose([value for value, _ in found], [0, 1, 3, 4, 7, 9])


def test_a_lattice_and_a_box_agree():
    lattice, box = Torus(lattice=ORTHORHOMBIC), Torus(3, period=np.diag(ORTHORHOMBIC))
    assert lattice.volume == pytest.approx(box.volume)
    for V, W in zip(islice(lattice.eigenspaces(), 12), box.eigenspaces(), strict=False):
        assert V.eigenvalue == pytest.approx(W.eigenvalue)
        assert V.dim == W.dim


def test_eigenvalues_do_not_depend_on_the_choice_of_vectors():
    change = np.array([[1, 2, 0], [0, 1, 0], [1, 0, 1]])  # of determinant one
    for V, W in zip(
        islice(Torus(lattice=MONOCLINIC).eigenspaces(), 12),
        Torus(lattice=change @ MONOCLINIC).eigenspaces(),
        strict=False,
    ):
        assert V.eigenvalue == pytest.approx(W.eigenvalue)
        assert V.dim == W.dim


def test_a_lattice_beside_periods_is_refused():
    for period in (3.0, [2.0, 2.0]):
        with pytest.raises(ValueError, match="lattice or periods, and both were given"):
            Torus(period=period, lattice=np.eye(2))


def test_rounding_of_the_lattice_splits_no_orbit():
    # Lattice vectors of files have ten digits or fewer; the group's orbits must stay in one eigenspace.
    rng = np.random.default_rng(0)
    G = groups.plane_group("p6m")
    for _ in range(5):
        rough = HEXAGONAL + 3e-11 * rng.standard_normal((2, 2))
        space = Torus(lattice=rough)
        for V, W in zip(islice(space.eigenspaces(), 12), Torus(lattice=HEXAGONAL).eigenspaces(), strict=False):
            assert V.dim == W.dim
            for g in G.generators:
                D = space.representation(g, V)
                assert np.abs(D @ D.T - np.eye(V.dim)).max() < TOLERANCE


def test_eigenvalues_closer_than_a_digit_are_still_apart():
    space = Torus(lattice=np.diag([1.0, 1.0 + 1e-6]))
    assert [V.dim for V in islice(space.eigenspaces(), 4)] == [1, 2, 2, 4]


def test_maps_that_are_no_isometries_are_refused_with_the_residual():
    quarter = isometries.affine([[0, -1], [1, 0]], [0, 0])
    with pytest.raises(ValueError, match="AᵀMA differs from the metric M by 1 of"):
        Torus(lattice=HEXAGONAL).check_isometry(quarter)
    sixth = groups.plane_group("p6").generators[0]
    with pytest.raises(ValueError, match="AᵀMA differs"):
        Torus(lattice=np.eye(2)).check_isometry(sixth)
    with pytest.raises(ValueError, match="AᵀMA differs"):
        Torus(lattice=TETRAGONAL).check_isometry(isometries.permutation([1, 2, 0]))


@pytest.mark.parametrize(
    "lattice, words",
    [(np.ones((2, 2)), "dependent"), (np.ones((2, 3)), "square"), ([[np.nan, 0], [0, 1]], "finite")],
)
def test_bad_lattices_are_refused(lattice, words):
    with pytest.raises(ValueError, match=words):
        Torus(lattice=lattice)
