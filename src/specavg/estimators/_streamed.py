"""Estimators that are fitted from moments: on streams, and piece by piece."""

from __future__ import annotations

import abc
import contextlib
import warnings
from collections.abc import Callable, Generator
from functools import update_wrapper
from types import MethodType
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from specavg.data._given_data import given_targets
from specavg.data._questioned_columns import users_line
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
            self._take_features(stream)
            self._take_stream_basis(stream)
            moments = _not_empty(self._moments(stream))
            self._fit_moments(moments, stream.outputs)
            self._remember(moments)
            return self

    def _remember(self, moments: Moments) -> None:
        """Keep what later pieces are added to, where there may be any."""

    def _fitted_outputs(self) -> tuple[int, ...]:
        """The shape of one target."""
        return tuple(self.coef_.shape[1:])

    def _take_stream_basis(self, stream: Stream) -> None:
        """Choose the basis."""
        cutoff = self._cutoff()
        basis = self._default_basis(stream.rows) if cutoff is None else self._basis(cutoff)
        if basis is None:
            raise ValueError(
                "give a cutoff (max_invariant_dim, max_dim or max_eigenvalue): how many functions the data can bear "
                "is not known while they stream in"
            )
        self._take_basis(basis)

    def _moments(self, stream: Stream) -> Moments:
        """The sums over the chunks."""
        settings = (self._has_targets, self._moments_of, stream.feature_names, self._takes_gradients)
        return stream.moments(ChunkMoments(self.basis_, *settings))

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
        with np.errstate(invalid="ignore"):  # all numbers are summed to see whether they are finite: ∞ − ∞
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
        """Add data to earlier pieces, and choose anew: the result is that of streaming all of it at once.

        Earlier pieces are those of `partial_fit`, and of `fit` on a stream. After a `fit` on data in memory there are
        no sums to add to: a warning says that what it saw is lost.

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
        if before is None and hasattr(self, "basis_"):
            warnings.warn(
                "partial_fit starts anew, and what fit saw is lost: a fit on data in memory, or without a cutoff, "
                "keeps no sums that more data could be added to. Give the first piece to partial_fit too, or to fit "
                "as a stream, fit(iter([(X, y)])), with the cutoff.",
                stacklevel=users_line(),
            )
        with _all_or_nothing(self):
            stream = self._stream(X, y, sample_weight, gradient) or self._one_chunk(X, y, sample_weight, gradient)
            outputs = stream.outputs
            if before is None:
                self._take_features(stream)
                self._take_stream_basis(stream)
                moments = self._moments(stream)
            else:
                self._check_features(stream)
                self._check_outputs(outputs)
                outputs = self._fitted_outputs()  # targets of shape (n,) and (n, 1) are the same targets
                basis = self.basis_
                self._take_stream_basis(stream)
                self._check_basis(basis)
                moments = before + self._moments(stream)
            self._fit_moments(_not_empty(moments), outputs)
            self._remember(moments)
        return self

    def _remember(self, moments: Moments) -> None:
        if self._cutoff() is not None:  # without one there are no further pieces
            self.moments_ = moments

    def _check_outputs(self, outputs: tuple[int, ...]) -> None:
        """Refuse targets with another number of columns than those of earlier pieces."""
        before, now = (int(np.prod(shape)) for shape in (self._fitted_outputs(), outputs))
        if now != before:
            raise ValueError(
                f"y has {now} {'column' if now == 1 else 'columns'}, and that of earlier pieces had {before}: give as "
                "many, or start anew with sklearn.base.clone(model)"
            )

    def _check_basis(self, before: Any) -> None:
        """Refuse sums over other functions than those of earlier pieces."""
        now: Any = self.basis_
        if now == before:
            return
        names = ("space", "group", "output", "order", "cutoff")
        pairs = [(name, getattr(before, name, None), getattr(now, name, None)) for name in names]
        changed = ", ".join(f"{name} was {old!r} and is {new!r}" for name, old, new in pairs if old != new)
        raise ValueError(
            f"the functions are not those of earlier pieces ({before.dim} before, {now.dim} now), and sums over them "
            f"do not add: {changed}. Set it back, or start anew with sklearn.base.clone(model)"
        )


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
