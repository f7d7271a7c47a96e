"""Columns of a table, asked whether they are in the unit, the order and of the lengths that a space takes.

What is hardly right is warned of, at the line of the user.
"""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.data._kinds_of_columns import column_name
from specavg.groups import Group
from specavg.spaces import Power, Product, Space, Torus

# Angles in degrees on a torus of period 2π span 57 periods. Trajectories and phases that were unwrapped on purpose
# span a few, and standardised columns on the default torus (period 2) about three. Of π, 2π and the period 2 of the
# default this is asked whatever the fit. A period that was chosen for the data, such as 86400 for seconds since an
# epoch, may be spanned many times; `question_wrapping` asks where the fit is poor.
_MANY_PERIODS = 20.0
_MANY_CELLS = 4.0  # the same of fractional coordinates: positions in Å in a cell of 5 Å span five
_SMALL_PART = 0.05  # part of the period that the widest column spans: radians on a torus of period 360 span 0.017
# Periods of tori that radians are given to by mistake: that of the default, and that of degrees.
_NO_PERIODS_OF_RADIANS = np.array([2.0, 360.0])
_FULL_TURN, _ROUNDED = 2 * np.pi, 1e-3  # radians; 3.14 and 6.283 are rounded to the ends of a turn
_ROWS_ASKED = 64  # rows whose span is looked at: another unit shows in any of them; all rows took as long as a fit
_ROWS_OF_A_HALF = 100  # rows, at least, that fill half of every period evenly: fewer do by chance
_EVEN = 1.6  # Kolmogorov's distance times √n: uniform columns exceed it once in a hundred times
ROWS_TO_JUDGE = 30  # fewer say little: of 12 fits of pure noise 9 had an error above 0.99 with 30 rows, all with 200
_FILLED = 0.8  # part of a period that columns of this period span: 64 uniform points 0.97 ± 0.02, 6 on a grid 0.83
_UNIT_LENGTH = 1e-6  # how far from 1 the lengths of unit vectors are: single precision leaves 1e-7
_STANDARDISED = 1e-6  # of means and standard deviations: a scaler leaves 1e-15, and single precision 1e-7
_MORE_THAN_A_PERIOD = 1.05  # periods: angles from −180° to 180°, both ends measured and rounded, span hardly more
UNEXPLAINED = 0.7  # leave-one-out error in standard deviations of y: half of the variance is then unexplained


def users_line() -> int:
    """The stacklevel of the line that called this library, for a warning of the function that asks."""
    ours = ("specavg.", "functools")  # properties that are computed once lie between
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(ours):
        frame, level = frame.f_back, level + 1
    return level


def question_unit(space: Space, points: Array, names: Any = None) -> bool:
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
    advice = _fractions(space, column) or advice
    warnings.warn(
        f"{column_name(names, column)} of X spans {spans[column]:.0f} periods of {space!r}: it goes from "
        f"{points[:, column].min():.4g} to {points[:, column].max():.4g}, and the period is {side:.4g}. Values that "
        f"differ by a period are the same point. {advice}.",
        stacklevel=users_line(),
    )
    return True


def look_like_radians(space: Space, points: Array) -> bool:
    """Whether all columns lie within one turn in radians, one fills it, and the tori have no such period.

    Rows of a grid then fit well and predict badly: those that differ by some periods stand for each other.
    """
    periods, some = space.column_periods, points[:: max(1, len(points) // _ROWS_ASKED)]
    # Most points are told by some rows: they lie within a period, or are no angles.
    if not len(points) or (periods != periods[0]).any() or periods[0] not in _NO_PERIODS_OF_RADIANS:
        return False
    if np.ptp(some, axis=0).max() < _FULL_TURN / 4:
        return False
    low, high = points.min(axis=0), points.max(axis=0)
    centred = (low >= -_FULL_TURN / 2 - _ROUNDED) & (high <= _FULL_TURN / 2 + _ROUNDED)
    positive = (low >= -_ROUNDED) & (high <= _FULL_TURN + _ROUNDED)
    return bool((centred | positive).all() and (high - low).max() >= _FILLED * _FULL_TURN)


def question_radians(space: Space, points: Array) -> bool:
    """Warn where points look like radians on tori of another period, whatever the fit. Whether it did."""
    if not look_like_radians(space, points):
        return False
    take = (
        f"take sa.Torus({space.dim}, period=2*np.pi)" if isinstance(space, Torus) else "give its torus period=2*np.pi"
    )
    warnings.warn(
        f"columns of X go from {points.min():.3g} to {points.max():.3g}, and the period of {space!r} is "
        f"{space.column_periods[0]:.4g}: if these are radians, {take}. Values that differ by a period are the same "
        "point.",
        stacklevel=users_line(),
    )
    return True


def question_units(space: Space, points: Array, *, given: bool = True, names: Any = None) -> bool:
    """Warn where points are hardly those of the space, in these units and this order of columns. Whether it did.

    `given` says whether a user gave the space: otherwise it is the default torus, which is known to wrap. `names` are
    those of the columns.
    """
    asked = question_columns(space, points, names) if given else _question_directions(space, points)
    return asked or question_radians(space, points) or question_unit(space, points, names)


def _question_directions(torus: Space, points: Array) -> bool:
    """Warn where points of the default torus are unit vectors. Whether it did."""
    d = points.shape[1]
    if d < 2 or len(points) < ROWS_TO_JUDGE or np.abs(np.linalg.norm(points, axis=1) - 1).max() > _UNIT_LENGTH:
        return False
    warnings.warn(
        f"all rows of X are unit vectors, and no space was given: they are taken for points of {torus!r}, whose "
        f"columns repeat. For directions give sa.Sphere({d}), as space= or as the space of the kernel.",
        stacklevel=users_line(),
    )
    return True


def question_periods(
    space: Space, points: Array, group: Group | None = None, *, given: bool = True, names: Any = None
) -> None:
    """`question_units`, and where columns span a small part of their periods, or fill half of them: units are others.

    For models that know what `group` makes of the points.
    """
    if question_units(space, points, given=given, names=names) or len(points) < ROWS_TO_JUDGE:
        return
    spans = _spans(space, points)
    column = int(spans.argmax())
    span, side = spans[column], space.column_periods[column]
    if 0 < span < _SMALL_PART and np.isfinite(space.column_periods).all():
        warnings.warn(
            f"no column of X spans more than {100 * span:.2g} % of its period of {space!r}: "
            f"{column_name(names, column)} goes from {points[:, column].min():.4g} to {points[:, column].max():.4g}, "
            f"and the period is {side:.4g}. If the points are meant to fill the space, give it the period of the data "
            "(for instance 2π for radians).",
            stacklevel=users_line(),
        )
    elif (space.column_periods == 2).all() and _fill_half(points) and not _has_mirrors(space, group):
        warnings.warn(
            f"every column of X fills 0 to 1 evenly, half of the period 2 of {space!r}, where 0 and 1 are different "
            "points. If 1 is a whole period, as of fractions of a turn or of a cell, give the space period=1.",
            stacklevel=users_line(),
        )


def question_columns(space: Space, points: Array, names: Any = None) -> bool:
    """Warn where columns are probably in another order than their periods, or were standardised. Whether it did."""
    said = _moved_columns(space, points, names) if len(points) >= ROWS_TO_JUDGE else ""
    if said:
        warnings.warn(said, stacklevel=users_line())
    return bool(said)


def question_wrapping(space: Space, points: Array, error: float | None, names: Any = None) -> None:
    """Warn where a fit is poor and a column spans more than a period: different points may be taken for the same.

    `error` is the leave-one-out error in standard deviations of y; None where a test sees no function at all.
    """
    if len(points) < ROWS_TO_JUDGE or (error is not None and not error > UNEXPLAINED):
        return
    spans = np.ptp(points, axis=0) / space.column_periods
    column = int(spans.argmax())
    if spans[column] <= _MORE_THAN_A_PERIOD or _moved_columns(space, points) or look_like_radians(space, points):
        return
    if (_spans(space, points) > _many_periods(space)).any():  # `question_unit` has asked
        return
    poor = "no function of X is seen in y"
    if error is not None:
        poor = f"the fit is poor (leave-one-out error {error:.3g} standard deviations of y)"
    advice = "Give the space the period of the data. If these are not angles, rescale the column to less than a period"
    advice = _fractions(space, column) or f"{advice}, or use sa.Interval; do not standardise angles"
    warnings.warn(
        f"{poor}, and {column_name(names, column)} of X spans {spans[column]:.3g} periods of {space!r}: values that "
        f"differ by a period are the same point. {advice}.",
        stacklevel=users_line(),
    )


def _spans(space: Space, points: Array) -> Array:
    """How many periods each column of some rows spans; none at all where it has no period."""  # (n_features,)
    return np.ptp(points[:: max(1, len(points) // _ROWS_ASKED)], axis=0) / space.column_periods


def _moved_columns(space: Space, points: Array, names: Any = None) -> str:
    """What to say of columns that were exchanged, or standardised; empty where they were not."""
    periodic = np.flatnonzero(np.isfinite(space.column_periods))
    if not len(periodic):
        return ""
    spans = _spans(space, points)
    exchanged = _exchanged(spans[periodic], space.column_periods[periodic])
    if exchanged is not None:
        column, other = (int(periodic[i]) for i in exchanged)
        return (
            f"the columns of X look exchanged: {column_name(names, column)} spans {np.ptp(points[:, column]):.4g}, the "
            f"period of {column_name(names, other)} of {space!r}, and its own period is "
            f"{space.column_periods[column]:.4g}. Give periods and columns in one order."
        )
    if _are_standardised(points[:, periodic]):
        column = int(spans.argmax())
        return (
            f"{column_name(names, column)} of X spans {spans[column]:.3g} periods of {space!r}, and all have the mean "
            "0 and the standard deviation 1. A period of the space is no period of columns that were rescaled: give "
            "them as they were, without a scaler; do not standardise angles."
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
    angles = np.isclose(space.column_periods[:, None], [2.0, np.pi, 2 * np.pi], rtol=1e-3).any(axis=1)  # 6.28 is 2π
    fractional = [bool(lattice) for _, lattice in _lattices(space)]
    return np.where(fractional, _MANY_CELLS, np.where(angles, _MANY_PERIODS, np.inf))


def _lattices(space: Space, name: str = "space", start: int = 0) -> list[tuple[str, str]]:
    """For each column the columns of its copy or factor, and where its lattice is found; empty where it has none."""
    if isinstance(space, Power):
        starts = range(start, start + space.n_features, space.base.n_features)
        return [one for first in starts for one in _lattices(space.base, f"{name}.base", first)]
    if isinstance(space, Product):
        starts = np.cumsum([start, *(factor.n_features for factor in space.factors)]).tolist()
        factors = zip(space.factors, starts, strict=False)
        return [one for i, (M, first) in enumerate(factors) for one in _lattices(M, f"{name}.factors[{i}]", first)]
    columns = "X" if name == "space" else f"X[:, {start}:{start + space.n_features}]"
    return space.n_features * [(columns, "" if space.lattice is None else f"{name}.lattice")]


def _fractions(space: Space, column: int) -> str:
    """How a column becomes a fractional coordinate, for messages; empty where it is none."""
    columns, lattice = _lattices(space)[column]
    made = f"{columns} @ np.linalg.inv({lattice})"
    text = f"Points are fractional coordinates: {made} makes them of Cartesian ones, and {made} / (2 * np.pi) of wave "
    return f"{text}vectors with their 2π" if lattice else ""


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
