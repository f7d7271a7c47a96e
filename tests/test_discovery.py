"""Discovery: lattices of subgroups, evidence, and the groups that data allow."""

from __future__ import annotations

import pickle
import re
from itertools import islice

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import specavg as sa
from specavg import groups
from specavg.cli._command_words import in_words_of_the_command
from specavg.discovery._discovery import group_label
from specavg.discovery._evidence import Decay, log_evidence
from specavg.discovery._finite_action import FiniteAction
from specavg.discovery._one_part_functions import one_part_functions
from specavg.discovery._subgroup_names import element_label
from specavg.discovery._subgroups import TooManySubgroups, lattice, subgroup_classes
from specavg.isometries import signed_permutation
from specavg.regression._information import Information

S2, OH = sa.Sphere(3), groups.point_group("Oh")


# --- subgroups ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space, group, classes, subgroups",  # counts from the literature (and GAP's table of marks library)
    [
        (sa.Torus(3), groups.symmetric(3), 4, 6),
        (sa.Torus(4), groups.symmetric(4), 11, 30),
        (sa.Torus(4), groups.alternating(4), 5, 10),
        (sa.Torus(5), groups.symmetric(5), 19, 156),
        (S2, OH, 33, 98),
        (S2, groups.point_group("I"), 9, 59),
        (sa.Torus(4), groups.sign_flips(4), 67, 67),
        (sa.Circle(), groups.dihedral(6), 10, 16),
    ],
    ids=str,
)
def test_number_of_subgroups(space, group, classes, subgroups):
    found = lattice(space, group)
    assert (len(found.classes), len(found.orders)) == (classes, subgroups)


def test_perfect_subgroups_are_found():
    assert 60 in lattice(sa.Torus(5), groups.symmetric(5)).orders  # A5 has no smaller normal subgroup to grow from


@pytest.mark.parametrize("group", [OH, groups.point_group("Ih"), groups.point_group("D6h")], ids=repr)
def test_products_are_those_of_the_isometries(group):
    action = FiniteAction.of(S2, group)
    X = S2.sample(4, random_state=0)
    rng = np.random.default_rng(0)
    for i, j in rng.integers(len(action.elements), size=(20, 2)):
        g, h, gh = (action.elements[k] for k in (i, j, action.products[i, j]))
        assert np.abs(S2.act(g, S2.act(h, X)) - S2.act(gh, X)).max() < 1e-12
    assert len(action.elements) == group.order


def test_every_member_of_a_class_is_a_subgroup_and_its_group_has_its_order():
    found = lattice(S2, OH)
    for i, members in enumerate(found.members):
        elements = np.flatnonzero(members)
        assert members[found.action.products[np.ix_(elements, elements)]].all()
        assert found.group(i).order == found.orders[i]


def test_subgroups_have_their_schoenflies_names():
    names = lattice(S2, OH).names
    assert None not in names
    assert len(set(names)) == 25  # of 33 classes, some differ by where their axes point only


def test_too_many_subgroups_are_refused():
    action = FiniteAction.of(sa.Torus(5), groups.sign_flips(5))
    with pytest.raises(TooManySubgroups, match="more than 100 subgroups"):
        subgroup_classes(action.products, limit=100)


def test_fixed_functions_are_those_of_the_invariant_basis():
    found = lattice(S2, OH)
    eigenspaces = tuple(islice(S2.eigenspaces(), 1, 6))
    X = S2.sample(60, random_state=1)
    values = S2.functions(eigenspaces).evaluate(X)
    for i, subspace in enumerate(found.fixed(eigenspaces)):
        basis = sa.invariant_basis(S2, found.group(i), max_eigenvalue=eigenspaces[-1].eigenvalue)
        ours, theirs = values @ subspace.Q, basis.evaluate(X)[:, 1:]
        assert ours.shape == theirs.shape
        if ours.shape[1]:
            assert np.abs(theirs @ np.linalg.lstsq(theirs, ours)[0] - ours).max() < 1e-11


# --- what the data say ----------------------------------------------------------------------------


def _problem(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    X = sa.Torus(2).sample(n, random_state=rng)
    V = tuple(islice(sa.Torus(2).eigenspaces(), 1, 4))
    columns = sa.Torus(2).functions(V).evaluate
    y = 3.0 + columns(X) @ rng.normal(size=columns(X).shape[1]) + noise(X, rng)
    return columns, X, y


def test_information_is_least_squares_where_noise_is_even():
    columns, X, y = _problem(300, lambda X, rng: 0.1 * rng.normal(size=len(X)))
    found = Information.of(columns, [(X, y)], None)
    Z = np.column_stack([np.ones(len(X)), columns(X)])
    coef, left = np.linalg.lstsq(Z, y)[:2]
    assert np.abs(np.linalg.solve(found.A, found.b) - coef[1:]).max() < 1e-12
    assert found.noise == pytest.approx(left[0] / (len(X) - Z.shape[1]), rel=1e-10)
    assert np.abs(np.linalg.inv(found.A) / (found.noise * np.linalg.inv(Z.T @ Z)[1:, 1:]) - 1).max() < 1e-8


def test_weights_are_relative_precisions():
    """Least squares of rows times √w, whose noise is even; half of the rows tell nothing, and are told apart."""
    columns, X, y = _problem(300, lambda X, rng: 0.1 * rng.normal(size=len(X)) * (1 + 30 * (np.arange(len(X)) % 2)))
    w = 1e-6 / (1 + 30 * (np.arange(300) % 2)) ** 2
    found = Information.of(columns, [(X, y, w)], None)
    root = np.sqrt(w / w.mean())
    Z = root[:, None] * np.column_stack([np.ones(len(X)), columns(X)])
    coef, left = np.linalg.lstsq(Z, root * y)[:2]
    assert np.abs(np.linalg.solve(found.A, found.b) - coef[1:]).max() < 1e-12
    assert found.noise == pytest.approx(left[0] / (len(X) - Z.shape[1]), rel=1e-10)
    assert np.abs(np.linalg.inv(found.A) / (found.noise * np.linalg.inv(Z.T @ Z)[1:, 1:]) - 1).max() < 1e-8
    halves = [(X[:100], y[:100], w[:100]), (X[100:], y[100:], w[100:])]
    y += 0.5 * np.random.default_rng(1).normal(size=300) * (X[:, 0] > 0.5)  # which the weights do not know
    scaled = [(X, y, 7 * w)]
    a, b = Information.of(columns, scaled, scaled), Information.of(columns, halves, halves)
    assert a.weight < 1
    assert a.weight == pytest.approx(b.weight, rel=1e-9)
    assert np.abs(a.A - b.A).max() < 1e-9 * np.abs(b.A).max()


def test_weights_help_to_discover():
    space, rng = sa.Sphere(3), np.random.default_rng(0)
    X, sigma = space.sample(400, rng), np.where(np.arange(400) % 2, 0.02, 3.0)
    y = X[:, 0] * X[:, 1] * X[:, 2] + sigma * rng.normal(size=400)
    group = sa.groups.point_group("Oh")
    found = sa.discover_symmetry(X, y, space, group, sample_weight=sigma**-2)
    assert found.group.order == 24
    assert sa.discover_symmetry(X, y, space, group).group.order != 24
    Z = space.sample(50, random_state=1)
    wanted = sa.InvariantKernelRidge(space, found.group).fit(X, y, sigma**-2).predict(Z)
    np.testing.assert_array_equal(found.model.predict(Z), wanted)
    chunks = [(X[i::4], y[i::4], sigma[i::4] ** -2) for i in range(4)]
    assert sa.discover_symmetry(chunks, None, space, group).group.order == 24
    with pytest.raises(ValueError, match="takes no sample_weight"):
        sa.discover_symmetry(X, y, space, group, method="sampling", sample_weight=sigma)


def test_information_does_not_depend_on_chunks():
    columns, X, y = _problem(200, lambda X, rng: 0.1 * rng.normal(size=len(X)) * (1 + 5 * (X[:, 0] > 0.5)))
    pieces = [(X[:50], y[:50]), (X[50:], y[50:])]
    a, b = Information.of(columns, [(X, y)], [(X, y)]), Information.of(columns, pieces, pieces)
    assert a.weight == pytest.approx(b.weight, rel=1e-9)
    assert np.abs(a.A - b.A).max() < 1e-9 * np.abs(a.A).max()


def test_uneven_noise_makes_no_coefficient_look_sure():
    """The covariance of the coefficients is known here; it is hardly underestimated in any direction."""
    columns, X, _ = _problem(400, lambda X, rng: 0)
    sizes = 0.05 + 1.0 * (X[:, 0] > 0.6)
    Z = np.column_stack([np.ones(400), columns(X)])
    pinv = np.linalg.pinv(Z)[1:]
    exact = (pinv * sizes**2) @ pinv.T
    found, even = [], []
    for seed in range(100):
        y = sizes * np.random.default_rng(seed).normal(size=400)
        found.append(np.linalg.inv(Information.of(columns, [(X, y)], [(X, y)]).A))
        even.append(np.linalg.inv(Information.of(columns, [(X, y)], None).A))
    ours, usual = (np.linalg.eigvals(np.linalg.solve(exact, np.mean(V, axis=0))).real.min() for V in (found, even))
    assert usual < 0.5 < 0.75 < ours


def test_evidence_is_the_density_of_the_data():
    """Against the density of y itself, a normal vector with a covariance that can be written down."""
    from scipy.stats import multivariate_normal

    columns, X, y = _problem(60, lambda X, rng: 0.3 * rng.normal(size=len(X)))
    Z = columns(X)
    levels = np.repeat([1, 2, 3], [4, 4, 4])
    centring = np.linalg.qr(np.column_stack([np.ones(60), np.eye(60)[:, 1:]]))[0][:, 1:]
    information = Information.of(columns, [(X, y)], None)

    def density(k, decay):
        spread = decay(levels[:k])
        spread = spread * information.signal / spread.sum()
        covariance = Z[:, :k] @ (spread[:, None] * Z[:, :k].T) + information.noise * np.eye(60)
        return multivariate_normal.logpdf(centring.T @ y, cov=centring.T @ covariance @ centring)

    def ours(k, decay):
        return log_evidence(information.on(np.eye(12)[:, :k]), levels[:k], decay)

    decays = [Decay(3, 0.0), Decay(2, 2.0)]
    differences = [ours(k, decay) - density(k, decay) for k in (4, 8, 12) for decay in decays]
    assert np.ptp(differences) < 1e-8


# --- discovery ------------------------------------------------------------------------------------


def _invariant_target(group, X, eigenvalue, rng):
    basis = sa.invariant_basis(S2, group, max_eigenvalue=eigenvalue)
    values = basis.evaluate(X)[:, 1:] @ rng.normal(size=basis.dim - 1)
    return values / values.std()


@pytest.mark.parametrize("name", ["C1", "Ci", "C2v", "D2", "C3v", "D3d", "C4", "S4", "D4h", "T", "Td", "Th", "Oh"])
def test_the_symmetry_of_a_function_is_found(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    lattice_of_all = lattice(S2, OH)
    H = lattice_of_all.group(int(np.argmax([lattice_of_all.names[c] == name for c in lattice_of_all.class_of])))
    X = S2.sample(600, random_state=rng)
    y = _invariant_target(H, X, 72.0, rng) + 0.2 * rng.normal(size=600)
    found = sa.discover_symmetry(X, y, S2, OH)
    assert found.group.order == H.order
    assert found.group.name == name


def test_labels_tell_all_subgroups_of_the_octahedral_group_apart():
    subgroups = lattice(S2, OH)
    labels = {group_label(subgroups.group(i)) for i in range(98)}
    assert len(labels) == 98
    assert {"C4v [axis x, mirror ⊥ z]", "C2v [axis z, mirror ⊥ (1, 1, 0)]", "Cs [mirror ⊥ y]", "Td"} <= labels
    assert "D3 [axis (1, 1, 1), half turn (1, -1, 0)]" in labels


def test_accepted_rows_are_the_subgroups_of_what_was_found():
    rng = np.random.default_rng(3)
    X = S2.sample(500, random_state=rng)
    found = sa.discover_symmetry(X, X[:, 0] * X[:, 1] * X[:, 2] + 0.02 * rng.normal(size=500), S2, OH)
    assert found.group.name == "Td"
    assert [row.order for row in found.table if row.accepted].count(24) == 1
    assert sum(row.accepted for row in found.table) == 30  # Td is S4, which has 30 subgroups
    assert all(row.p_value >= 0.001 for row in found.table if row.accepted)
    assert "T" in [group.name for group in found.indistinguishable]  # one function up to degree 3 for both
    assert "Td" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.model.basis_.group == found.group
    turned = S2.act(found.group.generators[0], X[:5])
    assert np.abs(found.model.predict(turned) - found.model.predict(X[:5])).max() < 1e-12


def test_a_near_symmetry_is_dropped_as_samples_grow():
    rng = np.random.default_rng(5)
    orders = []
    for n in (100, 20_000):
        X = S2.sample(n, random_state=rng)
        y = (X**4).sum(axis=1) + 0.02 * X[:, 2] + 0.1 * rng.normal(size=n)
        orders.append(sa.discover_symmetry(X, y, S2, OH).group.order)
    assert orders == [48, 8]


def test_pure_noise_has_no_symmetry_to_speak_of():
    rng = np.random.default_rng(1)
    X = S2.sample(300, random_state=rng)
    found = sa.discover_symmetry(X, rng.normal(size=300), S2, OH)
    assert found.group.order == 1
    assert "No function is seen" in str(found)


def test_uneven_noise_breaks_no_symmetry():
    right = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = S2.sample(500, random_state=rng)
        noise = rng.normal(size=500) * np.exp(3 * X[:, 2]) / 10
        right += sa.discover_symmetry(X, (X**4).sum(axis=1) + 0.1 * noise, S2, OH).group.order == 48
    assert right >= 18


def test_too_few_samples_and_bad_input_are_refused():
    X = S2.sample(10, random_state=0)
    with pytest.raises(ValueError, match="10 samples are too few"):
        sa.discover_symmetry(X, X[:, 0], S2, OH)
    with pytest.raises(ValueError, match="one dimension"):
        sa.discover_symmetry(X, X, S2, OH)
    with pytest.raises(ValueError, match="method must be one of"):
        sa.discover_symmetry(X, X[:, 0], S2, OH, method="guess")
    with pytest.raises(ValueError, match="level is a probability"):
        sa.discover_symmetry(X, X[:, 0], S2, OH, level=5)
    with pytest.raises(ValueError, match="more than 2000"):
        sa.discover_symmetry(np.zeros((3, 9)), np.zeros(3), sa.Torus(9), groups.hyperoctahedral(9), method="subgroups")


# --- groups with too many subgroups ---------------------------------------------------------------


def _cycles(size, *cycles):
    image = list(range(size))
    for cycle in cycles:
        for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            image[a - 1] = b - 1
    return sa.isometries.permutation(image)


def test_elements_find_what_subgroups_find():
    X = S2.sample(500, random_state=0)
    x, y, z = X.T
    for seed, f in enumerate((x * y * z, (X**4).sum(axis=1), z**2 + x**4 + y**4, x + 2 * y + 3 * z + x * y)):
        target = f / f.std() + 0.2 * np.random.default_rng(seed).normal(size=500)
        one, all_ = (sa.discover_symmetry(X, target, S2, OH, method=m) for m in ("elements", "subgroups"))
        assert one.method == "elements"
        assert one.group.order == all_.group.order
        assert groups.Group([*one.group.generators, *all_.group.generators], size=3).order == one.group.order


def test_sign_flips_that_go_together_are_found():
    """Even in six coordinates, and under a flip of both others: 2^7 of 2^8 elements, with 417,199 subgroups."""
    space, rng = sa.Torus(8), np.random.default_rng(0)
    X = space.sample(2000, random_state=0)
    waves = np.sin(np.pi * X)
    y = np.cos(np.pi * X).sum(axis=1) + 2 * waves[:, 0] * waves[:, 1] + 0.3 * rng.normal(size=2000)
    found = sa.discover_symmetry(X, y, space, groups.sign_flips(8))
    assert found.method == "elements"
    assert found.group.order == 128
    assert all(g.signs[0] == g.signs[1] for g in found.group.generators)
    with pytest.raises(ValueError, match="more than 5000 subgroups"):
        sa.discover_symmetry(X, y, space, groups.sign_flips(8), method="subgroups")


def test_the_stabiliser_of_a_point_in_a_sporadic_group_is_found():
    """The Mathieu group M24 has 244,823,040 elements and no transposition; a point's stabiliser is M23."""
    M24 = groups.Group(
        [
            _cycles(24, list(range(1, 24))),
            _cycles(24, [3, 17, 10, 7, 9], [4, 13, 14, 19, 5], [8, 18, 11, 12, 23], [15, 20, 22, 21, 16]),
            _cycles(24, *([a, b] for a, b in zip((1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15),
                                                 (24, 23, 12, 16, 18, 10, 20, 14, 21, 17, 22, 19), strict=True))),
        ]
    )  # fmt: skip
    space, rng = sa.Torus(24), np.random.default_rng(0)
    X = space.sample(1000, random_state=rng)
    found = sa.discover_symmetry(X, np.cos(np.pi * X[:, 0]) + 0.2 * rng.normal(size=1000), space, M24)
    assert found.group.order == 10_200_960
    assert "not all of the 2.44823e+08" in str(found)


def test_reflections_of_a_large_group_are_found():
    """A linear function along a root of E8 is left alone by reflections in the roots across it, 63 of 120 (E7)."""
    e = np.eye(8)
    simple = [*(e[i] - e[i + 1] for i in range(6)), e[5] + e[6], -0.5 * np.ones(8)]
    E8 = groups.Group([sa.isometries.orthogonal(np.eye(8) - np.outer(r, r)) for r in simple])
    space = sa.Sphere(8)
    X = space.sample(200, random_state=0)
    found = sa.discover_symmetry(X, X @ simple[0] + 0.02 * np.random.default_rng(0).normal(size=200), space, E8)
    roots = [np.linalg.svd(np.eye(8) - row.element.matrix)[0][:, 0] for row in found.table]
    across = [bool(abs(root @ simple[0]) < 1e-9) for root in roots]
    assert (len(across), sum(across)) == (120, 63)
    assert [row.accepted for row in found.table] == across
    assert found.group.order == 2_903_040


# --- what the data cannot tell --------------------------------------------------------------------


@pytest.mark.parametrize("y", [np.zeros(300), np.full(300, 1e12), np.full(300, 0.1)], ids=["0", "1e12", "0.1"])
@pytest.mark.parametrize("method", ["subgroups", "elements"])
def test_a_constant_has_no_symmetry_to_speak_of(y, method):
    found = sa.discover_symmetry(S2.sample(300, random_state=0), y, S2, OH, method=method)
    assert found.group.order == 1
    assert "y is constant" in str(found)


def test_a_constant_has_no_fields_and_no_blocks_to_speak_of():
    X = S2.sample(300, random_state=0)
    assert "y is constant" in str(sa.discover_symmetry(X, np.ones(300), S2, groups.special_orthogonal(3)))
    X = sa.Torus(10).sample(300, random_state=0)
    assert "y is constant" in str(sa.discover_symmetry(X, np.ones(300), sa.Torus(10), groups.symmetric(10)))


def test_units_do_not_matter():
    rng = np.random.default_rng(4)
    X = S2.sample(300, random_state=rng)
    y = X[:, 0] * X[:, 1] * X[:, 2] + 0.02 * rng.normal(size=300)
    probabilities = [
        [row.probability for row in sa.discover_symmetry(X, unit * y + offset, S2, OH).table]
        for unit, offset in ((1.0, 0.0), (1e-12, 0.0), (1e12, 0.0), (1.0, 1e6), (1e-200, 0.0), (1e200, 0.0))
    ]
    assert np.ptp(probabilities, axis=0).max() < 1e-6
    with pytest.raises(TypeError, match=r"data come first: discover_symmetry\(X, y, space, group\)"):
        sa.discover_symmetry(S2, OH, X, y)
    with pytest.raises(TypeError, match=r"got ndarray of shape \(300, 3\): take one of sa.groups"):
        sa.discover_symmetry(X, y, S2, X)
    with pytest.raises(ValueError, match="y has NaN or infinity in 1 of 300 rows"):
        sa.discover_symmetry(X, np.where(np.arange(300) == 7, np.nan, y), S2, OH)


def test_points_of_a_circle_do_not_test_what_they_cannot_tell():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 400)
    X = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(400)])
    y = np.cos(4 * angle) + 0.1 * np.random.default_rng(1).normal(size=400)
    found = sa.discover_symmetry(X, y, S2, OH)
    p_values = {group_label(row.subgroup): row.p_value for row in found.table}
    assert np.isnan(p_values["Cs [mirror ⊥ z]"])  # no point leaves the mirror
    assert p_values["C1"] == 1.0  # nothing is outside
    assert sum(p == 1.0 for p in p_values.values()) == 1


def test_groups_that_no_function_tells_apart_are_named():
    """Up to degree 8 the same functions are invariant under O and Oh, but the data are for D4 as well."""
    rng = np.random.default_rng(2)
    X = S2.sample(800, random_state=rng)
    found = sa.discover_symmetry(X, (X**4).sum(axis=1) + 0.02 * rng.normal(size=800), S2, OH)
    assert found.group.order == 48
    names = [group.name for group in found.indistinguishable]
    assert {"O", "Td", "Th", "T"} >= set(names) >= {"O", "T"} & set(names)
    assert "O" in names
    assert "They cannot tell it from its subgroups" in str(found)


def test_a_function_finer_than_the_data_can_bear_is_said_to_be():
    rng = np.random.default_rng(3)
    X = S2.sample(200, random_state=rng)  # 48 functions, up to degree 6
    coarse = sa.discover_symmetry(X, X[:, 2] + 0.05 * rng.normal(size=200), S2, OH)
    fine = sa.discover_symmetry(X, np.cos(8 * X[:, 2]) + X[:, 2] ** 5 + 0.05 * rng.normal(size=200), S2, OH)
    assert "finer detail" not in str(coarse)
    assert "finer detail" in str(fine)


@pytest.mark.parametrize("noise, spread", [(0.01, 12), (0.1, 12), (0.01, 25)])
def test_a_group_without_functions_among_those_compared_is_not_excluded(noise, spread):
    """Cubic crystals with the specimen's mmm have functions from degree 4 on: 4 · (9 + 25 + 49 + 81) = 656 samples."""
    rng = np.random.default_rng(0)
    angles = np.array([35.0, 45, 0]) + spread * rng.standard_normal((300, 3))
    X = Rotation.from_euler("ZXZ", angles, degrees=True).inv().as_matrix()
    y = (X[:, :, 2] ** 4).sum(axis=1)  # exactly invariant
    y += noise * y.std() * rng.standard_normal(300)
    whole = groups.crystal_symmetry("m-3m", specimen="mmm")
    found = sa.discover_symmetry(X, y, sa.Rotations(), whole)
    assert np.isnan([found.probability, *(row.probability for row in found.table)]).all()
    assert "with probability" not in str(found)
    assert re.search("of order 96, has no function but the constant .*: about 656 samples", str(found))
    assert found.table[-1].p_value > 0.05  # of all 96 elements
    circles = sa.plot.lattice(found).collections[0].get_offsets()
    assert np.isfinite(np.ma.filled(circles, np.nan)).all()  # every class of subgroups is drawn, without a shade


def test_a_group_without_functions_among_those_compared_is_excluded_where_finer_ones_do_not_help():
    """60 samples bear degree 3, where Oh has nothing; on uniform points z is told from finer functions with Oh."""
    rng = np.random.default_rng(0)
    X = S2.sample(60, random_state=rng)
    found = sa.discover_symmetry(X, X[:, 2] + 0.1 * rng.normal(size=60), S2, OH)
    assert found.group.name == "C4v"
    assert found.probability > 0.95


def test_the_trivial_group_is_found_in_the_trivial_group():
    X = S2.sample(100, random_state=0)
    found = sa.discover_symmetry(X, X[:, 0], S2, groups.trivial(3))
    assert found.group.order == len(found.table) == 1


# --- large symmetric groups -----------------------------------------------------------------------


@pytest.mark.parametrize("space", [sa.Torus(6), sa.Sphere(6), sa.Power(sa.Sphere(3), 6)], ids=repr)
def test_functions_of_parts_are_permuted_with_the_parts(space):
    functions = one_part_functions(space, most=20)
    X = space.sample(30, random_state=0)
    image = [2, 0, 1, 5, 3, 4]
    moved = functions.evaluate(space.act(sa.isometries.permutation(image), X))
    assert np.abs(moved - functions.evaluate(X)[:, image]).max() < 1e-13


@pytest.mark.parametrize("space", [sa.Torus(20), sa.Sphere(20)], ids=repr)
def test_blocks_of_interchangeable_coordinates_are_found(space):
    rng = np.random.default_rng(2)
    block_of = rng.permutation(np.repeat([0, 1, 2], [10, 6, 4]))
    X = space.sample(1500, random_state=rng)
    f = (X**2 * np.array([1.0, -0.5, 2.5])[block_of]).sum(axis=1)
    y = f / f.std() + 0.3 * rng.normal(size=1500)
    found = sa.discover_symmetry(X, y, space, groups.symmetric(20))
    assert found.method == "transpositions"
    assert found.group.name == "S10 × S6 × S4"
    accepted = [row.accepted for row in found.table]
    assert accepted == [bool(block_of[i] == block_of[j]) for i in range(20) for j in range(i + 1, 20)]


def test_kinds_that_are_near_are_not_taken_for_one():
    """Two kinds, 2.7 standard errors of one part's coefficients apart: no pair of both is accepted."""
    rng = np.random.default_rng(0)
    space, block_of = sa.Torus(30), np.random.default_rng(0).permutation(np.repeat([0, 1], [18, 12]))
    X = space.sample(800, random_state=rng)
    y = np.cos(np.pi * X) @ np.array([1.0, 1.6])[block_of] + 3.0 * rng.normal(size=800)
    found = sa.discover_symmetry(X, y, space, groups.symmetric(30))
    accepted = [row.accepted for row in found.table]
    same = [block_of[i] == block_of[j] for i in range(30) for j in range(i + 1, 30)]
    assert not any(a and not s for a, s in zip(accepted, same, strict=True))


def test_what_only_pairs_of_parts_tell_apart_is_not_interchangeable():
    rng = np.random.default_rng(1)
    space = sa.Torus(8)
    X = space.sample(2000, random_state=rng)
    waves = np.sin(np.pi * X)
    y = np.cos(np.pi * X).sum(axis=1) + waves[:, :4].sum(axis=1) * waves[:, 4] + 0.2 * rng.normal(size=2000)
    found = sa.discover_symmetry(X, y, space, groups.symmetric(8), method="transpositions")
    assert "refuted by functions of pairs" in str(found)
    assert not any(row.accepted for row in found.table if 4 in np.flatnonzero(np.array(row.element.image) != range(8)))


# --- fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("d, directions", [(3, 1), (5, 1), (5, 2)])
def test_rotations_that_leave_a_function_alone_are_found(d, directions):
    rng = np.random.default_rng(d + directions)
    space, frame = sa.Sphere(d), np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    X = space.sample(800, random_state=rng)
    Z = X @ frame[:, :directions]
    y = Z[:, 0] ** 2 * (1 + Z[:, -1]) + 0.5 * Z[:, -1] + 0.02 * rng.normal(size=800)
    found = sa.discover_symmetry(X, y, space, groups.special_orthogonal(d))
    rest = d - directions
    assert found.method == "fields"
    assert len(found.fields) == rest * (rest - 1) // 2
    assert all(np.abs(field.matrix @ frame[:, :directions]).max() < 0.05 for field in found.fields)
    assert found.group.fields == found.fields
    assert sum(row.accepted for row in found.table) == 2  # what was found, and nothing


def test_mirrors_that_go_with_an_axis_are_found():
    rng = np.random.default_rng(0)
    axis = np.array([1.0, 2.0, 2.0]) / 3
    X = S2.sample(500, random_state=rng)
    u = X @ axis
    counts = {}
    for name, f in {"even": u**2, "odd": u + u**3}.items():
        found = sa.discover_symmetry(X, f + 0.05 * rng.normal(size=500), S2, groups.orthogonal(3))
        assert len(found.fields) == 1
        counts[name] = len(found.group.generators)
        for g in found.group.generators:
            assert min(np.abs(g.matrix @ axis - axis).max(), np.abs(g.matrix @ axis + axis).max()) < 0.05
    assert counts == {"even": 2, "odd": 1}  # the mirror that contains the axis, and the one across it


def test_rotations_in_two_planes_are_found_together():
    space = sa.Sphere(4)
    X = space.sample(1000, random_state=0)
    y = np.exp(X[:, 0] ** 2 + X[:, 1] ** 2) + 0.02 * np.random.default_rng(0).normal(size=1000)
    found = sa.discover_symmetry(X, y, space, groups.special_orthogonal(4))
    second, first = sorted((field.matrix for field in found.fields), key=lambda A: abs(A[0, 1]))
    assert np.abs(first @ second - second @ first).max() < 1e-12
    assert min(abs(first[0, 1]), abs(second[2, 3])) > 0.99
    one = sa.discover_symmetry(X, y * (1 + 0.5 * X[:, 2]), space, groups.special_orthogonal(4))
    assert len(one.fields) == 1


def test_the_headline_names_what_was_found_and_what_was_not_searched():
    X, noise = S2.sample(600, random_state=0), 0.02 * np.random.default_rng(0).normal(size=600)
    even = str(sa.discover_symmetry(X, np.exp(X[:, 2] ** 2) + noise, S2, groups.orthogonal(3))).splitlines()[0]
    assert even.count("mirror across") == 2
    assert "mirror across (0.000, 0.000, 1.000)" in even
    turned = X @ sa.isometries.orthogonal([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]]).matrix
    none = sa.discover_symmetry(X, (turned**4).sum(axis=1) + noise, S2, groups.orthogonal(3))
    assert str(none).startswith("The data allow no field, which is no continuous symmetry, with probability")
    assert "Finite subgroups were not searched" in str(none)


def linked_fields():
    """Targets that are exactly invariant under fields which turn several planes or parts together."""
    rng, noise = np.random.default_rng(0), 0.02 * np.random.default_rng(1).normal(size=500)
    so3, S3 = groups.special_orthogonal(3), sa.Sphere(4)
    X = S3.sample(500, random_state=rng)
    z = X[:, ::2] + 1j * X[:, 1::2]
    w = z[:, 0] * z[:, 1].conj()
    yield S3, groups.special_orthogonal(4), X, np.exp(w.real) + w.imag + noise
    pairs = sa.Product(S2, S2)
    X = pairs.sample(500, random_state=rng)
    yield pairs, groups.direct_product(so3, so3), X, np.exp((X[:, :3] * X[:, 3:]).sum(axis=1)) + noise


def test_fields_that_turn_planes_or_parts_together_are_found():
    together = np.kron(np.eye(2), [[0, -1], [1, 0]])
    (S3, so4, X, y), (pairs, both, Z, t) = linked_fields()
    (field,) = sa.discover_symmetry(X, y, S3, so4).fields
    turned = field.matrix / np.linalg.norm(field.matrix) * np.linalg.norm(together)
    assert min(np.abs(turned - together).max(), np.abs(turned + together).max()) < 0.05
    found = sa.discover_symmetry(Z, t, pairs, both)
    assert found.group.algebra.dim == len(found.fields) == 3
    for field in found.fields:
        left, right = (part.matrix for part in field.parts)
        assert np.abs(left - right).max() < 0.05 * np.abs(left).max()


def test_the_answer_says_which_fields_were_not_searched():
    # A field of speeds 4 and 1 is no candidate.
    S3 = sa.Sphere(4)
    X = S3.sample(800, random_state=0)
    z = X[:, ::2] + 1j * X[:, 1::2]
    y = (z[:, 0] * z[:, 1].conj() ** 4).real
    said = str(sa.discover_symmetry(X, y, S3, groups.special_orthogonal(4)))
    assert "no continuous symmetry" not in said
    assert "Not all fields were searched: of those that turn several planes" in said
    # Of SO(3) every subalgebra is a candidate.
    X = S2.sample(500, random_state=0)
    y = (X**4).sum(axis=1) + 0.02 * np.random.default_rng(0).normal(size=500)
    assert "Not all fields" not in str(sa.discover_symmetry(X, y, S2, groups.special_orthogonal(3)))


def test_a_vertical_mirror_is_found_in_every_group_that_has_it():
    # Of D∞h the generators turn z round, each of them alone; together they do not.
    X, noise = S2.sample(600, random_state=0), 0.02 * np.random.default_rng(0).normal(size=600)
    for group in (groups.orthogonal(3), groups.point_group("D∞h")):
        found = sa.discover_symmetry(X, np.exp(X[:, 2]) + noise, S2, group)
        (mirror,) = (np.asarray(g.matrix, dtype=float) for g in found.group.generators)
        assert np.linalg.det(mirror) == pytest.approx(-1)
        assert mirror[2, 2] == pytest.approx(1, abs=1e-3)
        assert found.group.fields
    whole = sa.discover_symmetry(X, np.exp(X[:, 2] ** 2) + noise, S2, groups.point_group("D∞h"))
    assert whole.group == groups.point_group("D∞h")


def test_no_field_is_found_where_there_is_none():
    rng = np.random.default_rng(2)
    X = S2.sample(500, random_state=rng)
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 3 + 0.05 * rng.normal(size=500)
    found = sa.discover_symmetry(X, y, S2, groups.special_orthogonal(3))
    assert found.fields == found.group.fields == ()


def test_rational_shifts_are_found():
    rng = np.random.default_rng(3)
    space = sa.Torus(3)
    X = space.sample(600, random_state=rng)
    y = np.cos(np.pi * (X[:, 0] - 2 * X[:, 1])) + np.sin(np.pi * X[:, 2]) + 0.2 * rng.normal(size=600)
    found = sa.discover_symmetry(X, y, space, groups.shifts([1, 0, 0], [0, 1, 0], [0, 0, 1]))
    assert len(found.fields) == 1
    velocity = found.fields[0].velocity
    assert velocity[0] == 2 * velocity[1] != 0
    assert velocity[2] == 0


def test_rotations_from_the_left_and_from_the_right_are_told_apart():
    rng = np.random.default_rng(4)
    space = sa.Rotations()
    X = space.sample(800, random_state=rng)
    y = X.reshape(-1, 3, 3)[:, 2, 0] + 0.1 * rng.normal(size=800)  # z of the first axis: any rotation about z
    planes = [np.outer(a, b) - np.outer(b, a) for a, b in ((*np.eye(3)[:2],), (*np.eye(3)[1:],))]
    zero = np.zeros((3, 3))
    fields = [sa.isometries.fields.left_right(A, zero) for A in planes]
    fields += [sa.isometries.fields.left_right(zero, A) for A in planes]
    found = sa.discover_symmetry(X, y, space, groups.Group(fields=fields))
    assert len(found.fields) == 2
    turned = np.array([field.left.matrix for field in found.fields])
    assert np.abs(turned[:, 2]).max() < 0.05


# --- chunks ---------------------------------------------------------------------------------------


def test_chunks_and_dask_collections_give_what_the_whole_gives():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(7)
    X = S2.sample(600, random_state=rng)
    y = X[:, 0] * X[:, 1] * X[:, 2] + 0.02 * rng.normal(size=600)
    whole = sa.discover_symmetry(X, y, S2, OH)
    chunks = [(X[:250], y[:250]), (X[:0], y[:0]), (X[250:], y[250:])]
    parts = sa.discover_symmetry(chunks, None, S2, OH)
    lazy = sa.discover_symmetry(da.from_array(X, chunks=(200, 3)), da.from_array(y, chunks=200), S2, OH)
    for found in (parts, lazy):
        assert found.group == whole.group
        differences = [a.probability - b.probability for a, b in zip(found.table, whole.table, strict=True)]
        assert np.abs(differences).max() < 1e-9
        assert found.model.predict(X[:5]).shape == (5,)
    for found in (whole, parts, lazy):
        same = pickle.loads(pickle.dumps(found))  # before and after its model was asked for
        assert same.table == found.table
        np.testing.assert_array_equal(same.model.predict(X[:5]), found.model.predict(X[:5]))
    with pytest.raises(ValueError, match="read more than once"):
        sa.discover_symmetry(iter(chunks), None, S2, OH)


@pytest.mark.parametrize("as_chunks", [False, True])
def test_the_model_keeps_the_names_of_columns(as_chunks):
    pd = pytest.importorskip("pandas")
    space, rng = sa.Torus(2), np.random.default_rng(0)
    X = pd.DataFrame(space.sample(200, random_state=rng), columns=["a", "b"])
    y = np.sin(np.pi * X["a"]) + np.cos(np.pi * X["b"]) + 0.05 * rng.normal(size=200)
    data = ([(X[:120], y[:120]), (X[120:], y[120:])], None) if as_chunks else (X, y)
    model = sa.discover_symmetry(*data, space, groups.hyperoctahedral(2)).model
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match=r"(?i)feature names|columns"):
        model.predict(X[["b", "a"]])


def test_groups_of_rotations_have_names_by_side():
    from specavg.discovery._subgroup_names import point_group_name

    def label(crystal, specimen):
        G = groups.crystal_symmetry(crystal, specimen=specimen)
        name = point_group_name(sa.Rotations(), list(G.elements()))
        return name if name is None else group_label(groups.Group(G.generators, name=name))

    assert label("D4", "C1") == "left D4 [axis z, half turn x]"
    assert label("O", "C1") == "left O"
    assert label("C1", "C2") == "right C2 [axis z]"
    assert label("C3", "D2").startswith("left C3, right D2 [left axis z; right axis ")
    assert label("C1", "C1") is None
    turn = groups.point_group("C2").generators[0]
    twisted = groups.Group([sa.isometries.left_right(turn.matrix, turn.matrix)])  # A goes with one B only
    assert point_group_name(sa.Rotations(), list(twisted.elements())) is None


# --- the sequel's algorithm -----------------------------------------------------------------------


def test_sampling_finds_a_symmetry_of_small_index():
    rng = np.random.default_rng(6)
    X = S2.sample(1000, random_state=rng)
    y = X[:, 0] * X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=1000)
    found = sa.discover_symmetry(X, y, S2, OH, method="sampling", level=0.001, random_state=0)
    assert found.method == "sampling"
    assert found.group.order == 24


def test_a_true_symmetry_that_walds_test_refutes_for_want_of_noise_is_tested_again(monkeypatch):
    """Without noise, what all functions leave is less than what the invariant ones miss: the score test decides."""
    rng = np.random.default_rng(6)
    X = [0.6, 0.2, 0.5] + 0.5 * rng.normal(size=(300, 3))  # crowded on one side
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.abs(X[:, 2]) + np.sqrt(np.abs(X[:, 0] * X[:, 1]))
    whole = groups.point_group("D4h")
    # Finer functions would decide without it.
    monkeypatch.setattr("specavg.discovery._subgroup_search._further_explain", lambda *_: False)
    assert sa.discover_symmetry(X, y, sa.Sphere(3), whole).group.order == 2
    monkeypatch.setattr("specavg.discovery._subgroup_search._score_test", lambda *_: (0.0, True))
    assert sa.discover_symmetry(X, y, sa.Sphere(3), whole).group.order == 1


@pytest.mark.parametrize(
    "target, group, said",
    [
        (lambda X: np.exp(X[:, 0]), groups.orthogonal(4), r"rotations about \(1\.000, .*mirror across \("),
        (
            lambda X: np.exp(X[:, 0] ** 2 + X[:, 1] ** 2),
            groups.special_orthogonal(4),
            r"rotations in the plane of .*, rotations in the plane of .*, an isometry that turns back 2 directions",
        ),
    ],
    ids=["axis", "planes"],
)
def test_rotations_found_in_four_dimensions_have_names(target, group, said):
    X = sa.Sphere(4).sample(1000, random_state=0)
    y = target(X) + 0.02 * np.random.default_rng(0).normal(size=1000)
    assert re.search(f"^The data allow {said}", str(sa.discover_symmetry(X, y, sa.Sphere(4), group)))


@pytest.mark.parametrize("group", [groups.orthogonal(4), groups.special_orthogonal(4)], ids=repr)
@pytest.mark.parametrize("n, noise", [(200, 0.0), (500, 0.05)])
def test_a_plane_is_found_whose_directions_do_not_stand_out_one_by_one(group, n, noise):
    # Rotations move the four directions alike on the whole, so that only the field that moves nothing shows the plane.
    space = sa.Sphere(4)
    X = space.sample(n, random_state=0)
    y = np.exp(X[:, 0] ** 2 + X[:, 1] ** 2) + 0.3 * X[:, 2]
    y += noise * y.std() * np.random.default_rng(0).normal(size=n)
    found = sa.discover_symmetry(X, y, space, group)
    assert len(found.fields) == 1
    matrix = found.fields[0].matrix / np.linalg.norm(found.fields[0].matrix)
    assert abs(abs(matrix[0, 1]) - np.sqrt(0.5)) < 1e-3
    other = sa.discover_symmetry(X, y + X[:, 3] * X[:, 0], space, group)  # nothing is left
    assert other.fields == ()


# --- detail finer than the first eigenspaces ------------------------------------------------------------


def _thirds(space, *more):
    return groups.Group([sa.isometries.shift(degrees=[120] + [0] * (space.dim - 1)), *more])


def test_a_wave_finer_than_the_first_functions_breaks_a_symmetry():
    """cos 3(θ₁ − θ₂) has |k|² = 18, and 300 functions end at 16: 324 elements were returned where 108 are right."""
    space, iso = sa.Torus(3, period=360), sa.isometries
    group = _thirds(
        space, iso.permutation([1, 2, 0]), iso.permutation([1, 0, 2]), iso.signed_permutation([0, 1, 2], [-1] * 3)
    )
    X = space.sample(800, random_state=0)
    a = np.deg2rad(X)
    y = np.cos(3 * a).sum(axis=1) + 0.5 * np.cos(3 * (a[:, 0] - a[:, 1]))
    y += 0.01 * np.random.default_rng(0).normal(size=800)
    found = sa.discover_symmetry(X, y, space, group)
    assert found.group.order == 108
    assert found.untested == 0
    assert sa.symmetry_test(X, y, space, group).p_value < 1e-6
    assert sa.symmetry_test(X, y, space, found.group).p_value > 0.001
    assert sa.discover_symmetry([(X[:300], y[:300]), (X[300:], y[300:])], None, space, group).group.order == 108
    assert sa.discover_symmetry(X, y, space, group, method="elements").group.order <= 108


@pytest.mark.parametrize("n", [120, 150, 200])
def test_a_finer_wave_takes_the_place_of_functions_that_do_not_matter(n):
    space, iso = sa.Torus(2, period=360), sa.isometries
    group = _thirds(space, iso.permutation([1, 0]), iso.signed_permutation([0, 1], [-1, 1]))
    X = space.sample(n, random_state=0)
    a = np.deg2rad(X)
    y = np.cos(3 * a).sum(axis=1) + 0.4 * np.cos(3 * a.sum(axis=1)) + 0.01 * np.random.default_rng(0).normal(size=n)
    found = sa.discover_symmetry(X, y, space, group)
    assert (group.order, found.group.order) == (72, 36)
    assert found.n_functions <= n / 4


def test_a_high_degree_breaks_the_octahedral_group():
    """A function of degree 9 with the rotations of the cube; 250 samples bear degrees up to 6."""
    X = S2.sample(250, random_state=0)
    x, y, z = X.T**2
    odd = np.prod(X, axis=1) * (x - y) * (y - z) * (z - x)
    target = 5 * (X**4).sum(axis=1) + 1000 * odd + 0.05 * np.random.default_rng(0).normal(size=250)
    assert sa.discover_symmetry(X, target, S2, OH).group.name == "O"


def test_detail_that_does_not_fit_is_said_to_be_untested():
    """Degree 12 has 25 functions, and 60 samples bear 15."""
    X = S2.sample(60, random_state=0)
    zonal = np.polynomial.legendre.Legendre.basis(12)(X[:, 2])
    found = sa.discover_symmetry(X, X[:, 2] ** 2 + 4 * zonal, S2, OH)
    assert 0.2 < found.untested <= 1
    assert "whether it has the symmetry was not tested" in str(found)


def test_a_coordinate_with_a_fine_wave_is_not_interchangeable():
    """200 samples bear the first two waves of each of ten coordinates; one of them has a fifth wave."""
    space, rng = sa.Torus(10), np.random.default_rng(0)
    X = space.sample(200, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1) + 2 * np.cos(5 * np.pi * X[:, 3]) + 0.05 * rng.normal(size=200)
    found = sa.discover_symmetry(X, y, space, groups.symmetric(10))
    assert found.method == "transpositions"
    assert not any(row.accepted for row in found.table if row.element.image[3] != 3)


def test_a_result_counts_its_functions_in_one_way():
    rng = np.random.default_rng(1)
    found = sa.discover_symmetry(S2.sample(300, random_state=rng), rng.normal(size=300), S2, OH)
    assert set(re.findall(r"[Tt]he (\d+) functions compared", str(found))) == {str(found.n_functions)}
    assert "finer than the functions compared" in str(found)


def test_pure_noise_is_not_said_to_allow_one_symmetry():
    """Every symmetry would do: that the data allow none, of order 1 and with probability 1, contradicts it."""
    X = S2.sample(300, random_state=0)
    text = str(sa.discover_symmetry(X, np.random.default_rng(0).normal(size=300), S2, OH))
    assert text.startswith("No function is seen: ")
    assert text.count("No function is seen") == 1
    assert "The data allow" not in text


@pytest.mark.parametrize("noise, doubted", [(0.0, False), (0.1, True)])
def test_finer_detail_is_doubted_where_something_is_left_that_it_could_explain(noise, doubted):
    space = sa.Torus(2, period=360)
    group = sa.Group([sa.isometries.shift(degrees=[120, 0]), sa.isometries.permutation([1, 0])])
    X = space.sample(200, random_state=0)
    y = np.cos(np.deg2rad(3 * X)).sum(axis=1) + 0.2 * np.prod(np.sin(np.deg2rad(3 * X)), axis=1)
    found = sa.discover_symmetry(X, y + noise * np.random.default_rng(0).normal(size=200), space, group)
    assert found.group.order == 18
    assert any("finest functions" in note for note in found.notes) == doubted


@pytest.mark.parametrize("seed", range(20))
def test_a_label_says_what_a_long_element_moves(seed):
    rng = np.random.default_rng(seed)
    image, signs = np.arange(10), rng.choice([-1, 1], 10)
    some = rng.choice(10, 4, replace=False)
    image[some] = rng.permutation(some)
    label = element_label(signed_permutation(image, signs), 47)
    read = np.arange(10)
    for cycle in re.findall(r"\(([\d ]+)\)", label):
        places = [int(i) for i in cycle.split()]
        read[places] = np.roll(places, -1)
    changed = label.partition("changes the sign of ")[2]
    np.testing.assert_array_equal(read, image)
    assert [int(i) for i in changed.split(", ") if i] == np.flatnonzero(signs < 0).tolist()


def test_the_table_of_many_columns_tells_its_candidates_apart():
    space = sa.Torus(10)
    X = space.sample(200, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1) + np.sin(np.pi * X[:, 3])
    found = str(sa.discover_symmetry(X, y, space, groups.sign_flips(10)))
    rows = [line for line in found.splitlines() if line.endswith(("  yes", "  no"))]
    assert len({row[:48] for row in rows}) == len(rows) > 1
    assert all(("3" in row[:48]) == row.endswith("no") for row in rows)
    assert "see .table" in found
    assert "see .table" not in in_words_of_the_command(found)


def test_textured_orientations_do_not_refute_a_symmetry_with_certainty():
    """Young's modulus along a specimen direction is cubic; around three orientations other functions imitate it."""
    from scipy.spatial.transform import Rotation

    def modulus(X):
        d = X[:, :, 0]
        return 1 / (
            0.01499 - 0.02928 * ((d[:, 0] * d[:, 1]) ** 2 + (d[:, 1] * d[:, 2]) ** 2 + (d[:, 2] * d[:, 0]) ** 2)
        )

    rng, components = np.random.default_rng(1), [(0, 45, 0), (35.264, 45, 0), (90, 35.264, 45)]  # Goss, brass, copper
    near = [Rotation.from_rotvec(0.12 * rng.standard_normal((200, 3))) for _ in components]
    whole = [Rotation.from_euler("ZXZ", angles, degrees=True).inv() for angles in components]
    X = Rotation.concatenate([a * b for a, b in zip(near, whole, strict=True)]).as_matrix()
    y = modulus(X)
    y = y + 0.1 * y.std() * rng.standard_normal(len(y))
    found = sa.discover_symmetry(X, y, sa.Rotations(), groups.crystal_symmetry("m-3m"))
    assert np.isnan(found.probability)
    assert "of order 24, cannot be excluded" in found.notes[0]


@pytest.mark.parametrize("crystal", ["cubic", "none"])
def test_finite_generators_are_compared_beside_the_fields_that_are_found(crystal):
    """A function of the crystal direction along z, under cubic crystals and all rotations of the specimen."""
    rng, X = np.random.default_rng(0), sa.Rotations().sample(400, random_state=0)
    v = X.reshape(-1, 3, 3)[:, :, 2]
    y = (v**4).sum(axis=1) if crystal == "cubic" else v[:, 0] ** 2 + 0.3 * v[:, 1]
    group = groups.crystal_symmetry("m-3m", specimen="K")
    found = sa.discover_symmetry(X, y + 0.01 * rng.normal(size=400), sa.Rotations(), group)
    assert len(found.fields) == 1
    assert tuple(found.group.generators) == (tuple(group.generators) if crystal == "cubic" else ())
    assert f"the data allow {len(found.group.generators)} of these" in str(found)


def test_no_generators_are_taken_where_no_function_is_seen():
    X, y = sa.Rotations().sample(300, random_state=0), np.random.default_rng(0).normal(size=300)
    found = sa.discover_symmetry(X, y, sa.Rotations(), groups.crystal_symmetry("m-3m", specimen="K"))
    assert (len(found.group.generators), len(found.group.fields)) == (0, 0)


def test_the_headline_names_planes_and_speeds_and_no_matrices():
    for space, group, X, y in linked_fields():
        found = sa.discover_symmetry(X, y, space, group)
        assert "[" not in repr(found)
        assert repr(found).startswith("<Discovery: The data allow <rotation ")
        assert len(repr(found)) < 400
    S3 = sa.Sphere(4)
    X = S3.sample(600, random_state=0)
    z = X[:, ::2] + 1j * X[:, 1::2]
    found = sa.discover_symmetry(X, (z[:, 0] * z[:, 1].conj() ** 3).real, S3, groups.special_orthogonal(4))
    assert "in the plane of (1.000, 0.000, 0.000, 0.000) and (0.000, 1.000, 0.000, 0.000) at speed 3" in repr(found)


def unlike_columns(draw, n):
    """Points whose columns lie on different parts of the interval."""
    rng = np.random.default_rng([7, draw, n])
    U = rng.random((n, 4))
    low, high = rng.uniform(0, 0.4, 4), rng.uniform(0.6, 1, 4)
    return low + (high - low) * U


@pytest.mark.parametrize("target", [lambda X: X.max(axis=1), lambda X: np.ptp(X, axis=1)], ids=["max", "range"])
def test_a_kink_does_not_break_the_symmetry_of_unlike_columns(target):
    """What the first functions miss of a kink depends on where the points are, and is no evidence."""
    space, X = sa.spaces.Power(sa.spaces.Interval(0, 1), 4), unlike_columns(0, 500)
    found = sa.discover_symmetry(X, target(X), space, groups.symmetric(4))
    assert found.group.order == 24
    assert np.isnan(found.probability)
    assert "Finer functions decide" in str(found)


def test_unlike_columns_do_not_hide_that_one_of_them_is_special():
    space = sa.spaces.Power(sa.spaces.Interval(0, 1), 4)
    X = unlike_columns(1, 500)
    found = sa.discover_symmetry(X, X.max(axis=1) + 0.3 * X[:, 0], space, groups.symmetric(4))
    assert all(g.image[0] == 0 for g in found.group.generators)
