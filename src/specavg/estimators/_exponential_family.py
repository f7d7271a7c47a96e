"""Densities exp(c·ψ − log Z): penalised maximum likelihood by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import wrightomega

from specavg._arrays import Array
from specavg._random import OWN_SEED

_LEFT_OUT = 10_000  # rows whose leverage is computed: of more, so many at random, whose mean is right to a percent
_STEPS = 100  # of Newton's method at most: it converges quadratically, and the bound only ends what does not
_NEGLIGIBLE = 1e-12  # share of the mass at a node that the Hessian leaves out: sharp densities have few others


@dataclass(frozen=True)
class Nodes:
    """Features at quadrature nodes, and the weights."""

    values: Array  # (N, D)
    weights: Array  # (N,), sum 1
    random: bool = False
    description: str = ""


Pair = tuple[Nodes, Nodes]


@dataclass(frozen=True)
class ExponentialFit:
    """One penalised maximum-likelihood fit.

    Attributes
    ----------
    coefficients : ndarray of shape (D,)
    log_z : float
        The logarithm of ∫ exp(c·ψ), by the finer of both rules.
    error : float
        Of log Z: the difference between the two rules, or the standard error of random nodes if it is larger.
    loo_log_likelihood : float
        Mean leave-one-out log density.
    l2_risk : float
        ∫f² − (2/n) Σ f₋ᵢ(x_i): the estimate of ∫(f − p)² but for the constant ∫p².
    met : float
        (1/n) Σ f₋ᵢ(x_i) over ∫f²: 1 where the data are drawn from f, and more where they are sharper than f.
    """

    coefficients: Array
    log_z: float
    error: float
    loo_log_likelihood: float
    l2_risk: float = float("nan")
    met: float = float("nan")


def exponential_fit(
    features: Array, weights: Array, nodes: Pair, penalty: Array, start: Array, tolerance: float = 1e-8
) -> ExponentialFit:
    """Maximise Σ w log f(x)/Σw − ½ Σ penalty·c² over densities f = exp(c·ψ − log Z): concave, one maximum.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Without the constant.
    weights : ndarray of shape (n,)
    nodes : tuple of two Nodes
        Those of the maximum, and others to check it by: a fit is free between its own nodes, where ∫f² was up to 20 %
        off.
    penalty : ndarray of shape (D,)
    start : ndarray of shape (D,)
        Where Newton's method starts.
    tolerance : float, default 1e-8
        On the squared Newton decrement: twice the log-likelihood per point that is still to be gained.
    """
    total = float(weights.sum())
    c, log_z, mean, hessian = _maximum(weights @ features / total, nodes[0], penalty, start, tolerance)
    log_z, error, square = _checked(nodes[1], c, log_z)
    some = _some_rows(len(features))
    centred = features[some] - mean
    moved = linalg.solve(hessian, centred.T, assume_a="pos", check_finite=False).T
    share = weights[some] / weights[some].sum()
    logs = features @ c - log_z
    lost = _lost(centred, moved, penalty, weights[some] / total)
    likelihood = float(weights @ logs / total + share @ lost)
    met = float(weights @ np.exp(logs) / total + share @ (np.exp(logs[some]) * np.expm1(lost)))
    return ExponentialFit(c, log_z, error, likelihood, square - 2.0 * met, met / square)


def _lost(centred: Array, moved: Array, penalty: Array, shares: Array) -> Array:
    """By how much the log density at a row falls when the row is left out.

    As a share ε of a row is taken away, its log density falls at the rate h = (ψ − Eψ)ᵀH⁻¹(ψ − Eψ) shares, H the
    covariance of ψ under f and the penalty. Where few rows are nearby, f falls and takes its covariance along: with r
    the density over what it was, and a the part of H that is covariance, in the direction that c moves in,
    d log r/dε = −h/(ar + 1 − a). So a(1 − r) − (1 − a) log r = h at the end, which Wright's ω solves: 1 − h without
    a penalty, as in a histogram, and e^(−h) where the penalty is all.

    Parameters
    ----------
    centred, moved : ndarray of shape (n, D)
        ψ − Eψ, and H⁻¹ times it.
    penalty : ndarray of shape (D,)
    shares : ndarray of shape (n,)
        Of the rows in all weight.
    """
    size = np.sum(centred * moved, axis=1)
    a = np.clip(1.0 - np.square(moved) @ penalty / np.maximum(size, 1e-300), 1e-9, 1.0 - 1e-9)
    odds = np.log(a) - np.log1p(-a)
    return np.log(wrightomega((a - size * shares) / (1.0 - a) + odds)) - odds


def _checked(others: Nodes, c: Array, log_z: float) -> tuple[float, float, float]:
    """Log Z, its error, and ∫f² by other nodes; random ones are no better, and keep log Z."""
    density = np.exp(np.minimum(others.values @ c - log_z, 300.0))  # larger ones would overflow when they are squared
    mass, square = float(others.weights @ density), float(others.weights @ density**2)
    gap = float(np.log(max(mass, 1e-300)))
    if others.random:
        return log_z, max(abs(gap), float(density.std() / len(density) ** 0.5)), square
    return log_z + gap, abs(gap), square * float(np.exp(-2.0 * gap))


def _some_rows(n: int) -> NDArray[np.intp] | slice:
    """All rows, or of many some at random: a leverage is some D/n, and takes D² operations."""
    if n <= _LEFT_OUT:
        return slice(None)
    return np.sort(np.random.default_rng(OWN_SEED).choice(n, _LEFT_OUT, replace=False))


def exponential_fit_from_moments(
    target: Array, scatter: Array, total: float, nodes: Pair, penalty: Array, start: Array, tolerance: float = 1e-8
) -> ExponentialFit:
    """`exponential_fit` from sums over the data alone: the same maximum, its leave-one-out likelihood to order 1/n.

    Parameters
    ----------
    target : ndarray of shape (D,)
        The mean of the features.
    scatter : ndarray of shape (D, D)
        The mean of ψψᵀ.
    total : float
        How many observations.
    nodes, penalty, start, tolerance
        As in `exponential_fit`. `l2_risk` is NaN: it needs the density at every point.
    """
    c, log_z, mean, hessian = _maximum(target, nodes[0], penalty, start, tolerance)
    log_z, error, _ = _checked(nodes[1], c, log_z)
    spread = scatter - np.outer(mean, target) - np.outer(target, mean) + np.outer(mean, mean)
    leverage = float(np.trace(linalg.solve(hessian, spread, assume_a="pos", check_finite=False))) / total
    return ExponentialFit(c, log_z, error, float(target @ c - log_z - leverage))


def _maximum(
    target: Array, nodes: Nodes, penalty: Array, start: Array, tolerance: float
) -> tuple[Array, float, Array, Array]:
    """Newton's method: coefficients, log Z, and the mean of ψ and the Hessian there."""
    c = start
    p, log_z = _weights(nodes, c)
    for _ in range(_STEPS):
        mean = p @ nodes.values
        gradient = target - mean - penalty * c
        hessian = _covariance(nodes.values, p, mean) + np.diag(penalty)
        step = linalg.solve(hessian, gradient, assume_a="pos", check_finite=False)
        decrement = float(gradient @ step)
        if decrement < tolerance:
            break
        value, length = target @ c - log_z - 0.5 * penalty @ c**2, 1.0
        while length > 1e-10:
            trial = c + length * step
            p, log_z = _weights(nodes, trial)
            if target @ trial - log_z - 0.5 * penalty @ trial**2 >= value + 0.1 * length * decrement:
                break
            length /= 2
        else:  # rounding is all that is left
            p, log_z = _weights(nodes, c)
            break
        c = c + length * step
    mean = p @ nodes.values
    hessian = _covariance(nodes.values, p, mean) + np.diag(penalty)
    return c, log_z, mean, hessian


def _weights(nodes: Nodes, c: Array) -> tuple[Array, float]:
    """The density at the nodes times their weights, and log Z."""
    exponent = nodes.values @ c
    top = float(exponent.max())
    p = nodes.weights * np.exp(exponent - top)
    total = float(p.sum())
    return p / total, float(np.log(total)) + top


def _covariance(values: Array, p: Array, mean: Array) -> Array:
    seen = np.flatnonzero(p > _NEGLIGIBLE)
    if len(seen) < len(p) / 2:
        values, p = values[seen], p[seen]
    return (values * p[:, None]).T @ values - np.outer(mean, mean)
