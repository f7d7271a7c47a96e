"""The paper's quantities: D, the bounds on risk, time and oracle calls, and Weyl's law.

Theorem 1 gives orders of growth. Where a constant is known (the risk of empirical means, the counts of Algorithm 1)
it is given too; the others are the expressions inside the paper's O(·), so that measured curves can stand beside them.
Logarithms of group orders are to base two, as in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile
from typing import overload

import numpy as np

from specavg._arrays import Array
from specavg._messages import shown, whole_number
from specavg.groups import Group
from specavg.invariants._acting_group import check_group
from specavg.spaces import Space

__all__ = [
    "Bounds",
    "bounds",
    "counting_function",
    "cutoff_dimension",
    "exponent",
    "invariant_weyl_count",
    "rate",
    "risk_bound",
    "unit_ball_volume",
    "weyl_count",
]


def exponent(d: int, s: float) -> float:
    """The paper's α = 2s/d.

    Parameters
    ----------
    d : int
        Dimension of the manifold.
    s : float
        Sobolev smoothness of the target; the theorem needs s > d/2, that is α > 1.

    Examples
    --------
    >>> exponent(2, 3.0)
    3.0
    """
    if not _number(s, "the smoothness s", 0.0) > 0:
        raise ValueError(f"need a dimension d ≥ 1 and a smoothness s > 0; got d = {d!r}, s = {s!r}")
    return 2.0 * float(s) / _number(d, "the dimension d", 1.0)


def _number(value: float, name: str, least: float) -> float:
    """`value` as a float; an error that names it where it is none, not finite, or less than `least`."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not least <= number < math.inf:
        raise ValueError(f"{name} must be finite and at least {least:g}; got {shown(value)}")
    return number


def cutoff_dimension(n: float, d: int, s: float) -> float:
    """The theorem's D = n^(1/(1+α)): how many eigenfunctions Algorithm 1 uses, all counted.

    Examples
    --------
    >>> cutoff_dimension(10_000, 2, 2.0)
    21.544
    """
    return _number(n, "n", 1.0) ** (1 / (1 + exponent(d, s)))


def rate(d: int, s: float) -> float:
    """The exponent r of the risk n^(−r), r = s/(s + d/2).

    Examples
    --------
    >>> rate(1, 1.0)
    0.667
    """
    alpha = exponent(d, s)
    return alpha / (1 + alpha)


@dataclass(frozen=True)
class Bounds:
    """What Theorem 1 says for one n, without constants.

    Attributes
    ----------
    n, d, s
        What it was asked for.
    alpha : float
        α = 2s/d.
    log_order : float
        log2 |G|, or the number of generators if that was given (the paper's remark: ρ(G) may stand for it).
    D : float
        n^(1/(1+α)).
    risk : float
        n^(−s/(s+d/2)).
    time : float
        log³|G| n^(3/(1+α)) + n^((2+α)/(1+α)).
    oracle_calls : float
        log|G| n^(2/(1+α)) + n^((2+α)/(1+α)).
    prediction_time : float
        n^(1/(1+α)), oracle calls and time alike.
    in_scope : bool
        Whether s > d/2, which the theorem assumes.

    Examples
    --------
    >>> import specavg as sa
    >>> found = sa.theory.bounds(1000, 10, s=10, order=1024)
    >>> round(found.D, 6), round(found.risk, 6), found.in_scope
    (10.0, 0.01, True)
    """

    n: float
    d: int
    s: float
    alpha: float
    log_order: float
    D: float
    risk: float
    time: float
    oracle_calls: float
    prediction_time: float
    in_scope: bool


def bounds(n: float, d: int, s: float, order: int = 1, generators: int | None = None) -> Bounds:
    """Theorem 1 for given n, d, s and |G|.

    Parameters
    ----------
    n : float
        Number of samples.
    d : int
        Dimension of the manifold.
    s : float
        Smoothness.
    order : int
        |G|, of any size; `math.inf` only with `generators`.
    generators : int, optional
        Size of the generating set in use, in place of log2 |G|.

    Examples
    --------
    >>> import math
    >>> b = bounds(10_000, d=2, s=2.0, order=math.factorial(1000))
    >>> b.log_order, b.D, b.risk
    (8529.398, 21.544, 0.00215)
    """
    if not (isinstance(order, float) and order == math.inf):
        order = whole_number(order, "order, the number of elements of the group,", 1)
    elif generators is None:
        raise ValueError(
            "order is infinite, and the bounds grow with log2 |G|: give generators=, the number of generators (and "
            "fields) in use, which may stand for it"
        )
    if generators is not None:
        generators = whole_number(generators, "generators", 0)
    alpha = exponent(d, s)
    D = cutoff_dimension(n, d, s)
    log_order = math.log2(order) if generators is None else float(generators)
    return Bounds(
        n=n,
        d=d,
        s=s,
        alpha=alpha,
        log_order=log_order,
        D=D,
        risk=float(n) ** -rate(d, s),
        time=log_order**3 * D**3 + n * D,  # n · n^(1/(1+α)) = n^((2+α)/(1+α))
        oracle_calls=log_order * D**2 + n * D,
        prediction_time=D,
        in_scope=s > d / 2,
    )


def risk_bound(
    n: float,
    d: int,
    s: float,
    *,
    supremum: float,
    noise: float,
    sobolev_norm: float,
    invariant_dim: float | None = None,
) -> float:
    """A bound on the risk of Algorithm 1 with its constants.

    The variance of an empirical mean of y φ(x) is at most E[y² φ²]/n, which sums to (sup|f|² + σ²) · D / n on a
    homogeneous space; what is cut off has at most D^(−α) ‖f‖²_{H^s}.

    Parameters
    ----------
    n, d, s
        As in `bounds`.
    supremum : float
        sup |f*|.
    noise : float
        Standard deviation σ of the noise.
    sobolev_norm : float
        ‖f*‖ in H^s, the paper's: its square is Σ f_λ² D_λ^α.
    invariant_dim : float, optional
        Number of invariant functions up to D, which may replace D in the variance: the projection removes the
        rest of it.

    Examples
    --------
    >>> risk_bound(10_000, 2, 2.0, supremum=1.0, noise=0.5, sobolev_norm=1.0)
    0.00485
    """
    alpha, D = exponent(d, s), cutoff_dimension(n, d, s)
    supremum, noise = _number(supremum, "supremum", 0.0), _number(noise, "noise", 0.0)
    sobolev_norm = _number(sobolev_norm, "sobolev_norm", 0.0)
    functions = D if invariant_dim is None else _number(invariant_dim, "invariant_dim", 0.0)
    return (supremum**2 + noise**2) * functions / n + sobolev_norm**2 * D**-alpha


def unit_ball_volume(d: int) -> float:
    """ω_d, the volume of the unit ball of R^d.

    Examples
    --------
    >>> unit_ball_volume(3)
    4.18879
    """
    return math.exp(_log_unit_ball_volume(whole_number(d, "the dimension d", 0)))


def _log_unit_ball_volume(d: int) -> float:
    return d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)


def log_weyl_constant(space: Space) -> float:
    """The logarithm of ω_d vol(M) / (2π)^d, whose factors are no numbers of double precision in high dimension."""
    return _log_unit_ball_volume(space.dim) + space.log_volume - space.dim * math.log(2 * math.pi)


@overload
def weyl_count(space: Space, eigenvalue: float) -> float: ...
@overload
def weyl_count(space: Space, eigenvalue: Array) -> Array: ...
def weyl_count(space: Space, eigenvalue: float | Array) -> float | Array:
    """Weyl's law: D_λ ~ ω_d vol(M) λ^(d/2) / (2π)^d.

    Parameters
    ----------
    space : Space
    eigenvalue : float or ndarray
        λ.

    Examples
    --------
    >>> import specavg as sa
    >>> weyl_count(sa.Sphere(3), 100.0 * 101)  # exactly: 101² = 10201
    10100.0
    """
    if not np.all(np.asarray(eigenvalue) >= 0):
        raise ValueError(f"eigenvalues of the Laplacian are at least 0; got {shown(eigenvalue)}")
    with np.errstate(divide="ignore", over="ignore"):  # λ = 0 has no functions, and a large one more than a float holds
        counts = np.exp(log_weyl_constant(space) + space.dim / 2 * np.log(eigenvalue))
    return counts if np.ndim(eigenvalue) else float(counts)


def invariant_weyl_count(space: Space, group: Group, eigenvalue: float | Array) -> float | Array:
    """Its invariant version, with vol(M/G) = vol(M)/|G| in place of vol(M).

    For finite groups in which only the identity moves nothing, as all of the catalogue. With a continuous part the
    orbits have a dimension, and the count grows with another power of λ.

    Examples
    --------
    >>> import specavg as sa
    >>> invariant_weyl_count(sa.Sphere(3), sa.groups.point_group("O"), 100.0 * 101)
    420.83
    """
    group = check_group(space, group)
    if not group.is_finite:
        raise ValueError(
            f"{group!r} has a continuous part: vol(M)/|G| is no count of its invariant functions, which grows as "
            f"λ^(k/2) with k < {space.dim} the dimension of the space of orbits. "
            "invariant_basis(space, group, max_eigenvalue=...).dim counts them"
        )
    return weyl_count(space, eigenvalue) * math.exp(-math.log(group.order))  # pyright: ignore[reportArgumentType, reportCallIssue]


def counting_function(space: Space, max_eigenvalue: float) -> tuple[Array, Array]:
    """λ and D_λ of every eigenspace up to a bound.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    counts : ndarray of shape (k,)
        D_λ: functions up to and with each eigenspace.

    Examples
    --------
    >>> import specavg as sa
    >>> counting_function(sa.Sphere(3), 6.0)[1]
    array([1., 4., 9.])
    """
    top = _number(max_eigenvalue, "max_eigenvalue", 0.0) * (1 + 1e-9)
    found = list(takewhile(lambda V: V.eigenvalue <= top, space.eigenspaces()))
    return np.array([V.eigenvalue for V in found]), np.cumsum([float(V.dim) for V in found])


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
