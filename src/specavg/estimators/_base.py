"""What every estimator here shares: which space, which group, which basis, and points in the right form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data  # pyright: ignore[reportPrivateUsage]

from specavg.data._streaming import Streaming
from specavg.invariants import Cutoff, InvariantBasis, Order, default_group, default_space, invariant_basis
from specavg.persistence._saving import Savable

if TYPE_CHECKING:
    from specavg.groups import Group
    from specavg.spaces import Space

__all__ = ["InvariantEstimator", "weights_or_ones"]

Array = NDArray[np.float64]


class InvariantEstimator(Streaming, Savable, BaseEstimator):
    """Shared by all estimators that work on an invariant basis."""

    space: Space | None
    group: Group | None
    max_dim: float | None
    max_invariant_dim: float | None
    max_eigenvalue: float | None
    basis_: InvariantBasis
    n_features_in_: int

    def _space(self) -> Space:
        """The space in use: `space`, or the paper's torus with as many coordinates as the data have."""
        return default_space(self.n_features_in_) if self.space is None else self.space

    def _group(self) -> Group:
        """The group in use: `group`, or the trivial one."""
        return default_group(self._space()) if self.group is None else self.group

    def _cutoff(self) -> Cutoff | None:
        """The cutoff given by the user, or None."""
        return Cutoff.of(self.max_eigenvalue, self.max_dim, self.max_invariant_dim)

    def _basis(self, cutoff: Cutoff, order: str | Order | None = None) -> InvariantBasis:
        """The invariant basis, computed once for each (space, group, cutoff, order) and shared between fits."""
        bound: dict[str, Any] = {cutoff.kind: cutoff.value}
        given: str | Order = order or getattr(self, "order", None) or "eigenvalue"
        return invariant_basis(self._space(), self._group(), **bound, order=given)

    def _points(self, X: Any, *, reset: bool) -> Array:
        """`X` as scikit-learn wants it: points flattened to (n, n_features), finite, float64."""
        points: Any = validate_data(self, self._table(X), reset=reset, dtype=np.float64)
        return points

    def _points_and_targets(self, X: Any, y: Any) -> tuple[Array, Array]:
        """The same for training data; `y` may have several outputs."""
        pair: Any = validate_data(self, self._table(X), y, dtype=np.float64, multi_output=True, y_numeric=True)
        return pair

    def _table(self, X: Any) -> Any:
        if self.space is None:
            return X
        if isinstance(self.space, type) or not hasattr(self.space, "as_table"):
            raise TypeError(
                f"space must be a specavg space, for instance sa.Sphere(3) or sa.Torus(2); got {self.space!r}"
            )
        return self.space.as_table(X)

    def _canonical(self, X: Array) -> Array:
        """Checked points, at the canonical place of their orbit where that is what makes values bit-exact."""
        return self.basis_.evaluation_points(X)


def weights_or_ones(sample_weight: Any, X: Array) -> Array:
    """Checked non-negative weights."""  # (n,)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.sum() > 0:
        raise ValueError("sample_weight sums to zero: there is nothing to fit")
    return weights
