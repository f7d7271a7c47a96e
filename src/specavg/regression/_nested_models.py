"""Nested linear models: what the functions of the larger one add, and how often chance adds as much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg._random import some_rows
from specavg.regression._sums_of_products import (
    LEAST_FREEDOM,
    RANK_TOLERANCE,
    Chunks,
    directions_with_data,
    products_in_units,
    weighted,
)

_ROUNDING = 1e-12  # a difference of explained variances below this part of the variance of y is rounding
_ROWS_PAIRED = 1000  # of a chunk: the share of neighbours on one copy is known to 3 %, in a tenth of a second
_EVEN = 1e-3  # p-value below which points are not spread evenly: one sample in a thousand is doubted for nothing
_COPY = 1e-12  # squared distance of two rows, as a part of their squares, below which they are one point


@final
@dataclass(frozen=True)
class Comparison:
    """A smaller model against the full one."""

    outside: float
    statistic: float
    tested: int
    p_value: float
    same_copy: float = 0.0  # see `_Copies`; 0 where the data are read once


@final
class Models:
    """Linear models on subspaces of the columns Z, each against the model on all columns.

    The first reading of the data gives ZᵀZ, Zᵀy and yᵀy, from which the columns are made orthonormal: rows
    a = (s, t), with s for the smaller model and t for the functions that only the full one has. A second reading,
    where there is one, gives the residuals r of the smaller model and the variance of Σ r t under chance.

    Parameters
    ----------
    columns : callable
        Points to Z, of shape (n, p); the first column is constant.
    chunks : iterable of (X, y) or (X, y, weights)
        Weights are relative precisions: rows are multiplied by their roots, the constant too.
    """

    def __init__(self, columns: Callable[[Array], Array], chunks: Chunks) -> None:
        self._columns = columns
        products, units, self.count, self._weight = products_in_units(columns, chunks)
        mean = products[0, -1] / products[0, 0]
        gram, cross = products[:-1, :-1], products[:-1, -1]
        cross = cross - mean * gram[:, 0]  # of y minus its mean
        self._gram, self._units, self._mean = gram, units, float(mean)
        self.variance = max(0.0, float(products[-1, -1] / self.count - mean**2))
        values, vectors = directions_with_data(gram, self.count)
        self._whiten = vectors / np.sqrt(values)  # (p, r): Z·whiten has orthonormal columns
        self._into = self._whiten.T @ gram  # (r, p): coordinates of Z·span are into·span
        self._coef = self._whiten.T @ cross  # (r,)
        self.rank = len(values)

    def rows(self, X: Array, y: Array, *weights: Array) -> tuple[Array, Array]:
        """The columns, and the targets less their mean, divided by a power of two near their size if it is extreme."""
        Z = np.column_stack([self._columns(X), self._units.applied(y[:, None]) - self._mean])
        Z = weighted(Z, weights, self._weight)
        return Z[:, :-1], Z[:, -1]  # (n, p), (n,)

    def explained(self, span: Array | None = None) -> float:
        """Share of the variance of y that the columns Z·span explain, or all columns, noise subtracted."""
        total = self.variance * self.count / (self.count - 1)
        kept = np.eye(self.rank) if span is None else self.split(span)[0]
        noise = self._noise(self._residual(kept.T @ self._coef), kept.shape[1])
        return float(np.clip(1 - noise / total, 0.0, 1.0)) if total > 0 else 0.0

    def chance_of_as_much(self) -> float:
        """The probability that columns explain so much of targets that are independent of the points (F test)."""
        from scipy.special import fdtrc

        columns, left, residual = self.rank - 1, self.count - self.rank, self._residual(self._coef)
        if columns < 1 or left < 1 or residual <= _ROUNDING * self.variance:
            return 0.0 if self.variance > 0 else 1.0
        return float(fdtrc(columns, left, (self.variance / residual - 1) * left / columns))

    def _residual(self, coef: Array) -> float:
        """Mean squared residual of a model with orthonormal columns."""
        return max(0.0, self.variance - float(coef @ coef) / self.count)

    def _noise(self, residual: float, rank: int) -> float:
        """The variance that a model leaves, its own fit to chance taken into account."""
        return residual * self.count / (self.count - rank)

    def split(self, span: Array) -> tuple[Array, Array]:
        """Orthonormal coordinates of the columns Z·span, and of what all columns have beside them."""  # (r, k), (r, q)
        from scipy.linalg import qr

        factors: Any = qr(self._into @ span, pivoting=True)
        directions, triangle = np.asarray(factors[0]), np.asarray(factors[1])
        sizes = np.abs(np.diagonal(triangle))
        rank = int(np.sum(sizes > np.sqrt(RANK_TOLERANCE) * max(float(sizes[0]), np.sqrt(self.count))))
        return directions[:, :rank], directions[:, rank:]

    def are_even(self, span: Array) -> bool:
        """Whether points are spread evenly over orbits: functions beside Z·span then have means of zero (Hotelling).

        Weights that differ much are rather taken for unevenly spread points than the other way round.
        """
        from scipy.stats import f as distribution

        outside = beside(span)
        values, vectors = directions_with_data(outside.T @ self._gram @ outside, self.count)
        n, q = self.count, len(values)
        if q == 0 or q >= n:
            return True
        sums = vectors.T @ (outside.T @ self._gram[:, 0])
        share = float(np.sum(sums**2 / values) / self._gram[0, 0])  # of the constant that these functions explain
        statistic = share / max(1 - share, 1 / n) * (n - q) / q
        return float(distribution.sf(statistic, q, n - q)) >= _EVEN

    def compare(self, spans: Sequence[Array], chunks: Chunks | None) -> list[Comparison]:
        """The model on each Z·span against the one on all columns.

        Parameters
        ----------
        spans : sequence of ndarray of shape (p, k)
            With orthonormal columns, where the data are read once more.
        chunks : iterable of (X, y) or (X, y, weights), or None
            The same data once more. Without them the p-values are those of the F test, which takes the residuals of
            a true model to be noise of one and the same variance.
        """
        splits = [self.split(span) for span in spans]
        if chunks is None:
            return [self._textbook(*split) for split in splits]
        scores = [_Score(kept, tested, self._coef) for kept, tested in splits]
        copies = [_Copies(span) for span in spans]
        for chunk in chunks:
            Z, targets = self.rows(*chunk)
            rows = Z @ self._whiten
            for score in scores:
                score.add(rows, targets)
            Z = Z[Z[:, 0] > 0]
            some = Z[some_rows(len(Z), _ROWS_PAIRED)]
            for which in copies:
                which.add(some / some[:, :1])  # without the roots of weights
        return [replace(self._robust(s), same_copy=which.share) for s, which in zip(scores, copies, strict=True)]

    def _share(self, kept: Array, gain: float) -> float:
        """Share of the explained variance that only the full model explains."""
        full = self._residual(self._coef)
        # Mean squares, not sums: invariant functions too explain a part of the rest, by chance.
        noise = self._noise(full, self.rank)
        signal = self.variance * self.count / (self.count - 1) - noise
        share = (self._noise(full + gain, kept.shape[1]) - noise) / signal if signal > 0 else 0.0
        return float(np.clip(share, 0.0, 1.0))

    def _textbook(self, kept: Array, tested: Array) -> Comparison:
        from scipy.stats import f as distribution

        q, left = tested.shape[1], self.count - self.rank
        gain = float(np.sum((tested.T @ self._coef) ** 2)) / self.count
        if q == 0 or gain <= _ROUNDING * self.variance:
            return Comparison(0.0, 0.0, q, 1.0)
        statistic = (gain / q) / (max(self._residual(self._coef), _ROUNDING * self.variance) / left)
        return Comparison(self._share(kept, gain), statistic, q, float(distribution.sf(statistic, q, left)))

    def _robust(self, score: _Score) -> Comparison:
        """A quadratic form Σ r_i r_j t_i·t_j against its law when every r_i has a sign of its own."""
        from scipy.stats import gamma as distribution

        q = score.tested.shape[1]
        squares = float(np.sum(score.sums**2))
        gain = squares / self.count
        if q == 0 or gain <= _ROUNDING * self.variance:
            return Comparison(0.0, 0.0, q, 1.0)
        mean, shape = score.law(self.count)
        p_value = float(distribution.sf(squares, shape, scale=mean / shape))
        return Comparison(self._share(score.kept, gain), squares / mean, q, p_value)


def beside(span: Array) -> Array:
    """What is orthogonal to orthonormal columns: of functions, those without an invariant part."""  # (p, p - k)
    return np.linalg.qr(span, mode="complete")[0][:, span.shape[1] :]


@final
class _Score:
    """|Σ r t|², what the functions t add to the smaller model s with residuals r, and its law under chance.

    The residuals are r = (1 − P)e of errors e, with P = s sᵀ. The errors have means zero and variances v_i, each
    its own: then |Σ r t|² has the mean Σ v_i |t_i|², and what the pairs i ≠ j add to its variance is
    2 Σ v_i v_j (t_i·t_j)². Two estimates of v_i are used, both unbiased if all are equal:

    - r_i² / (1 − P_ii), which is MacKinnon and White's HC2, and too small where large errors meet a large P_ii;
    - (r_i² − Σ_{j≠i} P_ij² v_j) / (1 − P_ii)², with the first estimate for v_j, which is right there too.

    The larger of the two means is taken: an alarm too few rather than too many.
    """

    def __init__(self, kept: Array, tested: Array, coef: Array) -> None:
        self.kept, self.tested = kept, tested
        self._coef = kept.T @ coef
        r, k = kept.shape
        self._sums = np.zeros(r)  # Σ r a, with a = (s, t) in the coordinates of all columns
        self._products = np.zeros((r, r))  # Σ v a aᵀ
        self._diagonal = 0.0  # Σ (v |t|²)²
        self._own = 0.0  # Σ u (r² + P_ii² v), with u = |t|² / (1 − P_ii)²
        self._weighted = np.zeros((k, k))  # Σ u s sᵀ: its product with Σ v s sᵀ sums u_i P_ij² v_j

    @property
    def sums(self) -> Array:
        """Σ r t."""  # (q,)
        return self.tested.T @ self._sums

    def add(self, rows: Array, targets: Array) -> None:
        """More rows, of shapes (n, r) and (n,). The directions t are never multiplied out: |t|² is |a|² − |s|²."""
        s = rows @ self.kept
        residuals = targets - s @ self._coef
        leverage = np.einsum("ij,ij->i", s, s)
        size = np.maximum(np.einsum("ij,ij->i", rows, rows) - leverage, 0.0)
        freedom = np.maximum(1 - leverage, LEAST_FREEDOM)
        v, u = residuals**2 / freedom, size / freedom**2
        self._sums += residuals @ rows
        self._diagonal += float(np.sum((v * size) ** 2))
        self._own += float(np.sum(u * (residuals**2 + leverage**2 * v)))
        for total, weight, columns in ((self._products, v, rows), (self._weighted, u, s)):
            scaled = np.sqrt(weight)[:, None] * columns
            total += scaled.T @ scaled  # a product of a matrix with itself takes half the time

    def law(self, count: int) -> tuple[float, float]:
        """Mean and shape of the gamma law with the two moments."""
        products = self.tested.T @ self._products @ self.tested  # Σ v t tᵀ
        first = float(np.trace(products))
        second = self._own - float(np.sum(self._weighted * (self.kept.T @ self._products @ self.kept)))
        # Terms with i = j have no sign, and so no variance. A bound keeps one single point from being certainty.
        variance = max(2 * (float(np.sum(products**2)) - self._diagonal), 2 * first**2 / count)
        return max(first, second), first**2 / variance


@final
class _Copies:
    """Whether points whose orbits are neighbours are neighbours themselves: on one copy of each orbit.

    Each row z is paired with the one that is nearest to it in the functions of the smaller model, and the parts of
    both beside these functions are correlated: Σ t_i·t_j / Σ |t_i|². Points that are spread evenly over their orbits
    give 0; points on one copy of each orbit give up to 1, and at them functions of the orbit alone can be t.
    """

    def __init__(self, span: Array) -> None:
        self._span = span
        self._alike, self._all = 0.0, 0.0

    @property
    def share(self) -> float:
        return max(0.0, self._alike / self._all) if self._all > 0 else 0.0

    def add(self, rows: Array) -> None:
        """More rows, of which the first column is one."""  # (n, p)
        if len(rows) < 2:
            return
        s = rows @ self._span
        within = _squared_distances(s)
        copies = _squared_distances(rows) <= _COPY * np.sum(rows**2, axis=1)[:, None]  # the row itself among them
        within[copies] = np.inf
        nearest = np.argmin(within, axis=1)
        beside = np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", s, s)
        products = np.einsum("ij,ij->i", rows, rows[nearest]) - np.einsum("ij,ij->i", s, s[nearest])
        paired = ~copies.all(axis=1)
        self._alike += float(np.sum(products[paired]))
        self._all += float(np.sum(beside[paired]))


def _squared_distances(rows: Array) -> Array:
    """Between all pairs of rows."""  # (n, p) -> (n, n)
    squares = np.einsum("ij,ij->i", rows, rows)
    return squares[:, None] + squares - 2 * rows @ rows.T


def permutation_p_values(
    Z: Array, y: Array, spans: Sequence[Array], n_permutations: int, rng: np.random.Generator
) -> list[float]:
    """Freedman and Lane: residuals of each smaller model are permuted, and F computed anew.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
    y : ndarray of shape (n,)
    spans : sequence of ndarray of shape (p, k)
        The smaller models.
    n_permutations : int
    rng : Generator

    Returns
    -------
    list of float
        A p-value per model, at least 1/(n_permutations + 1).
    """
    full = _orthonormal(Z)
    p_values: list[float] = []
    for span in spans:
        small = _orthonormal(Z @ span)
        if full.shape[1] <= small.shape[1]:
            p_values.append(1.0)
            continue
        e = y - small @ (small.T @ y)
        observed = _ratio(e[:, None], small, full)[0]
        above, left, block = 0, n_permutations, max(1, int(4e6 / len(e)))
        while left > 0:
            shuffled = rng.permuted(np.repeat(e[:, None], min(block, left), axis=1), axis=0)
            above += int(np.sum(_ratio(shuffled, small, full) >= observed * (1 - 1e-12)))
            left -= shuffled.shape[1]
        p_values.append((1 + above) / (1 + n_permutations))
    return p_values


def _orthonormal(Z: Array) -> Array:
    U, values, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, values > np.sqrt(RANK_TOLERANCE) * max(float(values[0]), 1e-300)]


def _ratio(E: Array, small: Array, full: Array) -> Array:
    """RSS of the smaller model over that of the full one, minus one, a column at a time."""
    squares = np.sum(E**2, axis=0)
    below = np.maximum(squares - np.sum((full.T @ E) ** 2, axis=0), 1e-300)
    return np.maximum(squares - np.sum((small.T @ E) ** 2, axis=0), 0.0) / below - 1
