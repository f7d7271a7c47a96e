"""Columns of a table by name, kind and number: what cannot be the points of a space is refused, with what to do."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from specavg.groups import Group
from specavg.invariants._acting_group import check_group
from specavg.spaces import Rotations, Space, Sphere, default_space

# How NumPy, pandas, Polars and Arrow name their kinds of dates, times of the day and durations.
_TIMES = re.compile(r"date|time|duration|period", re.IGNORECASE)
TO_NUMBERS = "to a number of periods, days or seconds"


def is_kind_of_time(kind: Any) -> bool:
    """Whether values of this kind are dates, times or durations, of whatever library."""
    return kind is not None and _TIMES.match(str(kind)) is not None


def is_time(value: Any) -> bool:
    """Whether one value is a date, a time or a duration."""
    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return isinstance(value, times) or type(value).__name__ == "Period"  # of pandas


def names_of_columns(X: Any) -> Any:
    """The names of the columns of a table as it has them; None where it has none."""
    return X.schema.names if _is_arrow(X) else getattr(X, "columns", None)


def _is_arrow(X: Any) -> bool:
    """Whether this is a table of Arrow, whose columns are values; it is not imported to find out."""
    return type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "schema")


def column_kinds(X: Any) -> list[Any]:
    """The kinds of numbers in a table: of each column of a frame, of the first row of a list."""
    if hasattr(X, "dtypes"):
        return list(np.ravel(X.dtypes))
    if _is_arrow(X):
        return list(X.schema.types)
    return [np.asarray(X[0]).dtype if isinstance(X, list | tuple) and len(X) else getattr(X, "dtype", None)]


def check_kinds(X: Any) -> None:
    """Refuse columns of texts, dates and durations, which would be read as numbers, and of whole matrices.

    Complex numbers, fields of records, sparse columns and columns of one name are refused too, before another library
    does so in words that do not say what to do.
    """
    names, kinds = names_of_columns(X), column_kinds(X)
    if kinds and all(type(kind).__name__ == "SparseDtype" for kind in kinds):  # of pandas
        raise TypeError(
            f"X has sparse columns ({kinds[0]}), and points need all of their numbers: give X.sparse.to_dense()"
        )
    given = [] if names is None else list(names)
    twice = [name for name in given if given.count(name) > 1] if len(set(given)) < len(given) else []
    if twice and isinstance(twice[0], str):
        places = ", ".join(str(j) for j, name in enumerate(given) if name == twice[0])
        raise ValueError(
            f"columns {places} of X have one name, {twice[0]!r}, and columns of a table are known by their names: "
            "rename them, or give X.to_numpy()"
        )
    for j, kind in enumerate(kinds):
        check_kind("X", kind)
        time = is_kind_of_time(kind)
        if time or (isinstance(kind, np.dtype) and kind.kind in "UST"):
            what, how = ("dates or durations", TO_NUMBERS) if time else ("texts", "X.astype(float)")
            where = "" if names is None else f" in column {names[j]!r}"
            raise ValueError(f"X holds {what} ({kind}){where}, and points need numbers: convert them, {how}")
        if isinstance(kind, np.dtype) and kind.kind == "O" and hasattr(X, "iloc") and len(X):
            first = X.iloc[0] if names is None else X.iloc[0, j]
            if isinstance(first, np.ndarray | list | tuple):
                column = "X" if names is None else f"X[{names[j]!r}]"
                what = "matrices" if np.ndim(first) == 2 else "arrays"
                raise ValueError(f"{column} is a column of {what}, {np.shape(first)} each: pass np.stack({column})")


def check_kind(name: str, kind: Any) -> None:
    """Refuse complex numbers, and records: what is no single real number."""
    if not isinstance(kind, np.dtype):
        return
    if kind.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} holds {kind}, and real numbers are needed. Give its real and "
            f"imaginary parts as columns, np.column_stack([{name}.real, {name}.imag]), or its size, np.abs({name})"
        )
    if kind.names is not None:
        raise TypeError(
            f"{name} is an array of records with the fields {', '.join(kind.names[:12])}, and numbers are needed: "
            f"pandas.DataFrame({name}) makes columns of the fields"
        )


def column_name(names: Any, j: int) -> str:
    """A column as a user knows it: by its name where it has one."""
    return f"column {j}" if names is None else f"column {names[j]!r}"


def check_columns(
    space: Space | None, group: Group | None, columns: int, select: str = "Select the columns of the coordinates"
) -> None:
    """Refuse points with another number of columns than the space has, or than the group needs on a torus."""
    if space is not None and columns != space.n_features:
        shape = f"(n, {space.n_features})"
        if len(space.shape) > 1:
            shape += f" or (n, {', '.join(map(str, space.shape))})"
        remedy = f"{select}, or give the space that the data live on."
        if isinstance(space, Rotations) and columns in (3, 4):
            remedy = (
                "spaces.rotations_from_bunge makes them of Euler angles, spaces.rotations_from_quaternions of these."
            )
        if space == Sphere(3) and columns == 2:
            remedy = "spaces.directions_from_lonlat makes unit vectors of longitude and latitude."
        raise ValueError(
            f"X has {columns} columns (features), but a point of {space!r} has {space.n_features}: X needs shape "
            f"{shape}. {remedy}"
        )
    if space is not None or not isinstance(group, Group):
        return
    if columns != group.columns:
        raise ValueError(
            f"X has {columns} columns (features), but {group!r} acts on {group.columns} coordinates. Select the "
            "columns that the group acts on, or give a group of the right size; without space= the points are those of "
            "a torus, one column for each coordinate."
        )
    torus = default_space(columns)
    try:
        check_group(torus, group)
    except ValueError as error:
        raise ValueError(
            f"no space was given, and the points are then those of {torus!r}: give the space that {group!r} acts on, "
            f"as space= or as the space of the kernel. {error}"
        ) from None
