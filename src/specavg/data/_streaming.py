"""Data that do not fit: moments chunk by chunk, from an iterator, a Parquet file or a Dask collection."""

from __future__ import annotations

import abc
import contextlib
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, update_wrapper
from itertools import chain
from types import MethodType
from typing import TYPE_CHECKING, Any, Self, cast, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from specavg._config import settings as _settings
from specavg.data._moments import Moments

if TYPE_CHECKING:
    from specavg.invariants import Cutoff, InvariantBasis

__all__ = ["ChunkMoments", "Stream", "Streaming", "all_or_nothing", "is_dask", "needs_cutoff", "stream_of"]

Array = NDArray[np.float64]
_BATCH_ROWS = 65_536
_SUMMED_AT_ONCE = 16  # moments held before they are added: sums of sums, so that errors do not build up


@final
@dataclass(frozen=True)
class ChunkMoments:
    """One chunk of data to its moments. Small enough to be sent anywhere: a basis and what to check.

    Attributes
    ----------
    basis : InvariantBasis
    targets : bool
        Whether there are targets.
    gram : bool
        Whether φφᵀ is summed too.
    """

    basis: InvariantBasis
    targets: bool
    gram: bool

    def __call__(self, X: Any, y: Any = None, sample_weight: Any = None) -> Moments | None:
        """The moments of one chunk, None for an empty one."""
        table = _numbers(self.basis.space.as_table(X), "X")
        wanted = self.basis.space.n_features
        if table.ndim != 2 or table.shape[1] != wanted:
            raise ValueError(f"X has shape {table.shape}, but points of {self.basis.space!r} have {wanted} columns")
        if not len(table):
            return None
        Y, weights = None, None
        if self.targets:
            Y = _numbers(y, "y").reshape(len(y), -1)
            if len(Y) != len(table):
                raise ValueError(f"X has {len(table)} rows but y has {len(Y)}")
        if sample_weight is not None:
            weights = _numbers(sample_weight, "sample_weight").reshape(-1)
            if len(weights) != len(table) or (weights < 0).any():
                raise ValueError(f"sample_weight must be {len(table)} non-negative numbers; got {len(weights)}")
        return Moments.of(self.basis, self.basis.evaluation_points(table), Y, weights, gram=self.gram)


def _numbers(values: Any, name: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
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

    @abc.abstractmethod
    def moments(self, chunk_moments: Callable[..., Moments | None]) -> Moments:
        """The sum over all chunks; an error names the chunk."""


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection; Dask is not imported to find out."""
    return hasattr(X, "__dask_graph__")


def stream_of(X: Any, y: Any = None, sample_weight: Any = None, *, targets: bool = True) -> Stream | None:
    """`X` as a stream of chunks: an iterator, the path of a Parquet file, a Dask collection; None if it is data."""
    if isinstance(X, Stream):
        return X
    if is_dask(X):
        from specavg.data._distributed import DaskStream

        return DaskStream(X, y, sample_weight, targets=targets)
    if isinstance(X, str | os.PathLike):
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported with a Parquet file: stream (X, y, weights) chunks")
        return ParquetStream(os.fspath(X), y, targets=targets)
    if isinstance(X, Iterator):
        if y is not None or sample_weight is not None:
            raise ValueError("an iterator yields (X, y) or (X, y, sample_weight) chunks: y itself must be None")
        return ChunkStream(X, targets=targets)
    return None


@final
class ChunkStream(Stream):
    """An iterator of (X, y) or (X, y, sample_weight); of X alone where there are no targets."""

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
        self.n_features = int(np.prod(np.shape(X)[1:]))
        self.feature_names = _names(X)
        self.outputs = tuple(np.shape(parts[1])[1:]) if targets else ()

    @staticmethod
    def _parts(chunk: Any, targets: bool) -> tuple[Any, ...]:
        if not targets:
            return chunk if isinstance(chunk, tuple) else (chunk,)
        if not isinstance(chunk, tuple) or len(chunk) not in (2, 3):
            raise ValueError(f"chunks must be tuples (X, y) or (X, y, sample_weight); got {type(chunk).__name__}")
        return chunk

    def moments(self, chunk_moments: Callable[..., Moments | None]) -> Moments:
        return pairwise_total(
            _named(f"chunk {i}", chunk_moments, *self._arguments(chunk)) for i, chunk in enumerate(self._chunks)
        )

    def _arguments(self, chunk: Any) -> tuple[Any, ...]:
        parts = self._parts(chunk, self._targets)
        return parts if self._targets else (parts[0], None, *parts[1:])


@final
class ParquetStream(Stream):
    """A Parquet file, read in batches; `target` names the column or columns of y."""

    def __init__(self, path: str, target: Any, *, targets: bool) -> None:
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
        with parquet.ParquetFile(path) as file:
            columns = [str(name) for name in file.schema_arrow.names if not str(name).startswith("__index_level")]
            self.rows = int(file.metadata.num_rows)
        missing = [name for name in names if name not in columns]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}; it has {', '.join(columns[:20])}")
        self._open: Callable[[], Any] = partial(parquet.ParquetFile, path)
        self._targets = names
        self.feature_names = [name for name in columns if name not in names]
        self.n_features = len(self.feature_names)
        self.outputs = () if not targets or isinstance(target, str) else (len(names),)
        self._batch = max(1, min(_BATCH_ROWS, int(_settings().memory_limit / (64 * (1 + len(columns))))))

    def moments(self, chunk_moments: Callable[..., Moments | None]) -> Moments:
        def parts() -> Iterator[Moments | None]:
            start, features = 0, self.feature_names or []
            with self._open() as file:
                for batch in file.iter_batches(self._batch, columns=[*features, *self._targets]):
                    X = batch_columns(batch, features)
                    y = batch_columns(batch, self._targets) if self._targets else None
                    yield _named(f"rows {start} to {start + len(X) - 1}", chunk_moments, X, y)
                    start += len(X)

        return pairwise_total(parts())


def batch_columns(batch: Any, names: list[str]) -> Array:
    """Columns of an Arrow record batch as one array; missing values are NaN."""  # (n, len(names))
    columns: list[Array] = []
    for name in names:
        column = batch.column(batch.schema.get_field_index(name))
        try:
            columns.append(np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"the column {name!r} does not hold numbers, but {column.type}") from None
    return np.column_stack(columns) if columns else np.empty((batch.num_rows, 0))


def _names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    names = None if columns is None else list(columns)
    return names if names is not None and all(isinstance(name, str) for name in names) else None


def _named(place: str, chunk_moments: Callable[..., Moments | None], *arguments: Any) -> Moments | None:
    try:
        return chunk_moments(*arguments)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{place}: {error}") from None


def pairwise_total(parts: Iterable[Moments | None]) -> Moments:
    """The sum of moments as they come: few are held, and each is added to sums of about its own size."""
    levels: list[list[Moments]] = [[]]
    for part in parts:
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


# --- what estimators share --------------------------------------------------------------------------------


@contextlib.contextmanager
def all_or_nothing(estimator: object) -> Generator[None]:
    """Leave `estimator` as it was if the block fails: never half-fitted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class CutoffNeeded(ValueError, AttributeError):
    """No `partial_fit` without a cutoff. An `AttributeError` too, so that `hasattr` says no."""


class needs_cutoff:
    """A method that exists only where a cutoff is given; the error without one says so."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(cast(Any, self), method)

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        if model is None:
            return self._method
        if all(getattr(model, name) is None for name in ("max_dim", "max_invariant_dim", "max_eigenvalue")):
            raise CutoffNeeded(
                f"{self._method.__name__} needs an explicit cutoff (max_invariant_dim, max_dim or max_eigenvalue): the "
                "number of functions cannot depend on how many samples will come"
            )
        return MethodType(self._method, model)


class Streaming:
    """`partial_fit`, and `fit` on streams, for estimators that can be fitted from moments alone.

    A subclass says whether it has targets and needs the Gram matrix, which cutoff it takes for `rows` rows (None
    if they are not known), and fits from moments in `_fit_moments`.
    """

    _has_targets = True
    _needs_gram = True

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    basis_: InvariantBasis
    cutoff_: Cutoff
    moments_: Moments

    def _cutoff(self) -> Cutoff | None:
        raise NotImplementedError

    def _basis(self, cutoff: Cutoff) -> InvariantBasis:
        raise NotImplementedError

    def _stream_basis(self, rows: int | None) -> InvariantBasis:
        """The basis for a stream of so many rows; the number is None where it is not known."""
        given = self._cutoff()
        if given is None:
            raise ValueError(
                "give a cutoff (max_invariant_dim, max_dim or max_eigenvalue): how many functions the data can bear "
                "is not known while they stream in"
            )
        return self._basis(given)

    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> Self:
        """Fit from sums alone; `basis_` and `cutoff_` are set."""
        raise NotImplementedError

    def _fit_stream(self, stream: Stream) -> Self:
        """Fit on chunks, all or nothing."""
        with all_or_nothing(self):
            vars(self).pop("moments_", None)
            self._take_features(stream)
            self.basis_ = self._stream_basis(stream.rows)
            self.cutoff_ = self.basis_.cutoff
            moments = stream.moments(ChunkMoments(self.basis_, self._has_targets, self._needs_gram))
            _require_weight(moments)
            return self._fit_moments(moments, stream.outputs)

    def _partial_fit(self, stream: Stream) -> Self:
        """Add chunks to what was seen before, and fit to all of it."""
        before: Moments | None = getattr(self, "moments_", None)
        with all_or_nothing(self):
            if before is None:
                self._take_features(stream)
            elif stream.n_features != self.n_features_in_:
                raise ValueError(
                    f"X has {stream.n_features} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input"
                )
            self.basis_ = self._stream_basis(stream.rows)
            self.cutoff_ = self.basis_.cutoff
            moments = stream.moments(ChunkMoments(self.basis_, self._has_targets, self._needs_gram))
            if before is not None:
                moments = before + moments
            _require_weight(moments)
            self._fit_moments(moments, stream.outputs)
            self.moments_ = moments
        return self

    def _one_chunk(self, X: Any, y: Any, sample_weight: Any) -> Stream:
        """Data in memory, checked as scikit-learn wants it, as a stream of one chunk."""
        first = not hasattr(self, "moments_")
        settings: dict[str, Any] = {"reset": first, "dtype": np.float64}
        if self._has_targets:
            settings |= {"y": y, "multi_output": True, "y_numeric": True}
        checked: Any = validate_data(cast(Any, self), self._table(X), **settings)
        names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        stream = ChunkStream(
            [(*checked, sample_weight) if self._has_targets else (checked, sample_weight)], targets=self._has_targets
        )
        stream.feature_names = names
        return stream

    def _table(self, X: Any) -> Any:
        raise NotImplementedError

    def _take_features(self, stream: Stream) -> None:
        self.n_features_in_ = stream.n_features
        vars(self).pop("feature_names_in_", None)
        if stream.feature_names is not None:
            self.feature_names_in_ = np.array(stream.feature_names, dtype=object)


def _require_weight(moments: Moments) -> None:
    if not moments.weight.value > 0:
        raise ValueError("sample_weight sums to zero: there is nothing to fit")
