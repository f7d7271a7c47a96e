"""What least squares can tell from a Gram matrix: its directions that have data."""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array

RANK_TOLERANCE = 1e-10  # of the largest eigenvalue of a Gram matrix: directions below it have no data
LEAST_FREEDOM = 1e-6  # of 1 − leverage: a point that its own fit determines has no residual to speak of


def directions_with_data(gram: Array, count: float) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of the Gram matrix of `count` rows, those of rounding left out."""  # (r,), (p, r)
    values, vectors = np.linalg.eigh(gram)
    kept = values > RANK_TOLERANCE * max(float(values[-1]), float(count))
    return values[kept], vectors[:, kept]
