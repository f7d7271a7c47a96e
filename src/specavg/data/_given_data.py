"""What users hand over, checked in their own words before anything is computed."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import human_size
from specavg._messages import shown
from specavg._random import OWN_SEED
from specavg.groups import Group, Representation, representation
from specavg.groups._given_generators import not_a_group
from specavg.invariants import InvariantBasis
from specavg.invariants._basis_table import BasisTable
from specavg.spaces import Power, Product, Rotations, Space, Sphere, Torus
from specavg.spaces._order_of_functions import BY_EIGENVALUE, ByType, first_eigenvalue
from specavg.spaces._points import certainly_finite

# Angles in degrees on a torus of period 2π span 57 periods. Trajectories and phases that were unwrapped on purpose
# span a few, and standardised columns on the default torus (period 2) about three. Of π, 2π and the period 2 of the
# default this is asked whatever the fit. A period that was chosen for the data, such as 86400 for seconds since an
# epoch, may be spanned many times; `question_wrapping` asks where the fit is poor.
_MANY_PERIODS = 20.0
_MANY_CELLS = 4.0  # the same of fractional coordinates: positions in Å in a cell of 5 Å span five
_SMALL_PART = 0.05  # part of the period that the widest column spans: radians on a torus of period 360 span 0.017
_ROWS_ASKED = 64  # rows whose span is looked at: another unit shows in any of them; all rows took as long as a fit
_ROWS_OF_A_HALF = 100  # rows, at least, that fill half of every period evenly: fewer do by chance
_EVEN = 1.6  # Kolmogorov's distance times √n: uniform columns exceed it once in a hundred times
_NOTHING_EXPLAINED = 0.99  # leave-one-out error in standard deviations of y: less than 2 % of the variance is explained
_ROWS_TO_JUDGE = 30  # of 12 fits of pure noise 9 were above 0.99 with 30 rows, all with 200; fewer rows say little
_FILLED = 0.8  # part of a period that columns of this period span: of 64 uniform points 0.97 ± 0.02
_STANDARDISED = 1e-6  # of means and standard deviations: a scaler leaves 1e-15, and single precision 1e-7
_MORE_THAN_A_PERIOD = 1.05  # periods: angles from −180° to 180°, both ends measured and rounded, span hardly more
_LARGE_ERROR = 0.2  # leave-one-out error in standard deviations of y: a smaller one is no reason to wait longer
_FEW_FOR_ROWS = 8  # rows for a function: with more rows than that, more functions would hardly be overfitted
_PATIENCE = 20.0  # seconds by forecasts, good to a factor of ten, that a warning may propose to wait
_UNEXPLAINED = 0.7  # leave-one-out error in standard deviations of y: half of the variance is then unexplained
# Ratio of the lengths of two columns from which the order of eigenvalues is questioned. Cells of crystals have up to 5,
# Interval beside period=1 has 2π. Of exp(3 cos) of the shorter of two columns, 100 functions left 5 % of the variance
# at 5, 27 % at 10 and at 15 (hours beside days of the year), and 0.002 % at 1.
_UNLIKE_LENGTHS = 6.0
_RESOLVED = 3  # the frequency from which on nobody is asked: the same target has 99.5 % of its variance below it
_FRACTIONS = (
    "Points are fractional coordinates: X @ np.linalg.inv(space.lattice) makes them of Cartesian ones, and "
    "X @ np.linalg.inv(space.lattice) / (2 * np.pi) of wave vectors with their 2π"
)
# A symmetry is doubted where a fit with it is poor, and one without it is far better.
POOR = 0.03  # error in standard deviations of the targets: a thousandth of their variance is then unexplained
FAR_BETTER = 0.5  # part of the error that the fit without the symmetry has at most


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
        raise TypeError(f"space must be a specavg space, for instance sa.Sphere(3) or sa.Torus(2); got {shown(space)}")
    if group is not None and not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    if space is None and hasattr(X, "as_matrix"):
        raise TypeError(f"X holds orientations (a {type(X).__name__}): give space=sa.Rotations()")
    _check_table(X)
    _check_mask(X, "X")
    _check_kinds(X)
    table = X if space is None else space.as_table(X)
    shape = getattr(table, "shape", ())
    if len(shape) == 2 and isinstance(shape[1], int | np.integer):
        if space is not None and shape == space.shape and shape[1] != space.n_features and _is_one_point(space, table):
            raise ValueError(
                f"X is one point of {space!r}, a matrix of shape {shape}, and points are the entries of X along its "
                f"first axis, shape (n, {', '.join(map(str, shape))}): give X[None]"
            )
        check_columns(space, group, int(shape[1]))
    _check_numbers(table)
    return table


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
    if how:
        raise TypeError(f"X is a {kind}, and points are rows of a table: {how}")


def _check_mask(values: Any, name: str) -> None:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise ValueError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values, and what lies below a mask would be "
            "fitted. Leave out their rows: keep = ~(np.ma.getmaskarray(X).any(axis=1) | np.ma.getmaskarray(y))"
        )


def _kinds(X: Any) -> list[Any]:
    """The kinds of numbers in a table: of each column of a frame, of the first row of a list."""
    if hasattr(X, "dtypes"):
        return list(np.ravel(X.dtypes))
    return [np.asarray(X[0]).dtype if isinstance(X, list | tuple) and len(X) else getattr(X, "dtype", None)]


def _check_kinds(X: Any) -> None:
    """Refuse columns of texts, dates and durations, which would be read as numbers."""
    for kind in _kinds(X):
        if isinstance(kind, np.dtype) and kind.kind in "mMUST":
            what = "dates or durations" if kind.kind in "mM" else "texts"
            how = "X.astype(float)" if what == "texts" else "to a number of periods, days or seconds"
            raise ValueError(f"X holds {what} ({kind}), and points need numbers: convert them, {how}")


def _check_numbers(X: Any) -> None:
    """Refuse texts among numbers, NaN and infinity, with their column and row."""
    names = getattr(X, "columns", None)
    known = names is not None or isinstance(X, np.ndarray | list | tuple)
    if not known or not len(X) or any(getattr(kind, "kind", "") == "c" for kind in _kinds(X)):
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
        what = "NaN" if np.isnan(values[row, column]) else "infinity"
        raise ValueError(
            f"X contains {what} in {_column(names, column)}, row {row} (rows count from 0); {len(np.unique(rows))} of "
            f"{len(values)} rows have NaN or infinity. Leave these rows out, of X and of y, or fill in their values."
        )


def _column(names: Any, j: int) -> str:
    """A column as a user knows it: by its name where it has one."""
    return f"column {j}" if names is None else f"column {names[j]!r}"


def _numbers_of_objects(values: NDArray[np.object_], names: Any) -> Array:
    """NaN for what stands for no value, else 0; an error with the first column that holds texts which are no numbers.

    What else is no number is scikit-learn's to refuse.
    """
    for j in range(values.shape[1] if values.ndim == 2 else 0):
        for value in values[:, j]:
            if isinstance(value, str) and not is_number(value):
                raise ValueError(
                    f"{_column(names, j)} of X holds texts such as {value!r}, and points need numbers: put numbers in "
                    "their place (angles for directions of the compass), or leave the column out"
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


def check_columns(space: Space | None, group: Group | None, columns: int) -> None:
    """Refuse points with another number of columns than the space has, or than the group needs on a torus."""
    if space is not None and columns != space.n_features:
        shape = f"(n, {space.n_features})"
        if len(space.shape) > 1:
            shape += f" or (n, {', '.join(map(str, space.shape))})"
        remedy = "Select the columns of the coordinates, or give the space that the data live on."
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
    if space is None and isinstance(group, Group) and columns != group.columns:
        raise ValueError(
            f"X has {columns} columns (features), but {group!r} acts on {group.columns}. Select the columns that the "
            "group acts on, or give a group of the right size; without space= the points are those of a torus, one "
            "column for each coordinate."
        )


def given_targets(y: Any) -> Any:
    """`y`, unless it holds texts, dates, masked values, NaN or infinity: a regressor needs numbers."""
    if y is None:
        return y
    if isinstance(y, str):
        raise TypeError(
            f"y is a name, {y!r}, which says something beside the path of a Parquet file only. Give the column: "
            f"fit(data.drop(columns={y!r}), data[{y!r}])"
        )
    _check_mask(y, "y")
    if hasattr(y, "toarray"):  # SciPy's sparse arrays
        raise TypeError("y is a sparse array, and a regressor needs all of its numbers: y.toarray()")
    kind = getattr(y, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "mM":
        raise ValueError(
            f"y holds dates or durations ({kind}), and a regressor needs numbers. Convert them to a number of days or "
            "seconds: (y - y.min()) / np.timedelta64(1, 'D')"
        )
    values = np.asarray(y)
    texts = []
    if values.dtype.kind in "OUST":
        texts = [value for value in values.ravel()[:1000].tolist() if isinstance(value, str)]
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


def users_line() -> int:
    """The stacklevel of the line that called this library, for a warning of the function that asks."""
    ours = ("specavg.", "functools")  # properties that are computed once lie between
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(ours):
        frame, level = frame.f_back, level + 1
    return level


def question_unit(space: Space, points: Array) -> bool:
    """Warn where a column spans many periods of its torus: it is probably in another unit. Whether it did."""
    if not len(points):
        return False
    spans = _spans(space, points)
    excess = spans / _many_periods(space)
    column = int(excess.argmax())
    side = space.column_periods[column]
    if excess[column] <= 1:
        return False
    d = space.dim if isinstance(space, Torus) else 1  # powers and products have theirs among other columns
    advice = f"If these are degrees, convert them with np.deg2rad, or take sa.Torus({d}, period=360)"
    if not np.isclose(side, 2 * np.pi):
        advice = "Give the space the period of the data (for instance period=360 for degrees)"
    if space.lattice is not None:
        advice = _FRACTIONS
    warnings.warn(
        f"column {column} of X spans {spans[column]:.0f} periods of {space!r}: it goes from "
        f"{points[:, column].min():.4g} to {points[:, column].max():.4g}, and the period is {side:.4g}. Values that "
        f"differ by a period are the same point. {advice}.",
        stacklevel=users_line(),
    )
    return True


def question_periods(space: Space, points: Array, group: Group | None = None) -> None:
    """Warn where a column spans many periods of its torus, or all a small part: they are probably in another unit."""
    if question_unit(space, points) or len(points) < _ROWS_TO_JUDGE:
        return
    spans = _spans(space, points)
    column = int(spans.argmax())
    span, side = spans[column], space.column_periods[column]
    if 0 < span < _SMALL_PART and np.isfinite(space.column_periods).all():
        warnings.warn(
            f"no column of X spans more than {100 * span:.2g} % of its period of {space!r}: column {column} goes from "
            f"{points[:, column].min():.4g} to {points[:, column].max():.4g}, and the period is {side:.4g}. If the "
            "points are meant to fill the space, give it the period of the data (for instance 2π for radians).",
            stacklevel=users_line(),
        )
    elif (space.column_periods == 2).all() and _fill_half(points) and not _has_mirrors(space, group):
        warnings.warn(
            f"every column of X fills 0 to 1 evenly, half of the period 2 of {space!r}, where 0 and 1 are different "
            "points. If 1 is a whole period, as of fractions of a turn or of a cell, give the space period=1.",
            stacklevel=users_line(),
        )


def question_columns(space: Space, points: Array) -> bool:
    """Warn where columns are probably in another order than their periods, or were standardised. Whether it did."""
    said = _moved_columns(space, points) if len(points) >= _ROWS_TO_JUDGE else ""
    if said:
        warnings.warn(said, stacklevel=users_line())
    return bool(said)


def _spans(space: Space, points: Array) -> Array:
    """How many periods each column of some rows spans; none at all where it has no period."""  # (n_features,)
    return np.ptp(points[:: max(1, len(points) // _ROWS_ASKED)], axis=0) / space.column_periods


def _moved_columns(space: Space, points: Array) -> str:
    """What to say of columns that were exchanged, or standardised; empty where they were not."""
    periodic = np.flatnonzero(np.isfinite(space.column_periods))
    if not len(periodic):
        return ""
    spans = _spans(space, points)
    exchanged = _exchanged(spans[periodic], space.column_periods[periodic])
    if exchanged is not None:
        column, other = (int(periodic[i]) for i in exchanged)
        return (
            f"the columns of X look exchanged: column {column} spans {np.ptp(points[:, column]):.4g}, the period of "
            f"column {other} of {space!r}, and its own period is {space.column_periods[column]:.4g}. Give periods and "
            "columns in one order."
        )
    if _are_standardised(points[:, periodic]):
        column = int(spans.argmax())
        return (
            f"column {column} of X spans {spans[column]:.3g} periods of {space!r}, and all have the mean 0 and the "
            "standard deviation 1. A period of the space is no period of columns that were rescaled: give them as they "
            "were, without a scaler; do not standardise angles."
        )
    return ""


def _exchanged(spans: Array, periods: Array) -> tuple[int, int] | None:
    """A column that spans the period of another one, and that one, where columns in another order fill all periods."""
    lengths = spans * periods
    of_length, of_period = np.argsort(lengths, kind="stable"), np.argsort(periods, kind="stable")
    filled = lengths[of_length] / periods[of_period]
    column = int(spans.argmax())
    if filled.min() < _FILLED or filled.max() > _MORE_THAN_A_PERIOD or spans[column] <= _MORE_THAN_A_PERIOD:
        return None
    return column, int(of_period[np.flatnonzero(of_length == column)[0]])


def _are_standardised(columns: Array) -> bool:
    """Whether all columns have the mean 0 and the standard deviation 1, of all rows or with one row taken off."""
    deviation, n = columns.std(axis=0), len(columns)
    ones = (np.abs(deviation - unit).max() < _STANDARDISED for unit in (1.0, np.sqrt((n - 1) / n)))
    return bool(np.abs(columns.mean(axis=0)).max() < _STANDARDISED and any(ones))


def _fill_half(points: Array) -> bool:
    """Whether every column lies in [0, 1) and has all parts of it alike."""
    some = np.sort(points[:: max(1, len(points) // (10 * _ROWS_OF_A_HALF))], axis=0)
    if len(some) < _ROWS_OF_A_HALF or points.min() < 0 or points.max() >= 1:
        return False
    expected = (np.arange(len(some))[:, None] + 0.5) / len(some)
    return bool(np.abs(some - expected).max() < _EVEN / np.sqrt(len(some)))


def _has_mirrors(space: Space, group: Group | None) -> bool:
    """Whether generators change signs of coordinates: half of a period then stands for all of it."""
    return group is not None and any(space.differential(g).min() < 0 for g in group.generators)


def _many_periods(space: Space) -> Array:
    """How many periods of each column nobody is thought to mean, whatever the fit."""  # (n_features,)
    if space.lattice is not None:
        return np.full(space.n_features, _MANY_CELLS)
    angles = np.isclose(space.column_periods[:, None], [2.0, np.pi, 2 * np.pi], rtol=1e-3).any(axis=1)  # 6.28 is 2π
    return np.where(angles, _MANY_PERIODS, np.inf)


def question_resolution(basis: BasisTable) -> None:
    """Warn where the order of eigenvalues gives some columns high frequencies and others hardly any.

    It is the Laplacian's own order: a column in hours beside one in days of the year is taken to be as smooth in a step
    of one hour as the other in a step of one day.
    """
    order, space = basis.order, basis.space
    if order not in (BY_EIGENVALUE, ByType()):
        return
    parts = _parts_with_lengths(space)
    lengths = np.array([length for _, length, _ in parts])
    if basis.dim <= basis.n_constants or lengths.max() < _UNLIKE_LENGTHS * lengths.min():
        return
    top = float(basis.eigenvalues[-1])
    (short, _, least), (long, _, most) = parts[int(lengths.argmin())], parts[int(lengths.argmax())]
    if least(top) >= _RESOLVED:
        return
    rescale = "divide each column by its period and give period=1"
    if isinstance(space, Product):
        rescale = (
            "give columns of tori in radians, with period=2π, which is a length like those of spheres and intervals"
        )
    others = [_parts_with_lengths(factor) for factor in space.factors] if isinstance(space, Product) else []
    if space.unlike_parts > 1 and all(len(inner) == 1 for inner in others):
        rescale += ", or give order=sa.invariants.ByType(balanced=True)"
    elif isinstance(space, Torus):
        rescale += ', or give order="few coordinates"'
    warnings.warn(
        f"{basis.dim} functions in the order of eigenvalues resolve {short} of X up to frequency {least(top)} and "
        f"{long} up to frequency {most(top)}, since lengths of {space!r} differ by a factor of "
        f"{lengths.max() / lengths.min():.3g}. If the target varies alike in both, {rescale}.",
        stacklevel=users_line(),
    )


def _parts_with_lengths(space: Space, start: int = 0) -> list[tuple[str, float, Callable[[float], int]]]:
    """The columns of a box, or of each factor: their name, their length, and the frequency reached at an eigenvalue.

    The length is that of a wave of the first eigenvalue. Copies are alike, and the first stands for all.
    """
    if isinstance(space, Power):
        return _parts_with_lengths(space.base, start)
    if isinstance(space, Product):
        starts = np.cumsum([start, *(factor.n_features for factor in space.factors)]).tolist()
        pairs = zip(space.factors, starts, strict=False)
        return [part for factor, first in pairs for part in _parts_with_lengths(factor, first)]
    if isinstance(space, Torus) and space.lattice is None:
        return [
            (f"column {start + i}", side, lambda top, side=side: int(side * np.sqrt(top) / (2 * np.pi) * (1 + 1e-9)))
            for i, side in enumerate(space.period.tolist())
        ]
    end = start + space.n_features
    name = f"column {start}" if end == start + 1 else f"columns {start} to {end - 1}"
    length = float(2 * np.pi / np.sqrt(first_eigenvalue(space)))
    return [(name, length, lambda top: _frequency_reached(space, top))]


def _frequency_reached(space: Space, top: float) -> int:
    """The highest degree up to an eigenvalue; in multiples of the first frequency where functions have no degree."""
    try:
        return max(space.degree(V) for V in takewhile(lambda V: V.eigenvalue <= top * (1 + 1e-9), space.eigenspaces()))
    except ValueError:
        return int(np.sqrt(top / first_eigenvalue(space)) * (1 + 1e-9))


def question_order(space: Space, names: list[str]) -> None:
    """Warn where names of columns (phi1 … phi5, psi1 … psi5) run through all copies, one coordinate after another."""
    if space.one_part is None:
        return
    width = space.one_part.n_features
    copies = space.n_features // width
    if width == 1 or copies == 1 or len(names) != copies * width:
        return
    parts = [re.fullmatch(r"(.*?)[_ .-]?(\d+)", name) for name in names]
    if not all(parts):
        return
    blocks = [[(part[1], part[2]) for part in parts[i : i + copies] if part] for i in range(0, len(names), copies)]
    stems = [{stem for stem, _ in block} for block in blocks]
    numbers = [tuple(number for _, number in block) for block in blocks]
    one_each = all(len(stem) == 1 for stem in stems) and len(set.union(*stems)) == width
    if one_each and len(set(numbers)) == 1 and len(set(numbers[0])) == copies:
        wanted = [names[block * copies + copy] for copy in range(copies) for block in range(width)]
        warnings.warn(
            f"the columns of X look ordered coordinate by coordinate ({names[0]}, {names[1]}, ...), but {space!r} "
            f"takes them copy by copy: X[[{', '.join(map(repr, wanted[: 2 * width]))}, ...]]",
            stacklevel=users_line(),
        )


def question_vectors(basis: InvariantBasis, outputs: tuple[int, ...], error: float) -> bool:
    """Warn where y has as many columns as a vector that the group moves, and invariant functions explain little of it.

    Parameters
    ----------
    basis : InvariantBasis
    outputs : tuple of int
        The shape of one target.
    error : float
        Leave-one-out error in standard deviations of the targets.

    Returns
    -------
    bool
        Whether it did: other reasons for a poor fit then need not be looked for.
    """
    if not outputs or outputs[0] < 2 or error < _UNEXPLAINED:
        return False
    space, group = basis.space, basis.group
    try:
        vector = representation(group, "vector", lattice=space.lattice)
    except ValueError:  # no single matrix moves a vector here
        return False
    moves = vector.dim == outputs[0] and not vector.is_trivial
    if moves:
        warnings.warn(
            f"y has {outputs[0]} columns, as many as a vector that {group!r} moves, and invariant functions explain "
            f"little of it (leave-one-out error {error:.2g} standard deviations). If y moves with the points, use "
            "EquivariantKernelRidge(space, group, 'vector').",
            stacklevel=users_line(),
        )
    return moves


def question_fit(error: float, count: int, reasons: Callable[[], str]) -> None:
    """Warn where a fit explains almost nothing of y, and name likely reasons.

    Parameters
    ----------
    error : float
        Leave-one-out error in standard deviations of the targets.
    count : int
        Rows.
    reasons : callable
        Tells the likely ones; called only where there is something to warn of.
    """
    if count < _ROWS_TO_JUDGE or not error > _NOTHING_EXPLAINED:
        return
    warnings.warn(
        f"the fit explains almost nothing: its leave-one-out error is {error:.3g} standard deviations of y, and that "
        f"of the mean is 1. Likely reasons: {reasons()}.",
        stacklevel=users_line(),
    )


def question_orbits(rows: int, orbits: int, group: Group, error: float) -> None:
    """Warn where a fit is poor because its points lie on few orbits."""
    if not group.generators and not group.fields:  # repeated points are nobody's fault
        return
    warnings.warn(
        f"the {rows} points lie on {orbits} orbits of {group!r}, and a fit learns one number from each: its "
        f"leave-one-out error is {error:.3g} standard deviations of y. Points on more orbits help, such as those of a "
        "finer grid, or of a grid that is moved by a part of its step.",
        stacklevel=users_line(),
    )


def question_wrapping(space: Space, points: Array, error: float | None) -> None:
    """Warn where a fit is poor and a column spans more than a period: different points may be taken for the same.

    `error` is the leave-one-out error in standard deviations of y; None where a test sees no function at all.
    """
    if len(points) < _ROWS_TO_JUDGE or (error is not None and not error > _UNEXPLAINED):
        return
    spans = np.ptp(points, axis=0) / space.column_periods
    column = int(spans.argmax())
    if spans[column] <= _MORE_THAN_A_PERIOD or _moved_columns(space, points):
        return
    if (_spans(space, points) > _many_periods(space)).any():  # `question_unit` has asked
        return
    poor = "no function of X is seen in y"
    if error is not None:
        poor = f"the fit is poor (leave-one-out error {error:.3g} standard deviations of y)"
    advice = "Give the space the period of the data. If these are not angles, rescale the column to less than a period"
    advice = f"{advice}, or use sa.Interval; do not standardise angles" if space.lattice is None else _FRACTIONS
    warnings.warn(
        f"{poor}, and column {column} of X spans {spans[column]:.3g} periods of {space!r}: values that differ by a "
        f"period are the same point. {advice}.",
        stacklevel=users_line(),
    )


def question_group(
    group: Group, error: float, without: float, columns: int, output: str | Representation | None = None
) -> None:
    """Warn that a fit without the group is far better.

    Parameters
    ----------
    group : Group
    error, without : float
        Leave-one-out errors with and without it, in standard deviations of the targets.
    columns : int
        Of y.
    output : str or Representation, optional
        How the group moves the targets.
    """
    y = "y" if columns == 1 else "y[:, 0]"
    advice = f"; sa.discover_symmetry(X, {y}, space, group) finds the part that they have"
    if output is not None:
        advice = f"; or y {_does_not_move(group, output)}"
    warnings.warn(
        f"the leave-one-out error is {error:.3g} standard deviations of y, and {without:.2g} without the group: the "
        f"data do not seem to have the symmetry of {group!r}. Compare its axes, mirrors and setting, the convention "
        f"of the points and the order of their columns{advice}.",
        stacklevel=users_line(),
    )


def _does_not_move(group: Group, output: str | Representation) -> str:
    """What may be wrong with targets that a group moves, for messages."""
    hint = tensor_hint(output)
    voigt = f". {hint}; components have factors √2, and Voigt's numbers have not: from_voigt makes tensors of them"
    return (
        f"does not move as {output!r} under {group!r}, F(gx) = ρ(g)F(x), or its columns are in another order or other "
        f"axes than those of the points{voigt if hint else ''}"
    )


def tensor_hint(output: str | Representation) -> str:
    """How arrays of tensors become targets of an output such as "ij=ji", for messages; empty for others."""
    equations = output.removeprefix("axial ") if isinstance(output, str) else ""
    if "=" not in equations or " + " in equations:
        return ""
    return f"Tensors T of shape (n, d, d, ...) become such by groups.index_symmetry({equations!r}, d).components(T)"


def question_size(basis: BasisTable, count: int, rows: int, error: float, *, group_fails: bool) -> None:
    """Warn where time, and not the data, ended the search for functions, and the fit is far from its data.

    Parameters
    ----------
    basis : BasisTable
    count, rows : int
        Points, and numbers that were observed at them.
    error : float
        Leave-one-out error in standard deviations of the targets.
    group_fails : bool
        Whether the data do not seem to have the symmetry: more functions that have it are then not proposed.
    """
    # Of constants alone the fit has warned.
    by_time = basis.cutoff.kind != "max_invariant_dim" and basis.dim > basis.n_constants
    if not by_time or not error > _LARGE_ERROR or basis.dim * _FEW_FOR_ROWS > rows:
        return
    advice = "" if group_fails else f" {_how_to_have_more(basis)}"
    warnings.warn(
        f"time ended the search for {basis.kind} functions at {basis.dim} of them for {count} points, and the "
        f"leave-one-out error is {error:.3g} standard deviations of y.{advice}",
        stacklevel=users_line(),
    )


def _how_to_have_more(basis: BasisTable) -> str:
    """Advice that the forecasts of the solvers allow to be followed."""
    if not isinstance(basis, InvariantBasis):
        return f"More functions may help: give max_invariant_dim={4 * basis.dim}."
    from specavg.invariants._plan import reach

    found = reach(basis.space, basis.group, basis.order, basis.cutoff.value, _PATIENCE)
    if found.eigenvalue is None:
        return (
            f"More of them are out of reach: the next eigenspace has {found.dim} functions, and would take about "
            f"{found.seconds:.2g} seconds and {human_size(found.memory)}. A larger group has fewer functions to search."
        )
    order = "" if basis.order.name in ("eigenvalue", "type") else f", order={basis.order!r}"
    return (
        f"More functions may help: max_eigenvalue={found.eigenvalue:.10g}{order} would take about {found.seconds:.2g} "
        f"seconds and {human_size(found.memory)} (sa.invariants.plan tells what other cutoffs take)."
    )


def why_nothing(space: Space, group: Group, output: str | Representation | None = None) -> str:
    """Likely reasons why a fit explains nothing, for messages; `output` says how the group moves the targets."""
    reasons = ["the target does not depend on these columns, or is mostly noise"]
    if np.isfinite(space.column_periods).any():
        sides = np.unique(space.column_periods[np.isfinite(space.column_periods)])
        shown = ", ".join(f"{side:.4g}" for side in sides[:3])
        reasons.append(f"the columns are in another unit than the space (its period is {shown})")
    if isinstance(space, Power | Product):
        reasons.append(f"the columns are in another order than {space!r} takes them (copy by copy, factor by factor)")
    if group.fields or not all(g.is_identity for g in group.generators):  # the order may not be known
        reasons.append(
            f"the target is not invariant under {group!r}: ask sa.symmetry_test(X, y, space, group)"
            if output is None
            else f"the target {_does_not_move(group, output)}"
        )
    other = ", or other ones, than were used (max_dim, order='few coordinates')"
    reasons.append("it needs more functions" + (other if space.parts > 1 else " than were used (max_dim)"))
    return "; or ".join(reasons)


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
