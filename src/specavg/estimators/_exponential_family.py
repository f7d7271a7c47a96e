"""Densities exp(c·ψ − log Z): penalised maximum likelihood by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import wrightomega

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.estimators._fitted_kernels import standard_error_of_pairs

# Rows whose leverage is computed; of more rows so many are taken at random, whose mean is right to a percent.
_LEFT_OUT = 10_000
_STEPS = 100  # steps of Newton's method at most: it converges quadratically, and the bound only ends what does not
# Of log-likelihoods, in units of the numbers they are differences of: a few spacings of floating-point numbers.
_ROUNDING = 1e-15
# Share of all weight above which a row is left out by a fit without it; at most fifteen rows have so much. The closed
# form of `_lost` follows a small change. It agrees with such fits to 0.02 at the best penalty of 20 rows; with 2 to 10
# rows it was 1 to 60 nats too high for sharp densities, which were then chosen.
_LARGE_SHARE = 1 / 16
# Nats lost in closed form beyond which a row is left out by a fit without it: it is nearly alone, and the density at
# its place is another one without it. Of 60 rows of peaks of 1° to 5°, a tenth of them anywhere, the closed form had
# losses of 3 to 7 nats where fits without the row had 10 to 1,000; up to 2 the two agree to 0.1 nats, but for a few.
_ALONE = 2.0
# Rows that are alone of which fits are made, at most; of more so many are taken at random, whose mean stands for all.
# A fit takes 0.01 to 0.15 s. A few of them tell whether a density is hopeless.
_FITS, _ENOUGH = 16, 4
_AT_MOST = 1.0  # nats that such a row is taken to lose while no fit tells: less than all but a few lost
# Effective parameters for each observation of a stream, up to which the likelihood to first order is believed. Some
# sets of 20 to 60 uniform rows were given densities of 40 to 1,800, which have 2.5 to 3.5 parameters for each row; the
# best penalties of 20 to 300 rows in a cap of 4° have 0.02 to 0.3.
_MOST_PARAMETERS = 0.5
TRUSTED = 0.05  # largest error of log Z for a density to be considered at all
# Share of the mass below which a node is left out of the Hessian: sharp densities have few other nodes.
_NEGLIGIBLE = 1e-12


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
    left_out : ndarray of shape (n,)
        The leave-one-out log density at each row; without rows, of a stream.
    square : float
        ∫f².
    expected : float
        (1/n) Σ f₋ᵢ(x_i).
    told : bool
        Whether few rows, up to sixteen, are likelier than under the uniform density by more than one pair that lies
        close by chance carries.
    """

    coefficients: Array
    log_z: float
    error: float
    loo_log_likelihood: float
    left_out: Array = field(default_factory=lambda: np.empty(0))
    square: float = float("nan")
    expected: float = float("nan")
    told: bool = True

    @property
    def l2_risk(self) -> float:
        """∫f² − (2/n) Σ f₋ᵢ(x_i): the estimate of ∫(f − p)² but for the constant ∫p²."""
        return self.square - 2.0 * self.expected

    @property
    def met(self) -> float:
        """(1/n) Σ f₋ᵢ(x_i) over ∫f²: 1 where the data are drawn from f, and more where they are sharper than f."""
        return self.expected / self.square

    def normalised(self, mass: float, square: float, error: float) -> ExponentialFit:
        """The fit over its integral, where a better rule tells this, ∫f² and the relative error of the integral."""
        gap = float(np.log(mass))
        return replace(
            self,
            log_z=self.log_z + gap,
            error=error,
            loo_log_likelihood=self.loo_log_likelihood - gap,
            left_out=self.left_out - gap,
            square=square / mass**2,
            expected=self.expected / mass,
        )


def exponential_fit(
    features: Array,
    weights: Array,
    nodes: Pair,
    penalty: Array,
    start: Array,
    tolerance: float = 1e-8,
    floor: float = -np.inf,
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
    floor : float, default -inf
        A leave-one-out likelihood that is known to be below this need not be right.
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
    rows = np.arange(len(features))[some]
    alone = np.flatnonzero((weights[rows] > _LARGE_SHARE * total) | (lost < -_ALONE))
    if len(alone) and error <= TRUSTED:  # others are not considered
        below = float(weights @ logs / total) - floor  # what may be lost on average

        def without(k: int) -> float:
            row = int(rows[k])
            return _log_density_without(row, features, weights, nodes[0], penalty, c, tolerance) - logs[row]

        _leave_out(alone, lost, share, without, below)
    left_out = logs + share @ lost  # rows whose leverage is not computed lose as much as others do on average
    left_out[some] = logs[some] + lost
    met = float(weights @ np.exp(logs) / total + share @ (np.exp(logs[some]) * np.expm1(lost)))
    # Few rows that predict each other in pairs: a sum that one pair carries, and others lower, is below this.
    few, gains = share @ share >= _LARGE_SHARE, share * left_out[some]
    told = not few or bool(gains.sum() > standard_error_of_pairs(gains))
    likelihood = float(weights @ left_out / total)
    return ExponentialFit(c, log_z, error, likelihood, left_out, square, met, told)


def _leave_out(
    alone: NDArray[np.intp], lost: Array, shares: Array, without: Callable[[int], float], most: float
) -> None:
    """Put what fits without them say in the place of the losses of some rows, until more than `most` is lost.

    Parameters
    ----------
    alone : ndarray of shape (k,)
        The rows.
    lost, shares : ndarray of shape (n,)
        Of all rows; `lost` is changed.
    without : callable
        A row to what it loses.
    most : float
        The mean loss beyond which nobody asks how much it is.
    """
    sampled = len(alone) > _FITS
    order = np.random.default_rng(OWN_SEED).permutation(alone) if sampled else alone[np.argsort(lost[alone])]
    least = lost.copy()
    least[alone] = np.maximum(lost[alone], -_AT_MOST)
    for count, k in enumerate(order[:_FITS].tolist(), start=1):
        if -float(shares @ least) > most:
            return
        lost[k] = least[k] = without(k)
        if sampled and count >= _ENOUGH:
            least[order[count:]] = np.average(lost[order[:count]], weights=shares[order[:count]])
    lost[order[_FITS:]] = least[order[_FITS:]]


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


def _log_density_without(
    row: int, features: Array, weights: Array, nodes: Nodes, penalty: Array, start: Array, tolerance: float
) -> float:
    """The log density at a row of the fit to all others; uniform where there are none."""
    rest = np.delete(weights, row)
    if not rest.any():
        return 0.0
    target, lighter = rest @ np.delete(features, row, axis=0) / rest.sum(), weights.sum() / rest.sum()
    c, log_z, _, _ = _maximum(target, nodes, lighter * penalty, start, tolerance)
    return float(features[row] @ c - log_z)


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
    target: Array,
    scatter: Array,
    total: float,
    nodes: Pair,
    penalty: Array,
    start: Array,
    tolerance: float = 1e-8,
    floor: float = -np.inf,
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
    nodes, penalty, start, tolerance, floor
        As in `exponential_fit`; no row is left out by a fit, so that a `floor` saves nothing. `l2_risk` is NaN: it
        needs the density at every point.

    Returns
    -------
    ExponentialFit
        Its likelihood is −inf where the rows are too few for the parameters to tell it.
    """
    c, log_z, mean, hessian = _maximum(target, nodes[0], penalty, start, tolerance)
    log_z, error, _ = _checked(nodes[1], c, log_z)
    spread = scatter - np.outer(mean, target) - np.outer(target, mean) + np.outer(mean, mean)
    inverse = linalg.inv(hessian, check_finite=False)
    leverage = float(np.sum(inverse * spread)) / total
    effective = len(penalty) - float(penalty @ np.diagonal(inverse))  # the trace of H⁻¹ times the covariance in it
    told = effective <= _MOST_PARAMETERS * total
    return ExponentialFit(c, log_z, error, float(target @ c - log_z - leverage) if told else -np.inf)


def _maximum(
    target: Array, nodes: Nodes, penalty: Array, start: Array, tolerance: float
) -> tuple[Array, float, Array, Array]:
    """Newton's method: coefficients, log Z, and the mean of ψ and the Hessian there."""
    c, mean, hessian = start, target, np.diag(penalty)
    p, log_z = _weights(nodes, c)
    for _ in range(_STEPS):
        mean = p @ nodes.values
        gradient = target - mean - penalty * c
        hessian = _covariance(nodes.values, p, mean) + np.diag(penalty)
        step = linalg.solve(hessian, gradient, assume_a="pos", check_finite=False)
        decrement = float(gradient @ step)
        if decrement < tolerance:
            break
        height = float(target @ c)
        if decrement < _ROUNDING * (abs(height) + abs(log_z)):  # values do not tell steps apart: the last one, whole
            c = c + step
            log_z = _weights(nodes, c)[1]
            break
        value, length = height - log_z - 0.5 * penalty @ c**2, 1.0
        while length > 1e-10:
            trial = c + length * step
            p, log_z = _weights(nodes, trial)
            if target @ trial - log_z - 0.5 * penalty @ trial**2 >= value + 0.1 * length * decrement:
                break
            length /= 2
        else:  # rounding is all that is left
            _, log_z = _weights(nodes, c)
            break
        c = c + length * step
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
    scaled = values * np.sqrt(p)[:, None]
    return scaled.T @ scaled - np.outer(mean, mean)  # a matrix with itself: half of the products
