"""The Gram matrix of functions on a torus of few dimensions, as an operator.

Let e_k be the wave of frequency k. The entries Σ w e_k ē_l depend on k − l only: the matrix is Toeplitz. It follows
from the sums of the weights with all waves of up to twice the highest frequency, which one non-uniform FFT, or a loop,
computes. These sums are the Fourier coefficients of the band-limited density of the data.

A product with the Gram matrix takes two FFTs, whatever the number of points is: evaluate the combination on a fine
grid, multiply it by the density, and compute the coefficients of what comes out.
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

_BATCH_BYTES = 16e6  # bytes of the grids of all columns that are transformed together
_NANOSECONDS_A_GRID_POINT = 30.0  # of a product with one column, for each point of the grid; measured


@final
class ToeplitzGram:
    """Φᵀ diag(w) Φ as an operator, for combinations Φ of waves.

    Parameters
    ----------
    K : ndarray of int, shape (F, d)
        The frequencies of the waves.
    Q : sparse matrix of shape (2F, dim)
        The coefficients of all cosines, and then of all sines, in each function.
    density : ndarray
        The density Σ w δ(u − u_i) of the data, band-limited to twice the highest frequency, on a grid of the torus.

    Attributes
    ----------
    dim : int
        The number of functions.
    density : ndarray
        The parameter `density`: the operator keeps nothing else of the data.
    """

    def __init__(self, K: NDArray[np.int64], Q: Any, density: Array) -> None:
        self.solver = "toeplitz"
        self.dim = int(Q.shape[1])
        self.density = density
        self._Q = Q.tocsr()
        self._shape = density.shape
        self._spectrum_shape = (*self._shape[:-1], self._shape[-1] // 2 + 1)
        # A real FFT stores frequencies whose last entry is ≥ 0: k, or −k where `flip` is −1.
        flip = np.where(K[:, -1] < 0, -1, 1)
        self._place = _places(K * flip[:, None], self._spectrum_shape)
        self._flip = flip
        flat = ~K.any(axis=1)
        self._half = np.where(flat, 1.0, 0.5)
        # Where the last entry is 0 it stores both k and −k.
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
        # Σ a cos + b sin = Re Σ (a − ib) e_k: the coefficient of e_k is (a − ib)/2, and that of e_{−k} its conjugate.
        c = ((mixed[:F] - 1j * mixed[F:]) * self._half[:, None]).T
        c = np.where(self._flip > 0, c, np.conj(c))
        grid = np.zeros((q, int(np.prod(self._spectrum_shape))), dtype=complex)
        grid[:, self._place] = c
        grid[:, self._mirror] = np.conj(c[:, self._plane])
        values = fft.irfftn(grid.reshape(q, *self._spectrum_shape), s=self._shape, axes=axes, workers=workers)
        values *= self.density
        back = fft.rfftn(values, axes=axes, workers=workers).reshape(q, -1)[:, self._place]
        # The sum of f e^{−2πik·u} over the grid: its real part is the sum of the cosine, and its imaginary part minus
        # that of the sine.
        sines = -np.where(self._flip > 0, back.imag, -back.imag)
        return np.asarray(self._Q.T @ np.concatenate([back.real, sines], axis=1).T)

    def dense(self) -> Array:
        """The Gram matrix, formed."""  # (dim, dim)
        require_memory(24.0 * self.dim**2, f"the Gram matrix of {self.dim} functions", "Lower the cutoff.")
        G = self @ np.eye(self.dim)
        return 0.5 * (G + G.T)


def _places(K: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """The places of frequencies with a last entry ≥ 0 in a flattened spectrum of a real FFT."""
    return np.asarray(np.ravel_multi_index(tuple((K % np.array(shape)).T), shape))


def differences(K: NDArray[np.int64]) -> NDArray[np.int64]:
    """One of each pair ±k of frequencies, among them all differences of two rows of K: those of an ellipsoid."""
    # (F, d) -> (M, d)
    reach, radius = _extent(K)
    cube = np.stack(np.meshgrid(*(np.arange(-2 * r, 2 * r + 1) for r in reach), indexing="ij"), axis=-1)
    found = cube.reshape(-1, len(reach))
    found = found[len(found) // 2 :]  # 0, and all k whose first entry that is not 0 is positive
    return found[np.sum((found / np.maximum(reach, 1)) ** 2, axis=1) <= (2 * radius) ** 2 + 1e-9]


def difference_count(K: NDArray[np.int64]) -> float:
    """About how many rows `differences` has."""
    reach, radius = _extent(K)
    d = len(reach)
    ball = np.pi ** (d / 2) / gamma(d / 2 + 1) * (2 * radius) ** d * float(np.prod(np.maximum(reach, 0.5)))
    return 0.5 * min(ball, float(np.prod(4.0 * reach + 1)))


def _extent(K: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
    """The largest |k_i| of each coordinate, and the largest norm of a row of K whose entries are divided by them."""
    reach = np.abs(K).max(axis=0)
    return reach, float(np.sqrt(np.max(np.sum((K / np.maximum(reach, 1)) ** 2, axis=1))))


def density_of_sums(sums: NDArray[np.complex128]) -> Array:
    """The band-limited density of data on a grid, from its Fourier coefficients Σ w e^{2πik·u} for |k_i| ≤ 2 reach_i.

    `reach` has the highest frequencies of the functions. The density, and the products of two functions, have
    frequencies up to twice the reach, for which the grid is fine enough.
    """  # (4 reach_1 + 1, …) -> grid
    fft: Any = import_module("scipy.fft")
    reach = [(size - 1) // 4 for size in sums.shape]
    shape = tuple(int(fft.next_fast_len(int(4 * r + 1), real=True)) for r in reach)
    spectrum = np.zeros((*shape[:-1], shape[-1] // 2 + 1), dtype=complex)
    last = 2 * int(reach[-1])
    axes = [np.arange(-2 * r, 2 * r + 1) for r in reach[:-1]] + [np.arange(last + 1)]
    spectrum[np.ix_(*axes)] = np.conj(sums[..., last:])  # Σ w e^{−2πik·u}, k_d ≥ 0
    return np.asarray(fft.irfftn(spectrum, s=shape)) * float(np.prod(shape))


def column_nanoseconds(K: NDArray[np.int64]) -> float:
    """A forecast, in nanoseconds, of the product of the operator with one column."""
    return _NANOSECONDS_A_GRID_POINT * float(np.prod(4.0 * np.abs(K).max(axis=0) + 1))
