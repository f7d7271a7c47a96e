"""The Gram matrix of functions on S² and SO(3), as an operator: a density on a grid of Euler angles.

Products of two functions of degree up to L have degree up to 2L. So Φᵀ diag(w) Φ follows from the sums Σ w φ of all
functions φ of degree up to 2L, whatever the number of points is. These sums are the coefficients of the density of the
data.

A product with the Gram matrix uses a quadrature rule that is exact up to degree 4L: evaluate the combination at its
nodes, multiply it by the density, and compute the coefficients of what comes out. On a grid of Euler angles (α, β, γ)
evaluating, and computing coefficients, are a small matrix product for each pair of orders and an FFT. S² has no γ.

Where all orders are multiples of a number, as for a group with a rotation axis, the grid covers one period only.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg.functions._euler_sums import order_blocks, sums_by_transform, transform_nanoseconds, wave_orders
from specavg.functions._gram_operator import in_batches

if TYPE_CHECKING:
    from specavg.functions._euler_family import EulerFamily

_BATCH_BYTES = 64e6  # bytes of the grids of all columns that are transformed together
# How many parts the tables T are held in. A part has no entries below the lowest degree of its orders, where T is zero.
_PARTS = 16
_NANOSECONDS_A_NODE = 40.0  # of a product with one column, for each node: two FFTs and what is between them; measured
_NANOSECONDS_AN_ENTRY = 20.0  # of making a density, for each entry of the tables it takes; measured 17 to 28
_NANOSECONDS_A_PRODUCT = 1.0  # of a product with one column, for each entry of the tables; measured


@final
class _Grid:
    """The nodes of a quadrature rule that is exact for products of four functions of the degree of `family`.

    Attributes
    ----------
    top : int
        The highest degree L of the family.
    steps : (int, int)
        See `EulerFamily.steps`.
    cosines, weights : ndarrays of shape (N,)
        The Gauss-Legendre nodes cos β and their weights, of sum one. Each node is called a height.
    n_angles : (int, int)
        How many angles α, and how many angles γ, the grid has.
    """

    def __init__(self, family: EulerFamily) -> None:
        fft: Any = import_module("scipy.fft")
        self.top = L = family.top
        self.steps = family.steps
        self.cosines, weights = np.polynomial.legendre.leggauss(2 * L + 1)
        self.weights = weights / 2
        self.n_angles = tuple(
            1 if step == 0 else int(fft.next_fast_len(4 * L // step + 1, real=axis == 0))
            for axis, step in enumerate(self.steps)
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many heights, angles γ and angles α the grid has."""
        return len(self.cosines), self.n_angles[1], self.n_angles[0]

    def places(self, j: NDArray[np.intp], k: NDArray[np.intp]) -> NDArray[np.intp]:
        """The places of pairs of orders in a flattened spectrum of a real FFT."""
        a, b = (order // step if step else order for order, step in zip((j, k), self.steps, strict=True))
        return (b % self.n_angles[1]) * (self.n_angles[0] // 2 + 1) + a

    def spectrum(self, q: int) -> NDArray[np.complex128]:
        """Zeros in the shape of spectra of q functions at each height, flattened."""  # (N, q, S)
        return np.zeros((len(self.cosines), q, self.n_angles[1] * (self.n_angles[0] // 2 + 1)), dtype=complex)

    def put(self, spectrum: NDArray[np.complex128], waves: Array, j: NDArray[np.intp], k: NDArray[np.intp]) -> None:
        """Write A cos(jα + kγ) + B sin(jα + kγ) into `spectrum`; `waves` has A and B at each height."""
        # (N, q, S), (P, N, 2, q)
        c = 0.5 * (waves[:, :, 0] - 1j * waves[:, :, 1]).transpose(1, 2, 0)  # (N, q, P)
        c[..., (j == 0) & (k == 0)] *= 2
        spectrum[..., self.places(j, k)] = c
        plane = np.flatnonzero((j == 0) & (k > 0))  # a real FFT stores both (0, k) and (0, −k)
        spectrum[..., self.places(j[plane], -k[plane])] = np.conj(c[..., plane])

    def values(self, spectrum: NDArray[np.complex128]) -> Array:
        """The values on the grid of functions with this `spectrum`."""  # (N, q, S) -> (N, q, angles γ, angles α)
        fft: Any = import_module("scipy.fft")
        N, q, _ = spectrum.shape
        shaped = spectrum.reshape(N, q, self.n_angles[1], self.n_angles[0] // 2 + 1)
        return np.asarray(fft.irfft2(shaped, s=self.shape[1:], norm="forward", workers=settings().n_threads))


@final
class EulerGram:
    """Φᵀ diag(w) Φ as an operator.

    Parameters
    ----------
    family : EulerFamily
        The functions Φ.
    density : ndarray of shape (heights, angles γ, angles α)
        The density Σ w δ(x − x_i) of the data up to twice the degree of the family, on the grid of the family. The
        operator keeps nothing else of the data.
    """

    def __init__(self, family: EulerFamily, density: Array) -> None:
        self._family = family
        self.solver = "grid"
        self._grid = grid = _Grid(family)
        self.density = density
        self._j, self._k = wave_orders(grid.steps, grid.top)
        require_memory(
            8.0 * _entries(grid),
            f"tables of degree {grid.top} for {len(self._j)} pairs of orders",
            "Lower the cutoff, or take more memory.",
        )
        self._tables = [
            (part, low, family.wave_table(self._j[part], self._k[part], grid.cosines)[..., low:].copy(order="K"))
            for part, low in _parts(self._j, self._k)
        ]
        self._scaled = density * (grid.weights / (grid.n_angles[0] * grid.n_angles[1]))[:, None, None]

    def __matmul__(self, C: Array) -> Array:
        """Φᵀ diag(w) Φ C."""  # (dim, q) -> (dim, q)
        return in_batches(self._apply, C, _BATCH_BYTES, 32.0 * self._scaled.size)

    def _apply(self, C: Array) -> Array:
        fft: Any = import_module("scipy.fft")
        grid, q = self._grid, C.shape[1]
        waves = self._family.to_waves(C, self._j, self._k)  # (P, L + 1, 2, q)
        P, N = len(waves), len(grid.cosines)
        waves = waves.reshape(P, grid.top + 1, 2 * q)
        at_heights = np.concatenate([table @ waves[part, low:] for part, low, table in self._tables])
        spectrum = grid.spectrum(q)
        grid.put(spectrum, at_heights.reshape(P, N, 2, q), self._j, self._k)
        values = grid.values(spectrum)
        values *= self._scaled[:, None]
        back = fft.rfft2(values, workers=settings().n_threads).reshape(N, q, -1)[..., grid.places(self._j, self._k)]
        sums = np.stack([back.real, -back.imag], axis=1).transpose(3, 0, 1, 2)  # (P, N, 2, q)
        sums, waves = sums.reshape(P, N, 2 * q), np.zeros((P, grid.top + 1, 2 * q))
        for part, low, table in self._tables:
            np.matmul(table.transpose(0, 2, 1), sums[part], out=waves[part, low:])
        return self._family.from_waves(waves.reshape(P, grid.top + 1, 2, q), self._j, self._k)


def _parts(j: NDArray[np.intp], k: NDArray[np.intp]) -> Iterator[tuple[slice, int]]:
    """Ranges of the pairs of `wave_orders`, and the lowest degree of each range, below which its tables are zero."""
    step = max(1, len(j) // _PARTS)
    for start in range(0, len(j), step):
        yield slice(start, min(start + step, len(j))), int(max(j[start], abs(k[start])))


def _entries(grid: _Grid) -> float:
    """The number of entries of the tables of an `EulerGram`, all parts together."""
    parts = _parts(*wave_orders(grid.steps, grid.top))
    return sum((part.stop - part.start) * (grid.top + 1.0 - low) for part, low in parts) * len(grid.cosines)


def gram_nanoseconds(family: EulerFamily, n: int, loops: float) -> tuple[float, float]:
    """Forecasts in nanoseconds: of `euler_gram` for n points, and of a product of the operator with one column.

    See `euler_gram` for `loops`.
    """
    grid, top = _Grid(family), 2 * family.top
    tables = len(wave_orders(family.steps, top)[0]) * (top + 1.0) ** 2
    build = min(loops, transform_nanoseconds(family.steps, top, n)) + _NANOSECONDS_AN_ENTRY * tables
    return build, _NANOSECONDS_A_NODE * float(np.prod(grid.shape)) + _NANOSECONDS_A_PRODUCT * _entries(grid)


def euler_gram(
    family: EulerFamily, twice: EulerFamily, X: Array, weights: Array, Y: Array, loops: float
) -> tuple[EulerGram, Array]:
    """Φᵀ diag(w) Φ as an operator, and the sums Φᵀ (w, wY), with w the `weights`.

    Parameters
    ----------
    family : EulerFamily
        The functions Φ.
    twice : EulerFamily
        All functions of up to twice the degree that a product of two functions of `family` may contain.
    X : ndarray of shape (n, n_features)
    weights : ndarray of shape (n,)
    Y : ndarray of shape (n, q)
    loops : float
        A forecast, in nanoseconds, of the sums of `twice` over data by loops. Where a non-uniform FFT is forecast to be
        faster, it is used.
    """
    strengths = np.column_stack([weights, weights[:, None] * Y])
    if transform_nanoseconds(twice.steps, twice.top, len(X)) < loops:
        all_sums, sums = sums_by_transform((twice, family), X, strengths)
    else:
        all_sums, sums = twice.correlate(X, strengths[:, :1]), family.correlate(X, strengths)
    return EulerGram(family, _density(family, twice, all_sums[:, 0])), sums


def _density(family: EulerFamily, twice: EulerFamily, sums: Array) -> Array:
    """The density of data on the grid of `family`, from the sums over data of the functions `twice`."""
    # (twice.dim,) -> (heights, angles γ, angles α)
    grid = _Grid(family)
    spectrum = grid.spectrum(1)
    for j, k in order_blocks(grid.steps, twice.top, len(grid.cosines)):
        waves = twice.to_waves(sums[:, None], j, k)[..., 0]  # (P, 2L + 1, 2)
        at_heights = twice.wave_table(j, k, grid.cosines) @ waves
        grid.put(spectrum, at_heights[..., None], j, k)
    return grid.values(spectrum)[:, 0]
