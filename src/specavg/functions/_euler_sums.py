"""Sums of functions of S² and SO(3) over data, by a non-uniform FFT in Euler angles.

For a pair of orders (j, k), a function of degree l is T(β) times a wave in jα + kγ. T is a trigonometric polynomial of
degree l in β, even or odd as j + k is. So all sums over data follow from Σ y e^{i(jα + mβ + kγ)}, |m| ≤ top. An inverse
transform in m makes of them, for each pair of orders, values at nodes β_a on the circle, and a product with the table
T(β_a) makes the sums of every degree. The time for a point does not depend on the number of functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions import _nufft

if TYPE_CHECKING:
    from specavg.functions._euler_family import EulerFamily

Orders = NDArray[np.intp]
_TABLE_BYTES = 64e6  # bytes of the tables T that are held at a time


def step_of(orders: Orders) -> int:
    """The largest number that all of `orders` are multiples of; 0 where all are zero."""
    return gcd(*(int(order) for order in orders)) if len(orders) else 0


def wave_orders(steps: tuple[int, int], top: int) -> tuple[Orders, Orders]:
    """All pairs of orders j and k up to `top` that are multiples of `steps`, by increasing max(j, |k|).

    A pair of orders has functions of degree max(j, |k|) and above. Of the pairs ±(j, k) one is listed.
    """  # (P,), (P,)
    first, second = (np.arange(0, top + 1, step) if step else np.zeros(1, dtype=int) for step in steps)
    both = np.concatenate([-second[:0:-1], second])
    j, k = (part.ravel() for part in np.meshgrid(first, both, indexing="ij"))
    kept = np.flatnonzero((j > 0) | (k >= 0))
    kept = kept[np.argsort(np.maximum(j, np.abs(k))[kept], kind="stable")]
    return j[kept], k[kept]


def order_blocks(steps: tuple[int, int], top: int, heights: int) -> Iterator[tuple[Orders, Orders]]:
    """The pairs of `wave_orders`, as many at a time as have tables at `heights` nodes of `_TABLE_BYTES` together."""
    j, k = wave_orders(steps, top)
    step = max(1, int(_TABLE_BYTES / (8.0 * heights * (top + 1))))
    for start in range(0, len(j), step):
        yield j[start : start + step], k[start : start + step]


def _reach(steps: tuple[int, int], top: int) -> tuple[int, int, int]:
    """The highest frequencies in α, β and γ, those of α and γ in units of `steps`."""
    first, second = (top // step if step else 0 for step in steps)
    return first, top, second


def transform_nanoseconds(steps: tuple[int, int], top: int, n: int) -> float:
    """A forecast of the transform of n points for functions of degree up to `top`; infinite where there is none.

    See `wave_orders` for `steps`.
    """
    reach = [r for r in _reach(steps, top) if r]
    return _nufft.cost(n, np.array([reach])) if reach else np.inf


def sums_by_transform(families: Sequence[EulerFamily], X: Array, Y: Array) -> list[Array]:
    """Φᵀ Y for several families with the same steps; the first of them has the highest degree."""
    # (n, q) -> (dim, q) each
    family = families[0]
    top, q = family.top, Y.shape[1]
    reach = _reach(family.steps, top)
    moving = np.flatnonzero(reach)
    angles = np.stack(family.angles(X), axis=1) * (family.steps[0], 1, family.steps[1])
    waves = _nufft.grid_sums(np.full(len(moving), 2 * np.pi), np.array(reach)[moving], angles[:, moving], Y)
    waves = waves.reshape(q, *(2 * r + 1 for r in reach))
    # Nodes on half of the circle are enough: T(−β) = ± T(β).
    nodes = (np.arange(top + 1) + 0.5) * np.pi / (top + 1)
    circle = np.outer(np.arange(-top, top + 1), nodes)
    back = np.cos(circle) / (top + 1), -1j * np.sin(circle) / (top + 1)
    found = []
    for j, k in order_blocks(family.steps, top, len(nodes)):
        first, second = (o // (s or 1) + r for o, s, r in zip((j, k), family.steps, reach[::2], strict=True))
        chosen = waves[:, first, :, second]  # (P, q, 2 top + 1)
        odd = (j + k) % 2 == 1
        heights: NDArray[np.complex128] = chosen @ back[0]  # (P, q, N)
        heights[odd] = chosen[odd] @ back[1]
        sums = np.stack([heights.real, heights.imag], axis=1).reshape(len(j), 2 * q, -1)
        table = sums @ family.wave_table(j, k, np.cos(nodes))  # (P, 2 q, top + 1)
        found.append(table.reshape(len(j), 2, q, -1).transpose(0, 3, 1, 2))
    sums, (j, k) = np.concatenate(found), wave_orders(family.steps, top)
    parts = [(f, (j <= f.top) & (np.abs(k) <= f.top)) for f in families]
    return [f.from_waves(sums[kept, : f.top + 1], j[kept], k[kept]) for f, kept in parts]
