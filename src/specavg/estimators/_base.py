"""What every estimator here shares: which space, which group, which basis, and points in the right form."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _check_sample_weight,  # pyright: ignore[reportPrivateUsage]
    check_is_fitted,
    validate_data,
)

from specavg.data._distributed import distributed_apply
from specavg.data._streaming import Stream, is_dask
from specavg.groups import Group
from specavg.invariants import Cutoff, InvariantBasis, Order, default_group, default_space
from specavg.invariants._building import built_basis, checked_request
from specavg.persistence._saving import Savable
from specavg.regression._limits import BASIS_SECONDS
from specavg.spaces import Space

__all__ = ["InvariantEstimator", "InvariantSeries", "weights_or_ones"]

Array = NDArray[np.float64]


class InvariantEstimator(Savable, BaseEstimator):
    """Shared by all estimators that work on an invariant basis."""

    basis_: InvariantBasis
    cutoff_: Cutoff
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        space: Space | None = None,
        group: Group | None = None,
        *,
        max_dim: float | None = None,
        max_invariant_dim: float | None = None,
        max_eigenvalue: float | None = None,
    ) -> None:
        self.space = space
        self.group = group
        self.max_dim = max_dim
        self.max_invariant_dim = max_invariant_dim
        self.max_eigenvalue = max_eigenvalue

    def _space(self) -> Space:
        """The space in use: `space`, or the paper's torus with as many coordinates as the data have."""
        return default_space(self.n_features_in_) if self.space is None else self.space

    def _group(self) -> Group:
        """The group in use: `group`, or the trivial one."""
        return default_group(self._space()) if self.group is None else self.group

    def _cutoff(self) -> Cutoff | None:
        """The cutoff given by the user, or None."""
        return Cutoff.of(self.max_eigenvalue, self.max_dim, self.max_invariant_dim)

    def _basis(self, cutoff: Cutoff, order: str | Order | None = None, seconds: float = inf) -> InvariantBasis:
        """The invariant basis, computed once for each (space, group, cutoff, order) and shared between fits.

        It ends before the cutoff where finding more would take longer than `seconds`.
        """
        bound: dict[str, Any] = {"max_eigenvalue": None, "max_dim": None, "max_invariant_dim": None}
        bound[cutoff.kind] = cutoff.value
        given: str | Order = order or getattr(self, "order", None) or "eigenvalue"
        space = self._space()
        group, cutoff, by = checked_request(space, self._group(), **bound, order=given)
        return built_basis(space, group, cutoff, by, "auto", seconds)

    def _basis_in_time(self, cutoff: Cutoff, order: str | Order | None = None) -> InvariantBasis:
        """The same within the time that a default may take."""
        return self._basis(cutoff, order, BASIS_SECONDS)

    def _take_basis(self, basis: InvariantBasis) -> None:
        """Work with `basis` from now on."""
        self.basis_, self.cutoff_ = basis, basis.cutoff

    def _only_the_constant(self) -> str:
        """Why there is no other function, for messages."""
        bound = f"{self.cutoff_.value:.{3 if self.cutoff_.value < 1000 else 10}g}"
        late = (
            f" (a search of about {BASIS_SECONDS:g} seconds found none; the group may have none but the constant: with "
            "max_eigenvalue, max_dim or max_invariant_dim the search goes as far as you say)"
        )
        return (
            f"{self.cutoff_.kind} = {bound} ends before the first non-constant invariant of "
            f"{self.basis_.group!r} on {self.basis_.space!r}{late if self._cutoff() is None else ''}"
        )

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
        if not isinstance(self.space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"space must be a specavg space, for instance sa.Sphere(3) or sa.Torus(2); got {self.space!r}"
            )
        return self.space.as_table(X)

    def _take_features(self, stream: Stream) -> None:
        """The number and the names of the columns of a stream."""
        self.n_features_in_ = stream.n_features
        vars(self).pop("feature_names_in_", None)
        if stream.feature_names is not None:
            self.feature_names_in_ = np.array(stream.feature_names, dtype=object)

    def _canonical(self, X: Array) -> Array:
        """Points at the canonical place of their orbit where that is what makes values bit-exact."""
        return self.basis_.evaluation_points(X)


class InvariantSeries(InvariantEstimator):
    """A regressor whose prediction is a series in the functions of its basis."""

    coef_: Array

    def predict(self, X: Any) -> Any:
        """Values of the estimated function: exactly invariant.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
            A Dask collection gives a lazy Dask collection.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        if is_dask(X):
            return distributed_apply(self, "predict", X, self.coef_.shape[1:])
        return self._series(self._canonical(self._points(X, reset=False)))

    def _series(self, points: Array) -> Array:
        """Σ c ψ at canonical points."""
        C = self.coef_.reshape(self.basis_.dim, -1)
        return self.basis_.combine(points, C).reshape(len(points), *self.coef_.shape[1:])


def weights_or_ones(sample_weight: Any, X: Array) -> Array:
    """Checked non-negative weights."""  # (n,)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.sum() > 0:
        raise ValueError("sample_weight sums to zero: there is nothing to fit")
    return weights
