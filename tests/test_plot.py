"""Pictures: what is drawn is true of the group, and every function returns the axes it drew in."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.plot._poles import expanded_pole_density, sides
from specavg.plot._spectrum import _log_order
from specavg.plot._style import CMAP, COLORS
from specavg.plot._symmetry import drawable, mirrors_of_circle, symmetry_of_plane, symmetry_of_sphere

mpl.use("Agg")
HEXAGONAL = np.array([[1, 0], [-0.5, np.sqrt(3) / 2]])


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


# Mirrors, then (order, with inversion): how many, as tables of point groups print them.
POINT_GROUPS = {
    "Ci": (0, {}),
    "Cs": (1, {}),
    "C3v": (3, {(3, False): 1}),
    "D2h": (3, {(2, False): 3}),
    "D2d": (2, {(4, True): 1, (2, False): 2}),
    "C3h": (1, {(6, True): 1}),
    "Td": (6, {(4, True): 3, (3, False): 4}),
    "O": (0, {(4, False): 3, (3, False): 4, (2, False): 6}),
    "Oh": (9, {(4, False): 3, (3, False): 4, (2, False): 6}),
    "Ih": (15, {(5, False): 6, (3, False): 10, (2, False): 15}),
}


@pytest.mark.parametrize("name", POINT_GROUPS)
def test_mirrors_and_axes_are_those_of_the_tables(name):
    normals, axes = symmetry_of_sphere(drawable(groups.point_group(name), None))
    mirrors, wanted = POINT_GROUPS[name]
    found = {}
    for axis in axes:
        found[axis.order, axis.improper] = found.get((axis.order, axis.improper), 0) + 1
    assert (len(normals), found) == (mirrors, wanted)


# Rotation centres in the closed cell (corners and edges counted as often as they are drawn), and mirror/glide lines.
PLANE_GROUPS = {
    "p2": ({2: 9}, 0, 0),
    "pm": ({}, True, False),
    "pg": ({}, False, True),
    "cm": ({}, True, True),
    "p4m": ({4: 5, 2: 4}, True, True),
    "p4g": ({4: 5, 2: 4}, True, True),
    "p3": ({3: 6}, False, False),
    "p6": ({6: 4, 3: 2, 2: 5}, False, False),
}


@pytest.mark.parametrize("name", PLANE_GROUPS)
def test_rotation_centres_and_lines_are_those_of_the_plane_group(name):
    lines, centers = symmetry_of_plane(drawable(groups.plane_group(name), None))
    wanted, mirror, glide = PLANE_GROUPS[name]
    found = {}
    for center in centers:
        found[center.order] = found.get(center.order, 0) + 1
    assert found == wanted
    assert any(not line.glide for line in lines) == bool(mirror)
    assert any(line.glide for line in lines) == bool(glide)


@pytest.mark.parametrize("name", ["p4g", "p6m", "cm"])
def test_invariant_functions_are_even_across_every_mirror_line_that_is_drawn(name):
    space = sa.Torus(lattice=HEXAGONAL if name == "p6m" else np.eye(2))
    basis = sa.invariant_basis(space, groups.plane_group(name), max_eigenvalue=400)
    lines, _ = symmetry_of_plane(drawable(basis.group, None))
    B = space.lattice
    for line in (line for line in lines if not line.glide):
        along = line.direction @ B / np.linalg.norm(line.direction @ B)
        X = space.sample(20, 0)
        away = (X - line.offset) @ B
        mirrored = line.offset + (2 * np.outer(away @ along, along) - away) @ np.linalg.inv(B)
        np.testing.assert_allclose(basis.evaluate(mirrored), basis.evaluate(X), atol=1e-10)


def test_mirrors_of_a_dihedral_group_are_evenly_spaced():
    mirrors, rotations = mirrors_of_circle(drawable(groups.dihedral(5), None))
    assert rotations == 5
    np.testing.assert_allclose(np.diff(mirrors), 0.1)


def test_large_groups_are_left_out_unless_asked_for():
    assert drawable(groups.hyperoctahedral(10), None) == []
    with pytest.raises(ValueError, match="3715891200 elements"):
        drawable(groups.hyperoctahedral(10), True)


def test_every_function_draws_in_the_axes_it_is_given():
    import matplotlib.pyplot as plt

    flat = sa.invariant_basis(sa.Torus(2), groups.hyperoctahedral(2), max_eigenvalue=50)
    ring = sa.invariant_basis(sa.Circle(), groups.dihedral(2), max_eigenvalue=20)
    ball = sa.invariant_basis(sa.Sphere(3), groups.point_group("D3"), max_eigenvalue=20)
    fig, panels = plt.subplots(3, 3, figsize=(9, 9))
    a, b, c, d, e, f = panels.ravel()[:6]
    assert sa.plot.torus(flat, ax=a, resolution=20) is a
    assert sa.plot.circle(ring, ax=b) is b
    assert sa.plot.spectrum(flat, ax=c) is c
    assert sa.plot.curves([1, 10], {"a": [1, 0.1]}, ax=d) is d
    assert sa.plot.discrepancy(lambda X: X[:, 0], [[0.5, 0.1]], space=flat.space, group=flat.group, ax=e) is e
    assert sa.plot.pole_figure(lambda X: 1 + X[:, 0], ax=f, resolution=4, degree=2) is f
    globe = fig.add_subplot(3, 3, 7, projection="3d")
    assert sa.plot.sphere(ball, ax=globe, resolution=8) is globe
    world = fig.add_subplot(3, 3, 8, projection="mollweide")
    assert sa.plot.sphere(ball, ax=world, projection="mollweide", resolution=8, data=[[0, 0, 1]]) is world
    assert plt.get_fignums() == [fig.number]
    fig.canvas.draw()


def test_the_title_of_a_lattice_names_whole_generators():
    space = sa.Torus(2, period=360)
    shift, swap = sa.isometries.shift(degrees=[120, 0]), sa.isometries.permutation([1, 0])
    group = sa.Group([shift, swap, sa.isometries.signed_permutation([0, 1], [-1, -1])])
    X = space.sample(200, random_state=0)
    found = sa.discover_symmetry(X, np.cos(np.deg2rad(3 * X)).sum(axis=1), space, group)
    title = sa.plot.lattice(found).get_title(loc="left")
    assert title == f"The data allow <{shift!r}, {swap!r}, …"


def test_the_lattice_shows_every_class_and_names_it():
    import matplotlib.pyplot as plt

    space, group = sa.Sphere(3), groups.point_group("Oh")
    X = space.sample(300, 0)
    y = X.prod(axis=1) + 0.02 * np.random.default_rng(0).normal(size=300)
    found = sa.discover_symmetry(X, y, space, group)
    panel = plt.subplots()[1]
    assert sa.plot.lattice(found, ax=panel) is panel
    names = [text.get_text() for text in panel.texts]
    assert len(names) == 33
    assert {"Oh", "Td", "no symmetry"} <= set(names)
    assert len(panel.collections[1].get_offsets()) == 11  # Td is S4, with 11 classes; those of other conjugates are one
    assert panel.get_title(loc="left") == "The data allow Td"
    sampled = sa.discover_symmetry(X, y, space, group, method="sampling", random_state=0)
    with pytest.raises(ValueError, match="by sampling"):
        sa.plot.lattice(sampled)
    panel.figure.canvas.draw()


def test_new_figures_for_a_model_a_body_and_several_pole_figures():
    space, group = sa.Sphere(3), groups.point_group("Oh")
    X = space.sample(200, 0)
    model = sa.SpecAvgRegressor(space, group, max_invariant_dim=3).fit(X, 5 + (X**4).sum(axis=1))
    ax = sa.plot.sphere(model, body=True, resolution=12)
    assert ax.name == "3d"
    panels = sa.plot.pole_figure(lambda X: 1 + X[:, 8], [(0, 0, 1), (1, 1, 1)], resolution=4, degree=3)
    assert [panel.get_title() for panel in panels] == ["{001}", "{111}"]
    ax.figure.canvas.draw()


def test_wrong_requests_say_what_is_wrong():
    ball = sa.invariant_basis(sa.Sphere(3), max_eigenvalue=6)
    with pytest.raises(ValueError, match="lives on Sphere"):
        sa.plot.torus(ball)
    with pytest.raises(ValueError, match="numbered 0 to 8"):
        sa.plot.sphere(ball, index=9)
    with pytest.raises(ValueError, match="must be positive"):
        sa.plot.sphere(ball, body=True, resolution=6)
    with pytest.raises(ValueError, match="give space="):
        sa.plot.sphere(lambda X: X[:, 0])
    with pytest.raises(ValueError, match="2 outputs"):
        sa.plot.sphere(lambda X: X[:, :2], space=sa.Sphere(3), resolution=6)
    with pytest.raises(TypeError, match="fitted estimator"):
        sa.plot.spectrum(3)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'specavg\[plot\]'"):
        sa.plot.spectrum(sa.invariant_basis(sa.Torus(2), max_eigenvalue=30))


def test_pole_density_is_the_known_formula():
    r = sa.Sphere(3).sample(40, 0)
    # X r = h gives hᵀX e_z = r_z for h = e_z, and its square for the second degree.
    np.testing.assert_allclose(sa.plot.pole_density(lambda X: 1 + 0.5 * X[:, 8], [0, 0, 2], r, antipodal=False),
                               1 + 0.5 * r[:, 2], atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(sa.plot.pole_density(lambda X: 1 + X[:, 8], [0, 0, 1], r), 1, atol=1e-12)
    np.testing.assert_allclose(sa.plot.pole_density(lambda X: X[:, 8] ** 2, [0, 0, 1], r), r[:, 2] ** 2, atol=1e-12)


def test_expanded_pole_density_equals_the_mean_over_circles():
    group = groups.crystal_symmetry("O", specimen="D2")
    basis = sa.invariant_basis(sa.spaces.Rotations(), group, max_eigenvalue=42)
    c = np.arange(1.0, basis.dim + 1)[:, None]
    r, h = sa.Sphere(3).sample(15, 0), np.array([0.6, 0.0, 0.8])

    def density(X):
        return basis.combine(X, c)[:, 0]

    for antipodal in (True, False):
        direct = sa.plot.pole_density(density, h, r, antipodal=antipodal)
        np.testing.assert_allclose(expanded_pole_density(density, h, r, antipodal, 6), direct, atol=1e-10)


def test_weyls_law_counts_functions():
    for space, top in ((sa.Sphere(3), 4e4), (sa.Torus(2), 4e4), (sa.Torus(2, period=[1, 3]), 2e4)):
        count = 0
        for V in space.eigenspaces():
            if V.eigenvalue > top:
                break
            count += V.dim
        assert count == pytest.approx(sa.theory.weyl_count(space, top), rel=0.02)


def test_order_of_a_huge_group_has_a_logarithm():
    from math import lgamma

    basis = sa.invariant_basis(sa.Torus(1000), groups.symmetric(1000), max_invariant_dim=6)
    assert _log_order(basis) == pytest.approx(lgamma(1001))
    sa.plot.spectrum(basis).figure.canvas.draw()


def test_learning_curve_shows_the_errors_it_measured():
    space, group = sa.Torus(2), groups.sign_flips(2)
    X = space.sample(600, 0)
    y = np.cos(np.pi * X).sum(axis=1)
    models = {"a": sa.SpecAvgRegressor(space, group, max_invariant_dim=4, smoothness=3), "b": sa.SpecAvgRegressor()}
    with pytest.warns(UserWarning, match="only the constant"):
        ax = sa.plot.learning_curve(models, X[:300], y[:300], test=(X[300:], y[300:]), sizes=[3, 300], repeats=2)
    again = sa.SpecAvgRegressor(space, group, max_invariant_dim=4).fit(X[:300], y[:300]).predict(X[300:])
    assert ax.errors_["a"][-1, 0] == pytest.approx(np.mean((again - y[300:]) ** 2))
    slopes = [line for line in ax.get_lines() if "slope" in line.get_label()]
    assert slopes[0].get_label() == "theory: slope −0.75"


def _lightness(color):
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(color))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_colours_keep_their_order_in_grey():
    steps = [_lightness(mpl.colormaps[CMAP](t)) for t in np.linspace(0, 1, 50)]
    assert (np.diff(steps) > 0).all()
    assert abs(_lightness(COLORS[0]) - _lightness(COLORS[1])) > 0.3


@pytest.mark.parametrize("crystal, specimen", [("D6", "C1"), ("O", "D2"), ("D3", "C2"), ("T", "C1")])
@pytest.mark.parametrize("h", [(0, 0, 1), (1, 1, 1), (1, 0, 0), (1, 2, 3)])
def test_pole_densities_by_symmetry_are_those_of_all_orientations(crystal, specimen, h):
    space, group = sa.Rotations(), sa.groups.crystal_symmetry(crystal, specimen)
    basis = sa.invariant_basis(space, group, max_eigenvalue=4 * 5 if crystal != "T" else 6 * 7)
    coef = np.random.default_rng(0).standard_normal((basis.dim, 1))
    asked = []

    def density(X):
        asked.append(len(X))
        return basis.combine(X, coef)[:, 0]

    direction = np.array(h) / np.linalg.norm(h)
    r = sa.Sphere(3).sample(20, random_state=1)
    for antipodal in (True, False):
        direct = sa.plot.pole_density(density, h, r, antipodal=antipodal)
        asked.clear()
        plain = expanded_pole_density(density, direction, r, antipodal, 12)
        whole = sum(asked)
        asked.clear()
        short = expanded_pole_density(density, direction, r, antipodal, 12, sides(group))
        np.testing.assert_allclose(plain, direct, atol=1e-11)
        np.testing.assert_allclose(short, direct, atol=1e-11)
        if h == (0, 0, 1) and crystal in ("D6", "O"):
            assert sum(asked) < whole / 7


def test_plot_torus_names_the_picture_of_three_dimensions():
    with pytest.raises(ValueError, match=r"Use plot\.slices"):
        sa.plot.torus(sa.invariant_basis(sa.Torus(3), max_dim=7))


@pytest.mark.parametrize("output, outputs", [("vector", 3), ("ij=ji", 6), ("tangent vector", 2)])
def test_the_spectrum_of_vector_functions_follows_weyl_law_for_all_outputs(output, outputs):
    basis = sa.equivariant_basis(sa.Sphere(3), sa.groups.point_group("O"), output, max_eigenvalue=1000)
    ax = sa.plot.spectrum(basis)
    laws = {line.get_label(): line for line in ax.lines}
    for name, count in (("Weyl's law", basis.total_dim), ("Weyl's law / |G|", basis.dim)):
        assert laws[name].get_ydata()[-1] == pytest.approx(count, rel=0.1)
    assert laws["Weyl's law"].get_ydata()[-1] == pytest.approx(outputs * basis.table[-1].eigenvalue)  # λ on S²
    assert ax.get_title(loc="left").endswith("functions are equivariant")


def test_a_potential_is_no_function_on_a_torus():
    with pytest.raises(ValueError, match=r"a function of positions of atoms, .* plot its predictions along a path"):
        sa.plot.torus(sa.InvariantPotential(["O", "H", "H"]))


def test_points_may_come_with_their_values_and_are_checked():
    model = sa.InvariantKernelRidge(sa.Torus(2)).fit(sa.Torus(2).sample(30, 0), np.arange(30.0))
    X = sa.Torus(2).sample(7, 1)
    shown = [
        line for line in sa.plot.torus(model, data=(X, np.ones(7)), resolution=8).lines if len(line.get_xdata()) == 7
    ]
    np.testing.assert_allclose(np.column_stack(shown[0].get_data()), X, atol=1e-12)
    basis = sa.invariant_basis(sa.Sphere(3), sa.groups.trivial(3), max_eigenvalue=2)
    with pytest.raises(ValueError, match=r"points of Sphere\(3\) have shape \(n, 3\)"):
        sa.plot.sphere(basis, data=np.zeros((300, 2)), resolution=8)  # longitudes and latitudes


def test_a_discrepancy_of_no_symmetry_says_so():
    model = sa.InvariantKernelRidge(sa.Torus(1)).fit(np.linspace(0, 1, 12)[:, None], np.arange(12.0))
    with pytest.raises(ValueError, match="no element but the identity: give group="):
        sa.plot.discrepancy(model, np.zeros((2, 1)))


def test_learning_curves_keep_the_names_of_columns():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline

    X = pandas.DataFrame(sa.Torus(2).sample(40, 0), columns=["hour", "day"])
    chosen = ColumnTransformer([("chosen", "passthrough", ["hour"])])
    model = make_pipeline(chosen, sa.InvariantKernelRidge(sa.Torus(1), max_dim=5))
    ax = sa.plot.learning_curve({"model": model}, X, np.cos(np.pi * X["hour"]), test=(X, np.zeros(40)), repeats=1)
    assert np.isfinite(ax.errors_["model"]).all()


def test_pictures_of_densities_sharper_than_their_grid_say_so():
    from scipy.spatial.transform import Rotation

    rng, grains = np.random.default_rng(1), Rotation.random(40, random_state=1)
    scatter = Rotation.from_rotvec(np.deg2rad(0.3) * rng.standard_normal((1000, 3)))
    X = (scatter * Rotation.from_quat(np.repeat(grains.as_quat(), 25, 0))).as_matrix()
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("-1")).fit(X)
    width = np.degrees(2 * np.sqrt(2 * np.log(2) / model.kernels_.concentrations.max()))
    poles, tops = model.kernels_.images.reshape(-1, 3, 3)[::2], model.kernels_.images[::2]
    along_z = [sa.textures.pole_density(model, h, [[0.0, 0.0, 1.0]])[0] for h in poles[:, :, 2]]
    highest = {
        sa.plot.pole_figure: sa.textures.pole_density(model, [0, 0, 1], poles[:, 2]).max(),
        sa.plot.inverse_pole_figure: max(along_z),
        sa.plot.odf_sections: model.density(tops).max(),
    }
    for draw, most in highest.items():
        with pytest.warns(UserWarning, match="sharper than this picture") as caught:
            draw(model)
        text = str(caught[0].message)
        assert f"kernels are {width:.2g}° wide" in text
        assert f"at the data it is {most:.3g}" in text
        if draw is sa.plot.pole_figure:
            draw(model, resolution=int(text.split("resolution=")[1].split()[0]))  # a warning would be an error


def test_pictures_of_smooth_densities_of_kernels_are_not_questioned():
    from scipy.spatial.transform import Rotation

    rng, grains = np.random.default_rng(1), Rotation.random(40, random_state=1)
    scatter = Rotation.from_rotvec(np.deg2rad(6.0) * rng.standard_normal((1000, 3)))
    X = (scatter * Rotation.from_quat(np.repeat(grains.as_quat(), 25, 0))).as_matrix()
    model = sa.InvariantDensity(sa.Rotations(), groups.crystal_symmetry("-1")).fit(X)
    assert model.form_ == "kernels"
    for draw in (sa.plot.pole_figure, sa.plot.inverse_pole_figure, sa.plot.odf_sections):
        draw(model)
