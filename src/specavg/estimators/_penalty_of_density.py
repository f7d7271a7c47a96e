"""The exponential density that is chosen: the penalty of greatest leave-one-out likelihood, on nodes fine enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg._config import settings
from specavg.estimators._exponential_family import TRUSTED, ExponentialFit, Nodes, Pair
from specavg.estimators._orbit_space import orbit_nodes, orbit_space
from specavg.estimators._quadrature import quadratures
from specavg.estimators._rotation_cells import integrals_over_cells
from specavg.functions._few_rows import FEW_ROWS
from specavg.invariants import InvariantBasis
from specavg.spaces import Rotations

# Error of log Z beyond which the density that is chosen is fitted again with finer nodes, as far as there are: the
# texture index is questioned where an integral is off by as much.
_SETTLED = 0.01
_OF_CELLS = 1e-3  # change of ∫f² at which cells are no more halved, as of a texture index; that of log Z is less
# Nodes that are evaluated by plain NumPy, in pieces of few rows. Those of default fits of 300 points on T², T³, S² and
# SO(3), 780 to 7,875 of them with 170 to 190 functions, took 1 to 240 ms by loops, which compile for 3 s, and 2 to 160
# ms in pieces; 27,072 nodes on S³ took 0.3 s and 0.5 s.
_PLAIN_NODES = 10_000

Maximise = Callable[..., ExponentialFit]
"""Nodes and others to check by, penalties of the functions and a start to the fit."""

MOST_NODES = 6_000  # nodes of the first rule, at most: the values of 192 functions at them take 9 MB
STRETCH = 10  # an exact rule of so many times more nodes is still better than random nodes
# Finer rules may have so many times more nodes before equivalent nodes are merged: 300,000 nodes take half a second.
_ON_AN_ORBIT = 5
# Nats that finer nodes are not expected to gain. Fibres of 3° and 5°, which need them, were within 0.1 of kernels when
# they did; grains of a few degrees, which took 7 s to find out that no nodes are fine enough, were 2.8 below.
_FAR = 1.0
# Met over expected density beyond which the data are sharper than a density (`is_too_broad`): √1.2, of data that are
# sharper in one direction. It was 0.98 to 1.08 for 28 fits that could be sharp enough, and 1.2 to 3.1 for 7 that could
# not; of cubic orientations, 300 and 2,000 of them, 0.87 to 1.09 for 40 that could and 1.6 to 1.9 for 8 that could not.
_SHARPER = 1.2**0.5
# Relative error of ∫f², at most, over the root of that of log Z: peaks of 2° had 0.30 and 0.045, which is 1.4.
_OF_SQUARES = 2.0


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
        1.2^(d/2) for h = 1.25 s. Data may be sharp in one direction only. Nodes that are h apart miss some
        exp(−2π²s²/h²) of a peak of width s, and the root of that of its square, which is narrower by √2: where log Z
        is not known to a percent, ∫f² may be far off.
        """
        unknown = _OF_SQUARES * self.fit.error**0.5 if self.fit.error > _SETTLED else 0.0
        return self.fit.met > (_SHARPER + 2 / rows**0.5) * (1 + unknown)


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
        The leave-one-out likelihood of another density, which is taken where this one has less: how much less, nobody
        asks. No finer nodes are made for densities that are far below it, or far below the best so far.
    """
    finer = _nodes(basis)
    nodes, best, ended_by_nodes = (next(finer), next(finer)), None, False
    roughness = 1 + basis.eigenvalues[1:] / basis.eigenvalues[1]
    for smoothness in (basis.dimension / 2 + 1, basis.dimension / 2 + 2):
        start, since_best, here = np.zeros(len(roughness)), 0, -np.inf
        for alpha in 10.0 ** np.arange(3.0, -6.1, -0.5):  # each fit starts where the last one ended
            penalty = alpha * roughness**smoothness / n
            floor = max(rival, -np.inf if best is None else best.fit.loo_log_likelihood)
            fit = maximise(nodes, penalty, start, floor=floor)
            while fit.error > TRUSTED and fit.loo_log_likelihood > floor - _FAR and (above := next(finer, None)):
                nodes = (nodes[1], above)
                fit = maximise(nodes, penalty, fit.coefficients, floor=floor)
            if fit.error > TRUSTED:
                ended_by_nodes = True
                break  # narrower than the nodes can see, and smaller penalties are narrower still
            start, likelihood = fit.coefficients, fit.loo_log_likelihood
            if best is None or (fit.told and likelihood > best.fit.loo_log_likelihood):
                best = Chosen(fit, float(alpha), smoothness, nodes, False)
            since_best = 0 if likelihood > here else since_best + 1
            here = max(here, likelihood)
            if since_best == 2:
                break
    if best is None or best.fit.loo_log_likelihood < rival:
        return best
    penalty = best.alpha * roughness**best.smoothness / n
    fit, nodes = maximise(best.nodes, penalty, best.fit.coefficients, tolerance=1e-16), best.nodes
    while fit.error > _SETTLED and (above := next(finer, None)):
        nodes = (nodes[1], above)
        fit = maximise(nodes, penalty, fit.coefficients, tolerance=1e-16)
    if fit.error > _SETTLED and isinstance(basis.space, Rotations):
        fit, nodes = _normalised(fit, nodes, basis)
    return replace(best, fit=fit, nodes=nodes, ended_by_nodes=ended_by_nodes)


def _normalised(fit: ExponentialFit, nodes: Pair, basis: InvariantBasis) -> tuple[ExponentialFit, Pair]:
    """The fit with the integral that cells around its peaks tell, where they do, and the nodes it was found by."""
    c = np.concatenate([[-fit.log_z], fit.coefficients])[:, None]
    found = integrals_over_cells(lambda X: np.exp(basis.combine(basis.evaluation_points(X), c)[:, 0]), _OF_CELLS)
    if found is None or found.error > fit.error:
        return fit, nodes
    text = f"{nodes[0].description}; log Z by cells of Euler angles that are halved around peaks"
    return fit.normalised(found.mass, found.square, found.error), (replace(nodes[0], description=text), nodes[1])


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
        yield Nodes(_evaluated(basis, points), weights, rule.random, rule.description)


def _evaluated(basis: InvariantBasis, points: Array) -> Array:
    """The values of all functions but the constant."""  # (n, dim - 1)
    some = FEW_ROWS if len(points) <= _PLAIN_NODES else len(points)
    pieces = [basis.evaluate(points[start : start + some])[:, 1:] for start in range(0, len(points), some)]
    return np.concatenate(pieces)
