"""The orthogonal series of a density: how many functions, and how much of each."""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array

# t of e^(−tλ/λ₁): from none to where hardly a function is left, each a quarter more than the one before. Around its
# minimum the risk is flat.
_SHRINKAGES = (0.0, *(float(t) for t in np.geomspace(1e-4, 3.0, 46)))


def series_of_least_risk(eigenvalues: Array, mean: Array, squared: Array) -> tuple[Array, float, float]:
    """The coefficients w θ of least estimated risk, their t, and that risk, ∫f² − 2∫fp without the constant function.

    Parameters
    ----------
    eigenvalues : ndarray of shape (D,)
    mean : ndarray of shape (D,)
        Of the functions over the data: estimates of θ.
    squared : ndarray of shape (D,)
        Unbiased estimates of θ².
    """
    ends = np.flatnonzero(np.diff(eigenvalues, append=np.inf) > 0)  # whole eigenspaces
    best = (0.0, 0.0, -1)  # the uniform density: no other function, no risk from others
    for t in _SHRINKAGES:
        w = np.exp(-t * eigenvalues / eigenvalues[0])
        risks = np.cumsum(w**2 * mean**2 - 2.0 * w * squared)[ends]
        k = int(risks.argmin())
        if risks[k] < best[0]:
            best = (float(risks[k]), t, int(ends[k]))
    risk, t, last = best
    w = np.where(np.arange(len(eigenvalues)) <= last, np.exp(-t * eigenvalues / eigenvalues[0]), 0.0)
    return w * mean, t, risk
