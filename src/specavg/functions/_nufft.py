"""Sums and combinations of waves by a non-uniform FFT (finufft, an optional extra), in up to three dimensions."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg.functions._compensated_sums import compensated_sum
from specavg.functions._threads import in_order

Indices = NDArray[np.int64]
TOLERANCE = 1e-14  # the error of a sum Σ y e relative to Σ|y|: twelve digits of every sum are then right
_NANOSECONDS = {1: 100.0, 2: 320.0, 3: 2600.0}  # time for each data point, by dimension; measured at this tolerance
_NANOSECONDS_A_MODE = 40.0  # time for each point of the fine grid of the FFT; measured
# About how many points the fine grid of one transform has at most: they take 270 MB. Beyond, the frequencies are split
# into blocks with one transform each.
_FINE_GRID = 1 << 24
_ROWS = 1 << 18  # the fewest rows that one transform takes at once: sorting and spreading them takes some 50 MB


@lru_cache(maxsize=1)
def available() -> bool:
    """Whether finufft is installed: ``pip install specavg[nufft]``."""
    return find_spec("finufft") is not None


def cost(n: int, K: Indices) -> float:
    """A forecast, in nanoseconds, of a transform of n points with frequencies up to those in the rows of K.

    It is infinite where there is no transform: in four dimensions and more, without finufft or without enough memory.
    """
    d = K.shape[1]
    if not available() or d not in _NANOSECONDS or not len(K) or n == 0:
        return np.inf
    modes = float(np.prod(2.0 * np.abs(K).max(axis=0) + 1)) * 2**d
    grids, blocks = -(-n // _rows(modes)), -(-modes // _FINE_GRID)
    if 16.0 * (modes / blocks + 12 * modes / 2**d) * min(settings().n_threads, grids) > settings().memory_limit / 4:
        return np.inf
    return _NANOSECONDS[d] * n * blocks + _NANOSECONDS_A_MODE * modes * grids


def _rows(modes: float) -> int:
    """How many rows one transform takes. It depends on the grid alone, so that the number of threads changes no bit."""
    return int(max(_ROWS, modes))


def _angles(period: Array, X: Array) -> list[Array]:
    """The angles 2πu of each coordinate, reduced to |angle| ≤ π."""  # (n, d) -> (n,) each
    u = X / period
    u -= np.rint(u)
    return [np.ascontiguousarray(2 * np.pi * u[:, i]) for i in range(X.shape[1])]


def grid_sums(period: Array, reach: Indices, X: Array, Y: Array) -> NDArray[np.complex128]:
    """Σ y e^{2πik·u} over all points, for every k with |k_i| ≤ reach_i."""  # (n, d), (n, q) -> (q, 2 reach_1 + 1, …)
    import finufft

    d, q = X.shape[1], Y.shape[1]
    shape = tuple(int(2 * r + 1) for r in reach)
    modes = float(np.prod(shape)) * 2**d
    blocks = _chunks(shape[0], max(1, int(shape[0] * _FINE_GRID / modes)))  # of frequencies along the first axis
    require_memory(
        16.0 * (modes / len(blocks) + 4 * modes / 2**d * q),
        f"a non-uniform FFT with {modes:.3g} points in its grid",
        "Lower the cutoff.",
    )
    transform: Any = getattr(finufft, f"nufft{d}d1")

    pairs = (q + 1) // 2  # two real columns are transformed as one complex column

    def work(rows: slice) -> Array:
        strengths = np.zeros((pairs, rows.stop - rows.start), dtype=np.complex128)
        strengths.real = Y[rows, 0::2].T
        strengths.imag[: q // 2] = Y[rows, 1::2].T
        angles, out = _angles(period, X[rows]), np.empty((pairs, *shape), dtype=np.complex128)
        for block in blocks:
            size = block.stop - block.start
            middle = block.start + size // 2 - int(reach[0])  # the transform of this block calls this frequency zero
            moved = strengths * np.exp(1j * middle * angles[0]) if middle else strengths
            grid = transform(*angles, moved, (size, *shape[1:]), eps=TOLERANCE, isign=1, nthreads=1, modeord=0)
            out[:, block] = grid.reshape(pairs, size, *shape[1:])
        return out.view(np.float64)

    # Each transform runs in one thread and chunks are fixed: the number of threads changes no bit of the sums.
    chunks = _chunks(len(X), _rows(modes))
    total = compensated_sum(in_order(work, chunks), (pairs, *shape[:-1], 2 * shape[-1]))
    grid = np.ascontiguousarray(total).view(np.complex128)
    mirrored = np.conj(grid[(slice(None), *(slice(None, None, -1),) * d)])  # the conjugates at −k separate the columns
    out = np.empty((q, *shape), dtype=np.complex128)
    out[0::2] = 0.5 * (grid + mirrored)
    out[1::2] = (-0.5j * (grid - mirrored))[: q // 2]
    return out


def _chunks(n: int, rows: int) -> list[slice]:
    """Ranges of n rows: as few chunks of about the same size as have no more than `rows` rows each."""
    count = max(1, -(-n // rows))
    ends = np.linspace(0, n, count + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def sums(period: Array, K: Indices, X: Array, Y: Array) -> Array:
    """Σ y cos 2πk·u and Σ y sin 2πk·u for the rows k of K."""  # (n, d), (n, q) -> (2F, q)
    reach = np.abs(K).max(axis=0)
    grid = grid_sums(period, reach, X, Y)
    chosen = grid[(slice(None), *(K + reach).T)]  # (q, F)
    return np.ascontiguousarray(np.concatenate([chosen.real, chosen.imag], axis=1).T)


def combine(period: Array, K: Indices, X: Array, C: Array) -> Array:
    """Σ_k a_k cos 2πk·u + b_k sin 2πk·u, the a before the b in C."""  # (n, d), (2F, q) -> (n, q)
    import finufft

    d, q, F = X.shape[1], C.shape[1], len(K)
    reach = np.abs(K).max(axis=0)
    shape = tuple(int(2 * r + 1) for r in reach)
    modes = float(np.prod(shape)) * 2**d
    # A thread works on the fine grid of one column at a time. Coefficients and waves are held for all columns.
    columns = q * (modes / 2**d + min(len(X), _rows(modes)))
    what = f"a non-uniform FFT of {q} columns with {modes:.3g} points in its grid"
    require_memory(16.0 * (3 * modes + columns), what, "Lower the cutoff, or take more memory.")
    grid = np.zeros((q, *shape), dtype=np.complex128)
    grid[(slice(None), *(K + reach).T)] = (C[:F] - 1j * C[F:]).T
    transform: Any = getattr(finufft, f"nufft{d}d2")
    out = np.empty((len(X), q))

    def work(rows: slice) -> None:
        waves = transform(*_angles(period, X[rows]), grid, eps=TOLERANCE, isign=1, nthreads=1, modeord=0)
        out[rows] = waves.reshape(q, -1).T.real

    for _ in in_order(work, _chunks(len(X), _rows(modes))):
        pass
    return out
