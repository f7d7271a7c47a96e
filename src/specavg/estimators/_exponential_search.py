"""Which penalty an exponential density takes, as far as quadrature nodes can tell its integral."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.estimators._exponential_family import ExponentialFit, Nodes

Maximise = Callable[..., ExponentialFit]
"""Nodes, penalties of the functions and a start to the fit."""

TRUSTED = 0.05  # largest error of log Z for a density to be considered at all
# Met over expected density beyond which the data are sharper than a density (`is_too_broad`): √1.2, of data that are
# sharper in one direction. It was 0.98 to 1.08 for 28 fits that could be sharp enough, and 1.2 to 3.1 for 7 that could
# not; of cubic orientations, 300 and 2,000 of them, 0.87 to 1.09 for 40 that could and 1.6 to 1.9 for 8 that could not.
_SHARPER = 1.2**0.5


@final
@dataclass(frozen=True)
class Chosen:
    """The fit that was chosen.

    Attributes
    ----------
    fit : ExponentialFit
    alpha, smoothness : float
        The penalty α Σ c² (1 + λ/λ₁)^smoothness / n.
    error : float
        Of log Z: the difference between the two rules, or the standard error of random nodes.
    ended_by_nodes : bool
        Whether sharper densities were left out because nodes could not tell their integrals.
    met : float
        That of the fit, with ∫f² by the other rule: a fit makes f large at its own nodes, and ∫f² there by up to 20 %.
    """

    fit: ExponentialFit
    alpha: float
    smoothness: float
    error: float
    ended_by_nodes: bool
    met: float

    def is_too_broad(self, rows: int) -> bool:
        """Whether the density is clearly larger at points left out than at points drawn from it.

        Gaussian data that are of width s in d directions, under a density of width h, have (2h²/(s² + h²))^(d/2):
        1.2^(d/2) for h = 1.25 s. Data may be sharp in one direction only.
        """
        return self.met > _SHARPER + 2 / rows**0.5


def chosen_fit(
    maximise: Maximise, nodes: Nodes, others: Nodes, random: bool, values: Array, dimension: int, n: float
) -> Chosen | None:
    """The fit of least loss; None where even the smoothest density has an integral that the nodes cannot tell.

    Parameters
    ----------
    maximise : callable
    nodes, others : Nodes
        Of the rule in use, and of one to check it by.
    random : bool
        Whether these are random.
    values : ndarray of shape (D,)
        Eigenvalues of the functions.
    dimension : int
        Of the space.
    n : float
        How many observations.
    """
    best: tuple[ExponentialFit, float, float] | None = None
    ended_by_nodes = False
    for smoothness in (dimension / 2 + 1, dimension / 2 + 2):
        start, since_best, here = np.zeros(len(values)), 0, np.inf
        for alpha in 10.0 ** np.arange(3.0, -3.1, -0.5):  # each fit starts where the last one ended
            fit = maximise(nodes, alpha * (1 + values / values[0]) ** smoothness / n, start)
            start = fit.coefficients
            if _normalisation_error(others, random, fit) > TRUSTED:
                ended_by_nodes = True
                break  # narrower than the nodes can see, and smaller penalties are narrower still
            if best is None or fit.loss < best[0].loss:
                best = (fit, float(alpha), smoothness)
            since_best = 0 if fit.loss < here else since_best + 1
            here = min(here, fit.loss)
            if since_best == 2:
                break
    if best is None:
        return None
    fit, alpha, smoothness = best
    fit = maximise(nodes, alpha * (1 + values / values[0]) ** smoothness / n, fit.coefficients, tolerance=1e-16)
    met = fit.met if random else fit.met * _square(nodes, fit) / _square(others, fit)
    return Chosen(fit, alpha, smoothness, _normalisation_error(others, random, fit), ended_by_nodes, met)


def _square(nodes: Nodes, fit: ExponentialFit) -> float:
    """∫f²."""
    return float(nodes.weights @ np.exp(2 * np.minimum(nodes.values @ fit.coefficients - fit.log_z, 300.0)))


def _normalisation_error(nodes: Nodes, random: bool, fit: ExponentialFit) -> float:
    """By how much log ∫f differs from zero on other nodes; the standard error of random ones if it is larger."""
    density = np.exp(np.minimum(nodes.values @ fit.coefficients - fit.log_z, 300.0))
    error = abs(float(np.log(max(float(nodes.weights @ density), 1e-300))))
    return max(error, float(density.std() / len(density) ** 0.5)) if random else error
