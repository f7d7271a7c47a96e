"""What the wrappers share: a regressor, a space and a group, and points in the right form."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.validation import has_fit_parameter

from specavg.baselines._kernels import Array, VonMisesKernel, check_numbers
from specavg.baselines._ridge import KernelRidge, SpaceRegressor, training_data
from specavg.baselines._spectral import SpectralKernel
from specavg.data._given_data import given_table
from specavg.data._questioned_columns import question_units
from specavg.estimators._base import weights_or_ones
from specavg.estimators._wrapped_estimator import check_wrapped
from specavg.groups import Group
from specavg.invariants import default_group
from specavg.invariants._acting_group import check_group
from specavg.spaces import Space, Torus, default_space


class MetaRegressor(MetaEstimatorMixin, SpaceRegressor):
    """A regressor made from another one, a space and a group."""

    _averages: ClassVar[bool] = False  # whether predictions are means of those of `estimator`

    def __init__(self, estimator: Any = None, space: Space | None = None, group: Group | None = None) -> None:
        self.estimator = estimator
        self.space = space
        self.group = group

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the regressor on other points than the training points, as the class says.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        if self.estimator is not None:
            check_wrapped(self.estimator, type(self).__name__, averages=self._averages)
        check_numbers(self, "n_elements", "max_rows", "width")
        points, targets = training_data(self, given_table(self.space, self.group, X), y)
        self.space_ = default_space(points.shape[1]) if self.space is None else self.space
        self.group_ = default_group(self.space_) if self.group is None else self.group
        check_group(self.space_, self.group_)
        points = self.space_.check_points(points)
        question_units(self.space_, points, given=self.space is not None)
        self._fit(points, targets, sample_weight)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The default space is a torus of period 2: standardised data wrap around it and make little sense there.
        tags.regressor_tags.poor_score = True
        return tags

    def _fit(self, points: Array, targets: Array, sample_weight: Any) -> None:
        raise NotImplementedError

    def _unfitted(self) -> Any:
        """A copy of the regressor in use: by default a kernel ridge regression on the space itself."""
        if self.estimator is not None:
            return clone(self.estimator)
        box = isinstance(self.space_, Torus) and self.space_.lattice is None
        return KernelRidge(VonMisesKernel(space=self.space_) if box else SpectralKernel(self.space_))

    def _fitted(self, estimator: Any, X: Array, y: Array, weights: Any) -> Any:
        if weights is None:
            return estimator.fit(X, y)
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(f"{estimator!r} takes no sample_weight: leave the weights out")
        return estimator.fit(X, y, sample_weight=weights_or_ones(weights, X))
