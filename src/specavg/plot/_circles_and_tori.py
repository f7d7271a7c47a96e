"""Functions on the circle and on two-dimensional tori."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg.groups import Group
from specavg.plot._source import source_of
from specavg.plot._style import CMAP, COLORS, INK, axes_or_new, axis_style, bands, colorbar_beside, without_frame
from specavg.plot._symmetry import drawable, mirrors_of_circle, symmetry_of_plane
from specavg.spaces import Space, Torus

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def circle(
    model: Any,
    *,
    space: Space | None = None,
    group: Group | None = None,
    index: int | None = None,
    output: int | None = None,
    data: tuple[ArrayLike, ArrayLike] | None = None,
    symmetry: bool | None = None,
    resolution: int = 720,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A function on the circle over one period, with the mirrors and the period of the group.

    Mirrors are dash-dotted lines; every second copy of the smallest period of the rotations is shaded.

    Parameters
    ----------
    model : fitted estimator, InvariantBasis or callable
        What is drawn; a density is drawn as it is, not as its logarithm.
    space, group : optional
        For a callable; or another group whose symmetry is to be drawn.
    index : int, optional
        Which function of a basis; by default the first that is not constant.
    output : int, optional
        Which output of a model with several.
    data : (X, y), optional
        Observations to show, X of shape (n, 1).
    symmetry : bool, optional
        Whether to draw the mirrors and rotations; by default for groups of at most 240 elements.
    resolution : int, default 720
        Points along the curve.
    label : str, optional
        For a legend.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Circle(), sa.groups.dihedral(3), max_eigenvalue=100)
    >>> ax = sa.plot.circle(basis, index=1)
    >>> ax.get_xlabel()
    'angle'
    """
    source = source_of(model, space=space, group=group, index=index, output=output)
    period, start = _box(source.space, 1)
    elements = drawable(source.group, symmetry)
    panel: Any = axes_or_new(ax, (6.4, 3.2))
    u = np.linspace(0, 1, resolution + 1)
    x = start[0] + period[0] * u
    panel.plot(x, source.values(x[:, None]), color=COLORS[0], linewidth=2, label=label, zorder=3)
    if data is not None:
        X, y = np.asarray(data[0], dtype=float).reshape(-1), np.asarray(data[1], dtype=float)
        X = start[0] + (X - start[0]) % period[0]
        panel.plot(X, y, "o", color=COLORS[1], markeredgecolor=INK, markeredgewidth=0.5, markersize=4, zorder=2)
    if elements:
        mirrors, rotations = mirrors_of_circle(elements)
        if rotations > 1:
            edges = x[0] + period[0] * np.arange(rotations + 1) / rotations
            for a, b in zip(edges[:-1:2], edges[1::2], strict=False):
                panel.axvspan(a, b, color="0.93", linewidth=0, zorder=0)
        for m in mirrors:
            at = x[0] + (m * period[0] - x[0]) % period[0]
            for line in {at, at + period[0] if at == x[0] else at}:
                panel.axvline(line, color="0.35", linewidth=1, linestyle=(0, (7, 2, 1.5, 2)), zorder=1)
    panel.set_xlim(x[0], x[-1])
    panel.set_ylabel(source.label)
    _label_axis(panel.xaxis, period[0], start[0], source.columns[0] if len(source.columns) == 1 else None)
    without_frame(panel)
    panel.grid(False, axis="x")
    return panel


def torus(
    model: Any,
    *,
    space: Space | None = None,
    group: Group | None = None,
    index: int | None = None,
    output: int | None = None,
    data: ArrayLike | None = None,
    symmetry: bool | None = None,
    resolution: int = 180,
    colorbar: bool = True,
    cmap: str = CMAP,
    ax: Axes | None = None,
) -> Axes:
    """A function on a two-dimensional torus, with the mirror lines and rotation centres of the group.

    Mirror lines are solid, glide lines dashed; a rotation centre has the printed symbol of its order (a lens, a
    triangle, a square, a hexagon). The cell of a lattice is drawn in its own shape.

    Parameters
    ----------
    model : fitted estimator, InvariantBasis or callable
        What is drawn; a density is drawn as it is, not as its logarithm.
    space, group : optional
        For a callable; or another group whose symmetry is to be drawn.
    index : int, optional
        Which function of a basis; by default the first that is not constant.
    output : int, optional
        Which output of a model with several.
    data : array-like of shape (n, 2), or a pair (X, y), optional
        Points to show.
    symmetry : bool, optional
        Whether to draw mirrors and rotations; by default for groups of at most 240 elements.
    resolution : int, default 180
        Grid points along each side.
    colorbar : bool, default True
    cmap : str, default "viridis"
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(2), sa.groups.hyperoctahedral(2), max_eigenvalue=100)
    >>> ax = sa.plot.torus(basis, index=2, resolution=40)
    >>> ax.get_title()
    ''
    """
    source = source_of(model, space=space, group=group, index=index, output=output)
    period, start = _box(source.space, 2)
    assert isinstance(source.space, Torus)
    lattice = source.space.lattice
    frame = np.diag(period) if lattice is None else lattice  # periods -> drawn coordinates, row vectors
    origin = start if lattice is None else np.zeros(2)
    elements = drawable(source.group, symmetry)
    panel: Any = axes_or_new(ax, (5.4, 4.6))

    u = np.linspace(0, 1, resolution + 1)
    grid = np.stack(np.meshgrid(u, u, indexing="ij"), axis=-1).reshape(-1, 2)
    values = source.values(start + period * grid).reshape(len(u), len(u))
    drawn = (origin + grid @ frame).reshape(len(u), len(u), 2)
    filled = bands(panel, drawn[..., 0], drawn[..., 1], values, cmap)

    corner = start / period  # of the drawn cell, in periods
    if data is not None:
        points = origin + (source.points(data) / period - corner) % 1.0 @ frame
        panel.plot(*points.T, "o", color="white", markeredgecolor=INK, markeredgewidth=0.8, markersize=4)
    lines, centers = symmetry_of_plane(elements)
    for line in lines:
        for piece in _pieces(line.offset, line.direction, corner):
            ends = origin + (piece - corner) @ frame
            dash = {"linestyle": (0, (4, 3))} if line.glide else {}
            panel.plot(*ends.T, color="white", linewidth=2.6, zorder=4, **dash)
            panel.plot(*ends.T, color=INK, linewidth=1.2, zorder=5, **dash)
    for center in centers:
        for shifted in _copies(center.point, corner):
            at = origin + (shifted - corner) @ frame
            panel.plot(*at, zorder=6, **axis_style(center.order))
    corners = origin + np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) @ frame
    panel.plot(*corners.T, color=INK, linewidth=1)
    lengths = np.linalg.norm(frame, axis=1)
    panel.set_aspect("equal" if lattice is not None or lengths.max() < 3 * lengths.min() else "auto")
    if lattice is None:
        across, up = source.columns if len(source.columns) == 2 else ("x₁", "x₂")
        _label_axis(panel.xaxis, period[0], start[0], across)
        _label_axis(panel.yaxis, period[1], start[1], up)
        panel.set(xlim=origin[0] + np.array([0, period[0]]), ylim=origin[1] + np.array([0, period[1]]))
        panel.spines[:].set_visible(False)
    else:
        panel.set_axis_off()
        panel.margins(0.02)
    if colorbar:
        colorbar_beside(filled, panel, source.label)
    return panel


def _box(space: Space, d: int) -> tuple[Array, Array]:
    """Periods and lower corner of the box that is drawn."""
    if not isinstance(space, Torus) or space.dim != d:
        name, better = ("circle", "Circle()") if d == 1 else ("torus", "Torus(2)")
        others = {1: "circle", 2: "torus", 3: "slices"} if isinstance(space, Torus) else {}
        hint = f". Use plot.{others[space.dim]}" if space.dim in others else ""
        raise ValueError(f"plot.{name} draws functions on {better}; this one lives on {space!r}{hint}")
    start = np.zeros(d) if space.lattice is not None or _is_angle(space.period) else -space.period / 2
    return space.period, start


def _is_angle(period: Array) -> bool:
    return bool(np.allclose(period, 2 * np.pi))


def _label_axis(axis: Any, period: float, start: float, name: str | None = None) -> None:
    if _is_angle(np.array(period)):
        axis.set_ticks(start + np.arange(5) * np.pi / 2, ["0", "π/2", "π", "3π/2", "2π"])
        axis.set_label_text(name or "angle")
    else:
        axis.set_ticks(start + np.arange(5) * period / 4)
        axis.set_label_text(name or "x")


def _copies(point: Array, corner: Array) -> list[Array]:
    """The copies of `point` in the closed cell with this lower corner, in periods."""
    first = corner + (point - corner) % 1.0
    steps = [(0.0, 1.0) if abs(first[i] - corner[i]) < 1e-9 else (0.0,) for i in range(2)]
    return [first + np.array([a, b]) for a in steps[0] for b in steps[1]]


def _pieces(offset: Array, direction: Array, corner: Array) -> list[Array]:
    """The parts of a line and of its copies inside the cell with this lower corner, as pairs of end points."""
    found: dict[tuple[int, ...], Array] = {}
    for i in range(-4, 5):
        for j in range(-4, 5):
            piece = _clipped(offset + np.array([i, j], dtype=float) - corner, direction)
            if piece is not None:
                found[tuple(np.rint(piece.ravel() * 1e6).astype(int).tolist())] = piece + corner
    return list(found.values())


def _clipped(point: Array, direction: Array) -> Array | None:
    """The part of a line in the unit square, or None."""
    low, high = -np.inf, np.inf
    for p, v in zip(point, direction, strict=True):
        if abs(v) < 1e-12:
            if not -1e-9 <= p <= 1 + 1e-9:
                return None
            continue
        a, b = sorted((-p / v, (1 - p) / v))
        low, high = max(low, a), min(high, b)
    if high - low < 1e-9:
        return None
    return np.stack([point + low * direction, point + high * direction])
