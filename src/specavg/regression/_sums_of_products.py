"""Sums of products of functions and one target, read chunk by chunk, in units that keep their digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from specavg._arrays import Array
from specavg.functions._compensated_sums import Sum
from specavg.regression._target_units import Units

Chunks: TypeAlias = Iterable[tuple[Array, ...]]
"""Checked points and targets (X, y), or with positive weights (X, y, w), of shapes (n, n_features), (n,) and (n,)."""


def weighted(rows: Array, weights: Sequence[Array], unit: float) -> Array:
    """Rows times √w, weights in this unit: least squares of such rows gives each point its weight."""  # (n, p)
    if not weights:
        return rows if unit == 1 else rows / np.sqrt(unit)
    return np.sqrt(weights[0] / unit)[:, None] * rows


def products_in_units(columns: Callable[[Array], Array], chunks: Chunks) -> tuple[Array, Units, int, float]:
    """Σ w zzᵀ with z the functions and, last, the target in units; those units; how many samples; mean weight.

    An offset of the targets changes no model, and a large one would cost digits; so would an extreme size. Weights are
    relative: w is in units of their mean.

    Parameters
    ----------
    columns : callable
        Points to functions, of shape (n, p); the first is the constant.
    chunks : iterable of (X, y) or (X, y, weights)
    """  # -> (p + 1, p + 1), units, n, weight
    total: Sum | None = None
    units: Units | None = None
    count = 0
    for X, y, *weights in chunks:
        if not len(X):
            continue
        own = Units.of(y[:, None])
        before, units = units, own if units is None else units.common(own, keep=True)
        Z = np.column_stack([columns(X), units.applied(y[:, None])])  # (n, p + 1)
        Z = weighted(Z, weights, 1.0)
        part = Sum.of(Z.T @ Z)
        if total is not None and before is not None:
            ratio = np.append(np.ones(len(part.total) - 1), before.unit / units.unit)
            part = total * np.outer(ratio, ratio) + part
        total = part
        count += len(X)
    if total is None or units is None:
        raise ValueError("there are no samples")
    weight = float(total.value[0, 0]) / count
    return total.value / weight, units, count, weight


RANK_TOLERANCE = 1e-10  # part of the largest eigenvalue of a Gram matrix, below which a direction has no data
LEAST_FREEDOM = 1e-6  # least value of 1 − leverage: a point that its own fit determines has no residual to speak of


def directions_with_data(gram: Array, count: float) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of the Gram matrix of `count` rows, those of rounding left out."""  # (r,), (p, r)
    values, vectors = np.linalg.eigh(gram)
    kept = values > RANK_TOLERANCE * max(float(values[-1]), float(count))
    return values[kept], vectors[:, kept]
