"""Functions on three-dimensional tori and crystal cells, slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._messages import whole_number
from specavg.groups import Group
from specavg.plot._source import source_of
from specavg.plot._style import CMAP, INK, bands_on_one_scale, panels_in_a_row
from specavg.spaces import Space, Torus

_AWAY = 11  # points from an edge to the middle of its label, which is 13 wide and 9 high


def slices(
    model: Any,
    at: Sequence[float] = (0.0, 0.125, 0.25, 0.375, 0.5),
    *,
    axis: int = 2,
    space: Space | None = None,
    group: Group | None = None,
    index: int | None = None,
    output: int | None = None,
    resolution: int = 60,
    colorbar: bool = True,
    cmap: str = CMAP,
    ax: Any = None,
) -> NDArray[Any]:
    """A function on a three-dimensional torus or in a crystal cell: slices at several heights, on one scale.

    Parameters
    ----------
    model : fitted estimator, InvariantBasis or callable
        On `Torus(3)`, with a box or a lattice.
    at : sequence of float, default (0, 1/8, 1/4, 3/8, 1/2)
        Heights of the slices, in periods of the coordinate `axis`.
    axis : int, default 2
        The coordinate that is held: 0, 1 or 2.
    space, group, index, output
        As in `torus`.
    resolution : int, default 60
        Grid points along each side.
    colorbar : bool, default True
    cmap : str, default "viridis"
    ax : sequence of matplotlib Axes, optional
        One for each slice; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(3), sa.groups.hyperoctahedral(3), max_eigenvalue=30)
    >>> axes = sa.plot.slices(basis, at=[0, 0.25], index=1, resolution=8)
    >>> axes[1].get_title()
    'x₃ = 0.25 periods'
    """
    source = source_of(model, space=space, group=group, index=index, output=output)
    if not isinstance(source.space, Torus) or source.space.dim != 3:
        raise ValueError(f"plot.slices draws functions on Torus(3); this one is on {source.space!r}")
    if axis not in (0, 1, 2):
        raise ValueError(f"axis must be 0, 1 or 2; got {axis!r}")
    resolution = whole_number(resolution, "resolution", 1)
    axes = panels_in_a_row(ax, len(at), (2.3, 2.7), colorbar)
    kept = [i for i in range(3) if i != axis]
    frame = np.diag(source.space.period) if source.space.lattice is None else source.space.lattice
    flat = _in_plane(frame[kept])
    u = np.linspace(0, 1, resolution + 1)
    grid = np.stack(np.meshgrid(u, u, indexing="ij"), axis=-1).reshape(-1, 2)
    drawn = (grid @ flat).reshape(len(u), len(u), 2)
    values: list[Array] = []
    for height in at:
        points = np.full((len(grid), 3), float(height))
        points[:, kept] = grid
        values.append(source.values(points * source.space.period).reshape(len(u), len(u)))
    bands_on_one_scale(axes, drawn, values, cmap, source.label if colorbar else None, digits=12)
    rim = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) @ flat
    for panel, height in zip(axes, at, strict=True):
        panel.plot(*rim.T, color=INK, linewidth=1)
        panel.set_title(f"x{'₁₂₃'[axis]} = {height:g} periods", fontsize="medium")
        panel.set_aspect("equal")
        panel.set_axis_off()
        first, second = ("x₁x₂x₃"[2 * i : 2 * i + 2] for i in kept)
        for name, edge, away in ((first, flat[0], (0, -1)), (second, flat[1], (-flat[1][1], flat[1][0]))):
            offset = _AWAY * np.array(away) / np.linalg.norm(away)  # at right angles to the edge
            panel.annotate(name, edge / 2, tuple(offset), textcoords="offset points", ha="center", va="center",
                           annotation_clip=False)  # fmt: skip
    return axes


def _in_plane(vectors: Array) -> Array:
    """Two vectors of space in the plane that they span, the first along x, with their lengths and their angle."""
    first, second = vectors
    length = float(np.linalg.norm(first))
    along = float(first @ second) / length
    return np.array([[length, 0.0], [along, np.sqrt(max(float(second @ second) - along**2, 0.0))]])
