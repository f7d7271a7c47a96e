"""Learning curves: test error against the number of samples, with the slope that theory promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from specavg._arrays import Array
from specavg.plot._style import COLORS, DASHES, INK, MARKERS, axes_or_new, without_frame
from specavg.theory import rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curves(
    sizes: ArrayLike,
    errors: Mapping[str, ArrayLike],
    *,
    slope: float | None = None,
    ylabel: str = "test error (mean square)",
    ax: Axes | None = None,
) -> Axes:
    """Error against the number of samples, on logarithmic axes; a band from the least to the largest repetition.

    Parameters
    ----------
    sizes : array-like of shape (k,)
        Numbers of samples n.
    errors : mapping of name to array-like of shape (k,) or (k, repeats)
        One line each, through the medians. Zero errors are not drawn: the axis is logarithmic.
    slope : float, optional
        The exponent that theory promises, drawn as a line of that slope under the curves: −`theory.rate(d, s)` for a
        mean square error.
    ylabel : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import specavg as sa
    >>> ax = sa.plot.curves([10, 100, 1000], {"a model": [0.5, 0.1, 0.02]}, slope=-sa.theory.rate(2, 2))
    >>> ax.get_xscale()
    'log'
    """
    n = np.asarray(sizes, dtype=float)
    panel: Any = axes_or_new(ax, (5.6, 3.8))
    lowest: list[Array] = []
    for i, (name, raw) in enumerate(errors.items()):
        values = np.asarray(raw, dtype=float).reshape(len(n), -1)
        style = {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i % len(DASHES)]}
        middle = np.median(values, axis=1)
        panel.plot(n, middle, marker=MARKERS[i % len(MARKERS)], markersize=6, linewidth=1.8, label=name,
                markeredgecolor="white", markeredgewidth=0.6, **style)  # fmt: skip
        if values.shape[1] > 1:
            panel.fill_between(n, values.min(axis=1), values.max(axis=1), color=style["color"], alpha=0.15, linewidth=0)
        lowest.append(middle)
    if slope is not None and lowest:
        anchor = float(np.nanmin([curve[0] for curve in lowest])) * 0.6
        panel.plot(n, anchor * (n / n[0]) ** slope, color=INK, linewidth=1.2, linestyle=(0, (1, 1.5)),
                label=f"theory: slope −{-slope:.3g}")  # fmt: skip
    panel.set(xscale="log", yscale="log")
    if len(n) <= 8:
        panel.set_xticks(n, [f"{v:g}" for v in n])
        panel.minorticks_off()
    panel.set(xlabel="number of samples n", ylabel=ylabel)
    without_frame(panel)
    panel.legend(frameon=False, fontsize="small")
    return panel


def learning_curve(
    models: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    test: tuple[ArrayLike, ArrayLike],
    sizes: Sequence[int] | None = None,
    repeats: int = 3,
    smoothness: float | None = None,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Fit each model on more and more of the data and draw its mean square error on `test`.

    Parameters
    ----------
    models : estimator or mapping of name to estimator
        Each is cloned and fitted ``len(sizes) * repeats`` times.
    X, y : array-like
        Training data; random subsets of it are used.
    test : (X, y)
        Data that no fit sees.
    sizes : sequence of int, optional
        Numbers of samples; five from an eighth of the data to all of it by default.
    repeats : int, default 3
        Random subsets of each size.
    smoothness : float, optional
        s of the slope drawn, −s/(s + d/2); by default that of the first model (its parameter, or d). Drawn only
        where a model knows the dimension of its space.
    random_state : int, Generator or None
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The errors are in its attribute ``errors_``, a dict of arrays of shape (len(sizes), repeats).

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space, group = sa.Torus(2), sa.groups.sign_flips(2)
    >>> X = space.sample(900, random_state=0)
    >>> y = np.cos(np.pi * X).sum(axis=1)
    >>> model = sa.SpecAvgRegressor(space, group, max_invariant_dim=8)
    >>> ax = sa.plot.learning_curve(model, X[:400], y[:400], test=(X[400:], y[400:]))
    >>> ax.errors_["SpecAvgRegressor"].shape
    (5, 3)
    """
    named: dict[str, Any] = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    targets = np.asarray(y, dtype=float)
    total = len(targets)
    if sizes is None:
        sizes = [round(total * 2.0**-k) for k in np.linspace(3, 0, 5)]
    if max(sizes) > total or min(sizes) < 2:
        raise ValueError(f"sizes must lie between 2 and the {total} samples given; got {list(sizes)}")
    rng = np.random.default_rng(random_state)
    subsets = [[rng.permutation(total)[:n] for _ in range(repeats)] for n in sizes]
    errors: dict[str, Array] = {}
    dim = None
    for name, model in named.items():
        errors[name] = np.empty((len(sizes), repeats))
        for i, rows in enumerate(subsets):
            for j, subset in enumerate(rows):
                fitted: Any = clone(model)
                fitted.fit(_rows(X, subset), targets[subset])
                difference = np.asarray(fitted.predict(test[0])) - np.asarray(test[1], dtype=float)
                errors[name][i, j] = np.mean(difference**2)
                if dim is None and hasattr(fitted, "basis_"):
                    dim = fitted.basis_.space.dim
                    smoothness = smoothness or getattr(model, "smoothness", None)
    slope = None if dim is None else -rate(dim, smoothness or dim)  # s = d is the estimators' default
    drawn = curves(sizes, errors, slope=slope, ax=ax)
    drawn.errors_ = errors  # pyright: ignore[reportAttributeAccessIssue]
    return drawn


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a table, which keeps the names of its columns."""
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X, dtype=float)[rows]
