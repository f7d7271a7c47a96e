"""Which penalty an exponential density takes, as far as quadrature nodes can tell its integral."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from specavg._config import settings
from specavg.estimators._exponential_family import ExponentialFit, Nodes, Pair
from specavg.estimators._node_orbits import orbit_nodes
from specavg.estimators._orbit_space import orbit_space
from specavg.estimators._quadrature import quadratures
from specavg.invariants import InvariantBasis

Maximise = Callable[..., ExponentialFit]
"""Nodes and others to check by, penalties of the functions and a start to the fit."""

MOST_NODES = 6_000  # of the first rule: the values of 192 functions take 9 MB
STRETCH = 10  # an exact rule of so many times more nodes is still better than random nodes
_ON_AN_ORBIT = 5  # nodes, up to which finer rules are made: 300,000 nodes, and half a second to find their orbits
TRUSTED = 0.05  # largest error of log Z for a density to be considered at all
# Nats that finer nodes are not expected to gain. Fibres of 3° and 5°, which need them, were within 0.1 of kernels when
# they did; grains of a few degrees, which took 7 s to find out that no nodes are fine enough, were 2.8 below.
_FAR = 1.0
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
    nodes : tuple of two Nodes
        Those that the fit was made with, and finer ones that check them.
    ended_by_nodes : bool
        Whether sharper densities were left out because nodes could not tell their integrals.
    """

    fit: ExponentialFit
    alpha: float
    smoothness: float
    nodes: Pair
    ended_by_nodes: bool

    def is_too_broad(self, rows: int) -> bool:
        """Whether the density is clearly larger at points left out than at points drawn from it.

        Gaussian data that are of width s in d directions, under a density of width h, have (2h²/(s² + h²))^(d/2):
        1.2^(d/2) for h = 1.25 s. Data may be sharp in one direction only.
        """
        return self.fit.met > _SHARPER + 2 / rows**0.5


def chosen_fit(maximise: Maximise, basis: InvariantBasis, n: float, rival: float = -np.inf) -> Chosen | None:
    """The fit of greatest leave-one-out likelihood; None where nodes cannot tell the integral of the smoothest density.

    Densities become sharper from one penalty to the next. Where nodes cannot tell the integral any more, finer ones
    take their place.

    Parameters
    ----------
    maximise : callable
    basis : InvariantBasis
    n : float
        How many observations.
    rival : float
        The leave-one-out likelihood of another density: no finer nodes are made where it is far above.
    """
    finer = _nodes(basis)
    nodes, best, ended_by_nodes = (next(finer), next(finer)), None, False
    roughness = 1 + basis.eigenvalues[1:] / basis.eigenvalues[1]
    for smoothness in (basis.dimension / 2 + 1, basis.dimension / 2 + 2):
        start, since_best, here = np.zeros(len(roughness)), 0, -np.inf
        for alpha in 10.0 ** np.arange(3.0, -6.1, -0.5):  # each fit starts where the last one ended
            penalty = alpha * roughness**smoothness / n
            fit = maximise(nodes, penalty, start)
            while fit.error > TRUSTED and fit.loo_log_likelihood > rival - _FAR and (above := next(finer, None)):
                nodes = (nodes[1], above)
                fit = maximise(nodes, penalty, fit.coefficients)
            if fit.error > TRUSTED:
                ended_by_nodes = True
                break  # narrower than the nodes can see, and smaller penalties are narrower still
            start, likelihood = fit.coefficients, fit.loo_log_likelihood
            if best is None or likelihood > best.fit.loo_log_likelihood:
                best = Chosen(fit, float(alpha), smoothness, nodes, False)
            since_best = 0 if likelihood > here else since_best + 1
            here = max(here, likelihood)
            if since_best == 2:
                break
    if best is None:
        return None
    penalty = best.alpha * roughness**best.smoothness / n
    fit = maximise(best.nodes, penalty, best.fit.coefficients, tolerance=1e-16)
    return replace(best, fit=fit, ended_by_nodes=ended_by_nodes)


def _nodes(basis: InvariantBasis) -> Iterator[Nodes]:
    """Finer and finer nodes, one for each orbit where nodes share one: an invariant integrand needs no more."""
    most = int(min(MOST_NODES, settings().memory_limit / (32.0 * basis.dim)))
    made = orbit_space(basis.space, basis.group).rule
    for k, rule in enumerate(quadratures(basis, most, stretch=STRETCH, made=made)):
        if k > 1 and len(rule.points) > _ON_AN_ORBIT * STRETCH * most:
            return
        points, weights = orbit_nodes(basis, rule.points, rule.weights)
        if k > 1 and len(points) > STRETCH * most:
            return
        yield Nodes(basis.evaluate(points)[:, 1:], weights, rule.random, rule.description)
