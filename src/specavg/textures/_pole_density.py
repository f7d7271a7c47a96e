"""Pole densities: means of a density over the orientations that turn one direction to another."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg.estimators._poles_of_kernels import pole_density_of_kernels
from specavg.functions._one_direction import circle_means, unit_direction
from specavg.spaces._von_mises import turned
from specavg.textures._accuracy import SETTLED
from specavg.textures._given_density import values_of

_ON_A_CIRCLE = 360  # orientations X with X r = h of a function that nothing is known of: peaks of 0.5° are not missed
_DOUBLINGS = 5  # of their number at most, where means over a circle do not settle: to 11,520, 0.03° apart


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
    values = values_of(density, "a pole density")
    h = unit_direction(crystal)
    r = _unit_directions(specimen)
    if not len(r):
        return np.empty(0)
    if steps is not None:
        return np.mean([circle_means(values, v, r, steps) for v in ((h, -h) if antipodal else (h,))], axis=0)
    found = pole_density_in_closed_form(density, h, r, antipodal)
    if found is None:
        found, rough = settled_pole_density(values, h, r, antipodal, first_steps(density))
        warn_of_rough(found, rough, 3)
    return found


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
        settled = rough[left] <= SETTLED * np.maximum(np.abs(found[left]), SETTLED)
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
