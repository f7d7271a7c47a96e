"""Gradients beside values: what users give, checked, and the moments of both."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from specavg._arrays import Array
from specavg.data._given_data import check_mask
from specavg.invariants import InvariantBasis
from specavg.regression._moments import Moments
from specavg.spaces import Space
from specavg.spaces._parts_of_columns import column_units

ONE_VALUE = (
    "gradients leave the constant open, so at least one value is needed. With y = np.full(n, np.nan); y[0] = 0 the "
    "model is zero at the first point"
)


# A multiple that differs from one by less is not questioned: common units (eV, kcal/mol, Hartree, Bohr) differ by more.
_CONTRADICTION = 0.25
# Where the values predict their gradient better, less is enough: so many times the share that they leave open. Forces
# that are not fully converged may be wrong by a few per cent, all in one direction.
LEFT_OPEN = 3.0
_CONVERGED = 0.03
# By which the multiple has to differ from one: errors of neighbouring points are not independent.
_STANDARD_ERRORS = 6.0


class Multiple(NamedTuple):
    """Which multiple of a prediction was given.

    Attributes
    ----------
    value, error : float
        With its standard error.
    wrong : bool
        Whether it cannot be one.
    """

    value: float
    error: float
    wrong: bool


def multiple_given(
    predicted: float, product: float, given: float, rows: float, left_open: float = np.inf, open_along: float = 0.0
) -> Multiple:
    """Which multiple of a prediction was given, and whether it may be one.

    If a prediction says something at all, the truth is the prediction and an error that does not depend on it: the
    regression of what was given on what was predicted has slope one.

    Parameters
    ----------
    predicted, product, given : float
        Sums over the rows: squares of what was predicted, products of both, squares of what was given.
    rows : float
    left_open : float, default inf
        The standard deviation of what was predicted over its size, where that is known.
    open_along : float, default 0
        The standard deviation of Σ prediction · truth over that of its squares: what the prediction itself leaves open
        of the multiple. Errors of neighbouring points are not independent, and residuals do not tell it.
    """
    if not predicted > 0:
        return Multiple(np.nan, np.inf, wrong=False)
    multiple = product / predicted
    error = float(np.hypot(np.sqrt(max(given - multiple * product, 0.0) / rows / predicted), open_along))
    least = min(max(LEFT_OPEN * left_open, _CONVERGED), _CONTRADICTION)
    return Multiple(multiple, error, wrong=abs(multiple - 1.0) > max(least, _STANDARD_ERRORS * error))


def gradient_moments(basis: InvariantBasis, points: Array, y: Any, gradient: Any, weights: Array) -> Moments:
    """The moments of values and gradients, each where they are not NaN."""
    targets, G = checked_gradients(basis.space, points, y, gradient)
    value, slope = ~np.isnan(targets), ~np.isnan(G).any(axis=1)
    values = Moments.of(basis, basis.evaluation_points(points[value]), targets[value, None], weights[value])
    columns = column_units(basis.space)
    return replace(values, slopes=Moments.of_slopes(basis, points[slope], G[slope], weights[slope], columns))


def checked_gradients(space: Space, points: Array, y: Any, gradient: Any) -> tuple[Array, Array]:
    """Targets, NaN where they are missing, and gradients, rows of NaN where they are."""  # (n,), (n, n_features)
    if y is None:
        raise ValueError(f"y is needed beside gradients: {ONE_VALUE}")
    check_mask(y, "y", "A missing value beside a gradient is NaN: y.filled(np.nan)")
    check_mask(gradient, "gradient", "A missing gradient is a row of NaN: gradient.filled(np.nan)")
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise ValueError(
            f"gradients are fitted with one target; y has shape {targets.shape}. Fit one model for each output."
        )
    G = np.asarray(gradient, dtype=np.float64)
    shape = G.shape
    if shape == (*points.shape, 1):  # as `gradient` of a model of targets (n, 1) has it
        G = G[..., 0]
    with suppress(ValueError):  # which speaks of points
        G = space.as_table(G)
    if G.shape != points.shape or len(targets) != len(points):
        raise ValueError(
            f"X has shape {points.shape}, y {targets.shape} and gradient {shape}: there is one target "
            "and one gradient, with a number for each column of X, for each row"
        )
    for name, values in (("y", targets[:, None]), ("gradient", G)):
        if np.isinf(values).any():
            raise ValueError(f"{name} has infinite entries in {int(np.isinf(values).any(axis=1).sum())} rows")
    missing = np.isnan(G)
    partly = missing.any(axis=1) & ~missing.all(axis=1)
    if partly.any():
        raise ValueError(
            f"gradient has NaN in a part of {int(partly.sum())} rows (first: row {int(partly.argmax())}). A "
            "missing gradient is a row of NaN; a gradient with missing components cannot be used."
        )
    return targets, G
