"""Some columns of the real Wigner matrices M(Ry(β)) of `_wigner_matrices`, one degree after the other.

Only the columns of the orders 0, s, 2s, … are computed. Each entry follows from those of the two degrees before it
(Risbo's recurrence):

    d^{l+1} = (l+1)(2l+1) / √(((l+1)² − j²)((l+1)² − k²)) · ((cos β − jk/(l(l+1))) d^l − √((l²−j²)(l²−k²)) / (l(2l+1)) d^{l−1})

It starts at l = max(j, |k|) with √binomial · cos(β/2)^a sin(β/2)^b. This product may be as small as 1e-1000, and later
degrees may still be of size one. So small numbers are stored as a float and a power of 2^512 (`_Small`).
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

_BITS = 512  # numbers are scaled by powers of 2^512, so that they stay far inside of the range 2^±1022 of floats


def wigner_columns(cosine: float, sine: float, step: int = 1) -> Iterator[tuple[Array, Array]]:
    """The blocks of M(Ry(β)) of cosines and of sines, for the degrees 0, 1, 2, … without end.

    Parameters
    ----------
    cosine, sine : float
        cos(β/2) and sin(β/2) of *half* the angle; neither is negative.
    step : int
        The columns of the orders 0, step, 2·step, … are computed.

    Yields
    ------
    C, S : ndarray of shape (l + 1, l // step + 1)
        Row j is that of order j, for all orders 0, …, l. Row 0 and column 0 of S are zeros: order 0 has no sine.

    Examples
    --------
    >>> from itertools import islice
    >>> import numpy as np
    >>> C, S = list(islice(wigner_columns(np.cos(0.15), np.sin(0.15)), 2))[1]
    >>> np.allclose(C, [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]), bool(np.isclose(S[1, 1], 1))
    (True, True)
    """
    # cos β = whole + part is 1 − 2 sin²(β/2) for small β, and −1 + 2 cos²(β/2) near π: the digits of the small part are
    # lost where the two are added too early.
    whole, part = (1.0, -2.0 * sine**2) if sine <= cosine else (-1.0, 2.0 * cosine**2)
    edge, powers = _Small(np.ones(1)), (_Small(np.ones(1)), _Small(np.ones(1)))
    now = _Small(np.ones((2, 1, 1)))  # d^l_{jk} and d^l_{j,−k}
    before = np.zeros((2, 1, 1))  # d^{l−1}, in the units of `now`
    degree = 0
    while True:
        yield _real(now.plain(), step)
        rows, columns = np.arange(degree + 1.0)[:, None], step * np.arange(degree // step + 1.0)
        after, signed = degree + 1.0, np.stack([rows * columns, -rows * columns])
        scale = 1.0 / np.sqrt((after**2 - rows**2) * (after**2 - columns**2))
        slope = (whole * degree * after - signed) / (degree * after) + part if degree else whole + part
        back = np.sqrt((degree**2 - rows**2) * (degree**2 - columns**2)) / (degree or 1)
        values = after * scale * ((2 * degree + 1) * slope * now.values - back * before)
        degree += 1
        # The edge j = l of the new degree, for k = −l, …, l: √binomial(2l, l + k) cos^{l+k} sin^{l−k}.
        k = np.arange(1.0 - degree, degree)
        edge = edge.times(np.sqrt(2 * degree * (2 * degree - 1) / ((degree - k) * (degree + k))) * cosine * sine)
        powers = (powers[0].times(sine * sine), powers[1].times(cosine * cosine))
        edge = _Small.joined([powers[0], edge, powers[1]])
        now, before = _grown(now, values, edge, degree, step)


def _grown(now: _Small, values: Array, edge: _Small, degree: int, step: int) -> tuple[_Small, Array]:
    """The new degree, and the degree before it in the same shape.

    Entries of orders below the new degree are `values`, in the units of `now`. The last row, and the last column if
    that order is wanted, are from the `edge`.
    """
    shape = (2, degree + 1, degree // step + 1)
    inside = (slice(None), slice(0, degree), slice(0, values.shape[2]))
    grown, before = _Small(np.zeros(shape)), np.zeros(shape)
    grown.values[inside], grown.powers[inside], before[inside] = values, now.powers, now.values
    wanted = step * np.arange(shape[2])
    for sign in (0, 1):
        grown.put((sign, degree), edge, degree + (wanted if sign == 0 else -wanted))
    if degree % step == 0:
        rows = np.arange(degree + 1)
        grown.put((0, slice(None), -1), edge, degree + rows, np.where((degree - rows) % 2, -1.0, 1.0))
        grown.put((1, slice(None), -1), edge, degree - rows)
    if grown.powers.any():
        large = (grown.powers < 0) & (np.abs(grown.values) > 1)
        grown.values[large] *= 2.0**-_BITS
        before[large] *= 2.0**-_BITS
        grown.powers[large] += 1
    return grown, before


def _real(d: Array, step: int) -> tuple[Array, Array]:
    """The blocks of cosines and of sines, from d_{jk} and d_{j,−k}."""
    signs = np.where(step * np.arange(d.shape[2]) % 2, -1.0, 1.0)
    C, S = d[0] + signs * d[1], d[0] - signs * d[1]
    C[0] *= np.sqrt(0.5)
    C[:, 0] *= np.sqrt(0.5)
    S[0] = S[:, 0] = 0.0
    return C, S


class _Small:
    """The numbers `values` · 2^(512 · `powers`), with integers `powers` ≤ 0: they may be too small for a float."""

    def __init__(self, values: Array, powers: NDArray[np.int64] | None = None) -> None:
        self.values = values
        self.powers = np.zeros(values.shape, dtype=np.int64) if powers is None else powers

    def plain(self) -> Array:
        """The numbers as floats; zero for those with a power below 0."""
        return self.values if not self.powers.any() else np.where(self.powers < 0, 0.0, self.values)

    def times(self, factor: Any) -> _Small:
        """The products with a factor, scaled anew."""
        values = self.values * factor
        small = (np.abs(values) < 2.0 ** -(_BITS // 2)) & (values != 0)
        large = (np.abs(values) > 1) & (self.powers < 0)
        scale = np.where(small, 2.0**_BITS, np.where(large, 2.0**-_BITS, 1.0))
        return _Small(values * scale, self.powers - small + large)

    def put(self, place: Any, source: _Small, index: Any, signs: Any = 1.0) -> None:
        """Write signs · source[index] to `place`."""
        self.values[place], self.powers[place] = signs * source.values[index], source.powers[index]

    @staticmethod
    def joined(parts: list[_Small]) -> _Small:
        """The numbers of all of `parts`, one after the other."""
        return _Small(np.concatenate([p.values for p in parts]), np.concatenate([p.powers for p in parts]))
