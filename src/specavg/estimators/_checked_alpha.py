"""The penalty that a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["checked_alpha"]


def checked_alpha(alpha: Any) -> float | None:
    """The penalty as a number, None for "auto"; an error for anything else."""
    if isinstance(alpha, str):
        if alpha != "auto":
            raise ValueError(f"alpha must be a positive number or 'auto'; got {alpha!r}")
        return None
    if np.ndim(alpha):
        raise ValueError(f"alpha is one number for all outputs, or 'auto'; got {np.size(alpha)} numbers")
    if not (np.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be positive and finite; got {alpha!r}. 'auto' goes down to interpolation.")
    return float(alpha)
