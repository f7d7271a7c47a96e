"""Volume fractions: how much of a texture lies around an orientation, or around a fibre."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array, components
from specavg._random import OWN_SEED
from specavg.functions._one_direction import circle_means, frames, unit_direction
from specavg.groups import Group
from specavg.isometries import LeftRight
from specavg.spaces import Rotations, Sphere
from specavg.spaces._von_mises import turned
from specavg.textures._accuracy import MOST_DRAWN, OFF, SETTLED
from specavg.textures._crystal_rotations import crystal_rotations
from specavg.textures._given_density import group_of, values_of

_LIKE_RADIANS = 1.0  # degrees: fractions are those within 5° to 45°, 0.09 to 0.79 radians
_FARTHEST = 180.0  # degrees: the angle of no rotation is larger
_SAME = 1e-8  # distance of directions and matrices that are the same: far above rounding
_NONE = np.finfo(float).tiny  # a sum of weights that is not divided by
_A_SERIES = "A plain series (positive=False) may be where there are few data; InvariantDensity(positive=True) is not."


def volume_fraction(density: Any, orientation: ArrayLike, angle: float, *, group: Group | None = None) -> float:
    """How much of the volume has an orientation within an angle of an ideal one, or of one equivalent to it.

    Parameters
    ----------
    density : fitted `InvariantDensity` on `Rotations`, or callable
    orientation : array-like of shape (3, 3) or (9,), or a SciPy `Rotation`
        Specimen to crystal coordinates, as `spaces.rotations_from_bunge` makes them.
    angle : float
        In degrees, at most 180. What lies around two equivalent orientations counts once. An angle below 1 is
        questioned: it looks like radians.
    group : Group, optional
        Which orientations are equivalent: that of the fitted density by default, of a callable none. The density need
        not have this symmetry: what lies around each equivalent orientation is counted.

    Returns
    -------
    float
        By rules on the balls; from a density of kernels (`form_`), the share of 40,000 drawn orientations, with a
        standard error of at most 0.25 %.

    Examples
    --------
    >>> import numpy as np
    >>> volume_fraction(lambda X: np.ones(len(X)), np.eye(3), 90)  # (ω − sin ω)/π
    0.18169011382
    """
    values = values_of(density, "a volume fraction")
    X = _one_orientation(orientation)
    equivalent = _different(_images(density, group, X).reshape(-1, 3, 3))
    _check_angle(angle)

    def cosines(Y: Array) -> Array:  # of the angles to all that are equivalent
        return Y @ equivalent.reshape(-1, 9).T / 2 - 0.5

    def near(Y: Array) -> Array:
        return cosines(Y).max(axis=1) >= np.cos(np.deg2rad(angle))

    own = group_of(density)
    images = [] if own is None else [Rotations().act(g, equivalent.reshape(-1, 9)) for g in own.generators]
    centres = _of_their_own_mass(equivalent.reshape(-1, 9), images)

    def mass(degree: int) -> float:
        axes, weights = Sphere(3).quadrature(degree * (degree + 1))
        t, w = np.polynomial.legendre.leggauss(degree + 1)
        omega = np.deg2rad(angle) * (t + 1) / 2
        turns = turned(np.repeat(axes, len(t), axis=0), np.tile(omega, len(axes)))
        measure = np.asarray(np.deg2rad(angle) / 2 * w * (1 - np.cos(omega)) / np.pi, dtype=np.float64)
        found = 0.0
        for k, count in centres:
            around = (turns @ equivalent[k]).reshape(-1, 9)
            f = values(around) * _own_share(cosines(around), k, angle)
            found += count * float(np.outer(weights, measure).ravel() @ f)
        return found

    return _share(density, near, mass)


def fibre_fraction(
    density: Any,
    crystal: ArrayLike,
    specimen: ArrayLike,
    angle: float,
    *,
    group: Group | None = None,
) -> float:
    """How much of the volume has a crystal direction within an angle of a specimen direction: the fibre ⟨h⟩ ∥ r.

    Parameters
    ----------
    density : fitted `InvariantDensity` on `Rotations`, or callable
    crystal : array-like of shape (3,)
        h, Cartesian. Directions that the crystal's symmetry makes of h and −h count too; for "C∞" and "D∞" h is the
        axis.
    specimen : array-like of shape (3,)
        r.
    angle : float
        In degrees, at most 180. What lies around two equivalent crystal directions counts once. An angle below 1 is
        questioned: it looks like radians.
    group : Group, optional
        As in `volume_fraction`; of a `crystal_symmetry`, the crystal's part.

    Returns
    -------
    float
        As `volume_fraction`.

    Examples
    --------
    >>> import numpy as np
    >>> from specavg import groups
    >>> cubic = groups.crystal_symmetry("O")  # six directions, caps of (1 − cos 30°)/2 each
    >>> fibre_fraction(lambda X: np.ones(len(X)), [1, 0, 0], [0, 0, 1], 30, group=cubic)
    0.401923788647
    """
    values = values_of(density, "the fraction of a fibre")
    h, r = unit_direction(crystal), unit_direction(specimen, "specimen")
    group = group_of(density) if group is None else group
    turns = [np.eye(3)] if group is None else crystal_rotations(group, h)
    poles = _different(np.array([A @ v for v in (h, -h) for A in turns]))
    _check_angle(angle)
    centres = _of_their_own_mass(poles, _poles_moved(density, poles, r))

    def near(Y: Array) -> Array:
        return (Y.reshape(-1, 3, 3) @ r @ poles.T).max(axis=1) >= np.cos(np.deg2rad(angle))

    def mass(degree: int) -> float:
        t, w = np.polynomial.legendre.leggauss(degree + 1)
        low = np.cos(np.deg2rad(angle))
        z, phi = (1 + low) / 2 + (1 - low) / 2 * t, 2 * np.pi * np.arange(2 * degree + 1) / (2 * degree + 1)
        rho = np.sqrt(np.maximum(1 - z**2, 0.0))
        cap = np.stack([np.outer(rho, np.cos(phi)), np.outer(rho, np.sin(phi)), np.tile(z[:, None], len(phi))], axis=-1)
        found = 0.0
        for k, count in centres:
            around = cap.reshape(-1, 3) @ frames(poles[k : k + 1])[0].T  # crystal directions near h
            # The circle X r = h' is that of the transposed rotations Xᵀ h' = r.
            means = circle_means(lambda Y: values(_transposed(Y)), r, around, 2 * degree + 1)
            means = (means * _own_share(around @ poles.T, k, angle)).reshape(len(t), -1)
            found += float(count * (1 - low) / 4 * w @ means.mean(axis=1))
        return found

    return _share(density, near, mass)


def _one_orientation(given: Any) -> Array:
    """An orientation as a row of nine numbers."""  # (1, 9)
    matrix = np.asarray(getattr(given, "as_matrix", lambda: given)(), dtype=float)
    if matrix.size != 9:
        raise ValueError(
            "a volume fraction is that around one orientation, a rotation matrix of shape (3, 3) or (9,) or a SciPy "
            f"Rotation; got the shape {matrix.shape}. Of angles of Bunge, "
            "spaces.rotations_from_bunge([[35, 45, 0]], degrees=True) makes it"
        )
    return Rotations().check_points(matrix.reshape(1, 9))


def _images(density: Any, group: Group | None, X: Array) -> Array:
    """All orientations that are equivalent to one."""  # (1, 9) -> (n, 9)
    group = group_of(density) if group is None else group
    if group is None:
        return X
    if group.fields:
        raise ValueError(
            f"{group!r} makes a fibre of every orientation, and a ball around it is none: use fibre_fraction"
        )
    return np.concatenate([Rotations().act(g, X) for g in group.elements()])


def _different(values: Array) -> Array:
    """Every row once, the first one first."""
    _, first = np.unique(values.round(9) + 0.0, axis=0, return_index=True)
    return values[np.sort(first)]


def _poles_moved(density: Any, poles: Array, r: Array) -> list[Array]:
    """The crystal directions moved by symmetries of the density, X to A X Bᵀ, that keep the line of r."""
    own, found = group_of(density), []
    for g in () if own is None else own.generators:
        A, B = (g.left.matrix, g.right.matrix) if isinstance(g, LeftRight) else (getattr(g, "matrix", None), np.eye(3))
        side = float(r @ B @ r)  # (A X Bᵀ) r is ±A X r where B r is ±r
        if A is not None and abs(side) > 1 - _SAME:
            found.append(np.sign(side) * poles @ A.T)
    return found


def _of_their_own_mass(points: Array, images: list[Array]) -> list[tuple[int, int]]:
    """One of each set of centres that symmetries of the density join, so that they have the same mass; their number.

    What is not joined costs time and nothing else. A symmetry that takes a centre to a place without one changes
    what belongs to each, and joins none.

    Parameters
    ----------
    points : ndarray of shape (n, m)
    images : list of ndarray of shape (n, m)
        The points, moved by some symmetries.
    """
    label = np.arange(len(points))
    for image in images:
        where = np.argmax(image @ points.T, axis=1)  # all are of the same length
        if np.abs(points[where] - image).max() < _SAME:
            label = components(len(points), label, label[where])[label]
    _, first, counts = np.unique(label, return_index=True, return_counts=True)
    return list(zip(first.tolist(), counts.tolist(), strict=True))


def _check_angle(angle: float) -> None:
    if not angle > 0:
        raise ValueError(f"angle={angle:g} degrees: the angle around which volume is counted must be positive")
    if not angle <= _FARTHEST:
        raise ValueError(f"angle={angle:g} degrees: no two orientations are further apart than {_FARTHEST:g}°")
    if angle < _LIKE_RADIANS:
        warnings.warn(
            f"angle={angle:.4g} is in degrees here, and so small a part of all orientations holds hardly any volume. "
            "Is it in radians? Then pass np.degrees of it.",
            stacklevel=3,
        )


def _own_share(cosines: Array, own: int, angle: float) -> Array:
    """What of each point belongs to one of several centres, so that shares add up to one: 1 where balls do not overlap.

    A ball's weight falls to zero at its edge, with its slope, so that a rule sees no step where another ball begins.

    Parameters
    ----------
    cosines : ndarray of shape (n, centres)
        Of the angles from points around the centre `own` to all centres.
    own : int
    angle : float
        The radius of the balls, in degrees.
    """
    weights = np.maximum(cosines - np.cos(np.deg2rad(angle)), 0.0) ** 2
    others = weights.sum(axis=1) - weights[:, own]
    return np.where(others > 0, weights[:, own] / np.maximum(others + weights[:, own], _NONE), 1.0)


def _share(density: Any, near: Callable[[Array], Array], mass: Callable[[int], float]) -> float:
    """The mass of a part of all orientations, by rules that settle or by drawn orientations."""
    if getattr(density, "form_", None) == "kernels":
        return float(near(density.sample(MOST_DRAWN, np.random.default_rng(OWN_SEED))).mean())
    value = np.nan
    for degree in (8, 12, 18, 27):
        before, value = value, mass(degree)
        if abs(value - before) < SETTLED * max(abs(value), SETTLED):
            break
    else:
        warnings.warn(
            f"the fraction is not settled: {before:.4g} and {value:.4g} by two rules. The density, or the edge "
            "where what lies around equivalent ones meets, is sharper than their nodes are apart.",
            stacklevel=3,
        )
    if value > 1 + OFF:
        warnings.warn(
            f"the fraction is {value:.4g}, and no part is more than the whole: "
            + (
                f"the density is negative elsewhere. {_A_SERIES}"
                if getattr(density, "form_", None) == "series"
                else "fractions are those of a density, whose integral is one"
            ),
            stacklevel=3,
        )
    if value < -SETTLED:
        warnings.warn(
            f"the fraction is {value:.4g}, less than nothing: the density is negative here. {_A_SERIES}",
            stacklevel=3,
        )
    return min(value, 1.0) if value <= 1 + OFF else value


def _transposed(X: Array) -> Array:
    return np.ascontiguousarray(X.reshape(-1, 3, 3).transpose(0, 2, 1)).reshape(-1, 9)
