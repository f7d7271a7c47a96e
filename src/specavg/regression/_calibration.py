"""Error bars of a chosen model: what choosing, truncating and too smooth a prior add to the posterior variance.

The posterior of ridge regression takes the spectrum and the penalty as known. They were chosen: three things follow.

*Surprise.* A row that is left out has a predicted variance σ²/(αh). With m the mean of squared errors in units of it,
the variance v of the function becomes m v. What exceeds 1 is no noise, which was estimated beside the function: it is a
part of the function, (m − 1)σ² at every point.

*Roughness that looks like noise.* Functions that are hardly fitted have a variance too, T in all: up to T of the noise
σ² belongs to the function. Two estimates, of which the larger is taken. The prior has a variance beyond the cutoff,
which is what the truncation leaves out. And the fit uses p = tr H degrees of freedom: the p-th function has a variance
of about σ²/n, where function and noise are equal. Chosen priors are smooth, functions need not be: if variances beyond
the p-th fall like j^(−3) and no faster, they sum to σ² p/2n.

*Choice.* The rows that are left out were used to choose some numbers. Akaike's final prediction error says what that
hides: with q of them a new row has (n + q)/(n − q) times the squared error.

Together: (n + 5)/(n − 5) · [m v + (max(m − 1, 0) + min(T/σ², 1)) σ²].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array

CHOSEN = 5.0
"""Numbers that were chosen from the data: smoothness, length, penalty, the size of the noise and the order of the
basis. Measured on the problems of `development` in benchmarks/accuracy_collections.py with 30, 100 and 300 rows, as the
mean distance of the share of values in 90 % intervals from the range 0.85 to 0.95, in percentage points: 1.6, 2.2 and
1.4. With 0 of them 3.6, 2.5 and 1.5; with 3 of them 2.1, 2.3 and 1.4."""

ROUGHNESS = 0.5
"""T/σ² over p/n. Means of that distance over the three sizes: 2.5 with this value and nothing else, 3.6 with 0, 2.9
with 0.25 and 2.3 with 1, where intervals of noisy targets of 300 rows hold 96 % instead of 92 %."""

_FEW = 3.0  # rows with a surprise of 1 that are added: few rows say little of it


@final
@dataclass(frozen=True, eq=False)
class Calibration:
    """What the variance of a function is multiplied by, and what is added to it, for each of A penalties.

    Attributes
    ----------
    factor : ndarray of shape (A,)
        Of the posterior variance.
    share : ndarray of shape (A,)
        Of the noise variance that belongs to the function.
    """

    factor: Array
    share: Array

    @classmethod
    def by_left_out(
        cls, squares: Array, alphas: Array, noise: Array, freedom: Array, beyond: float, rows: int
    ) -> Calibration:
        """From what was left out of a chosen fit.

        Parameters
        ----------
        squares : ndarray of shape (A,)
            The mean over rows of d²h, or of dᵀM_bb d over blocks of them: d is what was left out less its prediction,
            which has the variance σ²/(αh).
        alphas, noise : ndarrays of shape (A,)
            Penalties, and σ² with each of them.
        freedom : ndarray of shape (A,)
            p.
        beyond : float
            The prior variance of one number beyond the cutoff, in the units in which α is σ² over that of the first
            function.
        rows : int
            Numbers that were left out, those of one point and of repeated points counted once.
        """
        surprise = shrunk_surprise(squares * alphas / np.maximum(noise, np.finfo(float).tiny), rows)
        return cls.of(surprise, freedom, beyond / alphas, rows)

    @classmethod
    def of(cls, surprise: Array, freedom: Array, truncated: Array, rows: int) -> Calibration:
        """From m, p, the prior's T/σ² and n."""
        chosen = (rows + CHOSEN) / max(rows - CHOSEN, 1.0)
        rough = np.minimum(np.maximum(truncated, ROUGHNESS * freedom / rows), 1.0)
        return cls(chosen * surprise, chosen * (np.maximum(surprise - 1.0, 0.0) + rough))


def shrunk_surprise(mean_square: Array, rows: int) -> Array:
    """m, drawn towards 1."""
    return (rows * mean_square + _FEW) / (rows + _FEW)


def left_out_by_truncation(variances: Array) -> float:
    """T: the sum of the prior variances beyond those that are given; infinite where they decrease too slowly.

    In decreasing order the second half of them falls like j^(−q), and so do the others: Σ_{j > D} = D v_D / (q − 1).

    Parameters
    ----------
    variances : ndarray of shape (D,)
        Prior variances of the functions of a basis.

    Examples
    --------
    >>> exact = 1.6449340668482264 - np.sum(np.arange(1, 1001) ** -2.0)
    >>> bool(abs(left_out_by_truncation(np.arange(1, 1001) ** -2.0) / exact - 1) < 0.01)
    True
    """
    ordered = np.sort(variances)[::-1]
    D = len(ordered)
    half = max(D // 2, 1)
    last = float(ordered[-1])
    if D == 1:
        return np.inf
    if last <= 0.0:
        return 0.0
    power = np.log(ordered[half - 1] / last) / np.log(D / half)
    return D * last / (power - 1) if power > 1 else np.inf
