"""Dask collections: moments per partition, tree-summed; predictions per partition, lazily.

Only the basis goes out and only sums of D and D × D numbers come back. Everything runs on the cluster that the
user's `distributed.Client` is connected to, or in local threads without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, final

import numpy as np

from specavg.data._streaming import Stream, column_names, with_place
from specavg.functions._few_rows import FEW_ROWS, rows_of_a_larger_table
from specavg.regression._moments import Moments

_FAN_IN = 8  # sums that one task adds: 10,000 chunks then need five levels, and no worker holds more than nine sums


def _dask() -> Any:
    try:
        import dask
    except ImportError:
        raise ImportError("Dask collections need Dask: pip install 'specavg[dask]'") from None
    return dask


@final
class DaskStream(Stream):
    """A Dask array or dataframe with its targets, weights and gradients, partition by partition."""

    def __init__(self, X: Any, y: Any, sample_weight: Any, gradient: Any = None, *, targets: bool) -> None:
        self.feature_names = column_names(X)
        columns = getattr(X, "columns", None)
        self.n_features = int(np.prod(X.shape[1:])) if columns is None else len(columns)
        if targets and y is None:
            raise ValueError("a Dask X needs a Dask y: the target is None")
        self.outputs = tuple(int(q) for q in y.shape[1:]) if targets else ()
        self._blocks = _aligned(X, y=y if targets else None, sample_weight=sample_weight, gradient=gradient)
        self._collection = X
        self._rows: int | None = None

    @property
    def rows(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Counted on the cluster where the collection does not know."""
        if self._rows is None:
            self._rows = len(self._collection)
        return self._rows

    def placed_chunks(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """One partition after the other, brought here."""
        for i, parts in enumerate(self._blocks):
            yield f"partition {i}", _dask().compute(*parts)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Chunks (X, y, sample_weight), brought here anew each time."""
        return (chunk[:3] for _, chunk in self.placed_chunks())

    def moments(self, chunk_moments: Callable[..., Moments | None]) -> Moments:
        dask = _dask()
        # A literal of the graph, not scattered data: if the worker that holds it dies, it is sent again.
        shared = dask.delayed(chunk_moments, pure=False, traverse=False)
        placed = dask.delayed(with_place, pure=False)
        level = [placed(f"partition {i}", shared, *parts) for i, parts in enumerate(self._blocks)]
        while len(level) > 1:
            groups = [level[start : start + _FAN_IN] for start in range(0, len(level), _FAN_IN)]
            level = [dask.delayed(_sum, pure=False)(group) for group in groups]
        (total,) = dask.compute(*level)
        if total is None:
            raise ValueError("there are no rows: there is nothing to fit")
        return total


def _sum(parts: list[Moments | None]) -> Moments | None:
    present = [part for part in parts if part is not None]
    return Moments.total(present) if present else None


def _aligned(X: Any, **others: Any) -> list[tuple[Any, ...]]:
    """X and the others as delayed objects, one tuple per partition."""
    first = _delayed(X, None)
    columns = [first]
    for name, other in others.items():
        if other is None:
            columns.append([None] * len(first))
            continue
        if not hasattr(other, "__dask_graph__"):
            raise ValueError(f"X is a Dask collection but {name} is a {type(other).__name__}: give it as Dask too")
        parts = _delayed(other, X)
        if len(parts) != len(first):
            raise ValueError(
                f"X has {len(first)} partitions but {name} has {len(parts)}: repartition one of them to match"
            )
        columns.append(parts)
    return list(zip(*columns, strict=True))


def _delayed(collection: Any, like: Any) -> list[Any]:
    """The partitions along the first axis as delayed objects."""
    if not hasattr(collection, "chunks"):
        # Optimised, two selections of one Parquet table may be read in different numbers of partitions.
        return list(collection.to_delayed(optimize_graph=False))
    if len(collection.chunks) > 1 and any(len(sizes) > 1 for sizes in collection.chunks[1:]):
        collection = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
    rows = getattr(like, "chunks", None)
    if rows is not None and collection.chunks[0] != rows[0] and not np.isnan(sum(rows[0]) + sum(collection.chunks[0])):
        if sum(rows[0]) != sum(collection.chunks[0]):
            raise ValueError(f"X has {sum(rows[0])} rows but the other has {sum(collection.chunks[0])}")
        collection = collection.rechunk({0: rows[0]})
    return list(collection.to_delayed().ravel())


def distributed_apply(model: Any, method: str, X: Any, outputs: tuple[int, ...]) -> Any:
    """`model.method` on every partition of `X`, as a lazy Dask collection.

    Parameters
    ----------
    model : fitted estimator
        Sent once, not once per partition.
    method : {"predict", "transform", "score_samples"}
    X : Dask array or dataframe
    outputs : tuple of int
        Shape of the answer for one row.

    Returns
    -------
    Dask array of shape (n, *outputs); for a dataframe a series, or a dataframe with one column per output
    """
    dask = _dask()
    shared = dask.delayed(model, pure=False, traverse=False)
    many = not sum(X.chunks[0] if hasattr(X, "chunks") else [np.nan]) <= FEW_ROWS  # an unknown number counts as many
    names = _names(model, method, outputs)
    parts = [
        dask.delayed(_partition_apply, pure=False)(shared, method, i, part, outputs, names, many)
        for i, part in enumerate(_delayed(X, None))
    ]
    if hasattr(X, "chunks"):
        import dask.array as da

        blocks = [
            da.from_delayed(part, shape=(rows, *outputs), dtype=np.float64)
            for part, rows in zip(parts, X.chunks[0], strict=True)
        ]
        return da.concatenate(blocks, axis=0)
    import dask.dataframe as dd
    import pandas as pd

    meta: Any = _labelled(np.empty((0, *outputs)), X._meta.index, pd, names)
    return dd.from_delayed(parts, meta=meta, divisions=X.divisions, verify_meta=False)


def _names(model: Any, method: str, outputs: tuple[int, ...]) -> Any:
    """The name of a series, or those of the columns of a dataframe."""
    if method == "transform":
        return model.get_feature_names_out()
    return [f"{method}_{j}" for j in range(outputs[0])] if outputs else method


def _partition_apply(model: Any, method: str, i: int, X: Any, outputs: tuple[int, ...], names: Any, many: bool) -> Any:
    with rows_of_a_larger_table() if many else nullcontext():
        values = with_place(f"partition {i}", getattr(model, method), X) if len(X) else np.empty((0, *outputs))
    index = getattr(X, "index", None)
    if index is None:
        return values
    import pandas as pd

    return _labelled(values, index, pd, names)


def _labelled(values: Any, index: Any, pd: Any, names: Any) -> Any:
    if values.ndim == 1:
        return pd.Series(values, index=index[: len(values)], name=names)
    return pd.DataFrame(values, index=index[: len(values)], columns=names)
