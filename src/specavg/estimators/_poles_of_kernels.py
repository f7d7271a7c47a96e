"""Pole densities of kernels on rotations in closed form: means over the circles of rotations X with X r = h.

Around Y the kernel is exp(κ(cos ω − 1)), ω the angle of X Yᵀ. On the circle 2 cos ω = t − 1 + (1 + t) cos α, t the
cosine between r and the pole Yᵀh, and α runs over all angles: the mean is exp(κ(t − 1)) times e^(−v) I₀(v),
v = κ(1 + t)/2.

A fibre texture is a function of a direction X a. It runs over a cone about h when X runs over a circle. The mean of
exp(κ(⟨X a, y⟩ − 1)) over a cone of angle ρ, η the angle between h and y, is exp(κ(cos(ρ − η) − 1)) times e^(−v) I₀(v),
v = κ sin ρ sin η.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import KDTree

from specavg._arrays import Array
from specavg.estimators._kernel_mixture import KernelMixture
from specavg.estimators._leaves_of_points import Leaves, Places
from specavg.estimators._orbit_space import orbit_space
from specavg.functions._one_direction import Direction
from specavg.groups import Group
from specavg.invariants import invariant_basis
from specavg.invariants.solvers._functions_of_a_direction import reduction_to_directions
from specavg.spaces import Rotations, Sphere

_DEGREE = 192  # of harmonics that the poles of broad kernels are summed by: 10⁵ poles take a second
_BROAD = _DEGREE**2 / 60  # κ up to which they are enough: degree l has the factor exp(−l²/2κ), which is 1e-13
_VANISHED = -40.0  # logarithm of a kernel relative to its peak, below which it is left out
_NEIGHBOURS = 16  # directions whose near poles are looked up together
_ROUNDING = 1e-9  # of distances
_PAIRS = 300_000  # of a direction and a kernel at a time: arrays of 2 MB, which stay in the cache


def pole_density_of_kernels(
    mixture: KernelMixture, group: Group, fixed: Array, at: Array, *, transposed: bool = False
) -> Array | None:
    """The mean of a mixture over the rotations X with X r = h, for one h and many r; None where no formula is known.

    Parameters
    ----------
    mixture : KernelMixture
        On `Rotations`, averaged over `group`.
    group : Group
    fixed : ndarray of shape (3,)
        h, of length one.
    at : ndarray of shape (n, 3)
        r, of length one.
    transposed : bool, default False
        `fixed` is r, and `at` are many h.
    """  # -> (n,)
    family = orbit_space(Rotations(), group).family
    if family is None or family.is_averaged:
        return None
    kappas = mixture.concentrations
    scales = mixture.shares[1:] * np.exp(-family.log_mass(kappas))
    reduction = reduction_to_directions(Rotations(), group) if group.fields else None
    if reduction is None:
        poles = np.einsum("nij,j->ni" if transposed else "nji,j->ni", mixture.images.reshape(-1, 3, 3), fixed)
        poles, weights = _merged(poles, mixture)
        sharp = kappas > _BROAD
        found = mixture.shares[0] + _by_harmonics(kappas[~sharp], scales[~sharp], poles, weights[~sharp], at)
        kappas, scales, weights = kappas[sharp], scales[sharp], weights[sharp]
        for rows, near in _together(at, poles, kappas):
            below = np.minimum(at[rows] @ poles[near].T - 1.0, 0.0)
            found[rows] += _summed(kappas, scales, below, 1.0 + below / 2, weights[:, near])
        return found
    y, weights = _merged(Direction(reduction.axis, transposed=reduction.transposed).of(mixture.images), mixture)
    if reduction.transposed == transposed:  # cones about one axis, of angles many of which agree in a picture
        across, which = np.unique(np.round(at @ reduction.axis, 12), return_inverse=True)
        axes = np.broadcast_to(fixed, (len(across), 3))
    else:
        across, which = np.full(len(at), fixed @ reduction.axis), np.arange(len(at))
        axes = at
    found = np.full(len(across), mixture.shares[0])
    for rows in _chunks(len(across), len(y)):
        c, d = np.clip(axes[rows] @ y.T, -1, 1), np.clip(across[rows, None], -1, 1)
        arms = np.sqrt((1 - c**2) * (1 - d**2))
        found[rows] += _summed(kappas, scales, np.minimum(c * d + arms - 1.0, 0.0), arms, weights)
    return found[which]


def _merged(directions: Array, mixture: KernelMixture) -> tuple[Array, Array]:
    """Directions that agree to nine digits once, with the sums of their weights for each width."""
    _, first, which = np.unique(directions.round(9) + 0.0, axis=0, return_index=True, return_inverse=True)
    widths = range(len(mixture.concentrations))
    sums = [np.bincount(which.ravel(), mixture.weights_of(k)) for k in widths]
    return directions[first], np.array(sums, dtype=np.float64).reshape(len(widths), len(first))


def _chunks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _PAIRS // columns)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _together(at: Array, poles: Array, kappas: Array) -> Iterator[tuple[Places, Places]]:
    """Some directions, and the poles whose kernels do not vanish at one of them."""
    if len(kappas):
        tree, leaves = KDTree(poles), Leaves.of(at, _NEIGHBOURS)
        reach = np.sqrt(-2 * _VANISHED / kappas.min())  # 1 − t is half the square of a distance
        for leaf, (centre, radius) in enumerate(zip(leaves.centres, leaves.radii, strict=True)):
            near = tree.query_ball_point(centre, reach + radius + _ROUNDING, return_sorted=False)
            yield leaves.order[leaves.places(np.array([leaf]))], np.array(near, dtype=np.intp)


def _summed(kappas: Array, scales: Array, below: Array, arms: Array, weights: Array) -> Array:
    """Σ_κ scale Σ_j w_κj exp(κ below_ij) e^(−v) I₀(v), v = κ arms_ij."""  # (n, N) -> (n,)
    from scipy.special import i0e

    found = np.zeros(len(below))
    for kappa, scale, each in zip(kappas.tolist(), scales.tolist(), weights, strict=True):
        row, column = np.nonzero(below > _VANISHED / kappa)
        terms = each[column] * np.exp(kappa * below[row, column]) * i0e(kappa * arms[row, column])
        found += scale * np.bincount(row, terms, len(below))
    return found


def _by_harmonics(kappas: Array, scales: Array, poles: Array, weights: Array, at: Array) -> Array:
    """The same for functions of ⟨r, pole⟩ that are smooth: by the addition theorem, without pairs."""  # -> (n,)
    from scipy.special import i0e

    if not len(kappas):
        return np.zeros(len(at))
    t, w = np.polynomial.legendre.leggauss(2 * _DEGREE)
    kernels = scales[:, None] * np.exp(np.outer(kappas, t - 1)) * i0e(np.outer(kappas, (1 + t) / 2))
    factors = np.polynomial.legendre.legvander(t, _DEGREE).T @ (w * kernels).T / 2  # (degrees, K)
    harmonics = invariant_basis(Sphere(3), max_eigenvalue=_DEGREE * (_DEGREE + 1))
    degrees = np.rint(np.sqrt(harmonics.eigenvalues + 0.25) - 0.5).astype(np.intp)
    coefficients = np.sum(factors[degrees] * harmonics.correlate(poles, weights.T), axis=1, keepdims=True)
    return harmonics.combine(at, coefficients)[:, 0]
