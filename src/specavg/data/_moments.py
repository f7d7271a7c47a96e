"""Moments: every sum over data that an estimator needs, as one immutable value that can be added."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._compensated_sums import Sum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specavg.invariants import InvariantBasis

__all__ = ["Moments", "Sum"]

Array = NDArray[np.float64]


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
    weight, weight_squares : Sum of shape ()
        Σw and Σw².
    features : Sum of shape (D,)
        Σ w φ.
    targets, target_squares : Sum of shape (q,)
        Σ w y and Σ w y².
    cross : Sum of shape (D, q)
        Σ w φ yᵀ.
    gram : Sum of shape (D, D), or None
        Σ w φ φᵀ, where it was asked for: the mean estimator needs none.

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
    weight: Sum
    weight_squares: Sum
    features: Sum
    targets: Sum
    target_squares: Sum
    cross: Sum
    gram: Sum | None

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
        count = int(np.count_nonzero(w))
        data_only = (w.sum(), w @ w, w @ Y, w @ Y**2)
        weight, weight_squares, targets, target_squares = (Sum.of(np.asarray(total)) for total in data_only)
        sums = np.column_stack([w, w[:, None] * Y])  # (n, 1 + q)
        if not gram:
            correlation = Sum.of(basis.correlate(X, sums))
            return cls(count, weight, weight_squares, *_split(correlation, targets, target_squares), None)
        require_memory(
            5.0 * 8 * basis.dim**2,
            f"the Gram matrix of {basis.dim} invariant functions",
            "Lower the cutoff.",
        )
        points = basis.space.check_points(X)
        correlation, products = map(Sum.of, basis.functions.correlate_and_gram(points, sums, w))
        return cls(count, weight, weight_squares, *_split(correlation, targets, target_squares), products)

    @classmethod
    def total(cls, parts: Iterable[Moments]) -> Moments:
        """The sum of at least one."""
        return reduce(lambda a, b: a + b, parts)

    def __add__(self, other: Moments) -> Moments:
        if (self.gram is None) != (other.gram is None):
            raise ValueError("one of the moments has a Gram matrix and the other has none: they do not add")
        sums: list[Sum | None] = []
        for field in fields(Moments)[1:]:
            a, b = getattr(self, field.name), getattr(other, field.name)
            sums.append(None if a is None else a + b)
        return Moments(self.count + other.count, *sums)  # pyright: ignore[reportArgumentType]

    def first(self, dim: int) -> Moments:
        """The moments of the first `dim` functions only."""
        gram = None if self.gram is None else self.gram[:dim, :dim]
        return replace(self, features=self.features[:dim], cross=self.cross[:dim], gram=gram)

    @property
    def dim(self) -> int:
        """D, the number of invariant functions."""
        return len(self.features.total)

    @property
    def n_outputs(self) -> int:
        """q, the number of targets."""
        return len(self.targets.total)

    @property
    def effective_count(self) -> float:
        """(Σw)² / Σw², at most `count`: the number of equally weighted rows that would be worth as much."""
        return float(self.weight.value**2 / self.weight_squares.value)

    def centred(self) -> tuple[Array, Array, Array]:
        """Moments about the weighted means: Σw(φ−φ̄)(φ−φ̄)ᵀ, Σw(φ−φ̄)(y−ȳ)ᵀ and Σw(y−ȳ)².

        Returns
        -------
        gram : ndarray of shape (D, D)
        cross : ndarray of shape (D, q)
        squares : ndarray of shape (q,)
        """
        if self.gram is None:
            raise ValueError("these moments have no Gram matrix: ask for it with Moments.of(..., gram=True)")
        weight, features, targets = self.weight.value, self.features.value, self.targets.value
        gram = self.gram.value - np.outer(features, features / weight)
        cross = self.cross.value - np.outer(features, targets / weight)
        squares = self.target_squares.value - targets * (targets / weight)
        return gram, cross, np.maximum(squares, 0.0)


def _split(correlation: Sum, targets: Sum, target_squares: Sum) -> tuple[Sum, Sum, Sum, Sum]:
    """`features`, `targets`, `target_squares` and `cross`, the first and last from one correlation."""
    total, lost = correlation.total, correlation.lost
    features, cross = Sum(total[:, 0], lost[:, 0]), Sum(total[:, 1:], lost[:, 1:])
    return features, targets, target_squares, cross
