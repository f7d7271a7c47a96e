"""Points with one target each, whole or in chunks, checked: what a test and a search are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.data._given_data import equal_rows, given_table, given_targets
from specavg.data._questioned_columns import question_units
from specavg.data._streaming import check_names, chunk_weights, column_names, numbers
from specavg.spaces import Space


def checked_samples(space: Space, X: Any, y: Any, sample_weight: Any = None, *, ask: bool = True) -> tuple[Array, ...]:
    """Points of `space`, one finite target for each and, where given, one positive weight, or an error.

    Rows of weight zero are left out. With `ask`, columns in what looks like another unit are warned of.
    """  # (n, n_features), (n,), (n,)
    table = given_table(space, None, X)
    if space is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise TypeError("give the space that the points live on, for instance sa.Torus(2) or sa.Sphere(3); got None")
    targets = numbers(given_targets(y), "y")
    if targets.ndim != 1:
        raise ValueError(
            f"y must have one dimension; got shape {targets.shape}. Give outputs that the group leaves alone one at a "
            "time. For vectors that move with the points, compare the loo_error_ of EquivariantKernelRidge with the "
            "group and without it"
        )
    points = space.check_points(table)
    if len(points) != len(targets):
        raise ValueError(f"X has {len(points)} rows but y has {len(targets)}")
    if ask:
        question_units(space, points, names=column_names(X))
    if sample_weight is None:
        return points, targets
    weights = chunk_weights(sample_weight, len(targets))
    used = weights > 0
    return points[used], targets[used], weights[used]


def without_copies(points: Array, targets: Array, weights: Array | None = None) -> tuple[Array, ...]:
    """Samples with one row for each point: the mean of the targets at it, and the sum of the weights.

    Noise of its own in each row makes a mean as many times as precise as rows are in it. What a model misses of the
    function is the same for all copies of a point, and would be taken for so many findings.
    """  # (n, n_features), (n,), (n,) -> the same with fewer rows; without weights where no point has a copy
    found = equal_rows(points)
    if found is None or len(found[0]) == len(points):
        return (points, targets) if weights is None else (points, targets, weights)
    (first, mine), sizes = found, np.ones(len(points)) if weights is None else weights
    totals = np.bincount(mine, sizes)
    return points[first], np.bincount(mine, sizes * targets) / totals, np.asarray(totals, dtype=np.float64)


def checked_chunks(space: Space, chunks: Iterable[Any], *, ask: bool = False) -> Iterator[tuple[Array, ...]]:
    """Checked chunks (X, y) or (X, y, weights) without the empty ones; columns with names keep names and order.

    With `ask`, for the first of several readings, the first chunk is asked about its unit.
    """
    names: list[str] | None = None
    for i, chunk in enumerate(chunks):
        if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
            raise ValueError(
                f"chunk {i}: without y, X must be chunks (X, y); got {type(chunk).__name__}. A third part may "
                "be sample_weight"
            )
        X, y, *weights = chunk
        try:
            found = column_names(X)
            check_names(found, names)
            names = found if names is None else names
            checked = checked_samples(space, X, y, *weights, ask=ask and not i) if len(y) else None
        except (ValueError, TypeError) as error:
            raise type(error)(f"chunk {i}: {error}") from None
        if checked is not None:
            yield checked


def require_no_weights(sample_weight: Any) -> None:
    """Refuse weights beside chunks."""
    if sample_weight is not None:
        raise ValueError("chunks hold their own weights, (X, y, sample_weight): sample_weight itself must be None")
