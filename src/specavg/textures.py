"""Numbers of textures: sharpness, volume fractions, pole densities and misorientations.

Orientations take specimen coordinates to crystal coordinates, as everywhere here (see `spaces.Rotations`). Pictures are
in `plot`: `pole_figure`, `inverse_pole_figure`, `odf_sections`, `misorientations`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._random import OWN_SEED, as_generator
from specavg.estimators._orbit_space import orbit_space
from specavg.estimators._poles_of_kernels import pole_density_of_kernels
from specavg.functions._one_direction import circle_means, frames, unit_direction
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.groups.families import CrystalSymmetry
from specavg.isometries import LeftRight
from specavg.spaces import Rotations, Sphere
from specavg.spaces._von_mises import turned

__all__ = ["fibre_fraction", "misorientation_angles", "pole_density", "texture_index", "volume_fraction"]

_DEGREES = (8, 16, 24, 32, 48, 64, 96, 128)  # of the product rules that are tried
_MOST_NODES = 200_000  # rotations of a rule: degree 32; all degrees where a fibre texture is one of directions
_SETTLED = 1e-3  # relative change between two rules: a texture index is quoted with two digits
_OFF = 0.01  # distance of the integral of f from 1, beyond which nodes are too far apart to see f, or f is no density
_DRAWN, _MOST_DRAWN = 4_000, 40_000  # orientations drawn from a density of kernels at a time, and altogether
_STANDARD_ERROR = 0.01  # relative, at which drawing ends: a texture index is quoted with two digits
_LIKE_RADIANS = 1.0  # degrees: fractions are those within 5° to 45°, 0.09 to 0.79 radians
_ON_A_CIRCLE = 360  # orientations X with X r = h of a function that nothing is known of: peaks of 0.5° are not missed
_A_SERIES = "A plain series (positive=False) may be where there are few data; InvariantDensity(positive=True) is not."
_DOUBLINGS = 5  # of their number at most, where means over a circle do not settle: to 11,520, 0.03° apart


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
        By product rules of increasing degree, up to 32, and up to 128 for a fitted fibre texture; where they do not
        settle to 0.1 %, the last one, with a warning: the nodes are then too far apart for the density. Where a
        fitted density is one of kernels (`form_`), J is the mean of f over orientations drawn from f, to a standard
        error of 1 %; of a series it is the sum of its squared coefficients, exactly.

    Examples
    --------
    >>> texture_index(lambda X: 1 + X[:, 8])  # ∫ X₃₃² = 1/3
    1.333333333333
    """
    values = _values_of(density, "a texture index")
    form = getattr(density, "form_", None)
    if form == "kernels":
        return _mean_of_drawn(density)
    if form == "series":  # of orthonormal functions
        return float(density.coef_ @ density.coef_)
    group = _group_of(density)
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
        if abs(value - before) < _SETTLED * value:
            break
    if not abs(value - before) < _SETTLED * value:
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
    elif not abs(mass - 1) < _OFF:
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
    while error > _STANDARD_ERROR and len(found) < _MOST_DRAWN:
        found = np.concatenate([found, density.density(density.sample(_DRAWN, rng))])
        error = float(found.std() / found.mean() / len(found) ** 0.5)
    if error > _STANDARD_ERROR:
        warnings.warn(
            f"the texture index has a standard error of {100 * error:.2g} %: {len(found):,} orientations drawn from "
            "the density have very different densities, as where there are few sharp grains among many broad ones",
            stacklevel=3,
        )
    return float(found.mean())


def pole_density(
    density: Any, crystal: ArrayLike, specimen: ArrayLike, *, antipodal: bool = True, steps: int | None = None
) -> Array:
    """How much of an orientation density has the crystal direction h along the specimen direction r.

    The mean of the density over the circle of orientations X with X r = h: 1 for uniform orientations ("multiples
    of a random distribution"). `plot.pole_figure` draws it.

    Parameters
    ----------
    density : fitted `InvariantDensity` on `Rotations`, or callable
        A callable takes rotations of shape (n, 9) and returns densities (not logarithms).
    crystal : array-like of shape (3,)
        h, Cartesian; its length does not matter.
    specimen : array-like of shape (n, 3)
        r; their lengths do not matter.
    antipodal : bool, default True
        The mean over h and −h, which diffraction cannot tell apart.
    steps : int, optional
        Points on each circle; exact for a density of degree below `steps`. By default a density of kernels (`form_`)
        takes their closed form. Others take four times the degree of a fitted density, 360 of a callable. This number
        is doubled until the mean changes by less than 0.1 %, but not more than five times: to 32 times as many points.
        Where the mean still changes, a warning says so.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> pole_density(lambda X: 1 + X[:, 8], [0, 0, 1], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], antipodal=False)
    array([2., 1.])
    """
    values = _values_of(density, "a pole density")
    h = unit_direction(crystal)
    r = _unit_directions(specimen)
    if steps is not None:
        return np.mean([circle_means(values, v, r, steps) for v in ((h, -h) if antipodal else (h,))], axis=0)
    found = pole_density_in_closed_form(density, h, r, antipodal)
    if found is None:
        found, rough = settled_pole_density(values, h, r, antipodal, first_steps(density))
        warn_of_rough(found, rough, 3)
    return found


def pole_density_in_closed_form(
    density: Any, fixed: Array, at: Array, antipodal: bool, transposed: bool = False
) -> Array | None:
    """That of kernels, as `pole_density_of_kernels` takes it; None of other densities."""  # (3,), (n, 3) -> (n,)
    if getattr(density, "form_", None) != "kernels":
        return None
    found: list[Array] = []
    for v in (fixed, -fixed) if antipodal else (fixed,):
        part = pole_density_of_kernels(density.kernels_, density.basis_.group, v, at, transposed=transposed)
        if part is None:
            return None
        found.append(part)
    return np.mean(found, axis=0)


def first_steps(density: Any) -> int:
    """On how many points of a circle to look at a density first: peaks must not lie between them."""
    eigenvalues = getattr(getattr(density, "basis_", None), "eigenvalues", None)
    if eigenvalues is None:
        return _ON_A_CIRCLE
    degree = np.sqrt(float(eigenvalues[-1]) + 0.25) - 0.5
    if getattr(density, "form_", None) == "kernels":
        degree = 2 * np.sqrt(
            float(density.kernels_.concentrations.max(initial=0.0))
        )  # of a kernel, as far as it counts
    return max(60, int(4 * degree) + 1)


def settled_pole_density(
    values: Callable[[Array], Array], h: Array, r: Array, antipodal: bool, steps: int, most: float = np.inf
) -> tuple[Array, Array]:
    """Means over circles of more and more points, and by how much those changed at last that are not settled.

    At most so many values are computed after the first two rules.
    """  # (3,), (n, 3) -> (n,), (n,)
    signs = (1.0, -1.0) if antipodal else (1.0,)
    found = np.mean([circle_means(values, s * h, r, steps) for s in signs], axis=0)
    rough, left = np.zeros(len(r)), np.arange(len(r))
    for doubling in range(_DOUBLINGS):
        if not len(left) or (doubling and len(signs) * steps * len(left) > most):
            break
        turn = turned(h[None], np.array([np.pi / steps]))[0]  # to the points half way between

        def between(X: Array, turn: Array = turn) -> Array:
            return values((turn @ X.reshape(-1, 3, 3)).reshape(-1, 9))

        before = found[left]
        found[left] = (before + np.mean([circle_means(between, s * h, r[left], steps) for s in signs], axis=0)) / 2
        rough[left] = np.abs(found[left] - before)
        settled = rough[left] <= _SETTLED * np.maximum(np.abs(found[left]), _SETTLED)
        rough[left[settled]] = 0.0
        left, steps = left[~settled], 2 * steps
    return found, rough


def warn_of_rough(found: Array, rough: Array, stacklevel: int) -> None:
    """A warning about pole densities that `settled_pole_density` could not settle."""
    if rough.any():
        worst = int(rough.argmax())
        warnings.warn(
            f"the pole density is not settled at {np.count_nonzero(rough):,} of {len(found):,} directions: where it "
            f"is worst, it is {found[worst]:.4g} and changed by {rough[worst]:.2g} when points were added between "
            "those on the circle. The density is sharper than they are apart; textures.pole_density takes more of them "
            "as steps=.",
            stacklevel=stacklevel,
        )


def volume_fraction(density: Any, orientation: ArrayLike, angle: float, *, group: Group | None = None) -> float:
    """How much of the volume has an orientation within an angle of an ideal one, or of one equivalent to it.

    Parameters
    ----------
    density : fitted `InvariantDensity` on `Rotations`, or callable
    orientation : array-like of shape (3, 3) or (9,), or a SciPy `Rotation`
        Specimen to crystal coordinates, as `spaces.rotations_from_bunge` makes them.
    angle : float
        In degrees; at most half the angle between equivalent orientations, 45 for cubic crystals. One below 1 is
        questioned: it looks like radians.
    group : Group, optional
        Which orientations are equivalent: that of the fitted density by default, of a callable none.

    Returns
    -------
    float
        By rules on the ball around the orientation; from a density of kernels (`form_`), the share of 40,000 drawn
        orientations, with a standard error of at most 0.25 %.

    Examples
    --------
    >>> import numpy as np
    >>> volume_fraction(lambda X: np.ones(len(X)), np.eye(3), 90)  # (ω − sin ω)/π
    0.18169011382
    """
    values = _values_of(density, "a volume fraction")
    X = _one_orientation(orientation)
    equivalent = _different(_images(density, group, X).reshape(-1, 3, 3))
    cosines = np.einsum("nij,ij->n", equivalent, equivalent[0]) / 2 - 0.5
    _require_apart(cosines[1:], angle, "equivalent orientations")

    def near(Y: Array) -> Array:
        return (Y @ equivalent.reshape(-1, 9).T).max(axis=1) / 2 - 0.5 >= np.cos(np.deg2rad(angle))

    def mass(degree: int) -> float:
        axes, weights = Sphere(3).quadrature(degree * (degree + 1))
        t, w = np.polynomial.legendre.leggauss(degree + 1)
        omega = np.deg2rad(angle) * (t + 1) / 2
        turns = turned(np.repeat(axes, len(t), axis=0), np.tile(omega, len(axes)))
        measure = np.asarray(np.deg2rad(angle) / 2 * w * (1 - np.cos(omega)) / np.pi, dtype=np.float64)
        around = values((turns @ equivalent[0]).reshape(-1, 9))
        return len(equivalent) * float(np.outer(weights, measure).ravel() @ around)

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
        h, Cartesian. Directions that the crystal's symmetry makes of h and −h count too.
    specimen : array-like of shape (3,)
        r.
    angle : float
        In degrees; at most half the angle between equivalent crystal directions, 45 for ⟨100⟩ of cubic crystals. One
        below 1 is questioned: it looks like radians.
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
    values = _values_of(density, "the fraction of a fibre")
    h, r = unit_direction(crystal), unit_direction(specimen)
    group = _group_of(density) if group is None else group
    turns = [np.eye(3)] if group is None else _rotations(group)
    orbits = [_different(np.array([A @ v for A in turns])) for v in (h, -h)]
    poles = _different(np.concatenate(orbits))
    _require_apart(poles[1:] @ poles[0], angle, "equivalent crystal directions")

    def near(Y: Array) -> Array:
        return (Y.reshape(-1, 3, 3) @ r @ poles.T).max(axis=1) >= np.cos(np.deg2rad(angle))

    def mass(degree: int) -> float:
        t, w = np.polynomial.legendre.leggauss(degree + 1)
        low = np.cos(np.deg2rad(angle))
        z, phi = (1 + low) / 2 + (1 - low) / 2 * t, 2 * np.pi * np.arange(2 * degree + 1) / (2 * degree + 1)
        rho = np.sqrt(np.maximum(1 - z**2, 0.0))
        cap = np.stack([np.outer(rho, np.cos(phi)), np.outer(rho, np.sin(phi)), np.tile(z[:, None], len(phi))], axis=-1)
        found = 0.0
        for orbit in orbits if len(poles) > len(orbits[0]) else orbits[:1]:  # −h may be equivalent to h
            around = cap.reshape(-1, 3) @ frames(orbit[:1])[0].T  # crystal directions near h
            # The circle X r = h' is that of the transposed rotations Xᵀ h' = r.
            means = circle_means(lambda Y: values(_transposed(Y)), r, around, 2 * degree + 1).reshape(len(t), -1)
            found += float(len(orbit) * (1 - low) / 4 * w @ means.mean(axis=1))
        return found

    return _share(density, near, mass)


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


def _unit_directions(specimen: ArrayLike) -> Array:
    """Directions of the specimen as rows, of length one."""  # (n, 3)
    r = np.asarray(specimen, dtype=float)
    if r.shape[-1:] != (3,):
        raise ValueError(f"specimen directions have three numbers each, shape (n, 3); got the shape {r.shape}")
    r = r.reshape(-1, 3)
    lengths = np.linalg.norm(r, axis=1, keepdims=True)
    wrong = ~((lengths > 0) & (lengths < np.inf)).ravel()
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"row {row} of the specimen directions is {r[row].tolist()}, which points nowhere")
    return np.asarray(r / lengths, dtype=np.float64)


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


def density_values(density: Any) -> Callable[[Array], Any]:
    """The density as a function of points: negative where a series is, which a logarithm cannot say.

    Of models that know the logarithm only, such as `KernelDensity` of scikit-learn, its exponential.
    """
    values = getattr(density, "density", None)
    if callable(values):
        return values
    logarithms = getattr(density, "score_samples", None)
    return density if logarithms is None else lambda X: np.exp(logarithms(X))


def one_value_each(values: Any, points: Array) -> Array:
    """What a function returned, unless it is not one number (or one row of outputs) for each point."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape[:1] != (len(points),):
        raise ValueError(
            f"a function takes points of shape {points.shape} and returns one value for each of them, shape "
            f"({len(points)},); this one returned the shape {found.shape}. A constant is lambda X: np.full(len(X), 1.0)"
        )
    return found


def _values_of(density: Any, what: str) -> Callable[[Array], Array]:
    if not callable(getattr(density, "score_samples", density)):
        raise TypeError(
            f"{what} is that of a density: a fitted InvariantDensity, or a function of rotations; got "
            f"{type(density).__name__}"
        )
    space = getattr(getattr(density, "basis_", None), "space", Rotations())
    if space != Rotations():
        raise ValueError(
            f"{what} is that of a density of orientations, on Rotations(); this one was fitted on {space!r}"
        )
    values = density_values(density)
    return lambda X: one_value_each(values(X), X)


def _group_of(density: Any) -> Group | None:
    return getattr(getattr(density, "basis_", None), "group", None)


def _images(density: Any, group: Group | None, X: Array) -> Array:
    """All orientations that are equivalent to one."""  # (1, 9) -> (n, 9)
    group = _group_of(density) if group is None else group
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


def _require_apart(cosines: Array, angle: float, what: str) -> None:
    if not angle > 0:
        raise ValueError(f"angle={angle:g} degrees: the angle around which volume is counted must be positive")
    if angle < _LIKE_RADIANS:
        warnings.warn(
            f"angle={angle:.4g} is in degrees here, and so small a part of all orientations holds hardly any volume. "
            "Is it in radians? Then pass np.degrees of it.",
            stacklevel=3,
        )
    apart = np.rad2deg(np.arccos(np.clip(cosines.max(initial=-1.0), -1, 1)))
    if not angle <= apart / 2 + 1e-9:
        raise ValueError(
            f"angle={angle:g} degrees: {what} are {apart:.4g}° apart, so that what lies around them overlaps. Choose "
            f"an angle of at most {apart / 2:.4g}."
        )


def _share(density: Any, near: Callable[[Array], Array], mass: Callable[[int], float]) -> float:
    """The mass of a part of all orientations, by rules that settle or by drawn orientations."""
    if getattr(density, "form_", None) == "kernels":
        return float(near(density.sample(_MOST_DRAWN, np.random.default_rng(OWN_SEED))).mean())
    value = np.nan
    for degree in (8, 12, 18, 27):
        before, value = value, mass(degree)
        if abs(value - before) < _SETTLED * max(abs(value), _SETTLED):
            break
    else:
        warnings.warn(
            f"the fraction is not settled: {before:.4g} and {value:.4g} by two rules. The density is sharper than "
            "their nodes are apart.",
            stacklevel=3,
        )
    if value > 1 + _OFF:
        warnings.warn(
            f"the fraction is {value:.4g}, and no part is more than the whole: "
            + (
                f"the density is negative elsewhere. {_A_SERIES}"
                if getattr(density, "form_", None) == "series"
                else "fractions are those of a density, whose integral is one"
            ),
            stacklevel=3,
        )
    if value < -_SETTLED:
        warnings.warn(
            f"the fraction is {value:.4g}, less than nothing: the density is negative here. {_A_SERIES}",
            stacklevel=3,
        )
    return min(value, 1.0) if value <= 1 + _OFF else value


def _transposed(X: Array) -> Array:
    return np.ascontiguousarray(X.reshape(-1, 3, 3).transpose(0, 2, 1)).reshape(-1, 9)


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
