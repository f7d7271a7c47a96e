"""Orientation densities as pole figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._messages import whole_number
from specavg.functions._one_direction import circle_means, unit_direction
from specavg.groups import Group
from specavg.groups.families import CrystalSymmetry
from specavg.isometries import LeftRight, Orthogonal, SignedPermutation, flatten
from specavg.plot._coarse_grid import question_grid, widest_cell
from specavg.plot._source import source_of
from specavg.plot._style import CMAP, INK, bands_on_one_scale, panels_in_a_row
from specavg.plot._symmetry import DRAWN
from specavg.spaces import Rotations, Sphere
from specavg.textures._pole_density import (
    first_steps,
    pole_density_in_closed_form,
    settled_pole_density,
    warn_of_rough,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DEGREES = (12, 24, 48)  # of series that are tried
_ERROR = 0.01  # of the range of a pole density, at most: one of 24 bands is four times as wide
_MISSED = 0.01  # distance of the mean of a pole density from 1, beyond which it has peaks between the nodes
_MOST_VALUES = 2e7  # of a density that no series follows, for one picture: a minute for 200 functions


def pole_figure(
    model: Any,
    crystal: ArrayLike = (0, 0, 1),
    *,
    group: Group | None = None,
    projection: str = "equal area",
    antipodal: bool = True,
    data: ArrayLike | None = None,
    labels: tuple[str, str] = ("x", "y"),
    resolution: int = 40,
    degree: int | None = None,
    colorbar: bool = True,
    cmap: str = CMAP,
    ax: Any = None,
) -> Axes | Array:
    """Pole figures of an orientation density: the upper hemisphere of specimen directions, seen from z.

    Parameters
    ----------
    model : fitted density or callable
        On `Rotations`; see `textures.pole_density`.
    crystal : one direction of three numbers, or several
        Crystal directions h in Cartesian coordinates, such as ``(1, 1, 1)``; one figure each, on one scale. In cubic
        crystals these are Miller's indices, and titles have them in braces. In others they are not, and titles say
        Cartesian: the pole of the hexagonal plane (h k i l) is ``(h, (h + 2k)/√3, l·a/c)``, x along the axis a.
    group : Group, optional
        Whose symmetric copies of `data` are shown; the model's by default.
    projection : {"equal area", "stereographic"}
    antipodal : bool, default True
        The mean over h and −h.
    data : array-like of rotations, optional
        Orientations whose poles are shown as dots.
    labels : (str, str), default ("x", "y")
        Names of the first two specimen directions, for instance ``("RD", "TD")``.
    resolution : int, default 40
        Grid steps from the centre to the rim, 2.25° each. Peaks narrower than a cell may lie between its corners. A
        warning says so of a density of kernels (`form_`) that are narrower than a cell, if less than 90 % of its height
        is drawn.
    degree : int, optional
        The pole density is expanded in spherical harmonics up to this degree, which is exact for a density that is
        a series of that degree. By default a density of kernels takes their closed form (seconds), and another one
        the degree of 12, 24 and 48 that has an error below one percent of its range. Where none has,
        `textures.pole_density` is computed at each direction of the grid: a minute at most for 200 functions, with a
        warning where it is not settled.
    colorbar : bool, default True
    cmap : str, default "viridis"
    ax : matplotlib Axes or a sequence of them, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes, or an array of them
        An array where several directions are given.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> ax = sa.plot.pole_figure(lambda X: 1 + X[:, 8], (0, 0, 1), resolution=6, antipodal=False)
    >>> ax.get_title()
    '{001}'
    """
    check_drawing(projection, resolution, degree)
    source = source_of(model, space=Rotations(), group=group)
    directions = np.atleast_2d(np.asarray(crystal, dtype=float))
    axes = panels_in_a_row(ax, len(directions), (3.1, 3.6), colorbar)
    tilt = np.linspace(0, np.pi / 2, resolution + 1)
    around = np.linspace(0, 2 * np.pi, 4 * resolution + 1)
    theta, phi = np.meshgrid(tilt, around, indexing="ij")
    flat = directions_at(theta, phi)
    pairs = sides(source.group) if group is None else []
    densities = [
        drawn_pole_density(model, source.values, unit_direction(h), flat, antipodal, degree, pairs).reshape(theta.shape)
        for h in directions
    ]
    question_pole_grid(model, directions, densities, flat, antipodal, resolution)
    plane = project(flat, projection).reshape(*theta.shape, 2)
    bands_on_one_scale(axes, plane, densities, cmap, "multiples of random" if colorbar else None)
    crystal_class = getattr(getattr(crystal_and_specimen(source.group)[0], "structure", None), "symbol", "")
    cubic = crystal_class[:1] in ("O", "T", "")  # and where nothing is known of the crystal
    for panel, h in zip(axes, directions, strict=True):
        if data is not None:
            poles = _poles(Rotations().check_points(data).reshape(-1, 3, 3), h, source.group, antipodal)
            size = float(np.clip(60 / np.sqrt(len(poles)), 0.6, 2.5))  # many dots must not bury the density
            panel.plot(*project(poles, projection).T, "o", color="white", markeredgecolor=INK,
                       markeredgewidth=0.16 * size, markersize=size, alpha=0.8)  # fmt: skip
        panel.plot(np.cos(around), np.sin(around), color=INK, linewidth=1)
        panel.plot([0], [0], "+", color=INK, markersize=7, zorder=4)
        panel.annotate(labels[0], (1, 0), (5, 0), textcoords="offset points", va="center")
        panel.annotate(labels[1], (0, 1), (0, 4), textcoords="offset points", ha="center")
        panel.set_title(
            indices(h, "{}") if cubic else f"Cartesian ({' '.join(f'{c:.3g}' for c in h)})", pad=20, fontsize="medium"
        )
        panel.set_aspect("equal")
        panel.set_axis_off()
    return axes[0] if np.ndim(crystal) == 1 else axes


def check_drawing(projection: str, resolution: int, degree: int | None) -> None:
    """Errors for a figure of poles that cannot be drawn so."""
    if projection not in ("equal area", "stereographic"):
        raise ValueError(f"projection must be 'equal area' or 'stereographic'; got {projection!r}")
    whole_number(resolution, "resolution", 1)
    if degree is not None:
        whole_number(degree, "degree", 0)


def directions_at(theta: Array, phi: Array) -> Array:
    """Unit vectors at these angles from z and around it."""  # any shape -> (n, 3)
    return np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1).reshape(-1, 3)


def indices(h: ArrayLike, brackets: str = "") -> str:
    """Miller indices, such as {100} for brackets "{}"; a bar for a minus; numbers apart where they are not digits."""
    numbers = np.asarray(h, dtype=float).tolist()
    digits = all(c == int(c) and abs(c) < 10 for c in numbers)
    text = (
        "".join(f"{abs(c):.0f}" + "\u0304" * (c < 0) for c in numbers)
        if digits
        else " ".join(f"{c:g}" for c in numbers)
    )
    return brackets[:1] + text + brackets[1:]


def crystal_and_specimen(group: Group) -> tuple[Group | None, Group | None]:
    """The rotations of the crystal and of the specimen; None where they are not known."""
    structure = group.structure
    return (structure.crystal, structure.specimen) if isinstance(structure, CrystalSymmetry) else (None, None)


def drawn_pole_density(
    model: Any,
    values: Callable[[Array], Array],
    fixed: Array,
    at: Array,
    antipodal: bool,
    degree: int | None,
    pairs: Sequence[tuple[Array, Array]],
    *,
    transposed: bool = False,
) -> Array:
    """The pole density at the directions of a picture: in closed form, by a series, or as it is at each direction.

    Parameters
    ----------
    model : fitted density or callable
    values : callable
        The density of rotations X with X r = h, r = `at` and h = `fixed`; the other way round if `transposed`.
    fixed : ndarray of shape (3,)
    at : ndarray of shape (n, 3)
    antipodal, degree
        As in `pole_figure`.
    pairs : sequence of (ndarray, ndarray)
        Symmetries (A, B) of `values`.
    transposed : bool, default False
    """  # -> (n,)
    if degree is not None:
        return expanded_pole_density(values, fixed, at, antipodal, degree, pairs)
    found = pole_density_in_closed_form(model, fixed, at, antipodal, transposed)
    if found is not None:
        return found
    try:
        return expanded_pole_density(values, fixed, at, antipodal, None, pairs, first_steps(model))
    except NoSeriesError:
        chosen, which = _up_to(_repetitions(fixed, pairs)[1], at)
        found, rough = settled_pole_density(values, fixed, at[chosen], antipodal, first_steps(model), _MOST_VALUES)
        warn_of_rough(found, rough, 4)
        return found[which]


def question_pole_grid(
    model: Any,
    fixed: Array,
    pictures: list[Array],
    at: Array,
    antipodal: bool,
    resolution: int,
    *,
    transposed: bool = False,
) -> None:
    """A warning where peaks of pole densities lie between the directions of a picture; arguments as above."""

    def at_data(k: int, X: Array) -> Array | None:
        h = unit_direction(fixed[k])
        matrices = X.reshape(-1, 3, 3)
        poles = matrices @ h if transposed else h @ matrices
        poles = poles if antipodal else poles[poles[:, 2] >= 0]  # the upper hemisphere is drawn
        return pole_density_in_closed_form(model, h, poles, antipodal, transposed) if len(poles) else None

    cell = widest_cell(at.reshape(*pictures[0].shape, 3))
    question_grid(model, pictures, cell, resolution, at_data, "" if transposed else ", and data= shows poles as dots")


class NoSeriesError(Exception):
    """A pole density has peaks that no series of `_DEGREES` has."""


def expanded_pole_density(
    values: Callable[[Array], Array],
    h: Array,
    r: Array,
    antipodal: bool,
    degree: int | None,
    pairs: Sequence[tuple[Array, Array]] = (),
    steps: int = 60,
) -> Array:
    """The pole density at many directions, from few: it is a function on the sphere of the density's own degree.

    `pairs` are symmetries (A, B) of the density, X ↦ A X Bᵀ: what they repeat is evaluated once. Without a degree,
    series are compared with settled means over circles, of `steps` points at first.
    """
    sphere = Sphere(3)
    probe = sphere.sample(24, random_state=0)
    exact = probe[:, 0] if degree is not None else settled_pole_density(values, h, probe, antipodal, steps)[0]
    fold, images = _repetitions(h, pairs)
    for top in _DEGREES if degree is None else (degree,):
        X, weights = _symmetric_rule(top)
        chosen, which = _up_to(images, X)
        sampled = circle_means(values, h, X[chosen], 2 * top + 1, fold)[which]
        kept = [sphere.eigenspace(k) for k in range(top + 1) if not (antipodal and k % 2)]
        parts = [(V, sphere.evaluate(V, X).T @ (weights * sampled)) for V in kept]
        if degree is None:
            error = np.abs(np.sum([sphere.evaluate(V, probe) @ c for V, c in parts], axis=0) - exact).max()
            missed = sampled.min() >= 0 and not abs(weights @ sampled - 1) <= _MISSED  # peaks between all nodes
            if missed or error > _ERROR * np.ptp(sampled) + 1e-9:
                continue
        found = np.sum([sphere.evaluate(V, r) @ c for V, c in parts], axis=0)
        return np.maximum(found, 0.0) if sampled.min() >= 0 else found
    raise NoSeriesError


def sides(group: Group) -> list[tuple[Array, Array]]:
    """The matrices (A, B) of every element X ↦ A X Bᵀ of a small finite group, or of the crystal's part alone."""
    if group.order > DRAWN:  # a fibre texture, say
        crystal = crystal_and_specimen(group)[0]
        if crystal is None or crystal.order > DRAWN:
            return []
        turns = (flatten(g) for g in crystal.elements())
        return [(turn.matrix, np.eye(3)) for turn in turns if isinstance(turn, Orthogonal | SignedPermutation)]
    return [(g.left.matrix, g.right.matrix) for g in group.elements() if isinstance(g, LeftRight)]


def _repetitions(h: Array, pairs: Sequence[tuple[Array, Array]]) -> tuple[int, Array]:
    """How often a circle X r = h repeats, and the maps of r that leave its mean alone.

    X r = h is A X Bᵀ (B r) = A h, and X(−r) = −h: where A h is ±h, the means at r and ±B r are the same.
    """
    turns, images = 1, [np.eye(3)]
    for A, B in pairs:
        sign = round(float(h @ A @ h), 9)
        if abs(sign) == 1.0:
            images.append(sign * B)
            turns += bool(sign == 1.0 and np.allclose(B, np.eye(3), atol=1e-9) and not np.allclose(A, np.eye(3)))
    return turns, np.stack(images)


def _symmetric_rule(degree: int) -> tuple[Array, Array]:
    """A product rule on the sphere, exact to twice `degree`, that axes of 2, 3, 4 and 6 along z and across it keep."""
    t, w = np.polynomial.legendre.leggauss(degree + 1)
    count = 12 * (2 * degree // 12 + 1)
    angle = 2 * np.pi * (np.arange(count) + 0.5) / count
    height, angle = (part.ravel() for part in np.meshgrid(t, angle, indexing="ij"))
    rho = np.sqrt((1 - height) * (1 + height))
    return np.stack([rho * np.cos(angle), rho * np.sin(angle), height], axis=1), np.repeat(w / 2 / count, count)


def _up_to(images: Array, X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which points to take, one of each orbit, and which of them stands for each point."""
    moved = np.einsum("gij,nj->gni", images, X)
    first = (moved @ [1.0, 0.7, 0.4]).round(9).argmax(axis=0)  # one image of each orbit; two at most if they tie
    labels = moved[first, np.arange(len(X))].round(9) + 0.0
    _, chosen, which = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    return chosen, which.ravel()


def project(r: Array, projection: str) -> Array:
    """The upper hemisphere on the unit disc."""  # (n, 3) -> (n, 2)
    denominator = 1 + r[:, 2:]
    return r[:, :2] / (np.sqrt(denominator) if projection == "equal area" else denominator)


def _poles(X: Array, h: Array, group: Group, antipodal: bool) -> Array:
    """Specimen directions of the crystal direction in each orientation and its symmetric copies, upper half."""
    h = h / np.linalg.norm(h)
    copies = [X, *(A @ X @ B.T for A, B in sides(group))]
    poles = np.concatenate([np.einsum("nij,i->nj", Y, h) for Y in copies])  # X r = h, r = Xᵀh
    if antipodal:
        poles = np.concatenate([poles, -poles])
    return np.unique(poles[poles[:, 2] >= 0].round(9), axis=0)
