"""The texture index ∫f²: how sharp a texture is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from specavg._random import OWN_SEED
from specavg.estimators._orbit_space import orbit_space
from specavg.estimators._rotation_cells import integrals_over_cells
from specavg.spaces import Rotations
from specavg.textures._accuracy import MOST_DRAWN, OFF, SETTLED
from specavg.textures._given_density import group_of, values_of

# Of the product rules that are tried. Fibres of 1° need 256; sharper ones than the functions of a basis are kernels.
_DEGREES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
_MOST_NODES = 200_000  # rotations of a rule: degree 32; all degrees where a fibre texture is one of directions
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
    if not settled and form == "exponential" and (found := integrals_over_cells(values, SETTLED)) is not None:
        settled, value, mass = True, found.square, found.mass
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
