"""Invariant functions as features for any model that comes after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from specavg.data._dask_collections import distributed_apply
from specavg.data._streaming import is_dask, stream_of
from specavg.estimators._base import InvariantEstimator
from specavg.invariants import Cutoff

DEFAULT_FUNCTIONS = 64.0  # features with no cutoff given: a linear model of some hundred rows can use so many


class InvariantFeatures(TransformerMixin, InvariantEstimator):
    """The non-constant invariant functions of a space, as columns: any model on them is exactly invariant.

    A transformer for pipelines: classification, quantile or Poisson regression on an invariant model are this
    and a linear model after it.

    Parameters
    ----------
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2; data wrap and are not rescaled.
    group : Group, optional
        Who acts. Default: the trivial group.
    max_dim, max_invariant_dim, max_eigenvalue : float, optional
        At most one cutoff, as in `invariant_basis`. Default: at most 64 invariant functions, the constant counted,
        or the first eigenspace with a non-constant one if that is larger.
    order : str or Order, default "eigenvalue"
        Which functions come first, as in `invariant_basis`.

    Attributes
    ----------
    basis_ : InvariantBasis
    cutoff_ : Cutoff
    n_features_in_ : int

    Notes
    -----
    The constant is left out: models have an intercept. Columns are orthonormal under the uniform probability
    measure, eigenvalues increasing; nothing is learned from the data, so folds share one basis.

    Nor is the unit of a column learned: of hours (period 24) beside days of the year (period 365.25) the default
    functions have frequency 1 of the hours at most, and 16 of the days. A warning says so. Divide each column by its
    period and take period=1, or give ``order=ByType(balanced=True)``, of `specavg.invariants`.

    Examples
    --------
    >>> import specavg as sa
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    >>> X = space.sample(300, random_state=0)
    >>> y = (X**4).sum(axis=1) > 0.6
    >>> model = make_pipeline(sa.InvariantFeatures(space, group, max_invariant_dim=10), LogisticRegression(C=10))
    >>> model.fit(X, y).score(X, y) > 0.97
    True
    >>> bool((model.predict_proba(X) == model.predict_proba(-X[:, [2, 0, 1]])).all())
    True
    """

    def fit(self, X: ArrayLike, y: Any = None) -> InvariantFeatures:
        """Find the basis; of the data only the number of columns matters.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        y : ignored

        Returns
        -------
        self
        """
        stream = stream_of(X, targets=False)
        points = None if stream is not None else self._points(X, reset=True)
        if stream is not None:
            self._take_features(stream)
        given = self._cutoff()
        bound = DEFAULT_FUNCTIONS
        basis = self._basis_in_time(Cutoff("max_invariant_dim", bound)) if given is None else self._basis(given)
        while given is None and basis.dim == 1 and basis.cutoff.kind == "max_invariant_dim" and bound < 1e6:
            bound *= 4
            basis = self._basis_in_time(Cutoff("max_invariant_dim", bound))
        self._take_basis(basis)
        if basis.dim == 1:
            raise ValueError(f"there are no features: {self._only_the_constant()}.")
        if points is not None:
            basis.check_points(points)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """The invariant functions at `X`, the constant left out.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)

        Returns
        -------
        ndarray of shape (n, basis_.dim - 1)
        """
        check_is_fitted(self)
        if is_dask(X):
            return distributed_apply(self, "transform", X, (self.basis_.dim - 1,))
        return self.basis_.evaluate(self.basis_.evaluation_points(self._points(X, reset=False)))[:, 1:]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names such as ``invariant3_eigenvalue20``: the number of the function and its eigenvalue.

        Parameters
        ----------
        input_features : ignored
            Invariant functions are not made from single columns.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        values = self.basis_.eigenvalues[1:]
        return np.array([f"invariant{i}_eigenvalue{v:.6g}" for i, v in enumerate(values, 1)], dtype=object)
