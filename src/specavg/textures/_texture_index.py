"""The texture index ∫f²: how sharp a texture is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.estimators._orbit_space import orbit_space
from specavg.functions._orthonormal_matrices import turns_about_z
from specavg.spaces import Rotations
from specavg.textures._accuracy import MOST_DRAWN, OFF, SETTLED
from specavg.textures._given_density import group_of, values_of

# Of the product rules that are tried. Fibres of 1° need 256; sharper ones than the functions of a basis are kernels.
_DEGREES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
_MOST_NODES = 200_000  # rotations of a rule: degree 32; all degrees where a fibre texture is one of directions
# Cells of Euler angles that peaks are looked for in, of 10° in each angle, with three nodes in each: those of an
# exponential density of 192 functions have spreads of at least 2°. Each is halved in each angle at most five times.
_CELLS, _NODES, _HALVED = 36, 3, 5
_LEFT = SETTLED / 10  # share of ∫f² that cells which are not halved may change or have, together
_DRAWN = 4_000  # orientations drawn from a density of kernels at a time
_STANDARD_ERROR = 0.01  # relative, at which drawing ends: a texture index is quoted with two digits


def texture_index(density: Any) -> float:
    """The texture index J = ∫ f², f the density relative to uniform orientations: 1 for no texture, large if sharp.

    Parameters
    ----------
    density : fitted `InvariantDensity` on `Rotations`, or callable
        A callable takes rotations of shape (n, 9) and returns densities (not logarithms). Densities on other spaces are
        refused; their ∫f² is ``weights @ model.density(nodes) ** 2`` with ``nodes, weights = space.quadrature(...)``.

    Returns
    -------
    float
        By product rules of increasing degree, up to 32, and up to 384 for a fitted fibre texture. Where they do not
        settle to 0.1 %, a fitted density of exponential form is integrated over cells that are halved where it is
        sharp; of others it is the last rule, with a warning: the nodes are then too far apart for them. Where a fitted
        density is one of kernels (`form_`), J is the mean of f over orientations drawn from f, to a standard
        error of 1 %; of a series it is the sum of its squared coefficients, exactly.

    Examples
    --------
    >>> texture_index(lambda X: 1 + X[:, 8])  # ∫ X₃₃² = 1/3
    1.333333333333
    """
    values = values_of(density, "a texture index")
    form = getattr(density, "form_", None)
    if form == "kernels":
        return _mean_of_drawn(density)
    if form == "series":  # of orthonormal functions
        return float(density.coef_ @ density.coef_)
    group = group_of(density)
    flows = None if group is None else orbit_space(Rotations(), group).rule
    before = value = mass = np.nan
    degree = degree_before = 0
    for top in _DEGREES:
        X, weights = (flows or Rotations().quadrature)(top * (top + 1))
        if len(X) > _MOST_NODES:
            break
        degree_before, degree = degree, top
        f = values(X)
        before, value, mass = value, float(weights @ f**2), float(weights @ f)
        if abs(value - before) < SETTLED * value:
            break
    settled = abs(value - before) < SETTLED * value
    if not settled and form == "exponential" and (found := _in_cells(values)) is not None:
        settled, (value, mass) = True, found
    if not settled:
        remedy = ""
        if any(getattr(density, name, None) for name in ("max_dim", "max_invariant_dim", "max_eigenvalue")):
            remedy = " InvariantDensity without a cutoff may take kernels, whose index comes from drawn orientations."
        warnings.warn(
            f"the texture index is not settled: {before:.6g} and {value:.6g} by rules of {degree_before} and {degree} "
            f"degrees. Peaks of this density are narrower than their nodes are apart, {180 / degree:.3g}°, so that "
            f"the integral of its square is computed to {100 * abs(value - before) / value:.2g} % only (how well the "
            f"density itself is known is another question).{remedy}",
            stacklevel=2,
        )
    elif not abs(mass - 1) < OFF:
        fitted = getattr(density, "normalisation_error_", None)
        known = "" if fitted is None else f" (its normalisation_error_ is {fitted:.2g})"
        warnings.warn(
            f"the density has the integral {mass:.4g}{known}, and a texture index is that of a density of integral "
            f"one: divided by the square of the integral it is {value / mass**2:.6g}, not {value:.6g}",
            stacklevel=2,
        )
    return value


def _in_cells(values: Callable[[Array], Array]) -> tuple[float, float] | None:
    """∫f² and ∫f over cells of Euler angles, which are halved until that changes nothing; None where it always does."""
    t, w = np.polynomial.legendre.leggauss(_NODES)
    offsets = np.stack([x.ravel() for x in np.meshgrid(t, t, t, indexing="ij")], axis=1)
    share = (w[:, None, None] * w[:, None] * w).ravel()

    def masses(cells: Array, half: float) -> Array:
        angles = cells[:, None] + half * offsets  # (m, nodes, 3)
        found = np.empty((len(cells), 2))
        step = _MOST_NODES // len(offsets)
        for start in range(0, len(cells), step):
            rows = angles[start : start + step].reshape(-1, 3)
            a, b, c = np.ascontiguousarray(rows.T)
            cos, sin, zero = np.cos(b), np.sin(b), np.zeros(len(b))
            tilt = np.array([[cos, zero, sin], [zero, zero + 1, zero], [-sin, zero, cos]]).transpose(2, 0, 1)
            f = values((turns_about_z(a) @ tilt @ turns_about_z(c)).reshape(-1, 9))
            measure = half**3 * np.sin(b) / (8 * np.pi**2)
            for k, power in enumerate((f**2, f)):
                found[start : start + step, k] = (measure * power).reshape(-1, len(share)) @ share
        return found

    half = np.pi / _CELLS
    middle = half * (2 * np.arange(_CELLS) + 1)
    cells = np.stack(np.meshgrid(middle, middle[: _CELLS // 2], middle, indexing="ij"), axis=-1).reshape(-1, 3)
    held: Array = masses(np.asarray(cells, dtype=np.float64), half)
    change, total = held[:, 0], held.sum(axis=0)  # nothing is known of changes: cells with a part of the square
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    for _ in range(_HALVED):
        order = np.argsort(-change)
        rest = change.sum() - np.cumsum(change[order])
        left = np.sort(order[: int(np.sum(rest > _LEFT * total[0])) + 1])  # from the largest change down
        half /= 2
        cells = (cells[left, None] + half * corners).reshape(-1, 3)
        parts = masses(cells, half)
        sums = parts.reshape(-1, 8, 2).sum(axis=1)
        total = total + sums.sum(axis=0) - held[left].sum(axis=0)
        off = np.abs(sums - held[left])[:, 0]
        if off.sum() < SETTLED * total[0]:
            return float(total[0]), float(total[1])
        held, change = parts, np.repeat(off / 8, 8)
    return None


def _mean_of_drawn(density: Any) -> float:
    """∫f² = E f over f itself: no sharpness is too much, and repeated calls agree."""
    rng, found = np.random.default_rng(OWN_SEED), np.empty(0)
    error = np.inf
    while error > _STANDARD_ERROR and len(found) < MOST_DRAWN:
        found = np.concatenate([found, density.density(density.sample(_DRAWN, rng))])
        error = float(found.std() / found.mean() / len(found) ** 0.5)
    if error > _STANDARD_ERROR:
        warnings.warn(
            f"the texture index has a standard error of {100 * error:.2g} %: {len(found):,} orientations drawn from "
            "the density have very different densities, as where there are few sharp grains among many broad ones",
            stacklevel=3,
        )
    return float(found.mean())
