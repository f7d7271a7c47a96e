"""What the kernel ridge regressions share: the spectra to choose from, the fit that is kept, and questions about it."""

from __future__ import annotations

import abc
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from specavg._arrays import Array
from specavg._html import Records
from specavg.data._questioned_columns import look_like_radians, question_wrapping, users_line
from specavg.data._questioned_fit import (
    FAR_BETTER,
    POOR,
    question_fit,
    question_group,
    question_orbits,
    question_size,
    tells_of_group,
    why_nothing,
)
from specavg.data._streaming import is_dask
from specavg.estimators._base import checked_alpha
from specavg.estimators._number_of_functions import affordable_basis, affordable_dim
from specavg.estimators._streamed import PiecewiseEstimator
from specavg.groups import Group
from specavg.invariants import ByType, Order, default_order, further_orders
from specavg.regression import _measured_limits as _limits
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem, SharedOrbits
from specavg.regression._ridge_fit import RidgeFit, Trial, mean_fit
from specavg.regression._spectra import Levels, Spectrum, spectrum_candidates
from specavg.regression._spectrum_choice import ridge_fit, shortlist
from specavg.regression._spectrum_choice_many_rows import weakest_share
from specavg.spaces import Space

# When the group is doubted. A wrong mirror, axis, convention or order of columns gave errors of 0.4 to 1, and 1e-14 to
# 0.1 without the group. The right group had at most 1.08 times the error of none: 221 fits of 40 and 200 rows with
# errors from 0.02 on, on eleven pairs of space and group with noise of 0 to 0.4. To ask took 0.05 s, 0.23 s at most.
# The orders of functions that a default has are asked, since cos 2πx₁ of 6 to 20 columns has an error of 1 in the order
# of eigenvalues and 0.17 with few coordinates first: that adds 0.02 to 0.08 s an order, up to the first that decides.
# Orders with one factor late are left out: they differ by a few functions. On 200 rows the best is asked again.
_NO_BETTER = 1.0  # the part of the error that is left on 100 rows, from which on 200 rows are not tried
_ROWS_TO_COMPARE, _ROWS_COMPARED = 10, (100, 200)
# Targets on one orbit agree if they differ by at most so many times the error without the group: under the right group
# they differ by the noise, which that error has too, and under a wrong one by what the group cannot have.
_AGREEMENT = 2.0
_ROUNDING = 1e-12  # of targets that are computed, in their standard deviations
_FEW_ORBITS = 10  # a fit from fewer has too little to choose from, however many rows lie on them


class SpectralRidge(PiecewiseEstimator):
    """Ridge regression on a basis whose functions have a spectrum: all that is not given is chosen from the data."""

    saved_private: ClassVar[tuple[str, ...]] = ("_posterior",)

    solver_: str
    spectrum_: Spectrum
    alpha_: Any
    loo_error_: float
    noise_variance_: Any
    trials_: Records[Trial]
    _posterior: Any

    def __init__(
        self,
        space: Space | None = None,
        group: Group | None = None,
        *,
        spectrum: str = "auto",
        smoothness: float | None = None,
        length_scale: float | None = None,
        alpha: float | str = "auto",
        max_dim: float | None = None,
        max_invariant_dim: float | None = None,
        max_eigenvalue: float | None = None,
        order: str | Order | None = None,
    ) -> None:
        cutoff = {"max_dim": max_dim, "max_invariant_dim": max_invariant_dim, "max_eigenvalue": max_eigenvalue}
        super().__init__(space, group, **cutoff, order=order)
        self.spectrum = spectrum
        self.smoothness = smoothness
        self.length_scale = length_scale
        self.alpha = alpha

    def _is_free(self) -> bool:
        """Whether spectrum and order are both to be chosen."""
        given = any(value is not None for value in (self.smoothness, self.length_scale, self.order))
        return not given and self.spectrum == "auto"

    def _levels(self, basis: Any) -> Levels:
        """The eigenvalues of a basis as spectra take them, with the constants as one function."""
        return basis

    def _candidates(self, basis: Any) -> list[Spectrum]:
        """The spectra to choose from."""
        return spectrum_candidates(
            self._levels(basis), self.spectrum, self.smoothness, self.length_scale, few_first=basis.order.logarithmic
        )

    def _default_basis(self, rows: int | None, *, held: bool = False) -> Any:
        """As many functions as so many points can use within the budget; None where their number is not known.

        They come in pieces unless they are `held`.
        """
        if rows is None:
            return None
        numbers = rows * self._numbers_of_a_point()
        return affordable_basis(self._basis_in_time, affordable_dim(numbers, numbers if held else np.inf))

    def _numbers_of_a_point(self) -> int:
        """How many independent numbers a target is."""
        return 1

    @abc.abstractmethod
    def _moment_problem(self, moments: Moments) -> Problem:
        """The problem of sums over data."""

    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> Any:
        moments, unit = moments.relative()
        alpha, basis, candidates = checked_alpha(self.alpha, unit), self.basis_, self._candidates(self.basis_)
        few = _limits.SEARCH_ROWS  # spectra differ on few functions already
        if len(candidates) > _limits.SHORTLIST and basis.dim > few > basis.n_constants:
            problem = self._moment_problem(moments.first(few))
            candidates = shortlist(problem, self._levels(basis), candidates, alpha, _limits.SHORTLIST).spectra
        fit = self._solved(self._moment_problem(moments), candidates, alpha)
        return self._keep(fit.of_weights(unit), outputs, moments.count)

    def _solved(self, problem: Problem, candidates: list[Spectrum], alpha: float | None) -> RidgeFit:
        """The best fit among `candidates`."""
        alone = self.basis_.dim == self.basis_.n_constants
        if not alone and problem.count > 1:
            return ridge_fit(problem, self._levels(self.basis_), candidates, alpha)
        why = self._only_the_constant() if alone else "all points lie on one orbit"
        said = f"only the constant is fitted: {why}{problem.without_functions}. Predictions are {self._mean()}"
        if not alone:
            said += ", and their standard deviation is infinite: one orbit does not tell how much the function varies"
        warnings.warn(f"{said}.", UserWarning, stacklevel=users_line())
        return mean_fit(problem, candidates[0], alpha)

    def _mean(self) -> str:
        """What a fit of the constant predicts, for messages."""
        return "the mean of y"

    def _keep(self, fit: RidgeFit, outputs: tuple[int, ...], count: int | None) -> Any:
        """The attributes that users see.

        Parameters
        ----------
        fit : RidgeFit
        outputs : tuple of int
            The shape of one target.
        count : int, optional
            Points; None where `_question_error` asks about the fit.
        """
        self.solver_, self.spectrum_, self.alpha_ = fit.solver, fit.spectrum, fit.alpha
        self.loo_error_, self.trials_ = fit.error, Records(fit.trials)
        self._posterior = fit.posterior
        for name in ("directions_", "n_iterations_"):
            vars(self).pop(name, None)
        if fit.directions is not None:
            self.directions_ = fit.directions
        if fit.iterations:
            self.n_iterations_ = fit.iterations
        self._keep_outputs(fit, outputs)
        if count is not None and fit.solver != "mean":
            question_fit(fit.error, count, self._why_nothing)
        return self

    def _points_with_deviations(self, X: Any) -> Array:
        """Checked points whose predictions are asked for with standard deviations: arrays only."""
        check_is_fitted(self)
        if is_dask(X):
            raise ValueError("return_std is not available for Dask collections: take their partitions one by one")
        return self._points(X, reset=False)

    def _deviations(
        self, chunks: Iterable[tuple[Any, Array]], shape: tuple[int, ...], *, slopes: bool = False
    ) -> Array:
        """Posterior standard deviations, from the features of some rows at a time.

        They are infinite where all data lie on one orbit: then nothing tells how much the function varies.
        """
        found = np.full(shape, np.inf)
        if self._posterior is not None:
            for rows, features in chunks:
                found[rows] = self._posterior.deviation(features, slopes=slopes).reshape(found[rows].shape)
        return found

    def _why_nothing(self) -> str:
        return why_nothing(self._space(), self._group(), self._output())

    @abc.abstractmethod
    def _keep_outputs(self, fit: RidgeFit, outputs: tuple[int, ...]) -> None:
        """Coefficients and noise in the shape that users see."""

    def _output(self) -> Any:
        """How the group moves the targets; None where it leaves them alone."""
        return None

    def _question_error(
        self,
        points: Array,
        targets: Array,
        fit: RidgeFit,
        count: int,
        rows: int,
        shared: SharedOrbits | None = None,
        gradient: Array | None = None,
    ) -> None:
        """Warn where the fit is poor, and the points, the group or the number of functions tell why.

        Parameters
        ----------
        points : ndarray of shape (n, n_features)
            As they were given.
        targets : ndarray of shape (n,) or (n, outputs)
        fit : RidgeFit
            With weights whose mean is one: penalties are relative to them.
        count, rows : int
            Points, and numbers that were observed at them.
        shared : SharedOrbits, optional
            Points on one orbit, and how much their targets differ.
        gradient : ndarray of shape (n, n_features), optional
            What was fitted beside the targets.
        """
        if not self.loo_error_ > POOR or look_like_radians(self._space(), points):  # of which the fit has warned
            return
        if self.space is not None:  # the default torus is known to wrap
            question_wrapping(self.space, points, self.loo_error_, getattr(self, "feature_names_in_", None))
        without = self._error_without_group(points, targets, gradient)
        # Where targets on one orbit agree, the data do have the symmetry: too few orbits are to blame.
        agree = shared is not None and shared.disagreement <= _AGREEMENT * max(without, _ROUNDING)
        group_fails = without < FAR_BETTER * self.loo_error_ and not agree
        if group_fails:
            at_one_point = self._output() is not None or gradient is not None
            group_fails = tells_of_group(self._space(), self._group(), points, at_one_point=at_one_point)
        if group_fails:
            columns = targets.size // len(targets)
            question_group(self._space(), self._group(), self.loo_error_, without, columns, self._output())
        elif self.solver_ != "mean":  # of which the fit has warned
            if shared is not None and shared.orbits < _FEW_ORBITS:
                question_orbits(shared.rows, shared.orbits, self._group(), self.loo_error_)
            else:
                known = shared is not None and shared.points_are_known
                question_fit(self.loo_error_, count, self._why_nothing, points_are_known=known)
        if self._cutoff() is None:
            wanted = weakest_share(fit, self._levels(self.basis_), float(count)) > _limits.WANTED
            question_size(self.basis_, count, rows, self.loo_error_, wanted=wanted, group_fails=group_fails)

    def _error_without_group(self, points: Array, targets: Array, gradient: Array | None) -> float:
        """The leave-one-out error of a fit of some rows without the group; infinite where there is no need to know.

        Something else may be to blame for a poor fit where the cutoff, the spectrum or the penalty was given.
        """
        group, chosen = self._group(), self._is_free() and self._cutoff() is None and self.alpha == "auto"
        enough = chosen and len(points) >= _ROWS_TO_COMPARE and (group.generators or group.fields)
        if not enough or self.solver_ == "mean":
            return np.inf
        from specavg.estimators._kernel_ridge import InvariantKernelRidge  # a subclass: not known up there

        orders, error = [default_order(self._space()), *further_orders(self._space())], np.inf
        orders = [order for order in orders if not (isinstance(order, ByType) and order.late is not None)]
        numbers = 1 if gradient is None else 1 + self._space().dim
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for rows in _ROWS_COMPARED:
                count, errors = rows // numbers, list[float]()
                some = np.unique(np.linspace(0, len(points) - 1, count).astype(int))
                for order in orders:
                    plain = InvariantKernelRidge(self._space(), None, order=order)
                    try:
                        slopes = None if gradient is None else gradient[some]
                        errors.append(plain.fit(points[some], targets[some], gradient=slopes).loo_error_)
                    except (ValueError, MemoryError):  # there may be too many functions without a symmetry
                        return np.inf
                    if errors[-1] < FAR_BETTER * self.loo_error_:  # no other order has to be asked
                        return errors[-1]
                error, best = min(errors), int(np.argmin(errors))
                orders = orders[best : best + 1]
                if error > _NO_BETTER * self.loo_error_ or count >= len(points):
                    break
        return error
