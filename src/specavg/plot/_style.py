"""What all pictures share: Matplotlib when it is first needed, colours, bands of values, and printed symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours that also differ in lightness; lines differ in dash and marker besides.
COLORS = ("#0b3c6f", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6b6b6b")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
CMAP = "viridis"  # lightness increases along it: the same order in grey
INK = "#1a1a1a"
_DIGITS = 9  # of values in units of their range: others are rounding, and no picture shows them


def pyplot() -> Any:
    """`matplotlib.pyplot`, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "specavg.plot needs Matplotlib, which is not installed: pip install 'specavg[plot]'"
        ) from None
    return plt


def axes_or_new(ax: Axes | None, size: tuple[float, float], **subplot: Any) -> Any:
    """`ax`, or the axes of a new figure of the given size in inches."""
    if ax is not None:
        return ax
    _, new = pyplot().subplots(figsize=size, layout="constrained", subplot_kw=subplot)
    return new


def panels_in_a_row(ax: Any, count: int, panel: tuple[float, float], colorbar: bool) -> NDArray[Any]:
    """`ax` as an array of `count` axes, or those of a new figure whose panels have the given size in inches."""
    if not count:
        raise ValueError("nothing is asked to be drawn: give at least one direction, section or height")
    if ax is None:
        size = (panel[0] * count + 0.9 * colorbar, panel[1])
        _, ax = pyplot().subplots(1, count, figsize=size, layout="constrained", squeeze=False)
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != count:
        raise ValueError(f"{count} pictures but {len(axes)} axes")
    return axes


def colorbar_beside(mappable: Any, axes: Any, label: str, **options: Any) -> Any:
    """A thin colour bar without a frame, beside one or several axes of a figure."""
    panels = np.atleast_1d(np.asarray(axes, dtype=object)).tolist()
    bar = panels[0].figure.colorbar(
        mappable, ax=panels if len(panels) > 1 else panels[0], **{"shrink": 0.8, "pad": 0.03, "aspect": 25, **options}
    )
    from matplotlib.ticker import MaxNLocator

    bar.locator = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    bar.update_ticks()
    bar.outline.set_visible(False)
    bar.set_label(label)
    return bar


def without_frame(ax: Any) -> None:
    """Only the left and lower spines, and no grid behind the data but a faint one."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, which="major", color="0.88", linewidth=0.6)
    ax.set_axisbelow(True)


def value_range(values: Array) -> tuple[float, float]:
    """The least and the largest value; a constant, which has no range, gets one around it."""
    low, high = float(values.min()), float(values.max())
    flat = high - low <= 1e-12 * max(1.0, abs(high))
    return (low - 0.5, high + 0.5) if flat else (low, high)


def bands(
    ax: Any, x: Array, y: Array, values: Array, cmap: str, limits: tuple[float, float] | None = None, **options: Any
) -> Any:
    """Twenty-four bands of colour, every third level with a line; what a colour bar needs is returned."""
    low, high = limits or value_range(values)
    # What rounding puts outside the limits would be left white, and on both sides of a level it would be a coastline.
    share = np.round((np.clip(values, low, high) - low) / (high - low), _DIGITS)
    values = low + share * (high - low)
    levels = np.linspace(low, high, 25)
    filled = ax.contourf(x, y, values, levels=levels, cmap=cmap, **options)
    filled.set_edgecolor("face")  # no hairlines between the bands in vector files
    lines = levels[3:-1:3]  # that of the least value would be the rounding of a flat background
    if np.any((lines > values.min()) & (lines < values.max())):  # a flat picture has no lines
        ax.contour(x, y, values, levels=lines, colors="black", linewidths=0.35, **options)
    return filled


def bands_on_one_scale(
    axes: Any, grid: Array, pictures: list[Array], cmap: str, label: str | None, digits: int = 9
) -> None:
    """Bands in one panel for each picture, and beside them a colour bar with that label.

    The points of the grid, of shape (p, q, 2), are the same for all. Digits beyond those given are rounding, and make
    no range.
    """
    x, y, limits = grid[..., 0], grid[..., 1], value_range(np.round(pictures, digits))
    filled = [bands(panel, x, y, values, cmap, limits) for panel, values in zip(axes, pictures, strict=True)]
    if label is not None:
        colorbar_beside(filled[-1], axes, label)


def _axis_marker(order: int) -> Any:
    """A marker for a rotation of the given order: the lens of a two-fold axis, else the regular polygon."""
    if order == 2:
        from matplotlib.path import Path

        angle = np.linspace(np.pi / 6, 5 * np.pi / 6, 12)
        arc = np.stack([np.cos(angle), np.sin(angle) - 0.5], axis=1)  # from tip to tip
        outline = np.concatenate([arc, -arc])[:, ::-1]
        return Path(np.concatenate([outline, outline[:1]]) / 0.9, closed=True)
    return (order, 0, 45 if order == 4 else 0)


def axis_style(order: int, *, improper: bool = False) -> dict[str, Any]:
    """Keywords for `Axes.plot`: filled for a rotation, open where only rotation with inversion has that order."""
    return {
        "linestyle": "none",
        "marker": _axis_marker(order),
        "markersize": 9.0,
        "markerfacecolor": "white" if improper else INK,
        "markeredgecolor": INK if improper else "white",
        "markeredgewidth": 1.0,
        "clip_on": False,
    }
