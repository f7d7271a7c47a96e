"""Fields at the speed at which their weights are integers: zero is then far from everything else."""

from __future__ import annotations

import numpy as np

from specavg.isometries.fields import Field

__all__ = ["integer_speed"]

_MULTIPLES = 60  # the denominators of ratios of speeds that are tried: frequencies of closed flows have small ratios
_SAME = 1e-11  # relative: the speeds of a field come from eigenvalues, rounded to 1e-15


def integer_speed(field: Field) -> Field:
    """The multiple of a field whose flow has the period 2π, as far as its planes have commensurable speeds.

    The singular values of dD(ξ) are then integers: 0, or at least 1. Where speeds have no small ratio (the flow fills
    a torus) the fastest is 1.

    Examples
    --------
    >>> from specavg.isometries import fields
    >>> integer_speed(fields.rotation([[0, -5, 0], [5, 0, 0], [0, 0, 0]]))
    rotation([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    """
    speeds = np.array([speed for speed, _ in field.circles()])
    if not speeds.size:
        return field
    ratios = np.abs(speeds) / np.abs(speeds).min()
    for multiple in range(1, _MULTIPLES + 1):
        whole = np.rint(multiple * ratios)
        if np.abs(multiple * ratios - whole).max() <= _SAME * whole.max():
            return (multiple / float(np.abs(speeds).min())) * field
    return (1.0 / float(np.abs(speeds).max())) * field
