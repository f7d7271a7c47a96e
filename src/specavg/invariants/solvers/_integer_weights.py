"""The integer weights of a field whose flow closes: zero is then far from everything else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.invariants.solvers._solver import Unsuitable

_WHOLE = 1e-9  # weights closer to integers than this are integers; eigenvalues of dD are rounded to 1e-13


def integer_weights(dD: Array) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
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
