"""What users hand over, checked in their own words before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, with_matrices
from specavg._random import OWN_SEED
from specavg.data._kinds_of_columns import (
    TO_NUMBERS,
    check_columns,
    check_kind,
    check_kinds,
    column_name,
    is_kind_of_time,
    is_time,
    names_of_columns,
)
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.invariants._acting_group import not_a_space
from specavg.spaces import Power, Space
from specavg.spaces._points import certainly_finite


def given_table(space: Space | None, group: Group | None, X: Any) -> Any:
    """`X` with two dimensions, one row per point, and with as many columns as the points of `space` have.

    Parameters
    ----------
    space, group
        As the estimator has them: None for the default.
    X
        What was given to `fit` or `predict`.
    """
    if space is not None and not isinstance(space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_space(space)
    if group is not None and not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    if space is None and not isinstance(X, np.ndarray) and with_matrices(X) is not X:
        raise TypeError(f"X holds orientations (a {type(X).__name__}): give space=sa.Rotations()")
    _check_table(X)
    check_mask(X, "X")
    check_kinds(X)
    table = X if space is None else space.as_table(_stacked(X))
    shape = getattr(table, "shape", ())
    if len(shape) == 2 and isinstance(shape[1], int | np.integer):
        if space is not None and shape == space.shape and shape[1] != space.n_features and _is_one_point(space, table):
            raise ValueError(
                f"X is one point of {space!r}, a matrix of shape {shape}, and points are the entries of X along its "
                f"first axis, shape (n, {', '.join(map(str, shape))}): give X[None]"
            )
        check_columns(space, group, int(shape[1]))
    _check_numbers(space, table)
    return table


def _stacked(X: Any) -> Any:
    """A list of matrices, or of lists of rows, as one array with three axes and more; anything else as it is."""
    if not isinstance(X, list | tuple) or not X or hasattr(X[0], "as_matrix"):
        return X
    try:
        return np.asarray(X, dtype=np.float64) if np.ndim(X[0]) > 1 else X
    except (TypeError, ValueError):  # rows of different lengths, texts: refused below, in their own words
        return X


def _is_one_point(space: Space, matrix: Any) -> bool:
    """Whether a matrix is one point; three rows of Euler angles are as many numbers as one rotation, and are none."""
    try:
        space.check_points(np.asarray(matrix, dtype=float)[None])
    except ValueError:
        return False
    return True


def _check_table(X: Any) -> None:
    """Refuse what holds or gives tables and is none, with how to have one."""
    kind, how = type(X).__name__, ""
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        kind, how = f"path, {path!r}", f"only fit reads a file itself, and only Parquet: pandas.read_parquet({path!r})"
    elif isinstance(X, Iterator):
        how = "give one table at a time: [model.predict(X) for X in chunks]"
    elif isinstance(X, Mapping) and not hasattr(X, "shape"):  # sparse arrays may be mappings
        how = "pandas.DataFrame(X) makes one of columns, np.column_stack(list(X.values())) of arrays"
    elif kind == "LazyFrame":
        how = "X.collect() computes one"
    elif isinstance(X, list | tuple) and len(X) and _holds_tables(X):
        kind, how = (
            f"{kind} of tables",
            (
                "np.concatenate joins them. Chunks for fit are tuples (X, y), (X, y, sample_weight) or (X, y, "
                "sample_weight, gradient) in an iterator or a list; without targets (X,) or (X, sample_weight)"
            ),
        )
    if how:
        raise TypeError(f"X is a {kind}, and points are rows of a table: {how}")


def _holds_tables(given: Sequence[Any]) -> bool:
    """Whether entries are tables of different lengths, or tuples with a table: no points of one shape."""
    if isinstance(given[0], tuple):
        return any(len(getattr(part, "shape", ())) > 1 for part in given[0])
    shapes = {tuple(getattr(entry, "shape", ())) for entry in given}
    return len(shapes) > 1 and all(len(shape) > 1 for shape in shapes)


_KEPT_ROWS = "Leave out their rows: keep = ~(np.ma.getmaskarray(X).any(axis=1) | np.ma.getmaskarray(y))"


def check_mask(values: Any, name: str, remedy: str = _KEPT_ROWS) -> None:
    """Refuse masked values: what lies below a mask is no data."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise ValueError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values, and what lies below a mask would be "
            f"fitted. {remedy}"
        )


def check_weights_mask(sample_weight: Any) -> None:
    """Refuse masked weights."""
    check_mask(sample_weight, "sample_weight", "A row of weight zero is left out: sample_weight.filled(0)")


def _check_numbers(space: Space | None, X: Any) -> None:
    """Refuse texts among numbers, NaN and infinity, with their column and row."""
    names = names_of_columns(X)
    known = names is not None or isinstance(X, np.ndarray | list | tuple)
    if not known or not len(X):
        return
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        values = _numbers_of_objects(np.asarray(X, dtype=object), names)
    if values.ndim != 2 or certainly_finite(values):
        return
    rows, columns = np.nonzero(~np.isfinite(values))
    if len(rows):
        row, column = int(rows[0]), int(columns[0])
        what, padded = "NaN" if np.isnan(values[row, column]) else "infinity", ""
        if isinstance(space, Power):
            padded = (
                f" Sets of fewer than {space.copies} points cannot be filled up: fit a model for each size of sets."
            )
        raise ValueError(
            f"X contains {what} in {column_name(names, column)}, row {row} (rows count from 0); "
            f"{len(np.unique(rows))} of {len(values)} rows have NaN or infinity. Leave these rows out, of X and of y, "
            f"or fill in their values.{padded}"
        )


def _numbers_of_objects(values: NDArray[np.object_], names: Any) -> Array:
    """NaN for what stands for no value, else 0; an error with the first column that holds texts, or dates.

    What else is no number is scikit-learn's to refuse.
    """
    for j in range(values.shape[1] if values.ndim == 2 else 0):
        for value in values[:, j]:
            if isinstance(value, str) and not is_number(value):
                raise ValueError(
                    f"{column_name(names, j)} of X holds texts such as {value!r}, and points need numbers: put "
                    "numbers in their place (angles for directions of the compass), or leave the column out"
                )
            if is_time(value):
                raise ValueError(
                    f"{column_name(names, j)} of X holds dates or durations such as {value!r}, and points need "
                    f"numbers: convert them, {TO_NUMBERS}"
                )
    return _none_as_nan(values)


def _none_as_nan(values: NDArray[np.object_]) -> Array:
    """NaN for what stands for no value, else 0."""
    missing = [
        value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and not np.isfinite(value))
        for value in values.ravel()
    ]
    return np.where(np.reshape(missing, values.shape), np.nan, 0.0)


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def given_targets(y: Any) -> Any:
    """`y`, unless it holds texts, dates, masked values, NaN or infinity: a regressor needs numbers."""
    if y is None:
        return y
    if isinstance(y, str):
        raise TypeError(
            f"y is a name, {y!r}, which says something beside the path of a Parquet file only. Give the column: "
            f"fit(data.drop(columns={y!r}), data[{y!r}])"
        )
    check_mask(y, "y")
    if hasattr(y, "toarray"):  # SciPy's sparse arrays
        raise TypeError("y is a sparse array, and a regressor needs all of its numbers: y.toarray()")
    kind = getattr(y, "dtype", None)
    values = np.asarray(y)
    check_kind("y", values.dtype)
    some = values.ravel()[:1000].tolist() if values.dtype.kind in "OUST" else []
    if is_kind_of_time(kind) or is_kind_of_time(values.dtype) or any(map(is_time, some)):
        raise ValueError(
            f"y holds dates or durations ({kind}), and a regressor needs numbers. Convert them to a number of days or "
            "seconds: (y - y.min()) / np.timedelta64(1, 'D')"
        )
    texts = [value for value in some if isinstance(value, str)]
    if texts:
        if all(is_number(text) for text in texts):
            raise ValueError(f"y holds numbers written as texts, such as {texts[0]!r}: convert them, y.astype(float)")
        raise ValueError(
            f"y holds texts such as {texts[0]!r}, and a regressor needs numbers. For classes put "
            "sa.InvariantFeatures and a classifier (for instance LogisticRegression) in a pipeline."
        )
    values = _none_as_nan(values) if values.dtype.kind == "O" else values
    if values.ndim and values.dtype.kind == "f" and not certainly_finite(values):
        bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
        if len(bad):
            raise ValueError(
                f"y has NaN or infinity in {len(bad)} of {len(values)} rows (first: row {bad[0]}; rows count from 0). "
                "Leave these rows out, of X and of y, or fill in their values."
            )
    return y


def equal_rows(rows: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """One row of each set of equal rows, and for each row the number of its set; None where that is not found.

    Numbers are sorted sooner than rows are, so one random combination of the columns is sorted. It is a sum: a product
    with a vector may round equal rows differently. Different rows with the same combination are noticed.

    Examples
    --------
    >>> first, mine = equal_rows(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    >>> len(first), bool(mine[0] == mine[2] != mine[1])
    (2, True)
    """
    shadow = np.sum(rows * np.random.default_rng(OWN_SEED).normal(size=rows.shape[1]), axis=1)
    _, first, mine = np.unique(shadow, return_index=True, return_inverse=True)
    return (first, mine) if np.array_equal(rows[first][mine], rows) else None
