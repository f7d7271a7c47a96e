"""Sums of products of functions and one target, read chunk by chunk, in units that keep their digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from specavg._arrays import Array
from specavg.functions._compensated_sums import Sum
from specavg.regression._target_units import Units


def products_in_units(
    columns: Callable[[Array], Array], chunks: Iterable[tuple[Array, Array]]
) -> tuple[Array, Units, int]:
    """Σ zzᵀ with z the functions and, last, the target in units; those units; and how many samples there are.

    An offset of the targets changes no model, and a large one would cost digits; so would an extreme size.

    Parameters
    ----------
    columns : callable
        Points to functions, of shape (n, p).
    chunks : iterable of (X, y)
        Checked points and targets, of shapes (n, n_features) and (n,).
    """  # -> (p + 1, p + 1), units, n
    total: Sum | None = None
    units: Units | None = None
    count = 0
    for X, y in chunks:
        if not len(X):
            continue
        own = Units.of(y[:, None])
        before, units = units, own if units is None else units.common(own, keep=True)
        Z = np.column_stack([columns(X), units.applied(y[:, None])])  # (n, p + 1)
        part = Sum.of(Z.T @ Z)
        if total is not None and before is not None:
            ratio = np.append(np.ones(len(part.total) - 1), before.unit / units.unit)
            part = total * np.outer(ratio, ratio) + part
        total = part
        count += len(X)
    if total is None or units is None:
        raise ValueError("there are no samples")
    return total.value, units, count
