"""Predictions of a series with their error bars: the posterior of the same model read as a Gaussian process."""

from __future__ import annotations

from typing import ClassVar, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from specavg._arrays import Array
from specavg.data._streaming import is_dask
from specavg.estimators._base import InvariantSeries
from specavg.regression._regression_problem import Posterior


class SeriesWithErrorBars(InvariantSeries):
    """A series whose coefficients have a posterior; None where data on a single orbit tell no deviation."""

    saved_private: ClassVar[tuple[str, ...]] = ("_posterior",)
    _posterior: Posterior | None

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Values of the estimated function: exactly invariant.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        return_std : bool, default False
            Whether to return the posterior standard deviation of f(x) too: the same model read as a Gaussian
            process, with a flat prior on the constant. It is that of the function; an observation adds
            `noise_variance_` to its square. That of a chosen model is calibrated (see the notes); that of a model whose
            spectrum and `alpha` are given trusts both. Infinite where all data lie on one orbit.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, n_outputs)
        std : ndarray of the same shape
            Only if `return_std`.
        """
        if not return_std:
            return super().predict(X)
        check_is_fitted(self)
        if is_dask(X):
            raise ValueError("return_std is not available for Dask collections: predict partitions one by one")
        points = self.basis_.evaluation_points(self._points(X, reset=False))
        mean = self._series(points)
        deviation = np.full((len(points), self.coef_[0].size), np.inf)
        if self._posterior is not None:
            for rows, features in self.basis_.values_in_chunks(points):
                deviation[rows] = self._posterior.deviation(features[:, 1:])
        return mean, deviation.reshape(mean.shape)

    @overload
    def gradient(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...
    @overload
    def gradient(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def gradient(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Gradients of the estimated function, at `X` itself: they move with the group as vectors do.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        return_std : bool, default False
            Whether to return the posterior standard deviation of every component too, as in `predict`.

        Returns
        -------
        mean : ndarray of shape (n, n_features) or (n, n_features, n_outputs)
            By the coordinates of `X` on tori, lattices and intervals. Those of a lattice B are fractional:
            ``G @ np.linalg.inv(B).T`` is Cartesian, as the output "vector" of an equivariant model is. On embedded
            spaces (spheres, rotations, Stiefel manifolds) the tangential gradient in the coordinates of `X`, flattened.
            On products side by side.
        std : ndarray of the same shape
            Only if `return_std`.

        Examples
        --------
        >>> import numpy as np, specavg as sa
        >>> X = sa.Sphere(3).sample(40, random_state=0)
        >>> model = sa.InvariantKernelRidge(sa.Sphere(3), sa.groups.point_group("Oh")).fit(X, (X**4).sum(axis=1))
        >>> gradient = model.gradient(X[:2])
        >>> bool(np.abs((gradient * X[:2]).sum(axis=1)).max() < 1e-12)  # tangential
        True
        >>> wanted = 4 * X[:2] ** 3 - 4 * (X[:2] ** 4).sum(axis=1)[:, None] * X[:2]
        >>> bool(np.abs(gradient - wanted).max() < 1e-6)
        True
        """
        if not return_std:
            return super().gradient(X)
        check_is_fitted(self)
        if is_dask(X):
            raise ValueError("return_std is not available for Dask collections: take partitions one by one")
        points = self._points(X, reset=False)
        mean = super().gradient(points)
        deviation = np.full((*points.shape, self.coef_[0].size), np.inf)
        if self._posterior is not None:
            for rows, slopes in self.basis_.gradients_in_chunks(points):  # (m, dim, n_features)
                columns = np.concatenate(slopes[:, 1:].transpose(0, 2, 1))
                deviation[rows] = self._posterior.deviation(columns, slopes=True).reshape(deviation[rows].shape)
        return mean, deviation.reshape(mean.shape)
