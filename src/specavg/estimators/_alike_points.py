"""Samples at nearly the same place, which functions of limited detail cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED, some_rows

# Root mean square difference of two rows of orthonormal functions, below which their points are alike. Of uniform
# points on a circle with a function for five of them a quarter are alike, in two dimensions a hundredth. Repetitions
# that lie a thousandth of a torus apart differ by 0.03.
_ALIKE = 0.1
_DIRECTIONS = 8  # random ones, along which rows are compared: distances change by a third, and a tree is quick
_NEIGHBOURS = 8  # that each point is linked to: enough to hold a cloud of points together
_ASKED = 1000  # points that are asked first whether they have any: the share is known to 2 %


def sketch(values: Array) -> Array:
    """Rows with few columns whose differences have about the root mean squares of those of `values`."""  # (n, p)
    p = values.shape[1]
    if p <= _DIRECTIONS:
        return values
    return values @ (np.random.default_rng(OWN_SEED).normal(size=(p, _DIRECTIONS)) / p**0.5)


def places_of_points(sketches: Array, functions: int, enough: int, dimension: int) -> NDArray[np.intp] | None:
    """For each row the number of its place; None unless places are at most half as many as rows.

    Parameters
    ----------
    sketches : ndarray of shape (n, q)
        Of the values of orthonormal functions.
    functions : int
        How many these are.
    enough : int
        Rows for each function, beyond which they lie the closer the more of them there are.
    dimension : int
        Of the space.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    n, q = sketches.shape
    reach = _ALIKE * q**0.5 * min(1.0, enough * functions / n) ** (1.0 / dimension)
    tree = KDTree(sketches)
    some = sketches[some_rows(n, _ASKED)]
    second = np.asarray(tree.query(some, k=2, distance_upper_bound=reach)[0])[:, 1]
    if np.mean(np.isfinite(second)) < 0.5:  # points without a neighbour are a place each
        return None
    near, which = tree.query(sketches, k=_NEIGHBOURS + 1, distance_upper_bound=reach)
    row, column = np.nonzero(np.isfinite(near))
    links = coo_array((np.ones(len(row), dtype=np.int8), (row, np.asarray(which)[row, column])), shape=(n, n))
    count, place = connected_components(links, directed=False)
    return np.asarray(place, dtype=np.intp) if 2 * count <= n else None


def means_over_places(place: NDArray[np.intp], weights: Array, pieces: Iterable[Array]) -> Array:
    """The weighted mean of the rows of each place, from all rows piece by piece."""  # -> (N, p)
    from scipy.sparse import csr_array

    count, start, total = int(place.max()) + 1, 0, None
    shares = weights / np.bincount(place, weights)[place]
    for rows in pieces:
        part = slice(start, start := start + len(rows))
        mean: Any = csr_array((shares[part], (place[part], np.arange(len(rows)))), shape=(count, len(rows))) @ rows
        total = mean if total is None else total + mean
    return np.asarray(total, dtype=np.float64)
