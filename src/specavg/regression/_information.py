"""What the data say about coefficients: a Gaussian likelihood, in the form that every candidate projects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.regression._sums_of_products import (
    LEAST_FREEDOM,
    Chunks,
    directions_with_data,
    products_in_units,
    weighted,
)

# Least noise variance, relative to the variance of y: without noise, rounding would take its place.
_LEAST_NOISE = 1e-10


@final
@dataclass(frozen=True, eq=False)
class Information:
    """The likelihood exp(−θᵀAθ/2 + bᵀθ) of coefficients θ of functions φ, the constant eliminated.

    With noise of one variance σ² it is least squares: A = Σ φφᵀ/σ² and b = Σ φy/σ², with φ and y centred. If the
    noise differs from place to place, A = G M⁻¹ G and b = G M⁻¹ c, with G = Σ φφᵀ, c = Σ φy and M = Σ v φφᵀ, the
    variance v of each point taken from its residual (MacKinnon and White's HC2): A⁻¹ is the covariance of the least
    squares coefficients, whatever the noise. M has many numbers, each of them uncertain, so it is drawn towards
    σ²G, the more the less it differs from it by more than chance (Ledoit and Wolf): `weight` is the share of σ²G.

    A model whose coefficients are θ = Qu has the likelihood with QᵀAQ and Qᵀb: no data are needed any more.

    Attributes
    ----------
    A : ndarray of shape (p, p)
    b : ndarray of shape (p,)
    count : int
        Samples.
    freedom : int
        Samples less the number of coefficients that were estimated.
    noise : float
        σ², what the functions leave of the variance of y. For targets of extreme size this, `variance` and the
        coefficients are in a unit of their own, the same for the same data.
    variance : float
        The variance of y.
    weight : float
        1 if the noise was taken to be the same everywhere, 0 if M was believed as it is.
    """

    A: Array
    b: Array
    count: int
    freedom: int
    noise: float
    variance: float
    weight: float

    @property
    def signal(self) -> float:
        """The variance of the function: what the functions φ explain, noise subtracted."""
        return max(self.variance - self.noise, 0.0)

    @property
    def signal_share(self) -> float:
        """The signal over the variance of y; 0 where y does not vary."""
        return self.signal / self.variance if self.variance > 0 else 0.0

    def on(self, Q: Array) -> Information:
        """The likelihood of u, for coefficients θ = Qu."""  # Q: (p, k)
        return replace(self, A=Q.T @ self.A @ Q, b=Q.T @ self.b)

    def explained(self) -> float:
        """Twice the logarithm of the largest likelihood: bᵀA⁻¹b."""
        try:
            half = np.linalg.solve(np.linalg.cholesky(self.A), self.b)
            return float(half @ half)
        except np.linalg.LinAlgError:  # there are directions no data point has
            return float(self.b @ np.linalg.lstsq(self.A, self.b, rcond=1e-12)[0])

    @classmethod
    def of(cls, columns: Callable[[Array], Array], chunks: Chunks, again: Chunks | None) -> Information:
        """Two readings of the data: sums of products, then residuals.

        Parameters
        ----------
        columns : callable
            Points to φ, of shape (n, p), without the constant.
        chunks : iterable of (X, y) or (X, y, weights)
            Weights are relative precisions, in units of their mean: σ² is the variance at mean weight.
        again : iterable of the same, or None
            The same once more. Without it the noise is taken to be the same everywhere.
        """
        sums, units, n, weight_unit = products_in_units(
            lambda X: np.column_stack([np.ones(len(X)), columns(X)]), chunks
        )
        centred = sums[1:, 1:] - np.outer(sums[1:, 0], sums[0, 1:]) / n
        G, c, squares = centred[:-1, :-1], centred[:-1, -1], float(centred[-1, -1])
        values, vectors = directions_with_data(G, n)
        whiten = vectors / np.sqrt(values)  # (p, r): φ·whiten has orthonormal columns
        back = vectors * np.sqrt(values)  # (p, r): G·whiten
        coef = whiten.T @ c
        left = max(squares - float(coef @ coef), 0.0)
        freedom = max(n - 1 - len(values), 1)
        noise = max(left / freedom, _LEAST_NOISE * squares / n) or 1.0  # a constant y has no unit of its own
        M, weight = np.full(len(coef), noise), 1.0
        if again is not None and squares > 0:
            middle = sums[0, 1:-1] / n
            mean = float(sums[0, -1]) / n

            def rows() -> Iterator[tuple[Array, Array]]:
                for X, y, *given in again:
                    Z = np.column_stack([columns(X) @ whiten - middle @ whiten, units.applied(y[:, None]) - mean])
                    Z = weighted(Z, given, weight_unit)
                    yield Z[:, :-1], Z[:, -1]

            M, weight = _spread(rows(), coef, noise)
        if M.ndim == 1:
            return cls(G / noise, c / noise, n, freedom, noise, squares / n, 1.0)
        solved = np.linalg.solve(M, np.column_stack([back.T, coef]))
        A, b = np.asarray(back @ solved[:, :-1], float), np.asarray(back @ solved[:, -1], float)
        return cls((A + A.T) / 2, b, n, freedom, noise, squares / n, weight)


def _spread(chunks: Iterable[tuple[Array, Array]], coef: Array, noise: float) -> tuple[Array, float]:
    """M for orthonormal columns, and the share of σ²I in it."""
    r = len(coef)
    M, chance = np.zeros((r, r)), 0.0
    for rows, targets in chunks:
        size = np.einsum("ij,ij->i", rows, rows)
        v = (targets - rows @ coef) ** 2 / np.maximum(1 - size, LEAST_FREEDOM)
        chance += float(np.sum((v * size) ** 2))
        spread = rows * np.sqrt(v)[:, None]
        M += spread.T @ spread  # a product of a matrix with itself takes half the time
    level = float(np.trace(M)) / r
    apart = float(np.sum((M - level * np.eye(r)) ** 2))
    weight = min(1.0, chance / apart) if apart > 0 else 1.0
    if weight == 1.0 or level <= noise * 1e-6:
        return np.full(r, noise), 1.0
    return (1 - weight) * M + weight * level * np.eye(r), weight
