"""What all pictures share: Matplotlib when it is first needed, and colours that survive grey and colour blindness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours that also differ in lightness; lines differ in dash and marker besides.
COLORS = ("#0b3c6f", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6b6b6b")
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
CMAP = "viridis"  # lightness increases along it: the same order in grey
INK = "#1a1a1a"


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
