"""Von Mises kernels of frames: exp(κ tr(gᵀh)/2) on O(n), averaged over the turns that leave a frame alone.

Two n × k frames are the first columns of orthogonal matrices g and h, which are known up to O(n − k). The average over
it is a kernel of the frames that every isometry keeps, and at distances r far below one it is exp(−κr²/2). All
functions of one type of O(n) share a coefficient: with χ the character of the type, the mean of e^(κ tr g/2) χ(g) over
O(n), over the dimension. By Weyl's formulas the two parts of O(n) contribute determinants of sums and differences of
Bessel functions. Entries of a determinant nearly cancel: numbers have so many digits that this does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np

from specavg._arrays import Array
from specavg.spaces._orthogonal_types import Partition, associate, type_dim

_DIGITS = 80  # of which determinants of five rows lose some 40 at κ = 1000
_STEPS = 60  # orders above the last one at which the recurrence starts: it gains digits at each of them
MOST_ROWS = 4  # of a determinant, a sum over the permutations of its rows: O(9)


def log_coefficients(shapes: Sequence[Partition], n: int, kappa: float) -> Array:
    """Log of the coefficients of types of O(n) in the kernel, relative to that of the constant.

    Examples
    --------
    >>> from scipy.special import iv
    >>> even, odd = np.exp(log_coefficients([(1,), (1, 1)], 3, 2.0))  # vectors and axial vectors
    >>> first, second = np.exp(1) * (iv(1, 2) - iv(2, 2)) / 3, np.exp(-1) * (iv(1, 2) + iv(2, 2)) / 3
    >>> constant = np.exp(1) * (iv(0, 2) - iv(1, 2)) + np.exp(-1) * (iv(0, 2) + iv(1, 2))
    >>> bool(abs(even - (first + second) / constant) < 1e-15), bool(abs(odd - (first - second) / constant) < 1e-15)
    (True, True)
    """
    with localcontext() as context:
        context.prec = _DIGITS
        most = max((shape[0] for shape in shapes if shape), default=0) + n
        bessel = _scaled_bessel(most + 1, Decimal(kappa))
        damped = (-Decimal(kappa)).exp()
        values = [_coefficient(shape, n, bessel, damped) for shape in [(), *shapes]]
        return np.array([float((value / values[0]).ln()) for value in values[1:]])


def _coefficient(shape: Partition, n: int, bessel: Sequence[Decimal], damped: Decimal) -> Decimal:
    """The mean of e^(κ(tr g − n)/2) χ(g) over both parts of O(n), over the dimension; damped is e^(−κ)."""
    p, odd = divmod(n, 2)
    sign = 1
    if 2 * len(shape) > n:  # the character has the other sign on the part without rotations
        shape, sign = associate(shape, n), -1
    rows = [(shape[i] if i < len(shape) else 0) for i in range(p)]
    dim = type_dim(shape, n)
    if odd:  # of rotations one eigenvalue is 1, of the others −1
        turned, mirrored = (_determinant(rows, 2 * p + 1, bessel, s) for s in (-1, 1))
        return (turned + sign * damped * mirrored) / dim
    turned = _determinant(rows, 2 * p, bessel, 1)
    if rows[-1:] != [0]:  # two types of rotations, exchanged by reflections, which have no trace
        return turned / dim
    return (turned / 2 + sign * damped * _determinant(rows[:-1], 2 * p, bessel, -1)) / dim


def _determinant(rows: Sequence[int], size: int, bessel: Sequence[Decimal], sign: int) -> Decimal:
    """Of I_{a − b} ± I_{a + b}, with 2a = 2λ_i + n − 2i and 2b = n − 2j."""
    entries = [
        [bessel[abs(row - i + j)] + sign * bessel[row + size - i - j] for j in range(1, len(rows) + 1)]
        for i, row in enumerate(rows, start=1)
    ]
    total = Decimal(0)
    for order in permutations(range(len(rows))):
        term = Decimal(_parity(order))
        for i, j in enumerate(order):
            term *= entries[i][j]
        total += term
    return total


def _parity(order: Sequence[int]) -> int:
    return -1 if sum(order[i] > order[j] for j in range(len(order)) for i in range(j)) % 2 else 1


def _scaled_bessel(count: int, kappa: Decimal) -> list[Decimal]:
    """e^(−κ) I_m(κ) for m = 0, …, count − 1: downwards from where they are negligible, and I₀ + 2 Σ I_m = e^κ."""
    start = count + _STEPS + int(8 * kappa.sqrt()) + int(kappa)
    found = [Decimal(0)] * (start + 2)
    found[start] = Decimal(1)
    for m in range(start, 0, -1):
        found[m - 1] = found[m + 1] + 2 * m / kappa * found[m]
    total = found[0] + 2 * sum(found[1:], Decimal(0))
    return [value / total for value in found[:count]]
