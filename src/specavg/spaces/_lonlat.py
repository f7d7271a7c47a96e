"""Places on a globe: longitude and latitude as points of `Sphere(3)`, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array

_BEYOND = 1e-9  # of a right angle: latitudes of poles that were converted between units are off by 1e-16


def directions_from_lonlat(lonlat: ArrayLike, *, degrees: bool = True) -> Array:
    """Unit vectors of places on a globe, the points of `Sphere(3)`.

    x goes to longitude 0 on the equator, y to longitude 90° east, z to the north pole.

    Parameters
    ----------
    lonlat : array-like of shape (n, 2)
        Longitude (to the east) and latitude (to the north) in each row, in this order; longitudes wrap.
    degrees : bool, default True
        Angles are in degrees; False for radians.

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
    longitude, latitude = (np.deg2rad(angles) if degrees else angles).T
    flat = np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=1)


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
