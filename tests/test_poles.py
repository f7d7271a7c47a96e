"""Pictures of orientations and slices: what is flat, where labels stand, and what cannot be drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from matplotlib.path import Path

import specavg as sa
from specavg import groups, textures

mpl.use("Agg")
CUBIC = groups.crystal_symmetry("O")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def one(X):
    return np.ones(len(X))


def tilted(X):
    return 1 + X[:, 8]


def drawn_bands(ax):
    """How many sets of contours a panel has, and how many bands of colour are not empty."""
    sets = [part for part in ax.collections if isinstance(part, QuadContourSet)]
    return len(sets), sum(len(path.vertices) > 0 for path in sets[0].get_paths())


def test_rounding_makes_no_coastlines():
    flat = [
        sa.plot.pole_figure(one, [1, 0, 0]),
        sa.plot.pole_figure(tilted, [0, 0, 1]),  # the mean over ±h
        sa.plot.inverse_pole_figure(one, group=CUBIC),
        sa.plot.torus(lambda X: 1 + 1e-15 * np.sin(9 * X[:, 0]), space=sa.Torus(2)),
    ]
    assert [drawn_bands(ax) for ax in flat] == [(1, 1)] * 4
    assert drawn_bands(sa.plot.pole_figure(tilted, [0, 0, 1], antipodal=False)) == (2, 24)


@pytest.mark.parametrize("gamma", [60.0, 90.0, 120.0])
@pytest.mark.parametrize("axis", [0, 2])
def test_labels_of_slices_stand_beside_the_cell(gamma, axis):
    space = sa.Torus(lattice=sa.crystals.lattice(3.2, 3.2, 5.1, gamma=gamma))
    panels = sa.plot.slices(lambda X: X[:, 0], at=[0, 0.5], axis=axis, space=space, resolution=4)
    panels[0].figure.canvas.draw()
    for ax in panels:
        cell = Path(ax.transData.transform(ax.lines[-1].get_xydata()))
        for text in ax.texts:
            assert not cell.intersects_bbox(text.get_window_extent(), filled=True)


def test_the_title_of_a_whole_hemisphere_stands_clear_of_its_labels():
    for whole, group in ((True, CUBIC), (False, None)):
        ax = sa.plot.inverse_pole_figure(tilted, group=group, whole=whole, resolution=8)
        ax.figure.canvas.draw()
        title = ax.title.get_window_extent()
        assert [text.get_text() for text in ax.texts] == ["100", "010"]
        assert all(text.get_window_extent().y1 + 3 < title.y0 for text in ax.texts)


def test_one_section_may_be_a_number():
    assert [ax.get_title() for ax in sa.plot.odf_sections(tilted, 45, resolution=4)] == ["φ₂ = 45°"]


REFUSED = {
    "projection": (
        lambda: sa.plot.inverse_pole_figure(one, projection="equal-area"),
        "'equal area' or 'stereographic'",
    ),
    "resolution": (lambda: sa.plot.pole_figure(one, resolution=0), "resolution must be a whole number, at least 1"),
    "of an inverse figure": (
        lambda: sa.plot.inverse_pole_figure(one, resolution=0),
        "resolution must be a whole number",
    ),
    "of sections": (lambda: sa.plot.odf_sections(one, resolution=0.5), "resolution must be a whole number"),
    "degree": (lambda: sa.plot.pole_figure(one, degree=-1), "degree must be a whole number, at least 0; got -1"),
    "nothing": (lambda: sa.plot.odf_sections(one, []), "give at least one direction, section or height"),
    "no direction": (lambda: sa.plot.inverse_pole_figure(one, [0, 0, 0]), "a specimen direction is a vector"),
    "of a fibre": (lambda: textures.fibre_fraction(one, [0, 0, 1], [0, 0, 0], 9), "a specimen direction is a vector"),
    "endless": (lambda: textures.pole_density(one, [0, np.inf, 1], [0, 0, 1]), "a crystal direction .* finite"),
    "pairs": (lambda: textures.misorientation_angles(sa.Rotations().sample(3, 0), CUBIC, pairs=-1), "pairs must be"),
    "parts of pairs": (lambda: sa.plot.misorientations(sa.Rotations().sample(3, 0), pairs=2.5), "pairs must be"),
}


@pytest.mark.parametrize("asked, said", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_or_counted_is_refused_in_a_sentence(asked, said):
    with pytest.raises(ValueError, match=said):
        asked()


@pytest.mark.parametrize("model", [one, None], ids=["function", "fitted"])
def test_no_directions_have_no_pole_densities_and_no_samples_are_a_table(model):
    if model is None:
        model = sa.InvariantDensity(sa.Rotations(), CUBIC, max_dim=400).fit(sa.Rotations().sample(30, 0))
        assert model.form_ == "exponential"
        assert model.sample(0, random_state=0).shape == (0, 9)
    assert textures.pole_density(model, [1, 0, 0], np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize("specimen, poles", [(None, 80), ("C∞", 80), ("mmm", 320)])
def test_dots_of_a_pole_figure_are_the_copies_that_the_crystal_makes(specimen, poles):
    """Four axes <111> with both ends, half of them above the sheet; turns by every angle have no copies to list."""
    group = groups.crystal_symmetry("m-3m", specimen=specimen) if specimen else groups.crystal_symmetry("m-3m")
    X = sa.Rotations().sample(20, random_state=0)
    ax = sa.plot.pole_figure(one, [1, 1, 1], group=group, data=X, resolution=4)
    assert max(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o") == poles
