"""The Gram matrix of invariant functions on a torus of few dimensions, without forming it.

Σ w e_k ē_l depends on k − l only: it is Toeplitz, and the sums of the weights with waves of up to twice the highest
frequency have all of it: one non-uniform FFT, or loops over the waves. Multiplying by it is then what it means:
evaluate the function on a fine grid, multiply by the (band-limited) density of the data, and take the coefficients
back. Two FFTs, whatever n is.
"""

from __future__ import annotations

from importlib import import_module
from math import gamma
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg.functions._gram_operator import in_batches

_BATCH_BYTES = 16e6  # memory of the grids that are transformed together
_NANOSECONDS_A_GRID_POINT = 30.0  # time of one multiplication, for each column; measured


@final
class ToeplitzGram:
    """Φᵀ diag(w) Φ as an operator, and Φᵀ diag(w) Y.

    Parameters
    ----------
    K : ndarray of int, shape (F, d)
        Frequencies; Φ are combinations of their cosines and then their sines.
    Q : sparse matrix of shape (2F, dim)
        The combinations.
    density : ndarray
        Σ w δ(u − u_i), band-limited to twice the highest frequency, on a grid of the torus: all that is kept of
        the data.

    Attributes
    ----------
    dim : int
    density : ndarray
    """

    def __init__(self, K: NDArray[np.int64], Q: Any, density: Array) -> None:
        self.solver = "toeplitz"
        self.dim = int(Q.shape[1])
        self.density = density
        self._Q = Q.tocsr()
        self._shape = density.shape
        self._spectrum_shape = (*self._shape[:-1], self._shape[-1] // 2 + 1)
        # One of ±k has a last entry ≥ 0, which is what a real transform keeps.
        flip = np.where(K[:, -1] < 0, -1, 1)
        self._place = _places(K * flip[:, None], self._spectrum_shape)
        self._flip = flip
        flat = ~K.any(axis=1)
        self._half = np.where(flat, 1.0, 0.5)
        # In the plane k_d = 0 both k and −k are stored.
        plane = np.flatnonzero((K[:, -1] == 0) & ~flat)
        self._plane = plane
        self._mirror = _places(-K[plane], self._spectrum_shape)

    def __matmul__(self, C: Array) -> Array:
        """Φᵀ diag(w) Φ C."""  # (dim, q) -> (dim, q)
        return in_batches(self._apply, C, _BATCH_BYTES, 16.0 * self.density.size)

    def _apply(self, C: Array) -> Array:
        fft: Any = import_module("scipy.fft")  # its types are those of arguments, not of results
        mixed = np.asarray(self._Q @ C)  # (2F, q)
        F, q = len(self._place), C.shape[1]
        axes, workers = tuple(range(1, 1 + len(self._shape))), settings().n_threads
        # Σ a cos + b sin = Re Σ (a − ib) e: half of it at k, the conjugate half at −k.
        c = ((mixed[:F] - 1j * mixed[F:]) * self._half[:, None]).T
        c = np.where(self._flip > 0, c, np.conj(c))
        grid = np.zeros((q, int(np.prod(self._spectrum_shape))), dtype=complex)
        grid[:, self._place] = c
        grid[:, self._mirror] = np.conj(c[:, self._plane])
        values = fft.irfftn(grid.reshape(q, *self._spectrum_shape), s=self._shape, axes=axes, workers=workers)
        values *= self.density
        back = fft.rfftn(values, axes=axes, workers=workers).reshape(q, -1)[:, self._place]
        # Σ over the grid of f e^{−2πik·u}: the cosine sum and minus the sine sum.
        sines = -np.where(self._flip > 0, back.imag, -back.imag)
        return np.asarray(self._Q.T @ np.concatenate([back.real, sines], axis=1).T)

    def dense(self) -> Array:
        """The matrix itself."""  # (dim, dim)
        require_memory(24.0 * self.dim**2, f"the Gram matrix of {self.dim} functions", "Lower the cutoff.")
        G = self @ np.eye(self.dim)
        return 0.5 * (G + G.T)


def _places(K: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Where frequencies with a last entry ≥ 0 stand in a flattened real spectrum."""
    return np.asarray(np.ravel_multi_index(tuple((K % np.array(shape)).T), shape))


def differences(K: NDArray[np.int64]) -> NDArray[np.int64]:
    """Frequencies among which all differences of two rows of K are, one of each pair ±k."""  # (F, d) -> (M, d)
    reach, radius = _extent(K)
    cube = np.stack(np.meshgrid(*(np.arange(-2 * r, 2 * r + 1) for r in reach), indexing="ij"), axis=-1)
    found = cube.reshape(-1, len(reach))
    found = found[len(found) // 2 :]  # 0, and all k whose first entry that is not 0 is positive
    return found[np.sum((found / np.maximum(reach, 1)) ** 2, axis=1) <= (2 * radius) ** 2 + 1e-9]


def difference_count(K: NDArray[np.int64]) -> float:
    """About how many they are."""
    reach, radius = _extent(K)
    d = len(reach)
    ball = np.pi ** (d / 2) / gamma(d / 2 + 1) * (2 * radius) ** d * float(np.prod(np.maximum(reach, 0.5)))
    return 0.5 * min(ball, float(np.prod(4.0 * reach + 1)))


def _extent(K: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
    """The largest entries, and the largest norm in units of them."""
    reach = np.abs(K).max(axis=0)
    return reach, float(np.sqrt(np.max(np.sum((K / np.maximum(reach, 1)) ** 2, axis=1))))


def density_of_sums(sums: NDArray[np.complex128]) -> Array:
    """The density of data on a grid fine enough for products of two waves, from Σ w e^{2πik·u} for all |k| ≤ 2 reach.

    The density has frequencies up to twice the reach of the functions, and so have products of two functions.
    """  # (4 reach + 1, …) -> grid
    fft: Any = import_module("scipy.fft")
    reach = [(size - 1) // 4 for size in sums.shape]
    shape = tuple(int(fft.next_fast_len(int(4 * r + 1), real=True)) for r in reach)
    spectrum = np.zeros((*shape[:-1], shape[-1] // 2 + 1), dtype=complex)
    last = 2 * int(reach[-1])
    axes = [np.arange(-2 * r, 2 * r + 1) for r in reach[:-1]] + [np.arange(last + 1)]
    spectrum[np.ix_(*axes)] = np.conj(sums[..., last:])  # Σ w e^{−2πik·u}, k_d ≥ 0
    return np.asarray(fft.irfftn(spectrum, s=shape)) * float(np.prod(shape))


def column_nanoseconds(K: NDArray[np.int64]) -> float:
    """A forecast of one multiplication by the matrix, for each column."""
    return _NANOSECONDS_A_GRID_POINT * float(np.prod(4.0 * np.abs(K).max(axis=0) + 1))
