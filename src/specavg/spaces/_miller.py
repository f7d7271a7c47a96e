"""Orientations by Miller indices: a lattice plane parallel to the sheet, and a lattice direction along rolling."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array

_OUT_OF_PLANE = 1e-6  # sine of the angle between direction and plane: indices are integers, and lattices have digits


def rotations_from_miller(hkl: ArrayLike, uvw: ArrayLike, lattice: ArrayLike | None = None) -> Array:
    """Orientation matrices of ideal components {hkl}<uvw>, as texture analysis of rolled sheets names them.

    The plane (hkl) is parallel to the sheet, its normal along z of the specimen, and the direction [uvw] is along x,
    the rolling direction. The matrix takes specimen coordinates to crystal coordinates, as in `rotations_from_bunge`:
    its columns are b, n × b and n, with b along [uvw] and n normal to (hkl).

    Parameters
    ----------
    hkl : array-like of shape (3,) or (n, 3)
        Miller indices of planes.
    uvw : array-like of shape (3,) or (n, 3)
        Indices of directions, each in its plane. One plane or one direction goes with several of the other.
    lattice : array-like of shape (3, 3), optional
        Lattice vectors as rows, such as `crystals.lattice` makes; by default those of a cubic crystal. Hexagonal
        indices have three numbers: (h k i l) is ``(h, k, l)``, and [u v t w] is ``(2u + v, u + 2v, w)``.

    Returns
    -------
    ndarray of shape (n, 3, 3)

    Examples
    --------
    >>> goss = rotations_from_miller([0, 1, 1], [1, 0, 0])
    >>> from specavg.spaces import rotations_from_bunge
    >>> bool(np.allclose(goss, rotations_from_bunge([[0, 45, 0]], degrees=True)))
    True
    """
    planes, directions = _rows(hkl, "hkl"), _rows(uvw, "uvw")
    if len(planes) != len(directions) and min(len(planes), len(directions)) != 1:
        raise ValueError(f"hkl has {len(planes)} rows and uvw {len(directions)}: give as many of both, or one of one")
    cell = np.eye(3) if lattice is None else np.asarray(lattice, dtype=np.float64)
    if cell.shape != (3, 3) or not np.isfinite(cell).all() or np.linalg.matrix_rank(cell) < 3:
        raise ValueError(f"lattice has three independent vectors as rows, shape (3, 3); got {cell.tolist()}")
    planes, directions = np.broadcast_arrays(planes, directions)
    normal, along = planes @ np.linalg.inv(cell).T, directions @ cell  # rows of B⁻ᵀ are the reciprocal vectors
    normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    sines = np.einsum("ni,ni->n", normal, along)
    row = int(np.abs(sines).argmax())
    if abs(sines[row]) > _OUT_OF_PLANE:
        product, angle = float(planes[row] @ directions[row]), float(np.degrees(np.arcsin(min(abs(sines[row]), 1.0))))
        raise ValueError(
            f"the direction {_indices(directions[row], '[]')} does not lie in the plane {_indices(planes[row], '()')} "
            f"(row {row}): hu + kv + lw = {product:g}, which must be 0, and it is {angle:.3g}° out of the plane. "
            "Choose other signs or another order of the indices"
        )
    along = along - sines[:, None] * normal  # orthonormal to the last digit
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return np.stack([along, np.cross(normal, along), normal], axis=2)


def _rows(given: ArrayLike, name: str) -> Array:
    """Indices as rows, none of them zero."""  # -> (n, 3)
    rows = np.atleast_2d(np.asarray(given, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(f"{name} has shape (3,) or (n, 3); got {np.shape(given)}")
    bad = ~np.isfinite(rows).all(axis=1) | ~rows.any(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"{name} must be finite and not (0, 0, 0); row {row} is {tuple(rows[row].tolist())}")
    return rows


def _indices(numbers: Array, brackets: str) -> str:
    return brackets[0] + " ".join(f"{number:g}" for number in numbers) + brackets[1]
