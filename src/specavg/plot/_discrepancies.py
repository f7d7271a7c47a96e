"""The invariance discrepancy of several models, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg.groups import Group
from specavg.groups._product_replacement import random_elements
from specavg.invariants._acting_group import group_order
from specavg.isometries import Isometry
from specavg.plot._source import source_of
from specavg.plot._style import COLORS, INK, MARKERS, axes_or_new, without_frame
from specavg.spaces import Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LISTED = 1_000  # elements of a group that are all shown: a histogram of more looks the same


def discrepancy(
    models: Any,
    X: ArrayLike,
    *,
    space: Space | None = None,
    group: Group | None = None,
    n_elements: int | None = None,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """How far each model is from invariant: for every group element g, the largest |f(gx) − f(x)| over `X`.

    One dot is one element of the group; the bar is the largest, the paper's ID. Differences that are exactly zero
    stand on the axis marked 0; rounding is the unit of rounding times the largest |f(x)|.

    Parameters
    ----------
    models : fitted estimator, callable, or mapping of name to one
    X : array-like of points
    space, group : optional
        Needed where the first model does not know them; the same for all.
    n_elements : int, optional
        How many random elements to draw; by default all of a group of at most 1000, otherwise 200 random ones.
    random_state : int, Generator or None
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Torus(3), sa.groups.symmetric(3)
    >>> X = space.sample(200, random_state=0)
    >>> model = sa.SpecAvgRegressor(space, group, max_invariant_dim=20).fit(X, X.sum(axis=1))
    >>> ax = sa.plot.discrepancy({"invariant": model, "first coordinate": lambda X: X[:, 0]}, X[:20])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['invariant', 'first coordinate']
    """
    named: dict[str, Any] = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("no models were given")
    for model in named.values():
        basis = getattr(model, "basis_", None)
        space, group = space or getattr(basis, "space", None), group or getattr(basis, "group", None)
    if space is None or group is None:
        raise ValueError("none of the models knows its space and group: give space= and group=")
    points = space.check_points(X)
    elements = list(_elements(group, n_elements, np.random.default_rng(random_state)))
    if not elements:
        raise ValueError(f"{group!r} has no element but the identity: give group=, the symmetry to compare with")
    found: dict[str, Array] = {}
    largest_value = 0.0
    for name, model in named.items():
        values = source_of(model, space=space, group=group).values
        reference = values(points)
        largest_value = max(largest_value, float(np.abs(reference).max()))
        found[name] = np.array([np.abs(values(space.act(g, points)) - reference).max() for g in elements])

    rounding = np.finfo(float).eps * largest_value
    positive = np.concatenate([*found.values(), [rounding]])
    positive = positive[positive > 0]
    zero = float(positive.min()) / 30 if len(positive) else 1e-17
    panel: Any = axes_or_new(ax, (6.4, 0.9 + 0.55 * len(named)))
    rng = np.random.default_rng(0)
    for i, (_, values) in enumerate(found.items()):
        shown = np.where(values > 0, values, zero)
        height = i + 0.28 * (rng.random(len(shown)) - 0.5)
        color, marker = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        panel.plot(shown, height, marker, color=color, markersize=3.5, alpha=0.55, markeredgewidth=0, clip_on=False)
        top = float(shown.max())
        panel.plot([top, top], [i - 0.32, i + 0.32], color=INK, linewidth=2)
        text = "0" if values.max() == 0 else f"{values.max():.1e}"
        panel.annotate(text, (top, i), (6, 0), textcoords="offset points", va="center", fontsize="small")
    panel.axvline(rounding, color="0.45", linewidth=1, linestyle="--", zorder=0)
    panel.set(xscale="log", ylim=(len(named) - 0.4, -0.6))
    panel.set_xlim(zero, float(positive.max()) * 30 if len(positive) else 1.0)
    panel.set_yticks(range(len(named)), list(named))
    ticks = [t for t in 10.0 ** np.arange(-18, 7, 3) if 3 * zero < t < panel.get_xlim()[1]]
    panel.set_xticks([zero, *ticks], ["0", *(f"$10^{{{round(np.log10(t))}}}$" for t in ticks)])
    panel.minorticks_off()
    panel.set_xlabel(f"largest |f(gx) − f(x)| over {len(points)} points, for each of {len(elements)} elements g")
    panel.annotate("rounding", (rounding, -0.6), (3, -2), textcoords="offset points", va="top", fontsize="x-small",
                color="0.35")  # fmt: skip
    without_frame(panel)
    panel.grid(False, axis="y")
    return panel


def _elements(group: Group, count: int | None, rng: np.random.Generator) -> Iterable[Isometry]:
    if count is None and group_order(group) <= LISTED:
        return (g for g in group.elements() if not g.is_identity)
    return islice(random_elements(group, rng), count or 200)
