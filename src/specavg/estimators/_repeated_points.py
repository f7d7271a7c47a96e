"""Rows on one orbit are one observation of a density, but for atoms: points that hold many of all rows."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.data._questioned_columns import users_line
from specavg.regression._feature_path import orbits

Indices = NDArray[np.intp]

# How many times more rows an atom has than any orbit that is none: neighbours in a peak of rounded data differ by less.
_GAP = 10
_MOST = 1_000  # observations that the rows of an atom are: kernels around each are compared with those around all
_FEW_ORBITS, _REPEATED = 10, 10  # at most so many orbits, of so many rows each, tell no width: rounded data have more


def observations(features: Array, *, widths: bool) -> tuple[Indices, Indices]:
    """A row of each observation, and the observation of each row; warns of atoms, and where nothing tells a width.

    Rows of one orbit are left out together: left alone, each would be predicted by its twins. Each row of an atom is an
    observation by itself, or of thousands of rows a thousandth, since its twins do predict it: other data from there
    have the same rows again.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Invariant functions at the rows.
    widths : bool
        Whether a width is chosen, which a few orbits do not tell.
    """
    first, label = orbits(features)
    n, counts = len(features), np.bincount(label)
    few = n >= _REPEATED * len(counts) and len(counts) <= _FEW_ORBITS
    if widths and len(counts) == 1:
        _warn(
            "the density is nearly uniform: all points lie on one orbit, which does not tell how wide a density around "
            "it is. Give points of several orbits."
        )
    elif widths and few:
        _warn(
            f"{n:,} rows lie on {len(counts)} orbits; orbits are left out together, so that the width of the density "
            "cannot be told, and it may be far too broad. Give points of more orbits, such as the single measurements "
            "where these are means or ideal points."
        )
    elif len(counts) > 1 and not few:
        largest = np.sort(counts)[::-1]
        atoms = np.flatnonzero(largest[:-1] >= _GAP * largest[1:])
        if len(atoms):
            count = int(atoms[-1]) + 1
            own = counts[label] >= largest[count - 1]
            where = "one orbit, an atom" if count == 1 else f"{count} orbits, which are atoms"
            _warn(
                f"{own.sum():,} of {n:,} rows lie on {where}: many rows of exactly one value have no density. This one "
                "is as sharp there as it can be, so that masses of regions are about right; its values near such "
                "points, and numbers made of its square, mean nothing. Leave these rows out for the density of others."
            )
            order = np.argsort(label, kind="stable")
            rank = np.empty(n, dtype=np.intp)  # of each row on its orbit
            rank[order] = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
            parts = _MOST * label + np.where(own, rank % _MOST, 0)
            _, first, label = np.unique(parts, return_index=True, return_inverse=True)
    return first, label


def _warn(said: str) -> None:
    warnings.warn(said, UserWarning, stacklevel=users_line())
