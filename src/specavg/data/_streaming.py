"""Data that do not fit in memory: moments chunk by chunk, from an iterator, a Parquet file or a Dask collection."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import inf
from typing import Any, ClassVar, TypeVar, final

import numpy as np

from specavg._arrays import Array, check_real
from specavg._config import settings as _settings
from specavg._reporting import reported
from specavg.data._given_data import check_mask, check_weights_mask
from specavg.data._gradient_moments import gradient_moments
from specavg.data._kinds_of_columns import check_kind, check_kinds
from specavg.invariants import InvariantBasis
from specavg.regression._moments import Moments
from specavg.spaces._points import certainly_finite

T = TypeVar("T")

_BATCH_ROWS = 65_536  # rows of a Parquet file that are read at a time: enough for BLAS to be fast
_SUMMED_AT_ONCE = 16  # moments held before they are added: sums of sums, so that errors do not build up

# The largest weight of a chunk at least: targets of 1e-75 and more are summed as they are, and a weight times their
# square then stays above 1e-300. Numbers below 1e-308 have fewer than 16 digits.
_LEAST_WEIGHT = 1e-150


def invariant_moments(
    basis: InvariantBasis, points: Array, Y: Array | None, weights: Array | None, *, gram: bool = True
) -> Moments:
    """The moments of invariant functions, at canonical points; with `gram` the sums of φφᵀ too."""
    return Moments.of(basis, basis.evaluation_points(points), Y, weights, gram=gram)


@final
@dataclass(frozen=True)
class ChunkMoments:
    """Computes the moments of one chunk. It holds a basis and what to check, and is small enough to be sent anywhere.

    Attributes
    ----------
    basis : InvariantBasis, or the basis that `moments_of` takes
    targets : bool
        Whether there are targets.
    moments_of : callable
        Sums over the basis, checked points, targets and weights: `invariant_moments` or `Moments.of_vectors`.
    names : list of str, optional
        The columns that every chunk with names must have, in this order.
    gradients : bool, default False
        Whether there may be gradients.
    """

    basis: Any
    targets: bool
    moments_of: Callable[..., Moments] = invariant_moments
    names: list[str] | None = None
    gradients: bool = False

    def __call__(self, X: Any, y: Any = None, sample_weight: Any = None, gradient: Any = None) -> Moments | None:
        """The moments of one chunk, None for an empty one."""
        check_names(column_names(X), self.names)
        check_mask(X, "X")
        check_kinds(X)
        table = numbers(self.basis.space.as_table(X), "X")
        wanted = self.basis.space.n_features
        if table.ndim != 2 or table.shape[1] != wanted:
            raise ValueError(f"X has shape {table.shape}, but points of {self.basis.space!r} have {wanted} columns")
        if not len(table):
            return None
        Y, weights = None, None
        if gradient is not None and not self.gradients:
            raise ValueError("there are gradients, and this estimator does not learn from them")
        if self.targets and gradient is None:
            check_mask(y, "y")
            Y = numbers(y, "y").reshape(len(y), -1)
            if len(Y) != len(table):
                raise ValueError(f"X has {len(table)} rows but y has {len(Y)}")
        if sample_weight is not None:
            weights = chunk_weights(sample_weight, len(table))
            _check_digits(weights)
        if gradient is not None:
            return gradient_moments(self.basis, table, y, gradient, np.ones(len(table)) if weights is None else weights)
        return self.moments_of(self.basis, table, Y, weights)


def chunk_weights(sample_weight: Any, n: int) -> Array:
    """`n` weights whose sum is a number, none negative, or an error."""  # (n,)
    check_weights_mask(sample_weight)
    weights = numbers(sample_weight, "sample_weight")
    if weights.size != n or len(weights) != n or (weights < 0).any():
        raise ValueError(f"sample_weight must be {n} numbers, none negative; got shape {weights.shape}")
    check_total(weights)
    return weights.reshape(-1)


def check_total(weights: Array) -> None:
    """Refuse weights whose sum is no number."""
    with np.errstate(over="ignore"):
        total = weights.sum()
    if total == inf:
        raise ValueError(
            f"sample_weight is as large as {weights.max():.3g}, and its sum is no number: divide it by its mean"
        )


def _check_digits(weights: Array) -> None:
    """Refuse weights of a chunk whose products with squares of targets would lose digits; all may be zero."""
    largest = float(weights.max(initial=0.0))
    if 0 < largest < _LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight is at most {largest:.3g} in a chunk: sums of so small numbers lose digits. Weights are "
            "relative, so multiply those of all chunks by one number; a weight of zero leaves a row out"
        )


def check_names(found: list[str] | None, expected: list[str] | None) -> None:
    """Refuse columns with other names, or in another order, than those before; data without names pass."""
    if found is None or expected is None or found == expected:
        return
    if sorted(found) == sorted(expected):
        place = next(i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b)
        raise ValueError(
            f"the columns of X are in another order than before: column {place} is {found[place]!r}, and was "
            f"{expected[place]!r}. Select the columns by name, in the order {_listed(expected)}"
        )
    new = [name for name in found if name not in expected]
    gone = [name for name in expected if name not in found]
    raise ValueError(
        f"the columns of X are not those of before: {_listed(new) or 'none'} are new and {_listed(gone) or 'none'} are "
        f"missing. Select the columns {_listed(expected)}"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")


def numbers(values: Any, name: str) -> Array:
    """`values` as finite float64, or an error that says what `name` holds."""
    given = np.asarray(values)
    check_kind(name, given.dtype)
    if given.dtype.kind in "mM":
        raise ValueError(f"{name} holds {given.dtype}, not numbers: subtract a time, and divide by a unit of time")
    check_real(given, name)
    try:
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds {given.dtype}, which are not all numbers") from None
    if not certainly_finite(array) and not np.isfinite(array).all():
        rows = ~np.isfinite(array.reshape(len(array), -1)).all(axis=1)
        raise ValueError(
            f"{name} has NaN or infinity in {int(rows.sum())} of {len(array)} rows (first: {rows.argmax()})"
        )
    return array


# --- where chunks come from -------------------------------------------------------------------------------


class Stream(abc.ABC):
    """Data that come in chunks.

    Attributes
    ----------
    rows : int or None
        How many rows there are, where that is known before reading them.
    n_features : int
    feature_names : list of str or None
    outputs : tuple of int
        () for one target without an axis of its own, (q,) otherwise.
    """

    rows: int | None
    n_features: int
    feature_names: list[str] | None
    outputs: tuple[int, ...]
    selection: ClassVar[str] = "Select the columns of the coordinates"  # where there are others, for messages

    @abc.abstractmethod
    def placed_chunks(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Where each chunk stands, for messages, and its X, y, sample_weight and gradient; the last may be missing."""

    def moments(self, chunk_moments: Callable[..., Moments | None]) -> Moments:
        """The sum over all chunks; an error names the chunk."""
        return pairwise_total(with_place(place, chunk_moments, *chunk) for place, chunk in self.placed_chunks())


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection; Dask is not imported to find out."""
    return hasattr(X, "__dask_graph__")


def stream_of(
    X: Any, y: Any = None, sample_weight: Any = None, gradient: Any = None, *, targets: bool = True
) -> Stream | None:
    """`X` as a stream: an iterator or list of chunks, the path of a Parquet file, Dask; None for an array."""
    if isinstance(X, Stream):
        return X
    if is_dask(X):
        from specavg.data._dask_collections import DaskStream

        return DaskStream(X, y, sample_weight, gradient, targets=targets)
    if isinstance(X, str | os.PathLike):
        _require_parquet(os.fspath(X), y, targets)
        return ParquetStream(os.fspath(X), y, sample_weight, gradient, targets=targets)
    if isinstance(X, Iterator):
        if y is not None or sample_weight is not None or gradient is not None:
            raise ValueError(
                "an iterator yields (X, y), (X, y, sample_weight) or (X, y, sample_weight, gradient) chunks: y itself "
                "must be None, and so must sample_weight and gradient"
            )
        return ChunkStream(X, targets=targets)
    if y is None and isinstance(X, list) and X and all(_is_chunk(part, targets) for part in X):
        return ChunkStream(X, targets=targets)
    return None


def _is_chunk(part: Any, targets: bool) -> bool:
    """Whether this is a chunk (X, y) in a list of them, or (X, sample_weight), and no row of numbers or point."""
    if not isinstance(part, tuple) or not part:
        return False
    if not targets:
        return len(np.shape(part[0])) > 1 if hasattr(part[0], "shape") else hasattr(part[0], "as_matrix")
    return len(part) in (2, 3, 4) and all(hasattr(table, "__len__") for table in part[:2])


def _require_parquet(path: str, y: Any, targets: bool) -> None:
    """Refuse files of other formats by their names, and say how to read them."""
    suffix = os.path.splitext(path)[1].lower()
    reader = {".csv": "read_csv", ".tsv": "read_csv", ".txt": "read_csv", ".xlsx": "read_excel", ".json": "read_json"}
    if suffix not in reader:
        return
    use = f"fit(data.drop(columns={y!r}), data[{y!r}])" if targets else "fit(data)"
    raise ValueError(
        f"{path} is not a Parquet file, the only kind that is read in parts. Read it with pandas: "
        f"data = pandas.{reader[suffix]}({path!r}), then {use}. The command `specavg fit` takes CSV files."
    )


@final
class ChunkStream(Stream):
    """An iterator of (X, y), maybe with a sample_weight and a gradient; of X alone where there are no targets."""

    def __init__(self, chunks: Iterable[Any], *, targets: bool) -> None:
        iterator = iter(chunks)
        first = next(iterator, None)
        if first is None:
            raise ValueError("the iterator yields no chunks: there is nothing to fit")
        parts = self._parts(first, targets)
        self.rows = None
        self._targets = targets
        self._chunks = chain([first], iterator)
        X = parts[0]
        self.n_features = 9 if hasattr(X, "as_matrix") else int(np.prod(np.shape(X)[1:]))  # SciPy's rotations have 9
        self.feature_names = column_names(X)
        self.outputs = tuple(np.shape(parts[1])[1:]) if targets else ()

    @staticmethod
    def _parts(chunk: Any, targets: bool) -> tuple[Any, ...]:
        if not targets:
            X, *more = chunk if isinstance(chunk, tuple) else (chunk,)
            if len(more) > 2 or (len(more) == 2 and more[0] is not None):
                raise ValueError(
                    "without targets chunks must be X, (X, sample_weight) or (X, None, sample_weight); got a tuple of "
                    f"{1 + len(more)}" + " with y" * (len(more) == 2)
                )
            return X, *more[-1:]
        if not isinstance(chunk, tuple) or len(chunk) not in (2, 3, 4):
            raise ValueError(
                "chunks must be tuples (X, y), (X, y, sample_weight) or (X, y, sample_weight, gradient); got "
                f"{type(chunk).__name__}{f' of {len(chunk)}' if isinstance(chunk, tuple) else ''}"
            )
        return chunk

    def placed_chunks(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        for i, chunk in enumerate(self._chunks):
            X, *more = self._parts(chunk, self._targets)
            yield f"chunk {i}", (X, *more) if self._targets else (X, None, *more)


@final
class ParquetStream(Stream):
    """A Parquet file, read in batches; y, the weights and the gradients are given as the names of their columns."""

    selection = (
        "All columns but those that y, sample_weight and gradient name are coordinates. To take some of them, "
        "write a file of these and of y, give chunks (X, y), or let `specavg fit --features` select"
    )

    def __init__(self, path: str, target: Any, weight: Any = None, gradient: Any = None, *, targets: bool) -> None:
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            raise ImportError("reading Parquet files needs pyarrow: pip install 'specavg[parquet]'") from None
        if not targets:
            names: list[str] = []
        elif isinstance(target, str):
            names = [target]
        elif isinstance(target, list) and target and all(isinstance(name, str) for name in target):
            names = list(target)
        else:
            raise ValueError(f"with a Parquet file y must be the name of its target column; got {target!r}")
        slopes: Any = [] if gradient is None else gradient
        if not isinstance(slopes, list) or not all(isinstance(name, str) for name in slopes):
            raise ValueError(f"with a Parquet file gradient must be the list of its columns; got {gradient!r}")
        if weight is not None and not isinstance(weight, str):
            raise ValueError(
                f"with a Parquet file sample_weight must be the name of its column; got a {type(weight).__name__}"
            )
        weights = [] if weight is None else [weight]
        with parquet.ParquetFile(path) as file:
            columns = [str(name) for name in file.schema_arrow.names if not str(name).startswith("__index_level")]
            self.rows = int(file.metadata.num_rows)
        missing = [name for name in [*names, *weights, *slopes] if name not in columns]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}; it has {', '.join(columns[:20])}")
        self._open: Callable[[], Any] = partial(parquet.ParquetFile, path)
        self._others = (names, weights, slopes)
        self.feature_names = [name for name in columns if name not in {*names, *weights, *slopes}]
        self.n_features = len(self.feature_names)
        self.outputs = () if not targets or isinstance(target, str) else (len(names),)
        self._batch = max(1, min(_BATCH_ROWS, int(_settings().memory_limit / (64 * (1 + len(columns))))))

    def placed_chunks(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        start, features = 0, self.feature_names or []
        with self._open() as file:
            for batch in file.iter_batches(self._batch, columns=[*features, *chain(*self._others)]):
                others = (_columns(batch, names) if names else None for names in self._others)
                yield f"rows {start} to {start + batch.num_rows - 1}", (_columns(batch, features), *others)
                start += batch.num_rows


def _columns(batch: Any, names: list[str]) -> Array:
    """Columns of an Arrow record batch as one array; missing values are NaN."""  # (n, len(names))
    from pyarrow import types

    table = np.empty((batch.num_rows, len(names)))
    for j, name in enumerate(names):
        column = batch.column(batch.schema.get_field_index(name))
        numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if not any(is_a(column.type) for is_a in numeric):  # times and texts could be converted, but mean no numbers
            raise ValueError(f"the column {name!r} does not hold numbers, but {column.type}")
        table[:, j] = column.to_numpy(zero_copy_only=False)
    return table


def column_names(X: Any) -> list[str] | None:
    """The names of the columns of a table; None where there are none, or not all are strings."""
    columns = getattr(X, "columns", None)
    names = None if columns is None else list(columns)
    return names if names is not None and all(isinstance(name, str) for name in names) else None


def with_place(place: str, function: Callable[..., T], *arguments: Any) -> T:
    """What the function returns; its errors begin with the place of the data they are about."""
    try:
        return function(*arguments)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{place}: {error}") from None


def pairwise_total(parts: Iterable[Moments | None]) -> Moments:
    """The sum of moments as they come: few are held, and each is added to sums of about its own size."""
    levels: list[list[Moments]] = [[]]
    for part in reported(parts, "data", "chunks"):
        if part is None:
            continue
        levels[0].append(part)
        level = 0
        while len(levels[level]) == _SUMMED_AT_ONCE:
            if level + 1 == len(levels):
                levels.append([])
            levels[level + 1].append(Moments.total(levels[level]))
            levels[level] = []
            level += 1
    left = [part for level in levels for part in level]
    if not left:
        raise ValueError("there are no rows: there is nothing to fit")
    return Moments.total(left)
