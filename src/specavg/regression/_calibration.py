"""Error bars of a chosen model: what choosing, truncating and too smooth a prior add to the posterior variance.

The posterior of ridge regression takes the spectrum and the penalty as known. They were chosen: three things follow.

*Surprise.* A row that is left out has a predicted variance σ²/(αh). With m the mean of squared errors in units of it,
the variance v of the function becomes m v. What exceeds 1 is no noise, which was estimated beside the function: it is a
part of the function, (m − 1)σ² at every point.

*Roughness that looks like noise.* Functions that are hardly fitted have a variance too, T in all: up to T of the noise
σ² belongs to the function. Two estimates, of which the larger is taken. The prior has a variance beyond the cutoff,
which is what the truncation leaves out. And the fit uses p = tr H degrees of freedom: the p-th function has a variance
of about σ²/n, where function and noise are equal. Chosen priors are smooth, functions need not be. Variances of a
function with two derivatives on a space of d dimensions fall like j^(−1−4/d), and those beyond the p-th sum to
(d/4) σ² p/n; with fewer than two dimensions j^(−3) is taken too, and σ² p/2n.

Functions that stand out show that the rule of the prior is broken, and how often. A coefficient is named if its square
exceeds b σ²/n, b the bound of its function. As many as were named may lie just below it: Σ b σ²/n is added to T. Sums
over few waves without noise that use a part of the functions (six draws with five or six named) have 71 % of their
values in 90 % intervals without this, and 91 % with it.

*Choice.* The rows that are left out were used to choose some numbers. Akaike's final prediction error says what that
hides: with q of them a new row has (n + q)/(n − q) times the squared error.

Together: (n + 8)/(n − 8) · [m v + (max(m − 1, 0) + min(T/σ², 1)) σ²].

Where only sums over rows are known, m is that of generalised cross-validation. Of many rows the residuals of near ones
tell a variance of what the basis does not show, and no less than that is added to m v (`_near_rows`).

Rows on one orbit are one row with all their weight, as on a regular grid under a group. It has the noise variance σ²/k
with k observations: surprise adds (m − 1)σ²/k, the p-th function has the variance σ²/nk, and T is at most σ²/k, since
observations on one orbit differ by noise alone, whatever the function is. Copies of an observation have no noise of
their own. Where rows are c times as many as observations of their own, copies explain a surprise of up to c: with
c' = min(max(m, 1), c), there are k/c' observations with the noise variance c'σ². Rows of counts may be equal by chance,
and then m says nothing of copies: what adds less to the function, with c' or without, is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from specavg._arrays import Array

# Numbers that were chosen from the data: smoothness, length, penalty, the size of the noise and the order of the basis
# are five, the family of spectra and functions that stand out are more. Measured on problems of `development` in
# benchmarks/accuracy_collections.py as the share of values in 90 % intervals, with 5, 8 and 10 of them: 0.86, 0.91 and
# 0.94 of 12 problems with 20 rows and little noise, 0.86, 0.89 and 0.91 of 36 with 30 rows and little noise, 0.88, 0.90
# and 0.92 of 36 with 30 rows and noise. With 12 rows all are too wide (0.95, 0.98, 0.99 of 36).
CHOSEN = 8.0

# T/σ² over p/n, at least. Means of that distance over the three sizes: 2.5 with this value and nothing else, 3.6 with
# 0, 2.9 with 0.25 and 2.3 with 1, where intervals of noisy targets of 300 rows hold 96 % instead of 92 %.
ROUGHNESS = 0.5

# s in T/σ² = d/2s · p/n. On 34 fits of sums over few of four to seven coordinates without noise 90 % intervals held 79
# % with 1/2 in all dimensions, and hold 83 % (84 % with s = 3/2, that of kinks); with noise in four dimensions and more
# 85 and 89 %, in up to three dimensions 93 and 93 % (94 % with s = 3/2).
_DERIVATIVES = 2.0

_FEW = 3.0  # imaginary rows with a squared error of exactly what was predicted: few real rows say little of it


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
    def of(
        cls,
        surprise: Array,
        freedom: Array,
        truncated: Array,
        rows: int,
        dimension: int,
        observations: float | None = None,
        copies: float = 1.0,
        hidden: float = 0.0,
    ) -> Calibration:
        """From what was left out of a chosen fit.

        Parameters
        ----------
        surprise : ndarray of shape (A,)
            m, by `shrunk_surprise`.
        freedom : ndarray of shape (A,)
            p.
        truncated : ndarray of shape (A,)
            T/σ² by the prior: the prior variance of one number beyond the cutoff, over the penalty.
        rows : int
            Numbers that were left out, those of one point and of repeated points counted once.
        dimension : int
            d, of the space.
        observations : float, optional
            How many there were before those of one orbit were made one row.
        copies : float, default 1
            c: so many times more rows were given than are observations of their own.
        hidden : float, default 0
            What functions that stand out had to exceed, summed over them: squares of coefficients over σ²/n.
        """
        chosen = (rows + CHOSEN) / max(rows - CHOSEN, 1.0)
        roughness = max(ROUGHNESS, dimension / (2 * _DERIVATIVES))

        def added(copied: Array | float) -> Array:
            each = np.maximum((observations or rows) / (rows * copied), 1.0)  # a row has the noise copied · σ²/each
            rough = np.maximum(copied * truncated, roughness * freedom / (rows * each)) + hidden / (rows * each)
            return np.maximum(surprise / copied - 1.0, 0.0) / each + np.minimum(rough, 1.0 / each)

        share = added(1.0) if copies <= 1 else np.minimum(added(1.0), added(np.clip(surprise, 1.0, copies)))
        return cls(chosen * surprise, chosen * share)

    @classmethod
    def of_sums(
        cls,
        left_over: Array,
        noise: Array,
        freedom: float,
        scale: Array,
        alpha: float,
        rows: int,
        dimension: int,
        hidden: float = 0.0,
    ) -> Calibration:
        """Of one penalty where rows are not known one by one, as if all of them told the fit as much.

        The share 1 − p/n of each row is left: d = r/(1 − p/n) and αh = 1 − p/n, r the residual. Then m is |r|²/(n − p)
        over σ², as in generalised cross-validation, and its mean over outputs, which share the penalty.

        Parameters
        ----------
        left_over : ndarray of shape (q,)
            |r|², weighted; rounding may make it negative.
        noise : ndarray of shape (q,)
            σ².
        freedom : float
            p.
        scale : ndarray of shape (D,)
            Roots of the prior variances of functions, in the units of `alpha`.
        alpha : float
        rows : int
            n.
        dimension, hidden
            As in `of`.
        """
        squares = np.maximum(left_over, 0.0) / max(rows - freedom, 1.0)
        surprise = np.full(1, float(np.mean(shrunk_surprise(squares, rows, noise))))
        truncated = np.full(1, left_out_by_truncation(scale**2) / alpha)
        return cls.of(surprise, np.array([freedom]), truncated, rows, dimension, hidden=hidden)


def shrunk_surprise(squares: Array, rows: int, variance: Array | float = 1.0) -> Array:
    """m, the mean square of what was left out in predicted variances, drawn towards 1 as if by `_FEW` more rows.

    Parameters
    ----------
    squares : ndarray of shape (A,)
        The mean over rows of d²h, or of dᵀM_bb d over blocks of them: d is what was left out less its prediction, which
        has the variance σ²/(αh).
    rows : int
    variance : ndarray of shape (A,)
        σ²/α, in whose units the squares are predicted; 1 where they were divided by it.
    """
    return (rows * squares / np.maximum(variance, np.finfo(float).tiny) + _FEW) / (rows + _FEW)


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
