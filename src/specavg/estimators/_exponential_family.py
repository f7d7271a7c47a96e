"""Densities exp(c·ψ − log Z): penalised maximum likelihood by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from specavg._arrays import Array
from specavg._random import OWN_SEED

_LEFT_OUT = 10_000  # rows whose leverage is computed: of more, so many at random, whose mean is right to a percent
_STEPS = 100  # of Newton's method at most: it converges quadratically, and the bound only ends what does not


@dataclass(frozen=True)
class Nodes:
    """Features at quadrature nodes, and the weights."""

    values: Array  # (N, D)
    weights: Array  # (N,), sum 1


@dataclass(frozen=True)
class ExponentialFit:
    """One penalised maximum-likelihood fit.

    Attributes
    ----------
    coefficients : ndarray of shape (D,)
    log_z : float
        The logarithm of ∫ exp(c·ψ).
    loo_log_likelihood : float
        Mean leave-one-out log density, to first order in 1/n.
    l2_risk : float
        ∫f² − (2/n) Σ f₋ᵢ(x_i): the estimate of ∫(f − p)² but for the constant ∫p², f₋ᵢ to first order.
    met : float
        (1/n) Σ f₋ᵢ(x_i) over ∫f²: 1 where the data are drawn from f, and more where they are sharper than f.
    """

    coefficients: Array
    log_z: float
    loo_log_likelihood: float
    l2_risk: float
    met: float = float("nan")

    @property
    def loss(self) -> float:
        """What is compared between penalties: the L² risk, or minus the likelihood where the risk is not known."""
        return -self.loo_log_likelihood if np.isnan(self.l2_risk) else self.l2_risk


def exponential_fit(
    features: Array, weights: Array, risk: bool, nodes: Nodes, penalty: Array, start: Array, tolerance: float = 1e-8
) -> ExponentialFit:
    """Maximise Σ w log f(x)/Σw − ½ Σ penalty·c² over densities f = exp(c·ψ − log Z): concave, one maximum.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Without the constant.
    weights : ndarray of shape (n,)
    risk : bool
        Whether to estimate the L² risk, which penalties are then compared by.
    nodes : Nodes
    penalty : ndarray of shape (D,)
    start : ndarray of shape (D,)
        Where Newton's method starts.
    tolerance : float, default 1e-8
        On the squared Newton decrement: twice the log-likelihood per point that is still to be gained.
    """
    total = float(weights.sum())
    c, log_z, mean, hessian = _maximum(weights @ features / total, nodes, penalty, start, tolerance)
    # Leaving out point i moves c by −H⁻¹(ψ_i − E ψ)w_i/Σw, and its own log density by −h_i, h_i the leverage.
    some = _some_rows(len(features))
    centred = features[some] - mean
    leverage = np.sum(centred * linalg.solve(hessian, centred.T, assume_a="pos", check_finite=False).T, axis=1)
    leverage *= weights[some] / total
    loss = leverage / (1.0 - np.minimum(leverage, 0.9))
    logs = features @ c - log_z
    share = weights[some] / weights[some].sum()
    likelihood = float(weights @ logs / total - share @ loss)
    met = float(weights @ np.exp(logs) / total + share @ (np.exp(logs[some]) * np.expm1(-loss)))
    square = float(nodes.weights @ np.exp(2 * (nodes.values @ c - log_z)))
    return ExponentialFit(c, log_z, likelihood, square - 2.0 * met if risk else float("nan"), met / square)


def _some_rows(n: int) -> NDArray[np.intp] | slice:
    """All rows, or of many some at random: a leverage is some D/n, and takes D² operations."""
    if n <= _LEFT_OUT:
        return slice(None)
    return np.sort(np.random.default_rng(OWN_SEED).choice(n, _LEFT_OUT, replace=False))


def exponential_fit_from_moments(
    target: Array,
    scatter: Array,
    total: float,
    nodes: Nodes,
    penalty: Array,
    start: Array,
    tolerance: float = 1e-8,
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
    c, log_z, mean, hessian = _maximum(target, nodes, penalty, start, tolerance)
    spread = scatter - np.outer(mean, target) - np.outer(target, mean) + np.outer(mean, mean)
    leverage = float(np.trace(linalg.solve(hessian, spread, assume_a="pos", check_finite=False))) / total
    return ExponentialFit(c, log_z, float(target @ c - log_z - leverage), float("nan"))


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
    return (values * p[:, None]).T @ values - np.outer(mean, mean)
