"""Estimators that are fitted from moments: on streams, and piece by piece."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable, Generator
from functools import update_wrapper
from types import MethodType
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from specavg.data._given_data import given_targets
from specavg.data._streaming import ChunkMoments, ChunkStream, Stream, check_names, invariant_moments
from specavg.estimators._base import InvariantEstimator
from specavg.estimators._gradient_data import NO_VALUE
from specavg.invariants import InvariantBasis
from specavg.regression._moments import Moments


class CutoffNeeded(ValueError, AttributeError):
    """No `partial_fit` without a cutoff. An `AttributeError` too, so that `hasattr` says no."""


class needs_cutoff:
    """A method that exists only where a cutoff is given; the error without one says so."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(cast(Any, self), method)

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        if model is None:
            return self._method
        if all(getattr(model, name) is None for name in ("max_dim", "max_invariant_dim", "max_eigenvalue")):
            raise CutoffNeeded(
                f"{self._method.__name__} needs an explicit cutoff (max_invariant_dim, max_dim or max_eigenvalue): the "
                "number of functions cannot depend on how many samples will come"
            )
        return MethodType(self._method, model)


class StreamedEstimator(InvariantEstimator, abc.ABC):
    """An estimator that can be fitted from moments alone."""

    _needs_gram: ClassVar[bool] = True
    _takes_gradients: ClassVar[bool] = False
    _moments_of: ClassVar[Callable[..., Moments]] = staticmethod(invariant_moments)

    coef_: NDArray[np.float64]
    moments_: Moments

    @abc.abstractmethod
    def _default_basis(self, rows: int | None) -> InvariantBasis | None:
        """The basis for so many rows where no cutoff is given; None where that cannot be said."""

    @abc.abstractmethod
    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> Self:
        """Fit from sums alone; `basis_` and `cutoff_` are set."""

    def _fit_stream(self, stream: Stream) -> Self:
        """Fit on chunks, all or nothing."""
        with _all_or_nothing(self):
            vars(self).pop("moments_", None)
            self._take_features(stream)
            return self._fit_moments(_not_empty(self._moments(stream)), stream.outputs)

    def _fitted_outputs(self) -> tuple[int, ...]:
        """The shape of one target."""
        return tuple(self.coef_.shape[1:])

    def _moments(self, stream: Stream) -> Moments:
        """Choose the basis, and sum over the chunks."""
        cutoff = self._cutoff()
        basis = self._default_basis(stream.rows) if cutoff is None else self._basis(cutoff)
        if basis is None:
            raise ValueError(
                "give a cutoff (max_invariant_dim, max_dim or max_eigenvalue): how many functions the data can bear "
                "is not known while they stream in"
            )
        self._take_basis(basis)
        settings = (self._has_targets, self._needs_gram, stream.feature_names, self._takes_gradients, self._moments_of)
        return stream.moments(ChunkMoments(basis, *settings))

    def _check_features(self, stream: Stream) -> None:
        if stream.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {stream.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        names = getattr(self, "feature_names_in_", None)
        check_names(stream.feature_names, None if names is None else list(names))

    def _one_chunk(self, X: Any, y: Any, sample_weight: Any, gradient: Any) -> Stream:
        """Data in memory, checked as scikit-learn wants it, as a stream of one chunk."""
        settings: dict[str, Any] = {"reset": not hasattr(self, "moments_"), "dtype": np.float64}
        if self._has_targets and gradient is None:
            settings |= {"y": given_targets(y), "multi_output": True, "y_numeric": True}
        checked: Any = validate_data(cast(Any, self), self._table(X), **settings)
        parts = checked if isinstance(checked, tuple) else (checked,)
        if gradient is not None:  # beside it y may have NaN, and is looked at when sums are taken
            parts = (checked, y)
        more = () if gradient is None else (gradient,)
        stream = ChunkStream([(*parts, sample_weight, *more)], targets=self._has_targets)
        stream.feature_names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        return stream


class PiecewiseEstimator(StreamedEstimator):
    """An estimator that can be fitted piece by piece, too."""

    @needs_cutoff
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add data to what was fitted before, and choose anew: the result is that of streaming all of it at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. An explicit cutoff is needed, since the number of samples is not known in advance.

        Returns
        -------
        self
        """
        return self._fit_piece(X, y, sample_weight)

    def _fit_piece(self, X: Any, y: Any, sample_weight: Any, gradient: Any = None) -> Self:
        """Add data to what was seen before, and fit to all of it."""
        before: Moments | None = getattr(self, "moments_", None)
        with _all_or_nothing(self):
            stream = self._stream(X, y, sample_weight, gradient) or self._one_chunk(X, y, sample_weight, gradient)
            outputs = stream.outputs
            if before is None:
                self._take_features(stream)
            else:
                self._check_features(stream)
                outputs = self._fitted_outputs()  # targets of shape (n,) and (n, 1) are the same targets
            moments = self._moments(stream)
            if before is not None:
                moments = before + moments
            self._fit_moments(_not_empty(moments), outputs)
            self.moments_ = moments
        return self


def _not_empty(moments: Moments) -> Moments:
    if not moments.weight.value > 0:
        raise ValueError(NO_VALUE if moments.slopes else "sample_weight sums to zero: there is nothing to fit")
    return moments


@contextlib.contextmanager
def _all_or_nothing(estimator: object) -> Generator[None]:
    """Leave `estimator` as it was if the block fails: never half-fitted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
