"""How the figures look: one palette, one size, quiet axes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

PALETTE = ["#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#c9822b", "#3aa6a6", "#6b6b6b"]
REFERENCE = "#222222"
_DOTS = 160  # dots an inch of the PNG files
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_SETTINGS = {
    "font.size": 11,  # points; the page shows figures at their own size, or smaller in a narrow window
    "axes.titlesize": 12,
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
    "legend.fontsize": 10,
    "svg.fonttype": "path",  # the same picture wherever it is opened
    "svg.hashsalt": "specavg",
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


def save(figure: Any, path: Path) -> None:
    """Write ``path.png`` and ``path.svg``.

    The layout is worked out once for both, and each is drawn once: `savefig` would draw every figure twice.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    for axis in ("xaxis", "yaxis"):
        _plain_log([getattr(axes, axis) for axes in figure.axes])
    figure.dpi = _DOTS
    FigureCanvasAgg(figure).print_png(path.with_suffix(".png"))
    figure.set_layout_engine("none")
    FigureCanvasSVG(figure).print_svg(path.with_suffix(".svg"), metadata={"Date": None})


def _plain_log(axes: list[Any]) -> None:
    """Log axes with powers of ten as plain text, 10⁻³, and in between only where there are few.

    All panels of a figure write numbers in the same way.

    Matplotlib would parse each as a formula, which takes longer than all the rest of a figure.
    """
    from matplotlib import ticker

    logarithmic = [
        axis
        for axis in axes
        if axis.get_scale() == "log" and not isinstance(axis.get_major_locator(), ticker.FixedLocator)  # chosen by hand
    ]
    plain = all(min(a.get_view_interval()) > 2e-3 and max(a.get_view_interval()) < 5e4 for a in logarithmic)
    for axis in logarithmic:
        low, high = sorted(axis.get_view_interval())
        decades = np.log10(high / low)
        short = decades < 1.8
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
        axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}") if plain else ticker.FuncFormatter(_power_text))
        if decades > 2.5:
            axis.set_minor_locator(ticker.NullLocator())
        axis.set_minor_formatter(ticker.NullFormatter())


def _power_text(value: float, _: int = 0) -> str:
    """2·10⁻³, and 10⁰ for 1, so that an axis has one notation."""
    power = int(np.floor(np.log10(value) + 1e-9))
    first = f"{value / 10.0**power:g}·".removeprefix("1·")
    return f"{first}10{str(power).translate(_SUPERSCRIPTS)}"


def sequence(count: int, name: str = "viridis") -> list[Any]:
    """`count` colours in order, for a parameter that grows."""
    import matplotlib as mpl

    return [mpl.colormaps[name](0.05 + 0.8 * i / max(1, count - 1)) for i in range(count)]
