"""Functions on the sphere in three dimensions: a globe, a polar body, or a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg.groups import Group
from specavg.plot._source import source_of
from specavg.plot._style import CMAP, INK, axes_or_new, axis_style, bands, colorbar_beside, value_range
from specavg.plot._symmetry import drawable, symmetry_of_sphere
from specavg.spaces import Space, Sphere

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAPS = ("mollweide", "hammer", "aitoff")
_TAG = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
_LIFT = 1.004  # marks, and lines on a body, float a little above the surface


def sphere(
    model: Any,
    *,
    space: Space | None = None,
    group: Group | None = None,
    index: int | None = None,
    output: int | None = None,
    projection: str = "3d",
    body: bool = False,
    data: ArrayLike | None = None,
    symmetry: bool | None = None,
    view: tuple[float, float] = (22.0, 35.0),
    resolution: int = 120,
    colorbar: bool = True,
    cmap: str = CMAP,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A function on the unit sphere of R³, with the mirror circles and rotation axes of the group.

    Mirrors are great circles; an axis has the printed symbol of its order (a lens, a triangle, a square, …), open
    where only rotation with inversion has that order. On the globe only the near side is drawn, for the given
    view.

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
    projection : {"3d", "mollweide", "hammer", "aitoff"}
        A globe, or a map of the whole sphere with z up and x in the middle.
    body : bool, default False
        With "3d": the surface whose distance from the centre is the value, as elastic moduli are drawn. Needs
        positive values.
    data : array-like of shape (n, 3), or a pair (X, y), optional
        Points to show.
    symmetry : bool, optional
        Whether to draw mirrors and axes; by default for groups of at most 240 elements.
    view : (float, float), default (22, 35)
        Elevation and azimuth of the eye, in degrees.
    resolution : int, default 120
        Grid steps from pole to pole; twice as many around.
    colorbar : bool, default True
    cmap : str, default "viridis"
    label : str, optional
        Of the colour bar.
    ax : matplotlib Axes, optional
        Where to draw, of the right projection; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), sa.groups.point_group("Oh"), max_eigenvalue=20)
    >>> ax = sa.plot.sphere(basis, index=1, projection="mollweide", resolution=20)
    >>> ax.name
    'mollweide'
    """
    if projection != "3d" and projection not in MAPS:
        raise ValueError(f"projection must be '3d' or one of {', '.join(MAPS)}; got {projection!r}")
    source = source_of(model, space=space, group=group, index=index, output=output)
    if source.space != Sphere(3):
        raise ValueError(f"plot.sphere draws functions on Sphere(3); this one lives on {source.space!r}")
    if body and projection != "3d":
        raise ValueError(f"body=True needs projection='3d'; got {projection!r}")
    normals, axes = symmetry_of_sphere(drawable(source.group, symmetry))
    panel: Any = axes_or_new(ax, (5.2, 4.4) if projection == "3d" else (7.2, 3.9), projection=projection)
    height = np.linspace(-np.pi / 2, np.pi / 2, resolution + 1)
    around = np.linspace(-np.pi, np.pi, 2 * resolution + 1)
    points = None if data is None else source.points(data)
    if projection == "3d":
        surface = _Globe(panel, source.values, view, body)
    else:
        surface = _Map(panel, source.values)
    mappable = surface.fill(height, around, cmap)
    for normal in normals:
        surface.mirror(normal)
    if points is not None:
        style = {"marker": "o", "linestyle": "none", "markersize": 4}
        surface.marks(points, {**style, "color": "white", "markeredgecolor": INK, "markeredgewidth": 0.8})
    for axis in axes:
        surface.marks(np.stack([axis.direction, -axis.direction]), axis_style(axis.order, improper=axis.improper))
    surface.finish()
    if colorbar:
        shrink = 0.65 if projection == "3d" else 0.8
        colorbar_beside(mappable, panel, label or source.label, shrink=shrink)
    return panel


class _Globe:
    """The sphere, or a body around the centre, seen from one side."""

    def __init__(self, ax: Any, values: Any, view: tuple[float, float], body: bool) -> None:
        if not hasattr(ax, "plot_surface"):
            raise ValueError("ax must have projection='3d' for a globe")
        self.ax, self.values, self.body = ax, values, body
        ax.view_init(*view)
        ax.set_proj_type("ortho")
        ax.computed_zorder = False  # what is drawn later lies in front
        elevation, azimuth = np.deg2rad(view)[:, None]
        self.eye = _directions(elevation, azimuth)[0, 0]
        self.scale = 1.0

    def fill(self, height: Array, around: Array, cmap: str) -> Any:
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        X = _directions(height, around)
        shape = (len(height), len(around))
        values = self.values(X.reshape(-1, 3)).reshape(shape)
        middle = _directions((height[1:] + height[:-1]) / 2, (around[1:] + around[:-1]) / 2)
        faces = self.values(middle.reshape(-1, 3)).reshape(middle.shape[:2])
        radius = np.ones(shape)
        if self.body:
            if not values.min() > 0:
                raise ValueError(
                    f"body=True draws values as distances: they must be positive; the least is {values.min():.3g}"
                )
            self.scale = float(values.max())
            radius = values / self.scale
        norm = Normalize(*value_range(values))
        colors = colormaps[cmap](norm(faces))
        if self.body:  # light from the eye's upper left shows the shape
            colors[..., :3] *= _shade(radius[..., None] * X, self.eye)[..., None]
        self.ax.plot_surface(
            *np.moveaxis(radius[..., None] * X, -1, 0),
            facecolors=colors,
            rstride=1,
            cstride=1,
            linewidth=0,
            antialiased=False,
            shade=False,
            zorder=1,
        )
        return ScalarMappable(norm, cmap)

    def mirror(self, normal: Array) -> None:
        if self.body:
            X = _great_circle(normal)
            line = np.where(self._hidden(X)[:, None], np.nan, _LIFT * self._on_surface(X))
        else:  # the near half, from limb to limb: cut at the limb itself, not at the last point before it
            near = self.eye - (normal @ self.eye) * normal
            if np.linalg.norm(near) < 1e-6:
                return  # the limb, which is drawn anyway
            line = _great_circle(normal, near, turn=0.5)
        style = {"solid_capstyle": "butt", "solid_joinstyle": "round"}
        self.ax.plot(*line.T, color="white", linewidth=2.4, alpha=0.8, zorder=2, **style)
        self.ax.plot(*line.T, color=INK, linewidth=1.1, zorder=3, **style)

    def marks(self, X: Array, style: dict[str, Any]) -> None:
        style = {**style, "clip_on": True}
        self.ax.plot(*(_LIFT * self._on_surface(X)[~self._hidden(X)]).T, zorder=5, **style)

    def _on_surface(self, X: Array) -> Array:
        return (self.values(X) / self.scale)[:, None] * X if self.body else X

    def _hidden(self, X: Array) -> NDArray[np.bool_]:
        """Whether something of the surface is in front of each point."""
        if not self.body:
            return X @ self.eye < 0
        inside = np.zeros(len(X), dtype=bool)
        start = 1.02 * _LIFT * self._on_surface(X)
        for step in np.linspace(0.0, 1.5, 40):
            ray = start + step * self.eye
            length = np.linalg.norm(ray, axis=1)
            inside |= length < 0.99 * self.values(ray / length[:, None]) / self.scale
        return inside

    def finish(self) -> None:
        self.ax.set_axis_off()
        limit = 0.82 if not self.body else 0.85
        self.ax.set(xlim=(-limit, limit), ylim=(-limit, limit), zlim=(-limit, limit))
        self.ax.set_box_aspect((1, 1, 1))
        if not self.body:
            # Wide enough to hide the edge of the facets and the ends of the mirrors.
            self.ax.plot(*_great_circle(self.eye).T, color=INK, linewidth=1.6, zorder=4)
        for v, name in zip(np.eye(3), "xyz", strict=True):
            if v @ self.eye > 0:
                foot = _LIFT * (float(self.values(v[None])[0]) / self.scale if self.body else 1.0)
                aside = np.linalg.norm(v - (v @ self.eye) * self.eye)  # as seen; near the limb the name stands outside
                end = max(1.24, 1.16 / aside) if aside > 0.7 else 1.24
                self.ax.plot(*np.stack([foot * v, (end - 0.1) * v]).T, color="0.3", linewidth=0.9, zorder=3)
                self.ax.text(*(end * v), name, ha="center", va="center", bbox=_TAG, zorder=5, fontstyle="italic")


class _Map:
    """The whole sphere on a plane."""

    def __init__(self, ax: Any, values: Any) -> None:
        self.ax, self.values = ax, values

    def fill(self, height: Array, around: Array, cmap: str) -> Any:
        X = _directions(height, around)
        values = self.values(X.reshape(-1, 3)).reshape(X.shape[:2])
        return bands(self.ax, around, height, values, cmap, zorder=0)

    def mirror(self, normal: Array) -> None:
        longitude, latitude = _angles(_great_circle(normal))
        breaks = np.flatnonzero(np.abs(np.diff(longitude)) > np.pi) + 1
        for piece in np.split(np.stack([longitude, latitude]), breaks, axis=1):
            self.ax.plot(*piece, color="white", linewidth=2.4, alpha=0.8, zorder=2)
            self.ax.plot(*piece, color=INK, linewidth=1.1, zorder=3)

    def marks(self, X: Array, style: dict[str, Any]) -> None:
        longitude, latitude = _angles(X)
        edge = np.abs(np.abs(longitude) - np.pi) < 1e-9  # on the seam: show it on both sides
        self.ax.plot(
            np.concatenate([longitude, -longitude[edge]]), np.concatenate([latitude, latitude[edge]]), zorder=4, **style
        )

    def finish(self) -> None:
        self.ax.set_xticks(np.deg2rad([-90, 0, 90]), ["", "", ""])
        self.ax.set_yticks(np.deg2rad([-30, 0, 30]), ["", "", ""])
        self.ax.grid(True, color="white", linewidth=0.4, alpha=0.4)
        for angle, height, name in ((0, 0, "x"), (np.pi / 2, 0, "y"), (0, np.pi / 2, "z")):
            self.ax.annotate(
                name, (angle, height), (7, 7), textcoords="offset points", fontstyle="italic", bbox=_TAG, zorder=5
            )


def _directions(height: Array, around: Array) -> Array:
    """Unit vectors on a grid of latitudes and longitudes."""  # (p,), (q,) -> (p, q, 3)
    latitude, longitude = np.meshgrid(height, around, indexing="ij")
    c = np.cos(latitude)
    return np.stack([c * np.cos(longitude), c * np.sin(longitude), np.sin(latitude)], axis=-1)


def _angles(X: Array) -> tuple[Array, Array]:
    flat = np.hypot(X[:, 0], X[:, 1])
    longitude = np.where(flat > 1e-12, np.arctan2(X[:, 1], X[:, 0]), 0.0)
    return longitude, np.arctan2(X[:, 2], flat)


def _great_circle(normal: Array, middle: Array | None = None, turn: float = 1.0, steps: int = 361) -> Array:
    """Points of the great circle across `normal`, or of a part of it around the direction `middle`."""
    a: Any = np.cross(normal, np.eye(3)[np.abs(normal).argmin()]) if middle is None else middle
    a = a / np.linalg.norm(a)
    angle: Array = np.linspace(-turn * np.pi, turn * np.pi, steps)[:, None]
    return np.cos(angle) * a + np.sin(angle) * np.cross(normal, a)


def _shade(P: Array, eye: Array) -> Array:
    """Brightness of each face of a grid of points, between 0.55 and 1."""  # (p, q, 3) -> (p-1, q-1)
    normal = np.cross(P[:-1, 1:] - P[:-1, :-1], P[1:, :-1] - P[:-1, :-1])
    other = np.cross(P[1:, 1:] - P[1:, :-1], P[1:, 1:] - P[:-1, 1:])
    normal = normal + np.where(np.sum(normal * other, axis=-1, keepdims=True) < 0, -other, other)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-300)
    middle = P[:-1, :-1] + P[1:, 1:]
    normal *= np.sign(np.sum(normal * middle, axis=-1, keepdims=True))
    light = eye + np.array([0.0, 0.0, 0.7])
    light = light / np.linalg.norm(light)
    return 0.55 + 0.45 * np.clip(normal @ light, 0.0, 1.0)
