"""Tables of factors: functions of single coordinates, as programs that loops run row by row.

T[f], the factor in row f of the table, follows from the coordinates x of a point and from earlier rows f1 and f2:

| operation | T[f] | used for |
|---|---|---|
| COSINE, SINE | √2 cos(2π a x_i), √2 sin(2π a x_i), x in periods | waves |
| STEP | a·x_i·T[f1] + b·T[f2] | powers, Hermite and Chebyshev polynomials |
| SOLID_STEP | a·x_i·T[f1] + b·(x_1² + … + x_i²)·T[f2] | homogeneous Gegenbauer polynomials |
| PAIR | a·x_i·T[f1] + b·x_k·T[f2] | real and imaginary parts of powers of x_1 + i x_2 |

A negative f1 or f2 stands for the constant 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

COSINE, STEP, SOLID_STEP, PAIR, SINE = range(5)
# How points become the coordinates x of a table. TORUS: divided by the period and reduced to |x| ≤ 1/2. SPHERE: divided
# by their norm and multiplied by the radius. TABLE: taken as they are. GIVEN: not at all; the table has no rows, and
# values of the factors come from elsewhere.
TORUS, SPHERE, TABLE, GIVEN = range(4)

Indices = NDArray[np.int64]


class FactorTable(NamedTuple):
    """Factors of single coordinates, as loops read them.

    Attributes
    ----------
    mode : int
        How points become coordinates: `TORUS`, `SPHERE`, `TABLE` or `GIVEN`.
    scale : ndarray of shape (d,) or (1,)
        The derivative of the coordinates by the given ones. `TORUS`: 1/period of each coordinate. `SPHERE`: the radius.
        `TABLE`: what gradients are multiplied by; the points themselves are not.
    operations : ndarray of int, shape (F, 5)
        For each row the operation, the coordinate i, the rows f1 and f2, and the second coordinate k.
    constants : ndarray of shape (F, 2)
        The numbers a and b of each row.
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
        """A table with one row √2cos 2πv u_i, or √2sin 2πv u_i, for each frequency v and its coordinate i.

        Parameters
        ----------
        period : ndarray of shape (d,)
        values, coordinates : ndarrays of int, shape (F,)
            The v and the i.
        sines : ndarray of bool, shape (F,)
            Whether the row is a sine.
        """
        zero = np.zeros_like(values)
        operations = np.stack([np.where(sines, SINE, COSINE), coordinates, zero - 1, zero - 1, zero], axis=1)
        return cls.of(TORUS, 1.0 / period, operations, np.stack([values, zero], axis=1).astype(float))

    @property
    def size(self) -> int:
        """The number of rows, F."""
        return len(self.operations)
