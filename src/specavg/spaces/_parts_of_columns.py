"""Columns of points that belong together, and the unit of each of these parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.spaces._interval import Interval
from specavg.spaces._power import Power
from specavg.spaces._product import Product
from specavg.spaces._space import Space
from specavg.spaces._torus import Torus


def columns_of_parts(space: Space) -> list[NDArray[np.intp]]:
    """Columns that belong together: unlike coordinates of a torus, those of a unit vector or a lattice are one thing.

    Examples
    --------
    >>> from specavg import Interval, Power, Product, Sphere
    >>> [part.tolist() for part in columns_of_parts(Product(Power(Interval(0, 1), 2), Sphere(3)))]
    [[0], [1], [2, 3, 4]]
    """
    if isinstance(space, Torus) and space.lattice is None:
        return [np.array([j]) for j in range(space.n_features)]
    found, first = list[NDArray[np.intp]](), 0
    for factor in _factors(space):
        found += [first + part for part in columns_of_parts(factor)]
        first += factor.n_features
    return found or [np.arange(space.n_features)]


def column_units(space: Space) -> Array:
    """The length of an angle of one in each column, over its geometric mean: bonds and angles of a product are unlike.

    Periods of one torus are lengths of one kind, and have one unit.

    Examples
    --------
    >>> from specavg import Interval, Product, Sphere, Torus
    >>> column_units(Product(Interval(0, 1), Interval(0, 100)))
    array([ 0.1, 10. ])
    >>> column_units(Torus(2, period=[1, 100]))
    array([1., 1.])
    """  # (n_features,)
    lengths = _lengths(space)
    if (lengths == lengths[0]).all():
        return np.ones_like(lengths)
    return lengths / np.exp(np.mean(np.log(lengths)))


def _lengths(space: Space) -> Array:
    if factors := _factors(space):
        return np.concatenate([_lengths(factor) for factor in factors])
    unit = 1.0
    if isinstance(space, Interval):
        unit = (space.high - space.low) / 2
    elif isinstance(space, Torus):
        unit = float(np.exp(np.mean(np.log(space.column_periods)))) / (2 * np.pi)
    return np.full(space.n_features, unit)


def _factors(space: Space) -> tuple[Space, ...]:
    if isinstance(space, Power):
        return (space.base,) * space.copies
    return space.factors if isinstance(space, Product) else ()
