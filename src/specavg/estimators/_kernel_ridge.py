"""Invariant kernel ridge regression: what to reach for."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from specavg._arrays import Array
from specavg.data._questioned_fit import question_vectors
from specavg.estimators._base import InvariantSeries, checked_alpha, relative_weights
from specavg.estimators._gradient_data import (
    GradientData,
    RatioSearch,
    noise_ratio_of_moments,
    noise_ratio_of_rows,
)
from specavg.estimators._larger_bases import grown
from specavg.estimators._near_rows import FEWEST_ROWS, unshown_variance
from specavg.estimators._number_of_functions import affordable_basis, affordable_dim
from specavg.estimators._one_thread import one_thread
from specavg.estimators._questioned_gradients import question_gradients
from specavg.estimators._ridge_data import RidgeData
from specavg.estimators._searched_basis import MadeBasis, competing_bases, searched_basis
from specavg.estimators._spectral_ridge import SpectralRidge
from specavg.estimators._streamed import needs_cutoff
from specavg.functions._compensated_sums import Sum
from specavg.invariants import Cutoff, InvariantBasis, Order, default_order, further_orders
from specavg.regression import _measured_limits as _limits
from specavg.regression._decomposed_path import DecomposedPosterior
from specavg.regression._gradient_problem import GradientProblem
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._operator_path import OperatorPosterior
from specavg.regression._ridge_fit import RidgeFit, Trial
from specavg.regression._spectra import Spectrum
from specavg.regression._target_units import Units
from specavg.spaces._parts_of_columns import column_units

_FEWEST_VALUES = 8  # values, at least, that gradients are compared with: a fit of fewer says nothing of gradients


class InvariantKernelRidge(InvariantSeries, SpectralRidge):
    """Ridge regression on functions that are exactly invariant to a group: the estimator to start with.

    ``InvariantKernelRidge(space, group).fit(X, y)`` needs no settings: the functions, the spectrum and the penalty are
    chosen from the data. The fitted function is f = c_0 + Σ c·ψ, ψ the invariant functions, and minimises

        Σ_i w_i (y_i − f(x_i))² + α Σ_λ |c_λ|² / spectrum(λ).

    The constant c_0 is not penalised. This is kernel ridge regression with the kernel averaged over the group,
    K_G(x, y) = (1/|G|) Σ_g K(gx, y), at a cost that does not depend on |G|.

    Parameters
    ----------
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2; data wrap and are not rescaled.
    group : Group, optional
        Who acts. Default: the trivial group.
    spectrum : {"auto", "sobolev", "matern", "heat", "product", "partition", "von mises"}, default "auto"
        How fast coefficients are expected to decrease with the eigenvalue λ of their function; `Spectrum` has the
        formulas. "sobolev" is the paper's, "matern" is (1 + ℓ²λ)^(−s), "heat" is exp(−ℓ²λ/2). "product" and
        "partition" need ``order="type"``, and "von mises" needs it where a space has several parts. "auto" chooses s
        and ℓ of "matern", which comes near the first three, and of the last three where they apply.
    smoothness : float, optional
        s, of all spectra but "heat" and "von mises"; may lie far above the dimension, for analytic targets.
    length_scale : float, optional
        ℓ, of all spectra but "sobolev", in the units of the space.
    alpha : float or "auto", default "auto"
        The penalty, a positive number for all outputs; "auto" chooses it.
    max_dim, max_invariant_dim, max_eigenvalue : float, optional
        At most one explicit cutoff, as in `invariant_basis`; it is used as it is.
    order : str or Order, optional
        Which functions come first, as in `invariant_basis`. Default: chosen where nothing else is given, else the
        order of eigenvalues.

    Attributes
    ----------
    basis_ : InvariantBasis
    coef_ : ndarray of shape (basis_.dim,) or (basis_.dim, n_outputs)
        Coefficients of the invariant functions, the constant first.
    cutoff_ : Cutoff
    spectrum_ : Spectrum
        The spectrum in use: `.name`, `.smoothness`, `.length_scale`.
    alpha_ : float or ndarray of shape (n_directions,)
        The penalty in use; an array where each row of `directions_` has its own.
    directions_ : ndarray of shape (n_directions, n_outputs)
        Only with several outputs and a chosen penalty, where features are held: the combinations of outputs that were
        fitted one by one. Row k is what the k-th of these functions adds to each output.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        The estimated variance σ² of the noise of an observation of weight one.
    gradient_noise_variance_ : float or ndarray of shape (n_features,)
        Only with gradients: the estimated variance of the noise of each component of a gradient. An array on products
        of parts with unlike units, as bonds and angles: noise is taken to be the same in units of an interval's half
        width, a period over 2π, and a radius, so that it does not matter whether angles are in degrees.
    loo_error_ : float
        Root mean squared error of predicting each row from the others, in standard deviations of y (mean over outputs).
        Rows on one orbit are left out together, and what they differ by counts as an error. The choice minimised what
        is left, so that it is a little optimistic, the more so with many outputs and few rows. With
        gradients: the error of values and gradients together, in units of their noise, relative to their size.
    outstanding_ : ndarray of int
        Numbers of the functions whose coefficients are far larger than the spectrum allows; they are penalised like
        the first function. Mostly there are none.
    trials_ : tuple of Trial
        The candidates of the final comparison, one `Trial` each: `.spectrum`, `.alpha`, `.error`, `.density`.
    solver_ : {"features", "moments", "toeplitz", "grid", "mean"}
        How the fit was computed: by singular values of the features, by an eigendecomposition of their moments, by
        conjugate gradients with a Gram matrix that is Toeplitz or follows from a density on a grid, or not at all
        ("mean": nothing but the mean of y was fitted).
    n_iterations_ : int
        Steps of conjugate gradients, where they were used.
    n_features_in_ : int

    Notes
    -----
    The page *How the defaults were chosen* of the documentation has the rules, their limits and what was measured.

    *Choice.* Every candidate, a spectrum with a penalty, is scored by how well it predicts rows that are left out, in
    closed form; `Trial.score` is the number that is compared. Rows on one orbit are left out together. With more than
    400 rows the candidates are first compared on 400 of them, so that the order of the rows can, seldom, change the
    choice: sort the rows for the same fit.

    *Error bars.* With a given `alpha`, `return_std` takes the spectrum and the penalty as true. With a chosen penalty
    the deviations are calibrated by the rows that were left out: they grow with the errors of these rows, with the
    roughness that looks like noise, and with the number of things that were chosen. From 20,000 rows on they are no
    smaller than what residuals of near rows have in common. Gradients in chunks are not calibrated. Intervals of rough
    functions of many coordinates without noise are too narrow.

    *Number of functions.* Without a cutoff there are about 3 functions for each distinct point, at least 96, and fewer
    where that would take too long, or more memory than `sa.config` allows. In four and more dimensions functions of few
    coordinates and those of low degree compete with those of small eigenvalues; the former do so in two and three
    dimensions too, with 4 rows and more for a function. `basis_.order` says which were taken: give it beside a cutoff
    of your own, which keeps the order of eigenvalues.

    *Several outputs* share the spectrum, and each combination of them in `directions_` has a penalty of its own. With a
    given `alpha`, and where only moments are known, all outputs have the same penalty.

    *Digits.* Up to n · D = 3e7 values of D functions at n points, the features themselves are decomposed, which fits
    data without noise to 1e-9 and better. Beyond, and with data in chunks, sums over the data are used: they have half
    of the digits, and generalised cross-validation takes the place of leaving out rows.

    *Weights* are relative precisions: the noise of a row of weight w has the variance σ²/w. So 1/σ_i² and any multiple
    of it give the same model and error bars; only `alpha_` and `noise_variance_` are in units of the weights. With a
    given `alpha` and spectrum a weight of two gives the predictions of a repeated row. What is chosen may differ,
    because repeated rows with different targets tell the noise.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space, group = sa.Torus(2), sa.groups.hyperoctahedral(2)
    >>> X = space.sample(60, random_state=0)
    >>> y = np.exp(np.cos(np.pi * X).sum(axis=1))
    >>> model = sa.InvariantKernelRidge(space, group).fit(X, y)
    >>> Z = space.sample(1000, random_state=1)
    >>> bool(np.abs(model.predict(Z) - np.exp(np.cos(np.pi * Z).sum(axis=1))).max() < 1e-6)
    True
    >>> bool((model.predict(Z) == model.predict(-Z[:, ::-1])).all())
    True
    """

    saved_records: ClassVar[tuple[type, ...]] = (
        *(DecomposedPosterior, OperatorPosterior, Spectrum, Trial),
        *(Moments, Sum, Units),  # what later pieces of data are added to
    )
    _takes_gradients: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, gradient: Any = None) -> InvariantKernelRidge:
        """Choose what was not given, and fit.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape), or a stream
            Data that do not fit in memory come as an iterator of (X, y), (X, y, sample_weight) or (X, y,
            sample_weight, gradient) chunks, the path of a Parquet file (then `y` and `sample_weight` name
            columns, and `gradient` lists those of gradients), or a Dask array or dataframe. The choice is then made by
            generalised cross-validation from moments.
        y : array-like of shape (n,) or (n, n_outputs), or None with an iterator
        sample_weight : array-like of shape (n,), optional
        gradient : array-like of shape (n, n_features) or (n, *space.shape), optional
            Observed gradients beside y, with the meaning of the method `gradient`; on embedded spaces only their
            tangential part counts. A row of NaN is a missing gradient, and y may be NaN where a gradient is given.
            Gradients have noise of their own size, chosen with everything else; points are left out with their
            gradients. A gradient that contradicts the values (forces are *minus* gradients, another
            unit or frame, one column with another sign or unit) is warned of, by how well the values alone predict it
            and each of its columns: from a multiple of 1 ± 0.03 on where they leave nothing open, and of 1 ± 0.25 where
            they leave much.

        Returns
        -------
        self
        """
        vars(self).pop("gradient_noise_variance_", None)
        checked_alpha(self.alpha)
        stream = self._stream(X, y, sample_weight, gradient)
        if stream is not None:
            return self._fit_stream(stream)
        if gradient is not None:
            return self._fit_gradients(X, y, sample_weight, gradient)
        points, targets = self._points_and_targets(X, y)
        weights, unit = relative_weights(sample_weight, points)
        alpha, order, cutoff = checked_alpha(self.alpha, unit), self._order(), self._cutoff()
        data = RidgeData.of(self._canonical(points), targets, weights)
        outputs, only = targets.shape[1:], 1 if data.is_constant else None  # constant targets leave nothing to choose

        def candidates_of(basis: InvariantBasis) -> list[Spectrum]:
            return self._candidates(basis)[:only]

        with one_thread(data.count):
            # Some of the rows choose the functions and a few spectra; all rows choose among these, and the penalty.
            searched = searched_basis(self._bases(data.points, order, cutoff)[:only], data, candidates_of, alpha)
            basis, candidates = searched.basis, searched.spectra or candidates_of(searched.basis)
            self._take_basis(basis, order_is_chosen=cutoff is None and self._is_free())
            problem = data.problem(basis, searched.features, candidates, alpha)
            problem.expect(searched.small_alpha)
            fit = self._solved(problem, candidates, alpha)
            if cutoff is None and alpha is None and data.count >= _limits.LARGE_ROWS:
                grows = default_order(self._space()) if basis.order.logarithmic else basis.order
                basis_at = partial(self._basis, order=grows, seconds=_limits.LARGE_BASIS_SECONDS)
                basis, fit = grown(data.not_averaged(), basis, fit, grows, basis_at, self._candidates)
                self._take_basis(basis, order_is_chosen=cutoff is None and self._is_free())
            if alpha is None and data.count >= FEWEST_ROWS:
                unshown = unshown_variance(data, self._space(), basis, fit)
                fit = fit if unshown is None else fit.with_unshown(unshown)
            self._keep(fit.of_weights(unit), outputs, None)
            if not (outputs and question_vectors(basis, outputs, self.loo_error_)):
                self._question_error(points, targets, fit, data.count, data.count, problem.shared)
            return self

    def _fit_gradients(self, X: Any, y: Any, sample_weight: Any, gradient: Any) -> InvariantKernelRidge:
        points = self._points(X, reset=True)
        weights, unit = relative_weights(sample_weight, points)
        data = GradientData.of(self._space(), points, y, gradient, weights)
        if not data.has_gradient.any():
            return self.fit(points, y, sample_weight)
        alpha, order, cutoff = checked_alpha(self.alpha, unit), self._order(), self._cutoff()
        with one_thread(data.rows(self._space().dim)):
            self._check_gradients(data, unit)
            bases = self._bases(self._canonical(data.points), order, cutoff, data.rows(self._space().dim))
            searches: list[tuple[InvariantBasis, RatioSearch]] = []
            for _, basis in competing_bases(bases, None):
                values, slopes = data.searched(basis)
                guess = noise_ratio_of_rows(values.targets, slopes.targets)
                problem = partial(GradientProblem, values, slopes)
                searches.append((basis, RatioSearch.of(problem, guess, basis, self._candidates(basis), alpha)))
                if searches[-1][1].to_rounding:  # no other basis can do better
                    searches = searches[-1:]
                    break
            bound = min(search.score for _, search in searches) + _limits.BEHIND
            found = [(basis, search.best(alpha)) for basis, search in searches if search.score <= bound]
            basis, (_, candidates, ratio) = min(found, key=lambda entry: entry[1].density)
            self._take_basis(basis, order_is_chosen=cutoff is None and self._is_free())
            fit = self._solved(data.problem(basis, ratio), candidates, alpha)
            self._keep(fit.of_weights(unit), (), None)
            rows = data.rows(self._space().dim)
            self._question_error(data.points, data.targets, fit, len(data.points), rows, gradient=data.gradients)
            return self

    def _check_gradients(self, data: GradientData, unit: float) -> None:
        """Warn of gradients that contradict the values; needs some values to say something."""
        both = data.has_value
        if both.sum() < _FEWEST_VALUES:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a fit of the values alone complains of is not what is fitted
            model: Any = clone(self)
            alone = model.fit(data.points[both], data.targets[both], unit * data.weights[both])
        compared = both & data.has_gradient
        if compared.any():
            question_gradients(alone, data.points[compared], data.gradients[compared], self._space())

    def _open_along(self, points: Array, directions: Array) -> Array:
        """Posterior standard deviations of Σ_ij G_ij ∂_jf(x_i), one for each G."""  # (n, n_features, q) -> (q,)
        slopes = self.basis_.correlate_gradient(points, directions)[1:].T
        return self._deviations([(slice(None), slopes)], (directions.shape[2], 1), slopes=True)[:, 0]

    @needs_cutoff
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, gradient: Any = None
    ) -> InvariantKernelRidge:
        """Add data to earlier pieces, and choose anew: the result is that of streaming all of it at once.

        Earlier pieces are those of `partial_fit`, and of `fit` on a stream. After a `fit` on data in memory there are
        no sums to add to: a warning says that what it saw is lost.

        Parameters
        ----------
        X, y, sample_weight, gradient
            As in `fit`. An explicit cutoff is needed, since the number of samples is not known in advance.

        Returns
        -------
        self
        """
        return self._fit_piece(X, y, sample_weight, gradient)

    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> InvariantKernelRidge:
        if moments.slopes is not None and moments.slopes.count:
            self._check_gradient_moments(moments)
            return self._fit_slope_moments(*moments.relative())
        vars(self).pop("gradient_noise_variance_", None)
        return super()._fit_moments(moments, outputs)

    def _moment_problem(self, moments: Moments) -> MomentProblem:
        return MomentProblem(moments, dimension=self.basis_.dimension)

    def _check_gradient_moments(self, moments: Moments) -> None:
        """The same, of those gradients of a stream that its moments show."""
        shown = None if moments.slopes is None else moments.slopes.shown
        if shown is None or moments.count < _FEWEST_VALUES or self.basis_.dim == 1:
            return
        alone = copy(self)
        vars(alone).pop("feature_names_in_", None)  # it is asked at points without names
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone._fit_moments(replace(moments, slopes=None), ())
        question_gradients(alone, *shown, self._space())

    def _fit_slope_moments(self, moments: Moments, unit: float) -> InvariantKernelRidge:
        """Values and gradients; ratio and spectra are searched for with the moments of some of the functions."""
        alpha, candidates = checked_alpha(self.alpha, unit), self._candidates(self.basis_)
        some = moments.first(min(_limits.SEARCH_ROWS, self.basis_.dim))
        problem, guess = partial(MomentProblem, some), noise_ratio_of_moments(moments)
        _, candidates, ratio = RatioSearch.of(problem, guess, self.basis_, candidates, alpha).best(alpha)
        fit = self._solved(MomentProblem(moments, ratio), candidates, alpha)
        self._keep(fit.of_weights(unit), (), moments.count)
        return self

    def _bases(self, places: Array, order: Order, cutoff: Cutoff | None, rows: int | None = None) -> list[MadeBasis]:
        """With the cutoff given; otherwise as many functions as the data can use within the budget.

        `places` are canonical points, `rows` is the number of observations where a point has several.

        Where everything is to be chosen there may be several: one in the order of eigenvalues, and those of
        `further_orders`. Each is made when it is asked for, with no more functions than
        are wanted: a search needs fewer than the fit.
        """
        if cutoff is not None:
            return [lambda most: self._basis(cutoff, order)]
        distinct = len(np.unique(places, axis=0))
        observed = len(places) if rows is None else rows
        target = affordable_dim(distinct * observed // len(places), observed)
        free = self._is_free()

        def basis(order: Order, most: int | None) -> InvariantBasis:
            return affordable_basis(partial(self._basis_in_time, order=order), min(most or target, target))

        if not free:
            return [partial(basis, order)]
        further = further_orders(self._space(), many_rows=distinct >= _limits.MANY_ROWS_A_FUNCTION * target)
        return [partial(basis, other) for other in (default_order(self._space()), *further)]

    def _keep_outputs(self, fit: RidgeFit, outputs: tuple[int, ...]) -> None:
        self.coef_ = fit.coefficients.reshape(self.basis_.dim, *outputs)
        self.noise_variance_ = fit.noise if outputs else float(fit.noise[0])
        if fit.slope_noise is not None:
            columns, variance = column_units(self._space()), float(fit.slope_noise[0])
            self.gradient_noise_variance_ = variance if (columns == 1).all() else variance / columns**2
        self.outstanding_ = fit.outstanding

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Values of the estimated function: exactly invariant.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        return_std : bool, default False
            Whether to return the posterior standard deviation of f(x) too: the same model read as a Gaussian
            process, with a flat prior on the constant. It is that of the function; an observation adds
            `noise_variance_` to its square. The notes of the class say when it is calibrated. Infinite where all data
            lie on one orbit.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, n_outputs)
        std : ndarray of the same shape
            Only if `return_std`.
        """
        if not return_std:
            return super().predict(X)
        points = self._points_with_deviations(X)
        points = self.basis_.evaluation_points(points)
        mean = self._series(points)
        chunks = ((rows, features[:, 1:]) for rows, features in self.basis_.values_in_chunks(points))
        return mean, self._deviations(chunks, (len(points), self.coef_[0].size)).reshape(mean.shape)

    def gradient(self, X: ArrayLike, return_std: bool = False) -> Any:
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
        points = self._points_with_deviations(X)
        mean = super().gradient(X)
        chunks = (  # (m, dim, n_features) to a row for each component
            (rows, np.concatenate(slopes[:, 1:].transpose(0, 2, 1)))
            for rows, slopes in self.basis_.gradients_in_chunks(points)
        )
        deviations = self._deviations(chunks, (*points.shape, self.coef_[0].size), slopes=True)
        return mean, deviations.reshape(mean.shape)
