"""The printed symbols of crystallography: a lens, a triangle, a square, ... for the order of an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.plot._style import INK


def axis_marker(order: int) -> Any:
    """A marker for a rotation of the given order: the lens of a two-fold axis, else the regular polygon."""
    if order == 2:
        from matplotlib.path import Path

        angle = np.linspace(np.pi / 6, 5 * np.pi / 6, 12)
        arc = np.stack([np.cos(angle), np.sin(angle) - 0.5], axis=1)  # from tip to tip
        outline = np.concatenate([arc, -arc])[:, ::-1]
        return Path(np.concatenate([outline, outline[:1]]) / 0.9, closed=True)
    return (order, 0, 45 if order == 4 else 0)


def axis_style(order: int, *, improper: bool = False, size: float = 9.0) -> dict[str, Any]:
    """Keywords for `Axes.plot`: filled for a rotation, open where only rotation with inversion has that order."""
    return {
        "linestyle": "none",
        "marker": axis_marker(order),
        "markersize": size,
        "markerfacecolor": "white" if improper else INK,
        "markeredgecolor": INK if improper else "white",
        "markeredgewidth": 1.0,
        "clip_on": False,
    }
