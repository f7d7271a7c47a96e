"""Kernel ridge regression with kernels of a space, by scikit-learn's solver."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_ridge import KernelRidge as DualSolver
from sklearn.utils.validation import check_is_fitted, validate_data

from specavg._config import require_memory
from specavg._known_arguments import KnownArguments
from specavg.baselines._kernels import Array, Kernel, KernelFunction, as_kernel, check_numbers
from specavg.data._given_data import given_table, given_targets
from specavg.data._questioned_columns import question_units
from specavg.estimators._base import weights_or_ones
from specavg.groups import Group
from specavg.spaces import Space

_CHUNK = 1 << 23  # kernel values held at once when predicting


def training_data(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Array, Array]:
    """Points and targets as scikit-learn wants them; `y` may have several outputs."""
    found: Any = validate_data(estimator, X, given_targets(y), dtype=np.float64, multi_output=True, y_numeric=True)
    return found


class SpaceRegressor(KnownArguments, RegressorMixin, BaseEstimator):
    """What all baselines share: predictions at points of a space, of one or several outputs."""

    space_: Space
    n_features_in_: int

    def predict(self, X: ArrayLike) -> Array:
        """Values of the fitted function.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        # Without the space: scikit-learn tells of another number of columns than in fit.
        table = given_table(None, None, self.space_.as_table(X))
        points = validate_data(self, table, reset=False, dtype=np.float64)
        return self._predict(self.space_.check_points(points))

    def _predict(self, points: Array) -> Array:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KernelRidgeBase(SpaceRegressor):
    """What the kernel ridge regressions share: everything but the matrix of kernel values."""

    group: Group | None = None  # that of an averaged kernel

    def __init__(
        self,
        kernel: Kernel | None = None,
        alpha: float = 1.0,
        *,
        penalty: str = "sum",
        fit_intercept: bool = False,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.penalty = penalty
        self.fit_intercept = fit_intercept

    def _kernel_function(self, space: Space, n: int) -> KernelFunction:
        """The function (X, Y) -> K that this regression works with, for `n` training points."""
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Solve for the dual coefficients.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        if self.penalty not in ("sum", "mean"):
            raise ValueError(f"penalty must be 'sum' (K + αI) or 'mean' (K + nαI); got {self.penalty!r}")
        check_numbers(self, "max_terms", "n_elements")
        kernel = as_kernel(self.kernel)
        group = self.group if isinstance(self.group, Group) else None  # anything else is refused later, with the reason
        points, targets = training_data(self, given_table(kernel.space, group, X), y)
        space = kernel.space_of(points.shape[1])
        points = space.check_points(points)
        question_units(space, points, given=kernel.space is not None)
        weights = weights_or_ones(sample_weight, points)
        require_memory(
            8.0 * 3 * len(points) ** 2,
            f"a kernel matrix of {len(points)}² values",
            "Fit on fewer points, or use an estimator on an invariant basis.",
        )
        self.space_ = space
        function = self._kernel_function(space, len(points))  # refuses what stands in the place of the group
        check_numbers(self, "alpha")
        K = function(points, points)
        self._centre(K, targets, weights)
        scale = float(weights.sum()) if self.penalty == "mean" else 1.0
        solver: Any = DualSolver(alpha=cast(Any, self.alpha * scale), kernel="precomputed")
        solver.fit(K, targets - self._offset, sample_weight=None if sample_weight is None else weights)
        self.X_fit_ = points
        self.dual_coef_ = solver.dual_coef_
        return self

    def _centre(self, K: Array, targets: Array, weights: Array) -> None:
        """With an intercept: K as the kernel of functions of (weighted) mean zero, in place."""
        if not self.fit_intercept:
            self._offset: Any = 0.0
            self._share, self._means = np.zeros(len(K)), np.zeros(len(K))
            return
        self._share = weights / weights.sum()  # (n,)
        self._offset = self._share @ targets
        self._means = K @ self._share  # mean of each row
        self._level = float(self._share @ self._means)
        K -= self._means[:, None] + self._means - self._level

    def _predict(self, points: Array) -> Array:
        function = self._kernel_function(self.space_, len(self.X_fit_))
        step = max(1, _CHUNK // len(self.X_fit_))
        values: list[Array] = []
        for start in range(0, len(points), step):  # the matrix between many new points and X_fit_ is never held
            K = function(points[start : start + step], self.X_fit_)
            if self.fit_intercept:
                K -= (K @ self._share)[:, None] + self._means - self._level
            values.append(K @ self.dual_coef_ + self._offset)
        return np.concatenate(values)


class KernelRidge(KernelRidgeBase):
    """Kernel ridge regression with a kernel of the space: no symmetry but what the data show.

    Parameters
    ----------
    kernel : Kernel, optional
        `VonMisesKernel()` by default, the paper's; or a `SpectralKernel`.
    alpha : float, default 1.0
        The penalty λ.
    penalty : {"sum", "mean"}
        How λ is normalised: "sum" solves (K + λI) a = y, as scikit-learn does; "mean" solves (K + nλI) a = y,
        as in the paper's appendix, where the squared error is averaged over n.
    fit_intercept : bool, default False
        Add a constant that is not penalised: kernel and targets are centred (with the sample weights).

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_outputs)
    X_fit_ : ndarray of shape (n, n_features)
    n_features_in_ : int

    Examples
    --------
    >>> import specavg as sa
    >>> from specavg.baselines import VonMisesKernel
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> y = np.cos(np.pi * X[:, 0])
    >>> model = KernelRidge(VonMisesKernel(eta=1.0), alpha=1e-6).fit(X, y)
    >>> bool(abs(model.predict(X) - y).max() < 1e-3)
    True
    """

    def _kernel_function(self, space: Space, n: int) -> KernelFunction:
        return as_kernel(self.kernel).function(space)
