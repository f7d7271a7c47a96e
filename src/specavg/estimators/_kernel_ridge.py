"""Invariant kernel ridge regression: what to reach for."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from specavg._arrays import Array
from specavg.data._given_data import question_vectors
from specavg.estimators._affordable import affordable_basis, affordable_dim
from specavg.estimators._base import checked_alpha, relative_weights
from specavg.estimators._error_bars import SeriesWithErrorBars
from specavg.estimators._gradient_data import (
    GradientData,
    RatioChoice,
    best_ratio,
    ratios_of_moments,
    ratios_of_rows,
    warn_of_contradicting_moments,
)
from specavg.estimators._growth import grown
from specavg.estimators._one_thread import one_thread
from specavg.estimators._ridge_problem import RidgeData
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
from specavg.regression._spectrum_choice import ridge_fit
from specavg.regression._target_units import Units

_FEWEST_VALUES = 8  # that gradients are compared with: the fit of fewer says nothing of them


class InvariantKernelRidge(SeriesWithErrorBars, SpectralRidge):
    """Ridge regression on an invariant basis: kernel ridge with the group-averaged kernel, without the average.

    Minimises Σ w_i (y_i − f(x_i))² + α Σ_λ |c_λ|² / spectrum(λ) over f = c_0 + Σ c·ψ, ψ the invariant
    functions; the constant c_0 is not penalised. This is kernel ridge regression with
    K_G(x, y) = (1/|G|) Σ_g K(gx, y), K the truncated kernel of the spectrum, and K + αI as its system; the cost
    does not depend on |G|. Everything that is not given is chosen from the data.

    Parameters
    ----------
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2; data wrap and are not rescaled.
    group : Group, optional
        Who acts. Default: the trivial group.
    spectrum : {"auto", "sobolev", "matern", "heat", "product", "partition", "von mises"}, default "auto"
        D_λ^(−2s/d) as in the paper, (1 + ℓ²λ)^(−s), exp(−ℓ²λ/2); with ``order="type"`` also ∏(1 + ℓ²λ_i)^(−s) over
        coordinates, copies or factors, and exp(−s|κ| − ℓ rows(κ)) on Stiefel manifolds, κ the type of a function;
        the kernel exp(−|e(x) − e(y)|²/2ℓ²) of the embedding by the first functions, with ``order="type"`` where a space
        has several parts. "auto" chooses s and ℓ of "matern", which comes near the first three, and of the other three
        where they apply.
    smoothness : float, optional
        s, of all but "heat" and "von mises"; may lie far above d, for analytic targets.
    length_scale : float, optional
        ℓ, of all but "sobolev", in the units of the space.
    alpha : float or "auto", default "auto"
        The penalty, positive, for all outputs; "auto" chooses it, for several outputs one for each direction of them.
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
        Only with several outputs and penalties chosen from features: what is added to the outputs by each of the
        functions that were fitted one by one.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        The estimated variance σ² of the noise of an observation of weight one.
    gradient_noise_variance_ : float
        Only with gradients: the estimated variance of the noise of each of their components.
    loo_error_ : float
        Leave-one-out root mean squared error in standard deviations of y (mean over outputs). It was minimised by the
        choice, and with several outputs the directions come from all rows: a little optimistic, the more so with
        many outputs and few rows. With gradients: of values and gradients together, in units of their noise, relative
        to their size.
    outstanding_ : ndarray of int
        Functions of the basis, by number, that break the rule of the spectrum and are penalised like the first; mostly
        none.
    trials_ : tuple of Trial
        The candidates of the final comparison, one `Trial` each: `.spectrum`, `.alpha`, `.error`, `.density`.
    solver_ : {"features", "moments", "toeplitz", "grid", "mean"}
        Singular values of the features, an eigendecomposition of their moments, conjugate gradients on a Gram matrix
        that is Toeplitz or follows from a density on a grid, or nothing but the mean of y.
    n_iterations_ : int
        Steps of conjugate gradients, where they were used.
    n_features_in_ : int

    Notes
    -----
    *Choice.* A grid of spectra and penalties is compared by leave-one-out in closed form, from one decomposition per
    spectrum, by predictive density and squared error together (`Trial.score`): every second s first, then the
    neighbours of the best. The density of all rows together (the evidence) counts as much as 60 rows: with few rows
    leave-one-out alone is deceived by chance. It is not used with several outputs, nor where only moments are known.
    The grid of "auto" is the Matérn family in s and ℓ together, of which "heat" is the limit of large s; on cubic tori,
    powers and products "product" beside it, on Stiefel manifolds "partition", and on all but these "von mises" too.
    Rows on one orbit are left out together.
    With more than 400 rows, or with several bases (below), the best spectra are short-listed on up to 400 rows (chosen
    without regard to y) and compared on all; 160 of these rows say first which are worth that, and which bases are.
    The order of more than 400 rows decides which 400, and so, seldom, which spectrum: sort rows for the same fit.
    Neighbours in the grid whose scores differ by less than half a nat over all rows count as one spectrum.

    *Functions that stand out.* A single output with a chosen penalty may have a coefficient far above what the spectrum
    allows, such as that of the cosine of a sum of many angles. Where its square exceeds its variance under the prior
    by a factor that chance has in one fit of a hundred, and the score gains by it, the function is penalised like the
    first one (`outstanding_`), the penalty is chosen anew, and functions that it hid are looked for. Of the one chance
    1/j is spent on the function of the j-th largest prior variance: the later, the more evidence it takes. Functions
    that the points cannot tell from others, such as the aliases of a wave on a regular grid, are left to the spectrum,
    which prefers the smoothest.

    *Error bars.* The posterior of a model with a given `alpha` takes it as true. That of a model with chosen penalties,
    where features are held, is calibrated, for several outputs direction by direction. Let v be the posterior
    variance, m the mean square of what was left out in units of its predicted variance, p the degrees of freedom of the
    fit, and T the largest of σ² p/2n, (d/4) σ² p/n in d dimensions and the prior variance of the functions beyond the
    cutoff; where functions stand out, as many that lie just below what is named are added to T.
    Then the variance is (n + 8)/(n − 8) · [m v + (max(m − 1, 0) + min(T/σ², 1)) σ²]: what surprises is taken for a part
    of the function, and so is noise that hardly fitted functions explain; about eight numbers were chosen. With
    gradients n counts their components too, and points are left out whole.
    Roughness in many dimensions cannot be told from noise where no two points are near each other: intervals of such
    functions without noise are too narrow, and with noise a little too wide.

    *Many coordinates.* The first eigenspaces of a torus of four and more dimensions hold products of many coordinates
    and only the lowest frequencies of each. With nothing given, two more bases compete with them, on the same rows by
    the same score: those in the order "few coordinates" with steepness c = 4 and 64, whose "heat" spectrum
    ∏(1 + c k_i²)^(−s) prefers sums of functions of few coordinates; on powers and products, of few copies or factors.
    `basis_.order` says which was chosen; "type" is the order of eigenvalues, one type of functions at a time. Factors
    of a product, and orthogonal parts of a lattice of up to three dimensions, that have no common unit of length
    compete in units of their own, and each of up to three of them with half its length (`ByType`). Chunked data always
    use the order of eigenvalues.

    *Several outputs* share the spectrum, but each has noise of its own size. Then they are measured in
    units of their own leave-one-out error, rotated to their principal directions, and each direction has its own
    penalty: what outputs have in common is averaged, what is mostly noise is smoothed away. With a given `alpha`, and
    where only moments are known, all have the same penalty and every output is fitted as if it were alone.

    *Cutoff.* Where none is given: about 3 invariant functions per distinct point (rounded up to 2^k or 1.5·2^k,
    so that folds of cross-validation share one basis; at least 96), while n · D · min(n, D) stays below 1e10 and the
    search for invariants takes no more than a second by the forecasts of the solvers (`invariants.plan` shows them).

    *Accuracy.* Up to n · D = 3e7, features are decomposed by their singular values, which fits nearly
    noise-free data to 1e-9 and better. Beyond, moments are, by generalised cross-validation, with half the digits.

    *Gram matrices that are not formed.* On tori of up to three dimensions the Gram matrix is Toeplitz; on `Sphere(3)`
    and `Rotations()` it follows from a density of twice the degree on a grid. The sums over data that it needs come
    from a non-uniform FFT (the extra ``specavg[nufft]``); without it from loops, whose time is n times the number of
    functions of twice the degree. With more than 600 functions, or where spectrum and α are given, the matrix is never
    formed: solutions are found step by step with transforms, those of all penalties in one space, and generalised
    cross-validation has a stochastic estimate of the trace. Points that leave a part of the space empty would take too
    many steps: a first solution tells, and moments are used.

    *Many rows.* From 20,000 rows on, with neither cutoff nor α given and on these spaces, the fit above is a first one.
    While its last function keeps more than 5 % of its coefficient, or the last step took a tenth off the error, up to
    four times as many functions are tried, at most 10,000 and within forecasts of 100 s of one thread altogether: the
    spectra by the likelihood of the coefficients of least squares, the penalty by generalised cross-validation. A
    larger basis is kept only if its error is smaller.

    *Weights* are relative precisions: the noise of a row of weight w has the variance σ²/w, with σ² estimated from the
    rows and not from the sum of the weights. So 1/σ_i² and any multiple of it give the same model and error bars; only
    `alpha_` and `noise_variance_` are in units of the weights. As elsewhere in scikit-learn, a weight of two has the
    least-squares problem of a repeated row, and with a given `alpha` and spectrum the same predictions. What is chosen
    may differ: repeated rows with different targets tell the noise, and count as evidence for functions that stand
    out.

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
        DecomposedPosterior,
        Moments,
        Spectrum,
        Sum,
        OperatorPosterior,
        Trial,
        Units,
    )
    _takes_gradients: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, gradient: Any = None) -> InvariantKernelRidge:
        """Choose what was not given, and fit.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape), or a stream
            Data that do not fit in memory come as an iterator of (X, y), (X, y, sample_weight) or (X, y,
            sample_weight, gradient) chunks, the path of a Parquet file (then `y` names its target column, `gradient`
            lists the columns of gradients), or a Dask array or dataframe. The choice is then made by generalised
            cross-validation from moments.
        y : array-like of shape (n,) or (n, n_outputs), or None with an iterator
        sample_weight : array-like of shape (n,), optional
        gradient : array-like of shape (n, n_features) or (n, *space.shape), optional
            Observed gradients beside y, with the meaning of the method `gradient`; on embedded spaces only their
            tangential part counts. A row of NaN is a missing gradient, and y may be NaN where a gradient is given.
            Gradients have noise of their own size, chosen with everything else; points are left out with their
            gradients. A gradient that contradicts the values (forces are *minus* gradients) is warned of.

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
        order, cutoff = self._order(), self._cutoff()
        weights, unit = relative_weights(sample_weight, points)
        alpha = checked_alpha(self.alpha, unit)
        data = RidgeData.of(self._canonical(points), targets, weights)
        with one_thread(data.count):
            bases, candidates_of = self._bases(data.points, order, cutoff), self._candidates
            if data.is_constant:
                bases, candidates_of = bases[:1], self._one_candidate
            searched = searched_basis(bases, data, candidates_of, alpha)
            basis, candidates = searched.basis, searched.spectra or candidates_of(searched.basis)
            problem = data.problem(basis, searched.features, candidates, alpha)
            vars(self).pop("moments_", None)
            self._take_basis(basis)
            fit = self._solved(problem, candidates, alpha)
            if cutoff is None and alpha is None and data.count >= _limits.LARGE_ROWS:
                at = partial(self._basis, order=basis.order, seconds=_limits.LARGE_BASIS_SECONDS)
                basis, fit = grown(data, basis, fit, at, self._candidates)
                self._take_basis(basis)
            self._keep(fit.of_weights(unit), targets.shape[1:], None)
            if not question_vectors(basis, targets.shape[1:], self.loo_error_):
                self._question_error(points, targets, data.count, data.count)
            return self

    def _fit_gradients(self, X: Any, y: Any, sample_weight: Any, gradient: Any) -> InvariantKernelRidge:
        points = self._points(X, reset=True)
        weights, unit = relative_weights(sample_weight, points)
        data = GradientData.of(points, y, self._space().as_table(gradient), weights)
        if not data.has_gradient.any():
            return self.fit(points, y, sample_weight)
        alpha, order, cutoff = checked_alpha(self.alpha, unit), self._order(), self._cutoff()
        with one_thread(data.rows(self._space().dim)):
            self._check_gradients(data, unit)
            bases = self._bases(self._canonical(data.points), order, cutoff, data.rows(self._space().dim))
            found: list[tuple[InvariantBasis, RatioChoice]] = []
            for _, basis in competing_bases(bases, None):
                values, slopes = data.searched(basis)
                ratios = ratios_of_rows(values.targets, slopes.targets)
                problem = partial(GradientProblem, values, slopes)
                found.append((basis, best_ratio(problem, ratios, basis, self._candidates(basis), alpha)))
            basis, (_, candidates, ratio) = min(found, key=lambda entry: entry[1].density)
            vars(self).pop("moments_", None)
            self._take_basis(basis)
            fit = self._solved(data.problem(basis, ratio), candidates, alpha)
            self._keep(fit.of_weights(unit), (), len(data.points))
            self.gradient_noise_variance_ = self.noise_variance_ / ratio**2
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
        data.warn_of_contradiction(alone.gradient(data.points))

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
            return self._fit_slope_moments(*moments.relative())
        vars(self).pop("gradient_noise_variance_", None)
        return super()._fit_moments(moments, outputs)

    def _moment_problem(self, moments: Moments) -> MomentProblem:
        return MomentProblem(moments)

    def _fit_slope_moments(self, moments: Moments, unit: float) -> InvariantKernelRidge:
        """Values and gradients; ratio and spectra are searched for with the moments of some of the functions."""
        alpha, candidates = checked_alpha(self.alpha, unit), self._candidates(self.basis_)
        some = moments.first(min(_limits.SEARCH_ROWS, self.basis_.dim))
        if moments.count >= _FEWEST_VALUES and some.dim > 1:
            alone = ridge_fit(MomentProblem(some), self.basis_, candidates, alpha)
            warn_of_contradicting_moments(some, alone.coefficients[:, 0])
        problem, ratios = partial(MomentProblem, some), ratios_of_moments(moments)
        _, candidates, ratio = best_ratio(problem, ratios, self.basis_, candidates, alpha)
        fit = self._solved(MomentProblem(moments, ratio), candidates, alpha)
        self._keep(fit.of_weights(unit), (), moments.count)
        self.gradient_noise_variance_ = self.noise_variance_ / ratio**2
        return self

    def _default_basis(self, rows: int | None) -> InvariantBasis | None:
        return None if rows is None else affordable_basis(self._basis_in_time, affordable_dim(rows))

    def _bases(self, places: Array, order: Order, cutoff: Cutoff | None, rows: int | None = None) -> list[MadeBasis]:
        """With the cutoff given; otherwise as many functions as the data can use within the budget.

        `places` are canonical points, `rows` is the number of observations where a point has several.

        Where everything is to be chosen there may be several: one in the order of eigenvalues, and others with
        functions of few coordinates or particles first. Each is made when it is asked for, with no more functions than
        are wanted: a search needs fewer than the fit.
        """
        if cutoff is not None:
            return [lambda most: self._basis(cutoff, order)]
        distinct = len(np.unique(places, axis=0))
        target = affordable_dim(distinct if rows is None else distinct * rows // len(places))
        free = self._is_free()

        def basis(order: Order, most: int | None) -> InvariantBasis:
            return affordable_basis(partial(self._basis_in_time, order=order), min(most or target, target))

        first = default_order(self._space()) if free else order
        return [partial(basis, other) for other in (first, *(further_orders(self._space()) if free else ()))]

    def _one_candidate(self, basis: InvariantBasis) -> list[Spectrum]:
        """The first spectrum, where there is nothing to choose by."""
        return self._candidates(basis)[:1]

    def _keep_outputs(self, fit: RidgeFit, outputs: tuple[int, ...]) -> None:
        self.coef_ = fit.coefficients.reshape(self.basis_.dim, *outputs)
        self.noise_variance_ = fit.noise if outputs else float(fit.noise[0])
        self.outstanding_ = fit.outstanding
