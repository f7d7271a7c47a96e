"""Orientation densities in other views: inverse pole figures, sections in Bunge's angles, misorientations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._messages import whole_number
from specavg.functions._one_direction import unit_direction
from specavg.groups import Group, crystal_symmetry
from specavg.groups.families._made_of_groups import rotation_of_space
from specavg.plot._coarse_grid import question_grid
from specavg.plot._poles import (
    check_drawing,
    crystal_and_specimen,
    directions_at,
    drawn_pole_density,
    indices,
    project,
    question_pole_grid,
    sides,
)
from specavg.plot._source import source_of
from specavg.plot._style import CMAP, COLORS, INK, axes_or_new, bands_on_one_scale, panels_in_a_row, without_frame
from specavg.spaces import Rotations, rotations_from_bunge
from specavg.textures import misorientation_angles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNIT = "multiples of random"  # of a density relative to uniform orientations
_SECTIONS = (0.0, 45.0, 65.0)  # φ₂ in degrees: cube, Goss and brass; copper; S of rolled cubic metals
_STEP = 30.0  # degrees between sections of trigonal and hexagonal crystals: half of what a sixfold axis repeats
_TURNED_ROUND = -1 + 1e-9  # z component of z after a rotation that turns it round, with rounding
_ROUNDING = 1e-9  # of angles: a sector that begins at 0 is not to begin at its other end
_DRAWN = 2_001  # orientations drawn from a density: their histogram of 36 bins is right to a tenth of its height


def inverse_pole_figure(
    model: Any,
    specimen: ArrayLike = (0, 0, 1),
    *,
    group: Group | None = None,
    whole: bool = False,
    projection: str = "stereographic",
    resolution: int = 40,
    degree: int | None = None,
    colorbar: bool = True,
    cmap: str = CMAP,
    ax: Any = None,
) -> Axes | Array:
    """Which crystal directions lie along a direction of the specimen: the standard triangle, in multiples of random.

    Parameters
    ----------
    model : fitted density or callable
        On `Rotations`; see `textures.pole_density`.
    specimen : one direction of three numbers, or several
        Directions of the specimen in Cartesian coordinates; one figure each, on one scale.
    group : Group, optional
        The crystal's symmetry, where the model does not say it.
    whole : bool, default False
        Draw the upper hemisphere instead of the sector that repeats. The sector is that of the rotations about z and
        the half turns across z; of cubes with their axes along x, y and z it is the standard triangle (two for 23).
        Labels of its corners are Miller's indices of cubes, and Cartesian directions of other crystals: "100" is x. The
        third corner of a hexagonal sector, 30° from x, has none.
    projection : {"stereographic", "equal area"}
    resolution : int, default 40
        Grid steps along each side. Peaks narrower than a cell may lie between its corners. A warning says so of a
        density of kernels (`form_`) that are narrower than a cell, if less than 90 % of its height is drawn.
    degree : int, optional
        As in `pole_figure`.
    colorbar : bool, default True
    cmap : str, default "viridis"
    ax : matplotlib Axes or a sequence of them, optional

    Returns
    -------
    matplotlib Axes, or an array of them

    Examples
    --------
    >>> import specavg as sa
    >>> cubic = sa.groups.crystal_symmetry("O")
    >>> ax = sa.plot.inverse_pole_figure(lambda X: 1 + 0 * X[:, 0], (0, 0, 1), group=cubic, resolution=4, degree=2)
    >>> [text.get_text() for text in ax.texts]
    ['001', '101', '111']
    """
    check_drawing(projection, resolution, degree)
    source = source_of(model, space=Rotations(), group=group)
    directions = np.atleast_2d(np.asarray(specimen, dtype=float))
    axes = panels_in_a_row(ax, len(directions), (3.1, 3.3), colorbar)
    first, last, edge, corners = _sector(None if whole else crystal_and_specimen(source.group)[0])
    phi = np.linspace(first, last, resolution + 1)
    share, phi = np.meshgrid(np.linspace(0, 1, resolution + 1), phi, indexing="ij")
    theta = share * edge(phi)
    flat = directions_at(theta, phi)

    def transposed(X: Array) -> Array:  # X r = h is Xᵀ h = r: crystal and specimen change places
        return source.values(X.reshape(-1, 3, 3).transpose(0, 2, 1).reshape(len(X), 9))

    swapped = [(B, A) for A, B in sides(source.group)] if group is None else []
    densities = [
        drawn_pole_density(
            model, transposed, unit_direction(r, "specimen"), flat, True, degree, swapped, transposed=True
        )
        for r in directions
    ]
    densities = [d.reshape(phi.shape) for d in densities]
    question_pole_grid(model, directions, densities, flat, True, resolution, transposed=True)
    plane = project(flat, projection).reshape(*phi.shape, 2)
    rim = np.concatenate([plane[:, 0], plane[-1], plane[::-1, -1]])
    bands_on_one_scale(axes, plane, densities, cmap, _UNIT if colorbar else None)
    for panel, r in zip(axes, directions, strict=True):
        panel.plot(*(plane[-1] if last - first > 6 else rim).T, color=INK, linewidth=1)
        for corner in corners:
            at = project(unit_direction(corner)[None], projection)[0]
            away = at - plane.reshape(-1, 2).mean(axis=0)
            offset = tuple((15, 9) * away / max(np.linalg.norm(away), 1e-9))  # three digits are wider than high
            panel.annotate(indices(corner), at, offset, textcoords="offset points", ha="center", va="center",
                           annotation_clip=False)  # fmt: skip
        panel.set_title(f"along {indices(r, '[]')}", pad=24 if last - first > 6 else 16, fontsize="medium")
        panel.set_aspect("equal")
        panel.set_axis_off()
        panel.margins(0.12)
    return axes[0] if np.ndim(specimen) == 1 else axes


def odf_sections(
    model: Any,
    phi2: float | Sequence[float] | None = None,
    *,
    group: Group | None = None,
    resolution: int = 45,
    colorbar: bool = True,
    cmap: str = CMAP,
    ax: Any = None,
) -> Array:
    """Sections φ₂ = const of an orientation density in Bunge's angles, in multiples of random.

    φ₁ runs over 360°, or as far as rotations of the specimen about z and half turns across z do not repeat it (90° for
    rolled sheet); Φ over 180°, or 90° for a crystal with a half turn across z.

    Parameters
    ----------
    model : fitted density or callable
        On `Rotations`.
    phi2 : float or sequence of float, optional
        In degrees. Default: 0, 45 and 65, which have the ideal orientations of rolled cubic metals; where the crystal
        has a threefold or sixfold axis along z, every 30 up to what repeats (0 and 30 for 6/mmm).
    group : Group, optional
        The symmetry of crystal and specimen, where the model does not say it.
    resolution : int, default 45
        Grid steps along each side: 8° where φ₁ runs over 360°. Peaks narrower than a cell may lie between its corners.
        A warning says so of a density of kernels (`form_`) that are narrower than a cell, if less than 90 % of its
        height is drawn.
    colorbar : bool, default True
    cmap : str, default "viridis"
    ax : sequence of matplotlib Axes, optional

    Returns
    -------
    ndarray of matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> axes = sa.plot.odf_sections(lambda X: 1 + X[:, 8], [0, 45], resolution=4)
    >>> axes[1].get_title()
    'φ₂ = 45°'
    """
    resolution = whole_number(resolution, "resolution", 1)
    source = source_of(model, space=Rotations(), group=group)
    crystal, specimen = (_about_z(_matrices(side)) for side in crystal_and_specimen(source.group))
    if phi2 is None:
        phi2 = _SECTIONS if crystal[0] % 3 else np.arange(0.0, 360.0 / crystal[0], _STEP).tolist()
    at = np.atleast_1d(np.asarray(phi2, dtype=float)).tolist()
    widest = 360.0 / (specimen[0] * (2 if len(specimen[1]) else 1))
    deepest = 90.0 if len(crystal[1]) else 180.0
    axes = panels_in_a_row(ax, len(at), (3.1, 3.3), colorbar)
    first, middle = np.meshgrid(
        np.linspace(0, widest, resolution + 1), np.linspace(0, deepest, resolution + 1), indexing="ij"
    )
    sections: list[Array] = []
    for last in at:
        angles = np.stack([first.ravel(), middle.ravel(), np.full(first.size, last)], axis=1)
        values = source.values(rotations_from_bunge(angles, degrees=True).reshape(-1, 9))
        sections.append(values.reshape(first.shape))
    cell = float(np.hypot(widest, deepest)) / resolution  # φ₁ and Φ turn about perpendicular axes
    besides = ", and phi2= chooses sections that peaks lie in"
    question_grid(model, [np.stack(sections)], cell, resolution, lambda _, X: source.values(X), besides)
    bands_on_one_scale(axes, np.stack([first, middle], axis=-1), sections, cmap, _UNIT if colorbar else None)
    for panel, last in zip(axes, at, strict=True):
        panel.set_title(f"φ₂ = {last:g}°", fontsize="medium")
        panel.set(xlim=(0, widest), ylim=(deepest, 0), xlabel="φ₁ in degrees", aspect="equal")
        panel.set_xticks(np.linspace(0, widest, 4 if widest == 90 else 5))
        panel.set_yticks(np.linspace(0, deepest, 4 if deepest == 90 else 5))
        panel.spines[:].set_visible(False)
    axes[0].set_ylabel("Φ in degrees")
    return axes


def misorientations(
    X: Any,
    group: Group | None = None,
    *,
    pairs: int | None = None,
    random_state: Any = 0,
    bins: int = 36,
    ax: Axes | None = None,
) -> Axes:
    """The distribution of misorientation angles, with that of uniform orientations (Mackenzie's for cubes).

    Parameters
    ----------
    X : array-like of rotations, or fitted `InvariantDensity`
        From a density, 2,000 pairs of independent orientations are drawn.
    group : Group, optional
        The crystal's symmetry, as in `textures.misorientation_angles`; that of the density, or cubic, by default.
    pairs, random_state
        As in `textures.misorientation_angles`; `random_state` also draws the uniform orientations.
    bins : int, default 36
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> X = sa.Rotations().sample(200, random_state=0)
    >>> sa.plot.misorientations(X, sa.groups.crystal_symmetry("O")).get_xlabel()
    'misorientation angle in degrees'
    """
    if hasattr(X, "score_samples") and hasattr(X, "sample"):
        group = X.basis_.group if group is None else group
        X = X.sample(_DRAWN, random_state)
    elif callable(X) or hasattr(X, "get_params"):
        raise TypeError(
            "misorientations are between orientations: give rotations of shape (n, 9) or (n, 3, 3), or a fitted "
            f"InvariantDensity, from which they are drawn; got {type(X).__name__}"
        )
    group = crystal_symmetry("O") if group is None else group
    angles = misorientation_angles(X, group, pairs=pairs, random_state=random_state)
    random = misorientation_angles(Rotations().sample(40_000, random_state), group)
    edges = np.linspace(0, max(angles.max(), random.max()) * (1 + 1e-9), bins + 1)
    panel: Any = axes_or_new(ax, (5.4, 3.6))
    panel.hist(angles, edges, density=True, color=COLORS[4], label=f"these orientations, {len(angles):,} pairs")
    heights, _ = np.histogram(random, edges, density=True)
    panel.plot((edges[1:] + edges[:-1]) / 2, heights, color=COLORS[0], label="uniform orientations")
    panel.set(xlabel="misorientation angle in degrees", ylabel="density per degree", xlim=(0, edges[-1]))
    panel.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize="small")  # above all bars
    without_frame(panel)
    return panel


def _matrices(rotations: Group | None) -> Array:
    """All rotations of a finite group; the identity alone where the group is not known, or not finite."""
    if rotations is None or not np.isfinite(rotations.order):
        return np.eye(3)[None]
    return np.array(
        [rotation_of_space(g).matrix for g in rotations.elements(limit=rotations.finite_order)], dtype=float
    )


def _about_z(matrices: Array) -> tuple[int, Array]:
    """How many rotations keep z, and in which directions of the plane lie the axes of the half turns across z."""
    across = matrices[matrices[:, 2, 2] < _TURNED_ROUND]
    return int(np.sum(matrices[:, 2, 2] > -_TURNED_ROUND)), np.arctan2(across[:, 1, 0], across[:, 0, 0]) / 2


def _sector(crystal: Group | None) -> tuple[float, float, Any, list[tuple[float, float, float]]]:
    """The sector of directions that repeats (with their opposites): first and last angle, edge θ(φ), and corners."""
    matrices = _matrices(crystal)
    if len(matrices) in (12, 24) and np.isin(matrices, (-1, 0, 1)).all():  # the axes of the cube are x, y and z
        octahedral = len(matrices) == 24
        corners = [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 1.0, 1.0)]
        last = np.pi / 4 if octahedral else np.pi / 2
        # up to the planes x = z and y = z
        return (
            0.0,
            last,
            lambda phi: np.arctan(1 / np.maximum(np.cos(phi), np.sin(phi))),
            corners[: 3 + (not octahedral)],
        )
    turns, axes = _about_z(matrices)
    first, width = 0.0, 2 * np.pi / turns
    if len(axes):  # with the inversion, a half turn about an axis is a mirror across it
        width /= 2
        first = -((-axes[0] - np.pi / 2 + _ROUNDING) % width - _ROUNDING)

    def edge(phi: Array) -> Array:
        return np.full_like(phi, np.pi / 2)

    corners = [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0)] if width < 6 else [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    return first, first + width, edge, corners
