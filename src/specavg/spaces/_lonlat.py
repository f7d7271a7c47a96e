"""Places on a globe: longitude and latitude as points of `Sphere(3)`, and back; east and north there."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array

_BEYOND = 1e-9  # of a right angle: latitudes of poles that were converted between units are off by 1e-16
_ROWS_TO_JUDGE = 10  # fewer places may well lie within six degrees of each other near 0° N 0° E
_PI = np.pi * 1.001  # the largest number that is taken for π: three digits of it may be rounded up


def directions_from_lonlat(lonlat: ArrayLike, latitude: ArrayLike | None = None, *, degrees: bool = True) -> Array:
    """Unit vectors of places on a globe, the points of `Sphere(3)`.

    x goes to longitude 0 on the equator, y to longitude 90° east, z to the north pole.

    Parameters
    ----------
    lonlat : array-like of shape (n, 2)
        Longitude (to the east) and latitude (to the north) in each row, in this order; longitudes wrap. A table
        whose columns are named the other way round is refused.
    latitude : array-like of shape (n,), optional
        The latitudes, where `lonlat` has the longitudes alone.
    degrees : bool, default True
        Angles are in degrees; False for radians. Ten and more places in degrees that could all be radians are
        questioned.

    Returns
    -------
    ndarray of shape (n, 3)

    Examples
    --------
    >>> directions_from_lonlat([[0.0, 0.0], [90.0, 0.0], [13.4, 90.0]]).round(12) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    places = _places(lonlat, latitude)
    east, north = _radians(places, degrees)
    if degrees:
        _question_degrees(np.asarray(places, dtype=float))
    flat = np.cos(north)
    return np.stack([flat * np.cos(east), flat * np.sin(east), np.sin(north)], axis=1)


def east_and_north(
    lonlat: ArrayLike, latitude: ArrayLike | None = None, *, degrees: bool = True
) -> tuple[Array, Array]:
    """Unit vectors to the east and to the north at places on a globe, along the axes of `directions_from_lonlat`.

    A wind of u to the east and v to the north is ``u[:, None] * east + v[:, None] * north``, as
    `EquivariantKernelRidge` takes tangent vectors; of its predictions F, ``(F * east).sum(axis=1)`` is u. At a pole
    they are those at the end of the meridian of the given longitude.

    Parameters
    ----------
    lonlat, latitude
        As there.
    degrees : bool, default True
        Angles are in degrees; False for radians.

    Returns
    -------
    east, north : ndarray of shape (n, 3)

    Examples
    --------
    >>> east, north = east_and_north([[90.0, 0.0]])
    >>> east.round(12) + 0.0, north.round(12) + 0.0
    (array([[-1.,  0.,  0.]]), array([[0., 0., 1.]]))
    """
    angle, height = _radians(_places(lonlat, latitude), degrees)
    cosine, sine, up = np.cos(angle), np.sin(angle), np.sin(height)
    east = np.stack([-sine, cosine, np.zeros(len(sine))], axis=1)
    return east, np.stack([-up * cosine, -up * sine, np.cos(height)], axis=1)


def names_latitude_first(names: Sequence[Any]) -> bool:
    """Whether two columns are named as if the first were the latitude, or the second the longitude.

    Examples
    --------
    >>> names_latitude_first(["lat", "lon"]), names_latitude_first(["lon", "lat"]), names_latitude_first(["x", "y"])
    (True, False, False)
    """
    if len(names) != 2:
        return False
    first, second = (str(name).lower() for name in names)
    return bool(re.match(r"lat(itude)?(?![a-z])", first) or re.match(r"(lon|long|longitude|lng)(?![a-z])", second))


def lonlat_from_directions(X: ArrayLike, *, degrees: bool = True) -> Array:
    """Longitude and latitude of vectors of R³, which need not have length 1: the inverse of `directions_from_lonlat`.

    Parameters
    ----------
    X : array-like of shape (n, 3)
    degrees : bool, default True
        In degrees; False for radians.

    Returns
    -------
    ndarray of shape (n, 2)
        Longitudes from −180° to 180°, latitudes from −90° to 90°.

    Examples
    --------
    >>> lonlat_from_directions(directions_from_lonlat([[350.0, 51.5]])).round(9)
    array([[-10. ,  51.5]])
    """
    vectors = np.asarray(X, dtype=float)
    if vectors.ndim != 2 or vectors.shape[1] != 3:
        raise ValueError(f"directions have shape (n, 3); got {vectors.shape}")
    x, y, z = vectors.T
    angles = np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=1)
    return np.rad2deg(angles) if degrees else angles


def _places(lonlat: ArrayLike, latitude: ArrayLike | None) -> ArrayLike:
    """Longitudes and latitudes in one table."""  # (n, 2)
    if latitude is None:
        return lonlat
    if np.ndim(lonlat) != 1 or np.shape(lonlat) != np.shape(latitude):
        raise ValueError(
            f"longitudes and latitudes beside them have shape (n,); got {np.shape(lonlat)} and {np.shape(latitude)}"
        )
    return np.column_stack([np.asarray(lonlat), np.asarray(latitude)])


def _radians(lonlat: ArrayLike, degrees: bool) -> Array:
    """Longitudes and latitudes in radians; an error where they are none."""  # (n, 2) -> (2, n)
    names = list(getattr(lonlat, "columns", ()))
    if names_latitude_first(names):
        raise ValueError(
            f"longitude comes first, and the columns are {', '.join(map(repr, names))}: give "
            f"table[[{', '.join(map(repr, names[::-1]))}]]"
        )
    angles = np.asarray(lonlat, dtype=float)
    if angles.ndim != 2 or angles.shape[1] != 2:
        raise ValueError(f"places have shape (n, 2): longitude and latitude in each row; got {angles.shape}")
    bad = ~np.isfinite(angles).all(axis=1)
    if bad.any():
        raise ValueError(f"{int(bad.sum())} of {len(angles)} places have NaN or infinity (first: row {bad.argmax()})")
    right = 90.0 if degrees else np.pi / 2
    beyond = np.abs(angles) > right * (1 + _BEYOND)
    if beyond[:, 1].any():
        row, unit = int(beyond[:, 1].argmax()), "degrees" if degrees else "radians"
        advice = "Is the second column the latitude, and is it in this unit?"
        if not beyond[:, 0].any():
            advice = "The first column could be latitudes: X[:, ::-1] exchanges the columns"
        elif not degrees and np.abs(angles[:, 1]).max() <= 90:
            advice = "They could be degrees: leave out degrees=False"
        raise ValueError(
            f"latitudes lie between −{right:.6g} and {right:.6g} {unit}; {int(beyond[:, 1].sum())} of {len(angles)} do "
            f"not, the first of them {angles[row, 1]:.6g} in row {row}. {advice}"
        )
    return (np.deg2rad(angles) if degrees else angles).T


def _question_degrees(angles: Array) -> None:
    """Warn where angles that are taken for degrees could all be radians."""
    if len(angles) < _ROWS_TO_JUDGE or np.abs(angles[:, 1]).max() > _PI / 2:
        return
    least, most = float(angles[:, 0].min()), float(angles[:, 0].max())
    if max(-least, most) <= _PI or (least >= 0 and most <= 2 * _PI):
        warnings.warn(
            f"longitudes go from {least:.4g} to {most:.4g} and latitudes from {angles[:, 1].min():.4g} to "
            f"{angles[:, 1].max():.4g}, and are taken for degrees: a small patch of the globe. For radians pass "
            "degrees=False.",
            stacklevel=3,
        )
