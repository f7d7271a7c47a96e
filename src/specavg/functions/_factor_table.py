"""Factors of products, as short programs that loops run: each row follows from a coordinate and earlier rows.

| operation | row f at a point x |
|---|---|
| COSINE, SINE | √2 cos(2π a x_i), √2 sin(2π a x_i), x in periods |
| STEP | a·x_i·T[f1] + b·T[f2]: powers, Hermite polynomials |
| SOLID_STEP | a·x_i·T[f1] + b·(x_1² + … + x_i²)·T[f2]: homogeneous Gegenbauer polynomials |
| PAIR | a·x_i·T[f1] + b·x_k·T[f2]: real and imaginary parts of powers of x_1 + i x_2 |

A negative f1 or f2 stands for the constant 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

COSINE, STEP, SOLID_STEP, PAIR, SINE = range(5)
TORUS, SPHERE, TABLE = range(3)  # how points become coordinates: reduced modulo the period, normalised, as they are

Indices = NDArray[np.int64]


class FactorTable(NamedTuple):
    """Factors of single coordinates, as loops read them.

    Attributes
    ----------
    mode : int
        How points become coordinates: `TORUS`, `SPHERE` or `TABLE`.
    scale : ndarray
        1/period of each coordinate on a torus; the radius of the sphere.
    operations : ndarray of int, shape (F, 5)
        Operation, coordinate i, first row f1, second row f2, second coordinate k.
    constants : ndarray of shape (F, 2)
        a and b.
    """

    mode: int
    scale: Array
    operations: Indices
    constants: Array

    @classmethod
    def of(cls, mode: int, scale: Array, operations: Indices, constants: Array) -> FactorTable:
        """A table whose arrays have the types that loops are compiled for."""
        return cls(
            mode,
            np.array(scale, dtype=np.float64),
            np.array(operations, dtype=np.int64).reshape(-1, 5),
            np.array(constants, dtype=np.float64).reshape(-1, 2),
        )

    @classmethod
    def of_waves(cls, period: Array, values: Indices, coordinates: Indices, sines: NDArray[np.bool_]) -> FactorTable:
        """√2cos or √2sin of 2πv u_i for each value v and coordinate i."""
        zero = np.zeros_like(values)
        operations = np.stack([np.where(sines, SINE, COSINE), coordinates, zero - 1, zero - 1, zero], axis=1)
        return cls.of(TORUS, 1.0 / period, operations, np.stack([values, zero], axis=1).astype(float))

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.operations)
