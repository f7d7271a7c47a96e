"""Invariant kernel ridge regression: what to reach for."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from specavg._config import settings
from specavg.data._distributed import distributed_apply
from specavg.data._moments import Moments, Sum
from specavg.data._streaming import is_dask, needs_cutoff, stream_of
from specavg.estimators._affordable import FUNCTIONS_PER_POINT, affordable_basis, affordable_dim
from specavg.estimators._base import InvariantEstimator, weights_or_ones
from specavg.invariants import Cutoff, InvariantBasis, Order, further_orders
from specavg.regression._choice import Choice, Trial, choose, shortlist
from specavg.regression._ridge_paths import FeatureProblem, MomentProblem, Problem
from specavg.regression._spectra import Spectrum, spectrum_candidates
from specavg.regression._toeplitz_path import ToeplitzPosterior, ToeplitzProblem

if TYPE_CHECKING:
    from specavg.groups import Group
    from specavg.spaces import Space

__all__ = ["InvariantKernelRidge"]

Array = NDArray[np.float64]

FEATURES_HELD = 3e7  # n · D up to which features are held and decomposed; moments beyond
DECOMPOSED = 600  # functions up to which moments are decomposed even where their Gram matrix is Toeplitz
SEARCH_ROWS = 400
SHORTLIST = 3


@final
@dataclass(frozen=True, eq=False)
class Posterior:
    """The variance of f(x): the noise variance times 1/Σw + z(FᵀF + αI)⁻¹zᵀ, z centred and scaled.

    With several penalties it is a sum over them, each with its share of the noise.
    """

    weight: float
    mean: Array  # (D,)
    scale: Array  # (D,)
    V: Array  # (D, r)
    s: Array  # (r,)
    alphas: Array  # (A,)
    noise: Array  # (A, q), the share of each in the noise variance of each output

    @classmethod
    def of(cls, problem: Problem, choice: Choice, alphas: Array, noise: Array) -> Posterior:
        """From what was chosen."""
        path = choice.path
        return cls(problem.weight, problem.mean_features, path.scale, path.V, path.s, alphas, noise)

    def variance(self, features: Array) -> Array:
        """At points with these features, the constant left out."""  # (n, D) -> (n, q)
        z = (features - self.mean) * self.scale
        seen = z @ self.V
        relative = 1.0 / self.weight + seen**2 @ (1.0 / (self.s[:, None] ** 2 + self.alphas))
        if self.V.shape[1] < self.V.shape[0]:  # there are directions no data point has
            relative += np.sum((z - seen @ self.V.T) ** 2, axis=1)[:, None] / self.alphas
        return relative @ self.noise


class InvariantKernelRidge(RegressorMixin, InvariantEstimator):
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
    spectrum : {"auto", "sobolev", "matern", "heat"}, default "auto"
        D_λ^(−2s/d) as in the paper, (1 + ℓ²λ)^(−s), exp(−ℓ²λ/2); "auto" chooses s and ℓ of "matern", which comes
        near the others, or, in four and more dimensions, of functions of few coordinates or particles (see Notes).
    smoothness : float, optional
        s, of "sobolev" and "matern"; may lie far above d, for analytic targets.
    length_scale : float, optional
        ℓ, of "matern" and "heat", in the units of the space.
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
    loo_error_ : float
        Leave-one-out root mean squared error in standard deviations of y (mean over outputs). It was minimised by the
        choice, and with several outputs the directions come from all rows: a little optimistic, the more so with
        many outputs and few rows.
    trials_ : tuple of Trial
        What was compared at last, after a short-list: `.spectrum`, `.alpha`, `.error`, `.density`.
    solver_ : {"features", "moments", "toeplitz", "mean"}
        Singular values of the features, an eigendecomposition of their moments, conjugate gradients on a Toeplitz
        Gram matrix, or nothing but the mean of y.
    n_iterations_ : int
        Steps of conjugate gradients, where they were used.
    n_features_in_ : int

    Notes
    -----
    *Choice.* A grid of spectra and penalties is compared by leave-one-out in closed form, from one decomposition
    per spectrum, by predictive density and squared error together (`Trial.score`). The grid of "auto" is the Matérn
    family in s and ℓ together, of which "heat" is the limit of large s. Rows on one orbit are left out together.
    With more than 400 rows, or with several bases (below), three spectra are short-listed on up to 400 rows (chosen
    without regard to y) and compared on all.

    *Many coordinates.* The first eigenspaces of a torus of four and more dimensions hold products of many coordinates
    and only the lowest frequencies of each. With nothing given, two more bases compete with them, on the same rows by
    the same score: those in the order "few coordinates" with steepness c = 4 and 64, whose "heat" spectrum
    ∏(1 + c k_i²)^(−s) prefers sums of functions of few coordinates; on powers and products, of few copies or factors.
    `basis_.order` says which was chosen. Chunked data and lattices always use the order of eigenvalues.

    *Several outputs* share the spectrum, but each has noise of its own size. Then they are measured in
    units of their own leave-one-out error, rotated to their principal directions, and each direction has its own
    penalty: what outputs have in common is averaged, what is mostly noise is smoothed away. With a given `alpha`, and
    where only moments are known, all have the same penalty and every output is fitted as if it were alone.

    *Cutoff.* Where none is given: about 3 invariant functions per distinct point (rounded up to 2^k or 1.5·2^k,
    so that folds of cross-validation share one basis; at least 96), while n · D · min(n, D) stays below 1e10 and no
    more than 12,000 eigenfunctions have to be searched numerically for invariants.

    *Accuracy.* Up to n · D = 3e7, features are decomposed by their singular values, which fits nearly
    noise-free data to 1e-9 and better. Beyond, moments are, by generalised cross-validation, with half the digits.

    *Large problems on tori.* With up to three dimensions (and the extra ``specavg[nufft]``) the Gram matrix is
    Toeplitz. With more than 600 functions, or where spectrum and α are given, it is never formed: conjugate
    gradients with FFTs, and a stochastic estimate of the trace in generalised cross-validation.

    *Weights.* As elsewhere in scikit-learn a weight of two is a repeated observation.

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

    saved_records: ClassVar[tuple[type, ...]] = (Moments, Posterior, Spectrum, Sum, ToeplitzPosterior, Trial)
    saved_private: ClassVar[tuple[str, ...]] = ("_posterior",)

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
        self.space = space
        self.group = group
        self.spectrum = spectrum
        self.smoothness = smoothness
        self.length_scale = length_scale
        self.alpha = alpha
        self.max_dim = max_dim
        self.max_invariant_dim = max_invariant_dim
        self.max_eigenvalue = max_eigenvalue
        self.order = order

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> InvariantKernelRidge:
        """Choose what was not given, and fit.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape), or a stream
            Data that do not fit in memory come as an iterator of (X, y) or (X, y, sample_weight) chunks, the path of
            a Parquet file (then `y` names its target column), or a Dask array or dataframe. The choice is then
            made by generalised cross-validation from moments.
        y : array-like of shape (n,) or (n, n_outputs), or None with an iterator
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        stream = stream_of(X, y, sample_weight)
        if stream is not None:
            return self._fit_stream(stream)
        points, targets = self._points_and_targets(X, y)
        weights = weights_or_ones(sample_weight, points)
        vars(self).pop("moments_", None)
        columns = targets.reshape(len(points), -1)
        if not weights.all():  # a row of weight zero is a row that is not there
            points, columns, weights = points[weights > 0], columns[weights > 0], weights[weights > 0]
        alpha = self._alpha()
        bases = self._invariant_bases(points)
        self.basis_ = bases[0]
        canonical = self._canonical(points)
        candidates = self._candidates(bases[0])
        n, dim = len(points), bases[0].dim
        if dim > 1 and (len(bases) > 1 or (n > SEARCH_ROWS and len(candidates) > SHORTLIST)):
            rows = np.sort(np.random.default_rng(20250713).permutation(n)[:SEARCH_ROWS])
            lists = [self._searched(basis, canonical[rows], columns[rows], weights[rows], n, alpha) for basis in bases]
            best = min(range(len(bases)), key=lambda i: lists[i][1])
            self.basis_, (candidates, _) = bases[best], lists[best]
        self.cutoff_ = self.basis_.cutoff
        held = self._held(n, self.basis_)
        problem: Problem
        if held:
            problem = FeatureProblem(self.basis_.evaluate(canonical)[:, 1:], columns, weights)
        elif (self.basis_.dim > DECOMPOSED or (alpha is not None and len(candidates) == 1)) and (
            found := self.basis_.gram_operator(canonical, weights, columns)
        ):
            problem = ToeplitzProblem(*found, columns, weights)
        else:
            problem = MomentProblem(Moments.of(self.basis_, canonical, columns, weights))
        return self._fit_problem(problem, candidates, alpha, targets.shape[1:])

    @needs_cutoff
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> InvariantKernelRidge:
        """Add data to what was fitted before, and choose anew: the result is that of streaming all of it at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. An explicit cutoff is needed, since the number of samples is not known in advance.

        Returns
        -------
        self
        """
        return self._partial_fit(stream_of(X, y, sample_weight) or self._one_chunk(X, y, sample_weight))

    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> InvariantKernelRidge:
        alpha = self._alpha()
        candidates = self._candidates(self.basis_)
        if len(candidates) > SHORTLIST and self.basis_.dim > SEARCH_ROWS:  # spectra differ on few functions already
            few = MomentProblem(moments.first(SEARCH_ROWS))
            candidates, _ = shortlist(few, self.basis_, candidates, alpha, SHORTLIST)
        return self._fit_problem(MomentProblem(moments), candidates, alpha, outputs)

    def _stream_basis(self, rows: int | None) -> InvariantBasis:
        if rows is None or self._cutoff() is not None:
            return super()._stream_basis(rows)
        return affordable_basis(self._basis, affordable_dim(rows))

    def _fit_problem(
        self, problem: Problem, candidates: list[Spectrum], alpha: float | None, outputs: tuple[int, ...]
    ) -> InvariantKernelRidge:
        """Choose and solve, on features or on moments; needs `basis_` and `cutoff_`."""
        mean = problem.mean_targets
        vars(self).pop("directions_", None)
        if self.basis_.dim == 1 or problem.count == 1:
            self._warn_constant(problem.count)
            self.solver_, self.spectrum_, self.alpha_ = "mean", candidates[0], alpha or 1.0
            self.loo_error_, self.trials_, self._posterior = 1.0, (), None
            coefficients = np.zeros((self.basis_.dim, len(mean)))
            coefficients[0] = mean
            noise = np.zeros_like(mean)
        else:
            choice = choose(problem, self.basis_, candidates, alpha)
            path, relative = choice.path, choice.relative_alpha
            self.solver_ = problem.solver
            self.spectrum_, self.alpha_ = choice.trial.spectrum, choice.trial.alpha
            self.loo_error_, self.trials_ = choice.trial.error, choice.tried
            if choice.directions is not None:
                directions = choice.directions
                self.alpha_, self.directions_ = directions.alphas * choice.unit, directions.back
                self.loo_error_ = directions.error
                rest, shares = directions.coefficients(), directions.noise()
                self._posterior = Posterior.of(problem, choice, directions.alphas, shares)
                noise = shares.sum(axis=0)
            else:
                rest, noise = path.coefficients(relative), path.noise_variance(relative)
                if isinstance(problem, ToeplitzProblem):
                    self.n_iterations_ = problem.iterations
                    self._posterior = problem.posterior(self.basis_, path.scale, relative, noise)
                else:
                    self._posterior = Posterior.of(problem, choice, np.array([relative]), noise[None])
            coefficients = np.concatenate([[mean - problem.mean_features @ rest], rest])
        self.coef_ = coefficients.reshape(self.basis_.dim, *outputs)
        self.noise_variance_: Any = noise if outputs else float(noise[0])
        return self

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
            `noise_variance_` to its square. It trusts the prior: for nearly noise-free data and a "heat" spectrum,
            which takes the target to be analytic, real errors can be several times larger.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, n_outputs)
        std : ndarray of the same shape
            Only if `return_std`.
        """
        check_is_fitted(self)
        if is_dask(X):
            if return_std:
                raise ValueError("return_std is not available for Dask collections: predict partitions one by one")
            return distributed_apply(self, "predict", X, self.coef_.shape[1:])
        points = self._canonical(self._points(X, reset=False))
        C = self.coef_.reshape(self.basis_.dim, -1)
        mean = self.basis_.combine(points, C).reshape(len(points), *self.coef_.shape[1:])
        if not return_std:
            return mean
        variance = np.zeros((len(points), C.shape[1]))
        if self._posterior is not None:
            checked = self.basis_.space.check_points(points)
            for rows in self.basis_.functions.chunks(len(points)):
                variance[rows] = self._posterior.variance(self.basis_.functions.evaluate(checked[rows])[:, 1:])
        return mean, np.sqrt(variance).reshape(mean.shape)

    def _alpha(self) -> float | None:
        """The penalty given, None for "auto"."""
        if isinstance(self.alpha, str):
            if self.alpha != "auto":
                raise ValueError(f"alpha must be a positive number or 'auto'; got {self.alpha!r}")
            return None
        if np.ndim(self.alpha):
            raise ValueError(f"alpha is one number for all outputs, or 'auto'; got {np.size(self.alpha)} numbers")
        if not (np.isfinite(self.alpha) and self.alpha > 0):
            raise ValueError(
                f"alpha must be positive and finite; got {self.alpha!r}. 'auto' goes down to interpolation."
            )
        return float(self.alpha)

    def _invariant_bases(self, points: Array) -> list[InvariantBasis]:
        """With the cutoff given; otherwise as many functions as the data can use within the budget.

        Where everything is to be chosen there may be several: one in the order of eigenvalues, and others with
        functions of few coordinates or particles first.
        """
        cutoff = self._cutoff()
        if cutoff is not None:
            return [self._basis(cutoff)]
        smallest = self._basis(Cutoff("max_eigenvalue", 0.0))
        target = affordable_dim(len(np.unique(smallest.canonical(points), axis=0)))
        bases = [affordable_basis(self._basis, target)]
        given = any(value is not None for value in (self.smoothness, self.length_scale, self.order))
        for order in () if given or self.spectrum != "auto" else further_orders(self._space()):
            with suppress(MemoryError):  # what cannot be had does not compete
                bases.append(affordable_basis(partial(self._basis, order=order), target))
        return [basis for basis in bases if basis.dim > 1] or bases[:1]

    def _candidates(self, basis: InvariantBasis) -> list[Spectrum]:
        return spectrum_candidates(basis, self.spectrum, self.smoothness, self.length_scale)

    def _searched(
        self, basis: InvariantBasis, points: Array, columns: Array, weights: Array, n: int, alpha: float | None
    ) -> tuple[list[Spectrum], float]:
        """The most promising spectra on some of `n` rows, and the score of the best."""
        few = min(basis.dim, FUNCTIONS_PER_POINT * SEARCH_ROWS)
        features = basis.evaluate(points)[:, 1:few]
        sample = FeatureProblem(features, columns, weights, half_digits=not self._held(n, basis))
        candidates = self._candidates(basis)
        if sample.count == 1:  # all on one orbit: nothing can be left out
            return candidates[:1], np.inf
        return shortlist(sample, basis, candidates, alpha, SHORTLIST)

    @staticmethod
    def _held(n: int, basis: InvariantBasis) -> bool:
        """Whether the features of `n` points are held and decomposed, rather than their moments."""
        values = n * basis.dim
        return values <= FEATURES_HELD and 4 * 8.0 * values <= settings().memory_limit / 2

    def _warn_constant(self, count: int) -> None:
        if count == 1:
            why = "all points lie on one orbit"
        else:
            why = (
                f"{self.cutoff_.kind} = {self.cutoff_.value:.6g} ends before the first non-constant invariant of "
                f"{self.basis_.group!r} on {self.basis_.space!r}"
            )
        warnings.warn(f"only the constant is fitted: {why}. Predictions are the mean of y.", UserWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # The default space is a torus of period 2: standardised data wrap around it and make little sense there.
        tags.regressor_tags.poor_score = True
        return tags
