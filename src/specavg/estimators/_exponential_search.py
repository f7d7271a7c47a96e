"""Which penalty an exponential density takes, as far as quadrature nodes can tell its integral."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.estimators._exponential_family import ExponentialFit, Nodes
from specavg.estimators._node_ladder import Ladder

Maximise = Callable[..., ExponentialFit]
"""Nodes, others to check by, penalties of the functions and a start to the fit."""

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
    nodes : Nodes
        Those that the fit was made with.
    ended_by_nodes : bool
        Whether sharper densities were left out because nodes could not tell their integrals.
    """

    fit: ExponentialFit
    alpha: float
    smoothness: float
    nodes: Nodes
    ended_by_nodes: bool

    def is_too_broad(self, rows: int) -> bool:
        """Whether the density is clearly larger at points left out than at points drawn from it.

        Gaussian data that are of width s in d directions, under a density of width h, have (2h²/(s² + h²))^(d/2):
        1.2^(d/2) for h = 1.25 s. Data may be sharp in one direction only.
        """
        return self.fit.met > _SHARPER + 2 / rows**0.5


def chosen_fit(maximise: Maximise, ladder: Ladder, values: Array, dimension: int, n: float) -> Chosen | None:
    """The fit of greatest leave-one-out likelihood; None where nodes cannot tell the integral of the smoothest density.

    Densities become sharper from one penalty to the next. Where nodes cannot tell the integral any more, finer ones
    take their place.

    Parameters
    ----------
    maximise : callable
    ladder : Ladder
    values : ndarray of shape (D,)
        Eigenvalues of the functions.
    dimension : int
        Of the space.
    n : float
        How many observations.
    """
    best: Chosen | None = None
    best_rung, ended_by_nodes = 0, False
    for smoothness in (dimension / 2 + 1, dimension / 2 + 2):
        start, since_best, here, rung = np.zeros(len(values)), 0, -np.inf, 0
        for alpha in 10.0 ** np.arange(3.0, -3.1, -0.5):  # each fit starts where the last one ended
            penalty = alpha * (1 + values / values[0]) ** smoothness / n
            fit = maximise(*ladder.pair(rung), penalty, start)
            while fit.error > TRUSTED and ladder.has(rung + 2):
                rung += 1
                fit = maximise(*ladder.pair(rung), penalty, fit.coefficients)
            if fit.error > TRUSTED:
                ended_by_nodes = True
                break  # narrower than the nodes can see, and smaller penalties are narrower still
            start, likelihood = fit.coefficients, fit.loo_log_likelihood
            if best is None or likelihood > best.fit.loo_log_likelihood:
                best, best_rung = Chosen(fit, float(alpha), smoothness, ladder.pair(rung)[0], False), rung
            since_best = 0 if likelihood > here else since_best + 1
            here = max(here, likelihood)
            if since_best == 2:
                break
    if best is None:
        return None
    penalty = best.alpha * (1 + values / values[0]) ** best.smoothness / n
    fit = maximise(*ladder.pair(best_rung), penalty, best.fit.coefficients, tolerance=1e-16)
    return replace(best, fit=fit, ended_by_nodes=ended_by_nodes)
