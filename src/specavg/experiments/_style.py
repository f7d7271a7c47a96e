"""How the figures look: one palette, one size, quiet axes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

__all__ = ["PALETTE", "REFERENCE", "new_figure", "own_settings", "plain_log", "sequence"]

PALETTE = ["#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#c9822b", "#3aa6a6", "#6b6b6b"]
REFERENCE = "#222222"

_SETTINGS = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "svg.fonttype": "path",  # the same picture wherever it is opened
    "svg.hashsalt": "specavg",
    "figure.dpi": 110,
    "savefig.dpi": 160,
}


@contextmanager
def own_settings() -> Generator[None]:
    """Leave matplotlib's settings as they were."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install specavg[reproduce]") from error
    with mpl.rc_context():
        yield


def new_figure(columns: int = 1, rows: int = 1, *, width: float | None = None, height: float = 3.5) -> tuple[Any, Any]:
    """A figure and its axes, without a window and without pyplot's global state."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update(cast(Any, _SETTINGS))
    size = (width or (5.6 if columns == 1 else 4.3 * columns), height * rows)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns)


def plain_log(axes: Any) -> None:
    """Log axes whose labels do not collide: powers of ten only, along x."""
    from matplotlib.ticker import NullFormatter

    axes.xaxis.set_minor_formatter(NullFormatter())


def sequence(count: int, name: str = "viridis") -> list[Any]:
    """`count` colours in order, for a parameter that grows."""
    import matplotlib as mpl

    return [mpl.colormaps[name](0.05 + 0.8 * i / max(1, count - 1)) for i in range(count)]
