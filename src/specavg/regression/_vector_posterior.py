"""What the data leave open about a fitted vector function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.regression._block_leave_one_out import Indices
from specavg.regression._regression_problem import Posterior

_NOT_ALLOWED = 1e-12  # mean square of the functions along an output that is zero by symmetry: rounding leaves 1e-16


@final
@dataclass(frozen=True, eq=False)
class SummandPosterior:
    """The covariance of the outputs of equivalent summands: that of the constants, and that of everything else.

    Attributes
    ----------
    frames : ndarray of shape (copies, p, d)
        The outputs of each copy.
    first : ndarray of int, shape (k + D,)
        Where the functions of the first copy are among all functions, constants first.
    root : ndarray of shape (k, k)
        R, upper triangular, with RᵀR the Gram matrix of the k constants.
    mean : ndarray of shape (k, D)
        What each function has of the constants: it is subtracted.
    scale, V, s : ndarrays of shape (D,), (D, r), (r,)
        The decomposition of the scaled features.
    """

    frames: Array
    first: Indices
    root: Array
    mean: Array
    scale: Array
    V: Array
    s: Array

    def covariance(self, values: Array, alpha: float) -> Array:
        """The covariance of all outputs for noise of variance one."""  # (n, p, dim) -> (n, p, p)
        k = len(self.root)
        own = self.frames[0].T @ values[:, :, self.first]  # (n, d, k + D)
        constants = own[..., :k]
        centred = (own[..., k:] - constants @ self.mean) * self.scale
        seen = centred @ self.V
        shrunk = seen / np.sqrt(self.s**2 + alpha)
        total = shrunk @ shrunk.transpose(0, 2, 1)
        if k:
            free = constants @ np.linalg.inv(self.root)
            total += free @ free.transpose(0, 2, 1)
        if self.V.shape[1] < self.V.shape[0]:  # there are directions no data point has
            rest = centred - seen @ self.V.T
            total += rest @ rest.transpose(0, 2, 1) / alpha
        return self._of_outputs(total)

    def allowed(self, values: Array) -> Array:
        """The projector onto the outputs that functions have at each point.

        At points that a part of the group keeps, the group may allow few outputs, or none.
        """  # (n, p, dim) -> (n, p, p)
        own = self.frames[0].T @ values[:, :, self.first]  # (n, d, k + D), of mean square one for each function
        squares, vectors = np.linalg.eigh(own @ own.transpose(0, 2, 1) / max(len(self.first), 1))
        kept = vectors * (squares > _NOT_ALLOWED)[:, None, :]
        return self._of_outputs(kept @ kept.transpose(0, 2, 1))

    def _of_outputs(self, matrices: Array) -> Array:
        """Matrices of the outputs of one copy, for all copies."""  # (n, d, d) -> (n, p, p)
        return np.einsum("apd,nde,aqe->npq", self.frames, matrices, self.frames, optimize=True)


@final
@dataclass(frozen=True, eq=False)
class BlockPosterior(Posterior):
    """The covariance of the outputs of F(x), a sum over the summands of the outputs.

    Attributes
    ----------
    summands : tuple of SummandPosterior
    alpha : float
    noise : ndarray of shape (1,)
        What covariances are multiples of, in squares of `unit`: the variance of the noise of an observation of weight
        one, calibrated where the penalty was chosen.
    floor : ndarray of shape (1,)
        The variance of what no function of the basis shows, along each output that the group allows at a point; slopes
        of it are not known.
    unit : ndarray of shape (1,)
    """

    summands: tuple[SummandPosterior, ...]
    alpha: float
    noise: Array
    floor: Array
    unit: Array = field(default_factory=lambda: np.ones(1))

    def covariance(self, values: Array) -> Array:
        """The covariance of the outputs, from values of all functions with constants."""  # (n, p, dim) -> (n, p, p)
        return self._in_units(values, slopes=False) * float(self.unit[0]) * float(self.unit[0])

    def _in_units(self, values: Array, *, slopes: bool) -> Array:
        """The covariance in squares of `unit`, which are no numbers for very small and very large targets.

        With `slopes`, the values are derivatives of all functions, and the covariance is that of derivatives. Those of
        constants are zero: both follow the same formula.
        """
        total = np.zeros((*values.shape[:2], values.shape[1]))
        for summand in self.summands:
            total += float(self.noise[0]) * summand.covariance(values, self.alpha)
            if self.floor[0] and not slopes:
                total += float(self.floor[0]) * summand.allowed(values)
        return total

    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        return np.einsum("npp->np", self._in_units(features, slopes=slopes))
