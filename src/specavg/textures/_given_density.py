"""The density that a number of a texture is asked of: a fitted model or a function, as a function that is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._named_columns import of_arrays
from specavg.groups import Group
from specavg.spaces import Rotations


def density_values(density: Any) -> Callable[[Array], Any]:
    """The density as a function of points: negative where a series is, which a logarithm cannot say.

    Of models that know the logarithm only, such as `KernelDensity` of scikit-learn, its exponential.
    """
    values = getattr(density, "density", None)
    if callable(values):
        return of_arrays(values)
    logarithms = getattr(density, "score_samples", None)
    if logarithms is None:
        return of_arrays(density)
    of_points = of_arrays(logarithms)
    return lambda X: np.exp(of_points(X))


def one_value_each(values: Any, points: Array) -> Array:
    """What a function returned, unless it is not one number (or one row of outputs) for each point."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape[:1] != (len(points),):
        raise ValueError(
            f"a function takes points of shape {points.shape} and returns one value for each of them, shape "
            f"({len(points)},); this one returned the shape {found.shape}. A constant is lambda X: np.full(len(X), 1.0)"
        )
    return found


def values_of(density: Any, what: str) -> Callable[[Array], Array]:
    """The values of a density of orientations, checked; `what` is asked of it, for messages."""
    if not callable(getattr(density, "score_samples", density)):
        raise TypeError(
            f"{what} is that of a density: a fitted InvariantDensity, or a function of rotations; got "
            f"{type(density).__name__}"
        )
    space = getattr(getattr(density, "basis_", None), "space", Rotations())
    if space != Rotations():
        raise ValueError(
            f"{what} is that of a density of orientations, on Rotations(); this one was fitted on {space!r}"
        )
    values = density_values(density)

    def checked(X: Array) -> Array:
        found = one_value_each(values(X), X)
        if found.size != len(X):
            raise ValueError(
                f"{what} needs one value for each orientation, and the density returned the shape {found.shape} for "
                f"{len(X)}: choose an output, lambda X: f(X)[:, 0]"
            )
        return found.reshape(len(X))  # a column (n, 1) too

    return checked


def group_of(density: Any) -> Group | None:
    """The group of a fitted density; None of a function."""
    return getattr(getattr(density, "basis_", None), "group", None)
