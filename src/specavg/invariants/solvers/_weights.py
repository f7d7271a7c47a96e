"""Fields at the speed at which their weights are integers: zero is then far from everything else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specavg.invariants.solvers._solver import Unsuitable
from specavg.isometries.fields import Field

__all__ = ["integer_speed", "integer_weights"]

_MULTIPLES = 60  # the denominators of ratios of speeds that are tried: frequencies of closed flows have small ratios
_SAME = 1e-11  # relative: the speeds of a field come from eigenvalues, rounded to 1e-15
_WHOLE = 1e-9  # weights closer to integers than this are integers; eigenvalues of dD are rounded to 1e-13


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


def integer_weights(dD: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
    """Weights w and unit vectors u with dD u = −i w u, of a field whose flow has the period 2π.

    Examples
    --------
    >>> integer_weights(np.array([[0.0, -2.0], [2.0, 0.0]]))[0]
    array([-2,  2])
    """
    values, vectors = np.linalg.eigh(1j * dD)
    weights = np.rint(values)
    error = float(np.abs(values - weights).max(initial=0.0))
    if error > _WHOLE * max(1.0, float(np.abs(weights).max(initial=0.0))):
        raise Unsuitable(
            f"the weights of a field are {error:.1e} from integers: its flow does not close, and functions cannot be "
            "sorted by them."
        )
    return weights.astype(np.int64), vectors
