"""Numbers of textures: how sharp an orientation density is, and how crystals are rotated against each other.

Orientations take specimen coordinates to crystal coordinates, as everywhere here (see `spaces.Rotations`). Pictures are
in `plot`: `pole_figure`, `inverse_pole_figure`, `odf_sections`, `misorientations`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._random import OWN_SEED, as_generator
from specavg.estimators._orbit_space import orbit_space
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.groups.families import CrystalSymmetry
from specavg.isometries import LeftRight
from specavg.spaces import Rotations

__all__ = ["misorientation_angles", "texture_index"]

_DEGREES = (8, 16, 24, 32, 48, 64, 96, 128)  # of the product rules that are tried
_MOST_NODES = 200_000  # rotations of a rule: degree 32; all degrees where a fibre texture is one of directions
_SETTLED = 1e-3  # relative change between two rules: a texture index is quoted with two digits
_OFF = 0.01  # of the integral of f from 1, beyond which nodes are too far apart to see f, or f is no density
_DRAWN, _MOST_DRAWN = 4_000, 40_000  # orientations drawn from a density of kernels at a time, and altogether
_STANDARD_ERROR = 0.01  # relative, at which drawing ends: a texture index is quoted with two digits


def texture_index(density: Any) -> float:
    """The texture index J = ∫ f², f the density relative to uniform orientations: 1 for no texture, large if sharp.

    Parameters
    ----------
    density : fitted `InvariantDensity` on `Rotations`, or callable
        A callable takes rotations of shape (n, 9) and returns densities (not logarithms).

    Returns
    -------
    float
        By product rules of increasing degree, up to 32, and up to 128 for a fitted fibre texture; where they do not
        settle to 0.1 %, the last one, with a warning: the nodes are then too far apart for the density. Where a
        fitted density is one of kernels (`form_`), J is the mean of f over orientations drawn from f, to a standard
        error of 1 %.

    Examples
    --------
    >>> texture_index(lambda X: 1 + X[:, 8])  # ∫ X₃₃² = 1/3
    1.333333333333
    """
    if not callable(getattr(density, "score_samples", density)):
        raise TypeError(
            "a texture index is that of a density: a fitted InvariantDensity, or a function of rotations; got "
            f"{type(density).__name__}"
        )

    def values(X: Array) -> Array:
        logarithms = getattr(density, "score_samples", None)
        return np.asarray(density(X) if logarithms is None else np.exp(logarithms(X)), dtype=np.float64)

    if getattr(density, "form_", None) == "kernels":
        return _mean_of_drawn(density)
    group = getattr(getattr(density, "basis_", None), "group", None)
    flows = orbit_space(Rotations(), group).rule if isinstance(group, Group) else None
    before = value = mass = np.nan
    degree = degree_before = 0
    for top in _DEGREES:
        X, weights = (flows or Rotations().quadrature)(top * (top + 1))
        if len(X) > _MOST_NODES:
            break
        degree_before, degree = degree, top
        f = values(X)
        before, value, mass = value, float(weights @ f**2), float(weights @ f)
        if abs(value - before) < _SETTLED * value:
            break
    if not abs(value - before) < _SETTLED * value:
        remedy = ""
        if any(getattr(density, name, None) for name in ("max_dim", "max_invariant_dim", "max_eigenvalue")):
            remedy = " InvariantDensity without a cutoff may take kernels, whose index comes from drawn orientations."
        warnings.warn(
            f"the texture index is not settled: {before:.6g} and {value:.6g} by rules of {degree_before} and {degree} "
            f"degrees. Peaks of this density are narrower than their nodes are apart, {180 / degree:.3g}°, so that "
            f"the index is known to {100 * abs(value - before) / value:.2g} % only.{remedy}",
            UserWarning,
            stacklevel=2,
        )
    elif not abs(mass - 1) < _OFF:
        fitted = getattr(density, "normalisation_error_", None)
        known = "" if fitted is None else f" (its normalisation_error_ is {fitted:.2g})"
        warnings.warn(
            f"the density has the integral {mass:.4g}{known}, and a texture index is that of a density of integral "
            f"one: divided by the square of the integral it is {value / mass**2:.6g}, not {value:.6g}",
            UserWarning,
            stacklevel=2,
        )
    return value


def _mean_of_drawn(density: Any) -> float:
    """∫f² = E f over f itself: no sharpness is too much, and repeated calls agree."""
    rng, found = np.random.default_rng(OWN_SEED), np.empty(0)
    error = np.inf
    while error > _STANDARD_ERROR and len(found) < _MOST_DRAWN:
        found = np.concatenate([found, density.density(density.sample(_DRAWN, rng))])
        error = float(found.std() / found.mean() / len(found) ** 0.5)
    if error > _STANDARD_ERROR:
        warnings.warn(
            f"the texture index has a standard error of {100 * error:.2g} %: {len(found):,} orientations drawn from "
            "the density have very different densities, as where there are few sharp grains among many broad ones",
            UserWarning,
            stacklevel=3,
        )
    return float(found.mean())


def misorientation_angles(X: ArrayLike, group: Group, *, pairs: int | None = None, random_state: Any = None) -> Array:
    """The smallest angles, in degrees, by which crystals of a sample are turned against each other.

    Parameters
    ----------
    X : array-like of rotations
        Orientations, specimen to crystal coordinates.
    group : Group
        The crystal's rotations, as `crystal_symmetry` makes them; symmetries of the specimen are left aside, since they
        relate different places of it.
    pairs : int, optional
        Of so many random pairs. Default: each row with the next (neighbours, if rows are ordered so).
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n - 1,) or (pairs,)

    Examples
    --------
    >>> from specavg import groups, spaces
    >>> X = spaces.rotations_from_bunge([[0, 0, 0], [10, 0, 0], [95, 0, 0]], degrees=True)
    >>> misorientation_angles(X, groups.crystal_symmetry("O")).round(9)
    array([10.,  5.])
    """
    matrices = Rotations().check_points(X).reshape(-1, 3, 3)
    if len(matrices) < 2:
        raise ValueError(f"misorientations are between two orientations at least; X has {len(matrices)}")
    first, second = np.arange(len(matrices) - 1), np.arange(1, len(matrices))
    if pairs is not None:
        rng = as_generator(random_state)
        first = rng.integers(len(matrices), size=pairs)
        second = (first + rng.integers(1, len(matrices), size=pairs)) % len(matrices)
    between = matrices[first] @ matrices[second].transpose(0, 2, 1)  # crystal to crystal
    # The angle of A·Δ·Bᵀ over A and B in the group is that of Δ·C over C = BᵀA: one group is enough for the angle.
    traces = [np.einsum("nij,ji->n", between, C) for C in _rotations(group)]
    return np.rad2deg(np.arccos(np.clip((np.max(traces, axis=0) - 1) / 2, -1, 1)))


def _rotations(group: Any) -> list[Array]:
    if not isinstance(group, Group):
        raise not_a_group(group)
    crystal = group.structure.crystal if isinstance(group.structure, CrystalSymmetry) else group
    found: list[Array] = []
    for g in crystal.elements():
        matrix: Any = g.left.matrix if isinstance(g, LeftRight) else getattr(g, "matrix", None)
        if matrix is None or np.shape(matrix) != (3, 3) or np.linalg.det(matrix) < 0:
            raise ValueError(f"{group!r} is no group of rotations of crystals: use groups.crystal_symmetry('O')")
        found.append(np.asarray(matrix, dtype=np.float64))
    return found


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
