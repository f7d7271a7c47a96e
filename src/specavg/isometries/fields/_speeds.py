"""How fast the planes of a field turn, and whether its flow comes back."""

from __future__ import annotations

from math import pi

import numpy as np

from specavg.isometries.fields._field import Field

_MULTIPLES = 60  # the denominators of ratios of speeds that are tried: frequencies of closed flows have small ratios
_SAME = 1e-11  # relative: the speeds of a field come from eigenvalues, rounded to 1e-15


def period(field: Field) -> float | None:
    """The smallest t > 0 with exp(t·field) = 1, where the speeds of its planes have small ratios; None elsewhere.

    Examples
    --------
    >>> from specavg.isometries import fields
    >>> around_z = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> period(fields.copies([2 * around_z, 3 * around_z])) / pi
    2.0
    """
    speeds = np.abs([speed for speed, _ in field.circles()])
    if not speeds.size:
        return None
    ratios = speeds / speeds.min()
    for multiple in range(1, _MULTIPLES + 1):
        whole = np.rint(multiple * ratios)
        if np.abs(multiple * ratios - whole).max() <= _SAME * whole.max():
            return 2 * pi * multiple / float(speeds.min())
    return None


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
    found = period(field)
    if found is not None:
        return (found / (2 * pi)) * field
    fastest = max((abs(speed) for speed, _ in field.circles()), default=1.0)
    return (1.0 / fastest) * field
