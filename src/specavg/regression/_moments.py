"""Moments: every sum over data that an estimator needs, as one immutable value that can be added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._compensated_sums import Sum
from specavg.regression._target_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specavg.invariants import EquivariantBasis, InvariantBasis


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over weighted data of the invariant functions φ (D of them) and the targets y (q of them).

    Everything an estimator takes from data is in here, and all of it is additive: ``a + b`` are the moments of
    both data sets together. One chunk, a thread, a worker on a cluster and a whole data set are the same kind
    of thing, and fitting from the sum is fitting on all the data.

    Attributes
    ----------
    count : int
        Rows with a positive weight.
    units : Units
        The shift and the unit of the targets; z = (y − shift) / unit is what is summed.
    weight, weight_squares : Sum of shape ()
        Σw and Σw².
    features : Sum of shape (D,)
        Σ w φ.
    shifted, shifted_squares : Sum of shape (q,)
        Σ w z and Σ w z².
    shifted_cross : Sum of shape (D, q)
        Σ w φ zᵀ.
    gram : Sum of shape (D, D), or None
        Σ w φ φᵀ, where it was asked for: the mean estimator needs none.
    slopes : Moments or None
        Those of observed gradients, made by `of_slopes`; None where there are none.
    shown : (ndarray of shape (n, n_features), ndarray of shape (n, n_features)), or None
        Of gradients some points and what was given there, from all data evenly, for a look at single columns.

    Notes
    -----
    Sums are compensated: each keeps what rounding lost (`Sum`), so order and chunking change the last bit at
    most. ``.value`` of each is the array.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(2), sa.groups.sign_flips(2), max_invariant_dim=6)
    >>> X = sa.Torus(2).sample(100, random_state=0)
    >>> y = X[:, :1] ** 2
    >>> both = Moments.of(basis, X[:40], y[:40]) + Moments.of(basis, X[40:], y[40:])
    >>> both.count, bool(np.allclose(both.gram.value, Moments.of(basis, X, y).gram.value, rtol=1e-15))
    (100, True)
    """

    count: int
    units: Units
    weight: Sum
    weight_squares: Sum
    features: Sum
    shifted: Sum
    shifted_squares: Sum
    shifted_cross: Sum
    gram: Sum | None
    slopes: Moments | None = None
    shown: tuple[Array, Array] | None = None

    @classmethod
    def of(
        cls,
        basis: InvariantBasis,
        X: Array,
        Y: Array | None = None,
        weights: Array | None = None,
        *,
        gram: bool = True,
    ) -> Moments:
        """The moments of one data set, evaluated in chunks: φ is never held for all of it.

        Parameters
        ----------
        basis : InvariantBasis
        X : ndarray of shape (n, n_features)
            Points, at canonical places if predictions are to be made there (`basis.canonical`).
        Y : ndarray of shape (n, q), optional
            Targets; none (q = 0) by default.
        weights : ndarray of shape (n,), optional
            Non-negative; ones by default.
        gram : bool, default True
            Whether to sum φφᵀ too: D² numbers, and most of the work.
        """
        n = len(X)
        Y = np.empty((n, 0)) if Y is None else Y
        w = np.ones(n) if weights is None else weights
        if Y.ndim != 2 or len(Y) != n or w.shape != (n,):
            raise ValueError(
                f"{n} points need targets of shape ({n}, q) and weights of shape ({n},); got {Y.shape} and {w.shape}"
            )
        units = Units.of(Y)
        Z = units.applied(Y)
        sums = np.column_stack([w, Z if weights is None else w[:, None] * Z])  # (n, 1 + q)
        products: Sum | None = None
        if gram:
            correlation, products = map(Sum.of, basis.correlate_and_gram(X, sums, w))
        else:
            correlation = Sum.of(basis.correlate(X, sums))
        return cls(
            count=n if weights is None else int(np.count_nonzero(w)),
            units=units,
            weight=Sum.of(np.asarray(w.sum())),
            weight_squares=Sum.of(np.asarray(w @ w)),
            features=correlation[:, 0],
            shifted=Sum.of(w @ Z),
            shifted_squares=Sum.of(np.einsum("nj,nj->j", sums[:, 1:], Z)),
            shifted_cross=correlation[:, 1:],
            gram=products,
        )

    @classmethod
    def of_vectors(cls, basis: EquivariantBasis, X: Array, Y: Array, weights: Array | None = None) -> Moments:
        """The moments of vector functions F and targets y in R^p: Σ w F·y, Σ w F_j·F_l, Σ w |y|², and no first sums.

        Parameters
        ----------
        basis : EquivariantBasis
        X : ndarray of shape (n, n_features)
        Y : ndarray of shape (n, p)
        weights : ndarray of shape (n,), optional
            Non-negative; ones by default.
        """
        w = np.ones(len(X)) if weights is None else weights
        if Y.shape != (len(X), basis.n_outputs) or w.shape != (len(X),):
            raise ValueError(
                f"{len(X)} points need targets of shape ({len(X)}, {basis.n_outputs}) and weights of shape "
                f"({len(X)},); got {Y.shape} and {w.shape}"
            )
        Y = basis.possible(X, Y)
        units = Units.without_shift(Y.reshape(-1, 1))
        Z = units.applied(Y)
        cross, gram = basis.correlate_and_gram(X, w[:, None] * Z, w)
        squares = Sum.of(np.array([w @ np.sum(Z**2, axis=1)]))
        return cls._without_first_sums(w, 1, units, squares, Sum.of(cross[:, None]), Sum.of(gram))

    @classmethod
    def of_slopes(
        cls, basis: InvariantBasis, X: Array, G: Array, weights: Array, columns: Array | float = 1.0
    ) -> Moments:
        """The moments of gradients: Σ w ∇φ·g, Σ w ∇φ_j·∇φ_l, Σ w |g|², and no first sums; each component is a row.

        Parameters
        ----------
        basis : InvariantBasis
        X : ndarray of shape (n, n_features)
            The points themselves: at canonical places gradients are others.
        G : ndarray of shape (n, n_features)
            Only their tangential part counts.
        weights : ndarray of shape (n,)
        columns : ndarray of shape (n_features,), default 1
            Units of columns, in which derivatives by unlike ones can be added.
        """
        X = basis.check_points(X)
        roots, d = np.sqrt(weights), basis.dimension
        units = Units.without_shift((G * columns).reshape(-1, 1))
        Z = G / units.unit * columns
        gram, squares = Sum.of(np.zeros((basis.dim, basis.dim))), Sum.of(np.zeros(1))
        for rows, gradient in basis.gradients_in_chunks(X):  # (m, D, n_features)
            features = (gradient * columns * roots[rows, None, None]).transpose(0, 2, 1).reshape(-1, basis.dim)
            gram += Sum.of(features.T @ features)
            along = np.einsum("nf,nfd->nd", Z[rows], basis.tangents(X[rows]))
            squares += Sum.of(np.array([weights[rows] @ np.sum(along**2, axis=1)]))
        cross = Sum.of(basis.correlate_gradient(X, (weights[:, None] * columns * Z)[:, :, None]))
        counted = np.flatnonzero(weights)
        some = counted[_evenly(len(counted), SHOWN)]
        found = cls._without_first_sums(weights, d, units, squares, cross, gram)
        return replace(found, shown=(X[some], G[some]))

    @classmethod
    def _without_first_sums(cls, w: Array, rows: int, units: Units, squares: Sum, cross: Sum, gram: Sum) -> Moments:
        """The moments of what no constant is subtracted from, so many rows for each weight."""
        return cls(
            count=rows * int(np.count_nonzero(w)),
            units=units,
            weight=Sum.of(np.asarray(rows * w.sum())),
            weight_squares=Sum.of(np.asarray(rows * (w @ w))),
            features=Sum.of(np.zeros(len(gram.total))),
            shifted=Sum.of(np.zeros(1)),
            shifted_squares=squares,
            shifted_cross=cross,
            gram=gram,
        )

    @classmethod
    def total(cls, parts: Iterable[Moments]) -> Moments:
        """The sum of at least one."""
        return reduce(lambda a, b: a + b, parts)

    def __add__(self, other: Moments) -> Moments:
        if (self.gram is None) != (other.gram is None):
            raise ValueError("one of the moments has a Gram matrix and the other has none: they do not add")
        units = self.units.common(other.units, keep=bool(self.weight.value >= other.weight.value))
        a, b = self.in_units(units), other.in_units(units)
        slopes = [part.slopes for part in (a, b) if part.slopes is not None]
        return Moments(
            count=a.count + b.count,
            units=units,
            gram=None if a.gram is None or b.gram is None else a.gram + b.gram,
            slopes=Moments.total(slopes) if slopes else None,
            shown=self._shown_with(other),
            **{name: getattr(a, name) + getattr(b, name) for name in _SUMS},
        )

    def _shown_with(self, other: Moments) -> tuple[Array, Array] | None:
        """Of both as many as they have rows."""
        one, two = self.shown, other.shown
        if one is None or two is None:
            return one or two
        most = [SHOWN, SHOWN]
        if len(one[0]) + len(two[0]) > SHOWN:
            most[0] = round(SHOWN * self.count / max(self.count + other.count, 1))
            most[1] = SHOWN - most[0]
        kept = [_evenly(len(part[0]), m) for part, m in zip((one, two), most, strict=True)]
        return np.concatenate([one[0][kept[0]], two[0][kept[1]]]), np.concatenate([one[1][kept[0]], two[1][kept[1]]])

    def in_units(self, units: Units) -> Moments:
        """The same moments in other units of the targets."""
        ratio = self.units.unit / units.unit
        step = (self.units.shift - units.shift) / units.unit
        if (ratio == 1).all() and (step == 0).all():
            return self
        shifted = self.shifted * ratio
        return replace(
            self,
            units=units,
            shifted=shifted + self.weight * step,
            shifted_squares=self.shifted_squares * ratio**2 + shifted * (2 * step) + self.weight * step**2,
            shifted_cross=self.shifted_cross * ratio + _outer(self.features, step),
        )

    @property
    def targets(self) -> Sum:
        """Σ w y."""  # (q,)
        return self.shifted * self.units.unit + self.weight * self.units.shift

    @property
    def target_squares(self) -> Sum:
        """Σ w y²: infinite or zero where squares of y are no numbers."""  # (q,)
        shift, unit = self.units.shift, self.units.unit
        with np.errstate(over="ignore"):
            return self.shifted_squares * unit**2 + self.shifted * (2 * shift * unit) + self.weight * shift**2

    @property
    def cross(self) -> Sum:
        """Σ w φ yᵀ."""  # (D, q)
        return self.shifted_cross * self.units.unit + _outer(self.features, self.units.shift)

    def first(self, dim: int) -> Moments:
        """The moments of the first `dim` functions only."""
        gram = None if self.gram is None else self.gram[:dim, :dim]
        slopes = None if self.slopes is None else self.slopes.first(dim)
        cross = self.shifted_cross[:dim]
        return replace(self, features=self.features[:dim], shifted_cross=cross, gram=gram, slopes=slopes)

    def relative(self) -> tuple[Moments, float]:
        """The moments with weights of mean one, and the mean weight by which they are divided."""
        kinds = [part for part in (self, self.slopes) if part is not None]
        unit = sum(float(part.weight.value) for part in kinds) / sum(part.count for part in kinds)
        return (self, 1.0) if unit == 1 else (self._times(1.0 / unit), unit)

    def _times(self, factor: float) -> Moments:
        """The moments with all weights multiplied by a factor."""
        slopes = None if self.slopes is None else self.slopes._times(factor)
        gram = None if self.gram is None else self.gram * factor
        sums = {name: getattr(self, name) * factor for name in _SUMS}
        sums["weight_squares"] *= factor
        return replace(self, gram=gram, slopes=slopes, **sums)

    @property
    def dim(self) -> int:
        """D, the number of invariant functions."""
        return len(self.features.total)

    @property
    def n_outputs(self) -> int:
        """q, the number of targets."""
        return len(self.units.shift)

    def centred(self) -> tuple[Array, Array, Array]:
        """Moments about the weighted means: Σw(φ−φ̄)(φ−φ̄)ᵀ, Σw(φ−φ̄)(z−z̄)ᵀ and Σw(z−z̄)², z in `units`.

        Returns
        -------
        gram : ndarray of shape (D, D)
        cross : ndarray of shape (D, q)
        squares : ndarray of shape (q,)
        """
        if self.gram is None:
            raise ValueError("these moments have no Gram matrix: ask for it with Moments.of(..., gram=True)")
        weight, features, targets = self.weight.value, self.features.value, self.shifted.value
        gram = self.gram.value - np.outer(features, features / weight)
        cross = self.shifted_cross.value - np.outer(features, targets / weight)
        squares = self.shifted_squares.value - targets * (targets / weight)
        return gram, cross, np.maximum(squares, 0.0)


SHOWN = 400  # points: from as many a multiple of each column is known to a few per cent


def _evenly(n: int, most: int) -> NDArray[np.intp]:
    """So many of n rows, evenly; all of them if they are no more."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


_SUMS = ("weight", "weight_squares", "features", "shifted", "shifted_squares", "shifted_cross")


def _outer(features: Sum, factors: Array) -> Sum:
    """φ times each factor."""  # (D,), (q,) -> (D, q)
    return Sum(np.outer(features.total, factors), np.outer(features.lost, factors))
