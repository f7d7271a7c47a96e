"""The laws that join spectrum and geometry: samples, lengths of gradients, complete lists, dimension and volume."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.spaces import Eigenspace, Space
from specavg.testing._law import LawBroken, kept, largest, place
from specavg.testing._space_laws import ROWS

SAMPLES = 5.0  # standard errors of a mean: of 10^4 means one is further away in 200 tries
EXACT = 1e-12  # of sums of squares, and of the values of a product: rounding of some 10^4 terms
# Of the dimension, and of the logarithm of the volume. A volume that is wrong by 2 is off by 0.69, a dimension by 1;
# every space of the library is within 0.15 where the estimates at two times agree.
WEYL = 0.25
_POINTS = 10_000  # samples of a mean
_VALUES = 4e6  # of functions at samples that are held at one time: 32 MB
_AGREE = 0.1  # difference of two estimates of the dimension that are believed
_EVEN = 5.0  # (2π/w)² t from which heat is even on a circle of length w: its first waves add 1 % to the heat trace
_EIGENSPACES = (200, 400, 800, 1600, 3200)  # that are listed, until the estimates agree: milliseconds each


def check_samples(space: Space, eigenspace: Eigenspace, *, random_state: Any = 0, tolerance: float = SAMPLES) -> float:
    """Law: samples are uniform, so that the mean of every eigenfunction but the constant is 0.

    Returns
    -------
    float
        The largest mean, in standard errors.

    Examples
    --------
    >>> import specavg as sa
    >>> check_samples(sa.Sphere(3), sa.Sphere(3).eigenspace(2)) < 5
    True
    """
    count = int(min(_POINTS, max(_VALUES / eigenspace.dim, 100)))
    mean = space.evaluate(eigenspace, space.sample(count, random_state)).mean(axis=0)
    residual = largest(mean) * math.sqrt(count)
    return kept("the mean of φ over samples is 0", residual, tolerance, place(space, eigenspace))


def check_energies(
    space: Space,
    eigenspaces: Sequence[Eigenspace],
    *,
    homogeneous: bool = True,
    random_state: Any = 0,
    tolerance: float = EXACT,
) -> float:
    """Law: Σ_l |∇φ_l|² = λm, up to one unit of length for all eigenspaces.

    On a homogeneous space at every point; on others in the mean, by quadrature. The unit comes from the first
    eigenvalue above 0; `check_weyl` compares it with the volume. Lengths are those of `space.squared_lengths`: a space
    with a metric of its own writes this method.

    Parameters
    ----------
    space : Space
    eigenspaces : sequence of Eigenspace
        Of the Laplacian, the first one the constant.
    homogeneous : bool
    random_state : int, Generator or None
    tolerance : float

    Returns
    -------
    float
        The largest difference of Σ|∇φ|²/(λm) from that of the first eigenvalue, relative to it.

    Examples
    --------
    >>> from itertools import islice, takewhile
    >>> import specavg as sa
    >>> check_energies(sa.Sphere(3), list(islice(sa.Sphere(3).eigenspaces(), 6))) < 1e-12
    True
    """
    unit, residual = np.nan, 0.0
    for V in [V for V in eigenspaces if V.eigenvalue > 0]:
        X, weights = (space.sample(5, random_state), None) if homogeneous else space.quadrature(V.eigenvalue)
        X = space.check_points(X)
        G = space.functions([V]).gradient(X)  # (n, m, n_features)
        energy = space.squared_lengths(X, G).sum(axis=1) / (V.eigenvalue * V.dim)
        energy = energy if weights is None else np.atleast_1d(weights @ energy)
        unit = float(energy[0]) if np.isnan(unit) else unit
        found = largest(energy / unit - 1.0)
        residual = max(residual, kept("the squared gradients sum to λm", found, tolerance, place(space, V)))
    return residual


def check_completeness(space: Space, max_eigenvalue: float, *, tolerance: float = EXACT) -> float:
    """Law of homogeneous spaces: a product of two functions up to λ/4 is a sum of those up to λ: none is missing.

    It holds where the Laplacian is the Casimir operator of the isometries, as on every homogeneous space of this
    library: frequencies and highest weights add, and √λ of a part is at most the sum of both.

    Parameters
    ----------
    space : Space
    max_eigenvalue : float
        Products of functions up to a quarter of it are tried.
    tolerance : float

    Returns
    -------
    float
        The share of the squared norm of a product that the functions miss.

    Examples
    --------
    >>> import specavg as sa
    >>> check_completeness(sa.Sphere(3), 56) < 1e-12
    True
    """
    top = max_eigenvalue * (1 + 1e-9)
    eigenspaces = list(takewhile(lambda V: V.eigenvalue <= top, space.eigenspaces()))
    X, weights = space.quadrature(eigenspaces[-1].eigenvalue)
    low = sum(V.dim for V in eigenspaces if 4 * V.eigenvalue <= top)
    mixed = np.random.default_rng(0).standard_normal((low, 2))
    coefficients, squares = np.zeros(sum(V.dim for V in eigenspaces)), 0.0
    for start in range(0, len(X), ROWS):
        rows = slice(start, start + ROWS)
        values = np.concatenate([space.evaluate(V, X[rows]) for V in eigenspaces], axis=1)
        product = np.prod(values[:, :low] @ mixed, axis=1)
        coefficients += (weights[rows] * product) @ values
        squares += float(weights[rows] @ product**2)
    residual = abs(1.0 - float(coefficients @ coefficients) / squares)
    where = f"{space!r}, {len(coefficients)} functions up to λ = {max_eigenvalue:.6g}"
    return kept("no function is missing", residual, tolerance, where)


def check_weyl(space: Space, *, homogeneous: bool = True, tolerance: float = WEYL) -> float:
    """Law (Weyl): eigenvalues grow as dimension and volume say.

    By the heat trace Σ m exp(−λt), which is vol(M) (4πt)^(−d/2) times 1 + O(t), or 1 + O(√t) where M has a boundary: at
    two times, so that the first correction is taken away. Counts D_λ have a remainder of O(λ^(−1/2)), which is larger.

    Parameters
    ----------
    space : Space
    homogeneous : bool
        Whether all points are alike, so that M has no boundary.
    tolerance : float

    Returns
    -------
    float
        How far the dimension, or the logarithm of the volume, is from that of the eigenvalues. NaN where the
        first 3,200 eigenspaces do not tell: those of a torus a thousand times as long as it is wide are those of a
        circle.

    Examples
    --------
    >>> import specavg as sa
    >>> check_weyl(sa.Sphere(6)) < 0.001
    True
    """
    # A correction of O(t) doubles from t to 2t, and one of O(√t) from t to 4t.
    d, step = space.dim, 1 if homogeneous else 2
    eigenspaces, listed, broken = space.eigenspaces(), list[Eigenspace](), None
    for count in _EIGENSPACES:
        listed += islice(eigenspaces, count - len(listed))
        values = np.array([V.eigenvalue for V in listed])
        logs = np.array([math.log(V.dim) for V in listed])  # a Python integer of any size
        # At this time what is not listed adds some 1e-4 of the whole: λt of the functions is d/2 ± √(d/2).
        times = (d / 2 + 5 * math.sqrt(d / 2) + 10) / values[-1] * 2.0 ** np.arange(2 + step)
        traces, means = np.transpose([_heat_trace(values, logs, t) for t in times])
        dims, volumes = 2 * times * means, traces + d / 2 * np.log(4 * np.pi * times)
        broken = None
        found, doubted = 2 * dims[:2] - dims[step : step + 2]
        if abs(found - doubted) <= _AGREE:
            log_volume = 2 * volumes[0] - volumes[step]
            residual = float(max(abs(found - d), abs(log_volume - space.log_volume)))
            if residual <= tolerance:
                return residual
            if not _may_be_thin(d, space.log_volume, float(found), float(traces[0]), float(times[0])):
                where = (
                    f"{space!r}: {len(listed)} eigenspaces tell of dimension {found:.2f} (stated {d}) and, in "
                    f"dimension {d}, of volume exp({log_volume:.2f}) (stated exp({space.log_volume:.2f}))"
                )
                broken = LawBroken("eigenvalues grow as dimension and volume say", residual, tolerance, where)
        if len(listed) < count:
            break
    if broken is not None:  # which more eigenspaces did not mend
        raise broken
    return math.nan


def _may_be_thin(d: int, log_volume: float, found: float, trace: float, t: float) -> bool:
    """Whether a space of this dimension and volume may look as one of the smaller dimension that was found.

    It does if heat is spread evenly over the other directions at time t: a circle of length w has the heat trace
    1 + 2 exp(−(2π/w)² t) + ... . Of the other directions the volume says how long they are on average.
    """
    seen = round(found)
    if seen >= d:
        return False
    log_seen = trace + seen / 2 * math.log(4 * math.pi * t)  # the volume of the directions that are seen
    log_width = (log_volume - log_seen) / (d - seen)
    return math.log(4 * math.pi**2 * t) - 2 * log_width > math.log(_EVEN)


def _heat_trace(values: Array, logs: Array, t: float) -> tuple[float, float]:
    """The logarithm of Σ m exp(−λt), and the mean of λ under these weights."""
    exponents = logs - values * t
    weights = np.exp(exponents - exponents.max())
    return float(exponents.max() + np.log(weights.sum())), float(weights @ values / weights.sum())
