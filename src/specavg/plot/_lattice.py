"""The lattice of subgroups, with what data allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from specavg.discovery import Discovery
from specavg.discovery._discovery import group_label
from specavg.discovery._subgroups import Lattice
from specavg.discovery._subgroups import lattice as lattice_of
from specavg.plot._style import COLORS, INK, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELLED = 60  # classes: beyond, only what was found and its neighbours are named, or nothing could be read
_LONGEST = 18  # letters of a name that are shown
_TITLE = 60  # letters of the group in the title: a line of the figure


def lattice(found: Discovery, *, ax: Axes | None = None) -> Axes:
    """The subgroups that `discover_symmetry` compared, conjugates in one dot, larger groups above smaller ones.

    A line joins a subgroup to the next larger ones. Dots are as dark as the subgroup is probable (the most probable of
    its conjugates); a ring marks what was accepted, and a double ring the group that was found.

    Parameters
    ----------
    found : Discovery
        With ``method="subgroups"``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space, noise = sa.Sphere(3), 0.02 * np.random.default_rng(0).normal(size=400)
    >>> X = space.sample(400, random_state=0)
    >>> found = sa.discover_symmetry(X, X[:, 0] * X[:, 1] + noise, space, sa.groups.point_group("D4h"))
    >>> ax = sa.plot.lattice(found)
    >>> ax.get_ylabel()
    'order'
    """
    if found.method != "subgroups":
        raise ValueError(f"there is no lattice to draw: the search was by {found.method}, not by subgroups")
    whole = found.table[-1].subgroup
    assert whole is not None
    subgroups = lattice_of(found.samples.space, whole)
    panel: Any = axes_or_new(ax, (7.2, 5.4))
    x, y, orders = _places(subgroups)
    below = _next_below(subgroups)
    for low, high in np.argwhere(below):
        panel.plot(x[[low, high]], y[[low, high]], color=INK, alpha=0.25, linewidth=0.7, zorder=1)
    classes = range(len(orders))
    probability = np.array([row.probability for row in found.table])
    accepted = np.array([row.accepted for row in found.table])
    best = np.array([probability[subgroups.class_of == c].max() for c in classes])
    some = np.array([accepted[subgroups.class_of == c].any() for c in classes])
    choice = int(subgroups.class_of[np.argmax(np.where(accepted, subgroups.orders, 0))])
    shown: Any = {"vmin": 0, "vmax": 1, "plotnonfinite": True}  # without probabilities circles are empty
    panel.scatter(x, y, s=90, c=best, cmap="Greys", edgecolors=INK, linewidths=0.6, zorder=3, **shown)
    panel.scatter(x[some], y[some], s=150, facecolors="none", edgecolors=COLORS[0], linewidths=1.6, zorder=2)
    panel.scatter(x[choice], y[choice], s=280, facecolors="none", edgecolors=COLORS[0], linewidths=1.6, zorder=2)
    for c in classes:
        if len(orders) <= _LABELLED or c == choice or below[c, choice] or below[choice, c]:
            text = subgroups.group(int(np.searchsorted(subgroups.class_of, c))).name or ""  # generators say little here
            text = "no symmetry" if orders[c] == 1 else text[:_LONGEST]
            panel.annotate(text, (x[c], y[c]), (0, -11), textcoords="offset points", ha="center", va="top", size=7)
    panel.set(ylabel="order", xticks=[])
    panel.set_yticks(np.unique(y), [f"{n}" for n in np.unique(orders)])
    panel.minorticks_off()
    panel.margins(x=0.08, y=0.12)
    for side in ("top", "right", "bottom"):
        panel.spines[side].set_visible(False)
    panel.set_title(f"The data allow {_shortened(group_label(found.group))}", fontsize="medium", loc="left")
    return panel


def _shortened(label: str) -> str:
    """`label`, or as many of its whole generators as a title holds."""
    return label if len(label) <= _TITLE else f"{label[: label.rfind(', ', 0, _TITLE)]}, …"


def _places(subgroups: Lattice) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Where each class stands, from left to right within its order and in a row for each order, and its order."""
    orders = np.array([c.order for c in subgroups.classes])
    rows = np.unique(orders, return_inverse=True)[1]
    x = np.zeros(len(orders))
    for k in np.unique(rows):
        row = np.flatnonzero(rows == k)
        x[row] = np.arange(len(row)) - (len(row) - 1) / 2
    return x, rows, orders


def _next_below(subgroups: Lattice) -> NDArray[np.bool_]:
    """``[a, b]``: a group of class a lies in one of class b, and none between them."""
    count, class_of = len(subgroups.classes), subgroups.class_of
    firsts = np.searchsorted(class_of, np.arange(count))  # conjugation: one member of the larger class is enough
    inside = np.zeros((count, count), dtype=bool)
    for b in range(count):
        inside[class_of[np.flatnonzero(subgroups.inside[:, firsts[b]])], b] = True
    np.fill_diagonal(inside, False)
    steps = inside.astype(np.float32)
    return inside & ~(steps @ steps > 0)
