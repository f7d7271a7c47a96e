"""Values on a grid as bands of colour with thin lines between some of them: maps, tori and pole figures alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array


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
    values = np.clip(values, low, high)  # what rounding puts outside the limits would be left white
    levels = np.linspace(low, high, 25)
    filled = ax.contourf(x, y, values, levels=levels, cmap=cmap, **options)
    filled.set_edgecolor("face")  # no hairlines between the bands in vector files
    lines = levels[::3]
    if np.any((lines > values.min()) & (lines < values.max())):  # a flat picture has no lines
        ax.contour(x, y, values, levels=lines, colors="black", linewidths=0.35, **options)
    return filled
