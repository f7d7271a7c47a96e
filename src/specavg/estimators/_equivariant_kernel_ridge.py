"""Equivariant kernel ridge regression: vectors and tensors that move with the points."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from specavg._arrays import Array
from specavg.data._dask_collections import distributed_apply
from specavg.data._questioned_columns import users_line
from specavg.data._questioned_fit import tensor_hint
from specavg.data._streaming import is_dask
from specavg.estimators._base import checked_alpha, relative_weights
from specavg.estimators._one_thread import one_thread
from specavg.estimators._spectral_ridge import SpectralRidge
from specavg.estimators._vector_data import VectorData, VectorLevels, moment_problem
from specavg.functions._compensated_sums import Sum
from specavg.groups import Group, Representation
from specavg.invariants import Cutoff, EquivariantBasis, Order
from specavg.invariants._equivariant_basis import built_equivariant_basis
from specavg.invariants._output_on_space import output_representation
from specavg.regression import _measured_limits as _limits
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem
from specavg.regression._ridge_fit import RidgeFit, Trial
from specavg.regression._spectra import Levels, Spectrum
from specavg.regression._spectrum_choice import shortlist
from specavg.regression._target_units import Units
from specavg.regression._vector_posterior import BlockPosterior, SummandPosterior
from specavg.spaces import Space

_NUMBERS = ("scalar", "pseudoscalar")  # outputs of one number
# Of the length of all targets: pure noise has 0.58 along x, components along east and north taken for others about as
# much, and a field with a tenth of noise 0.06.
_LOST = 0.4
_ALONG_AXES = (  # what winds are given as, for messages
    "the components of each vector along the axes of R³, not along east, north and up: u·east + v·north, with "
    "east, north = spaces.east_and_north(lonlat)"
)


class EquivariantKernelRidge(RegressorMixin, SpectralRidge):
    """Ridge regression on an equivariant basis: F(gx) = ρ(g)F(x) holds exactly for the fitted function.

    Minimises Σ w_i |y_i − F(x_i)|² + α Σ_λ |c_λ|² / spectrum(λ) over combinations F of equivariant functions; constant
    vectors, those that ρ leaves alone, are not penalised. This is kernel ridge regression with the matrix-valued
    kernel (1/|G|) Σ_g K(gx, y) ρ(g)ᵀ, without the average. With the output "scalar" it is the regression of
    `InvariantKernelRidge` on one target.

    Parameters
    ----------
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2.
    group : Group, optional
        Who acts. Default: the trivial group.
    output : str or Representation, optional
        How the group moves the outputs, as in `equivariant_basis`: "vector", "axial vector", "pseudoscalar",
        "ij=ji", sums such as "vector + scalar", or a `groups.Representation`. The outputs of "ij=ji" in three
        dimensions are T_xx, √2 T_xy, √2 T_xz, T_yy, √2 T_yz, T_zz, not Voigt's xx, yy, zz, yz, xz, xy:
        `groups.index_symmetry` goes to and fro. On `Sphere(3)` "tangent vector" is for fields such as the wind: of y
        only the tangential part counts, and predictions are tangential. Default: "scalar" for y of shape (n,); like
        other regressors of one number, scikit-learn's, it warns of a column, which the name "scalar" allows.
    spectrum, smoothness, length_scale, alpha
        As in `InvariantKernelRidge`. All outputs have the same penalty and the same noise: the group mixes them.
    max_dim, max_invariant_dim, max_eigenvalue : float, optional
        At most one explicit cutoff, as in `equivariant_basis`.
    order : str or Order, optional
        Which functions come first; by default those of small eigenvalues.

    Attributes
    ----------
    basis_ : EquivariantBasis
    coef_ : ndarray of shape (basis_.dim,)
        Coefficients of the equivariant functions.
    cutoff_, spectrum_, alpha_, trials_, solver_
        As in `InvariantKernelRidge`.
    noise_variance_ : float
        The estimated variance of the noise of each output.
    loo_error_ : float
        Root mean squared error of leaving out one *point* with all its outputs, relative to the root mean square of the
        targets about the best constant vector. Points on one orbit are left out together; those of streams are not
        looked for.
    output_shape_ : tuple of int
        The shape of one target: (p,), or () where y was given without an axis of outputs.
    n_features_in_ : int

    Notes
    -----
    *Choice.* Everything is chosen as in `InvariantKernelRidge`, and a point is left out with all its outputs. "auto"
    compares "matern" with "von mises", where the series of "von mises" is known in the order of eigenvalues: on
    spheres, rotations, intervals and lattices of two and three dimensions. With ``order="type"`` it also compares
    "product", and "von mises" on cubic tori and powers. All functions of an eigenspace have the same value of the
    spectrum, whatever their outputs are.

    *Error bars* are calibrated by the formula of `InvariantKernelRidge`; its rows are the n·p numbers that were left
    out. At a point that a part of the group keeps, the outputs that symmetry forbids have the deviation zero. The
    posterior of a model with a given `alpha`, and of one fitted from moments, takes its penalty as true. Where
    flows take every point to every other, all functions are few and known, and what they miss is noise.

    *What `InvariantKernelRidge` has and this does not*: gradients as data, and functions that stand out.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    >>> X = space.sample(60, random_state=0)
    >>> Y = X**3  # moves as x does: under permutations and sign changes of the coordinates
    >>> model = sa.EquivariantKernelRidge(space, group, "vector").fit(X, Y)
    >>> Z = space.sample(500, random_state=1)
    >>> bool(np.abs(model.predict(Z) - Z**3).max() < 1e-6)
    True
    >>> bool((model.predict(-Z[:, [1, 0, 2]]) == -model.predict(Z)[:, [1, 0, 2]]).all())
    True
    """

    saved_records: ClassVar[tuple[type, ...]] = (BlockPosterior, Moments, SummandPosterior, Spectrum, Sum, Trial, Units)
    _moments_of = staticmethod(Moments.of_vectors)

    basis_: Any  # an EquivariantBasis, where other estimators have an InvariantBasis
    output_shape_: tuple[int, ...]
    _posterior: BlockPosterior | None

    def __init__(
        self,
        space: Space | None = None,
        group: Group | None = None,
        output: str | Representation | None = None,
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
        prior = {"smoothness": smoothness, "length_scale": length_scale}
        cutoff = {"max_dim": max_dim, "max_invariant_dim": max_invariant_dim, "max_eigenvalue": max_eigenvalue}
        super().__init__(space, group, spectrum=spectrum, alpha=alpha, **prior, **cutoff, order=order)
        self.output = output

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EquivariantKernelRidge:
        """Choose what was not given, and fit.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape), or a stream
            As in `InvariantKernelRidge.fit`.
        y : array-like of shape (n, p), or (n,) for one output
            Predictions have its shape.
            Tensors by their components, ``groups.index_symmetry("ij=ji", 3).components(T)`` for T of shape (n, 3, 3):
            the upper triangle row by row, √2 times what is off the diagonal. (Rotations move them in another way
            without the √2.)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        stream = self._stream(X, y, sample_weight)
        if stream is not None:
            return self._fit_stream(stream)
        self._refuse_tensors(y)
        points, targets = self._points_and_targets(X, y, multi_output=self.output is not None)
        weights, unit = relative_weights(sample_weight, points)
        alpha = checked_alpha(self.alpha, unit)
        kept = weights > 0
        outputs = targets.shape[1:]
        points, targets, weights = points[kept], targets[kept].reshape(int(kept.sum()), -1), weights[kept]
        cutoff = self._cutoff()
        smallest = self._basis(Cutoff("max_eigenvalue", 0.0))
        if targets.shape[1] != smallest.n_outputs:
            raise ValueError(
                f"y has {targets.shape[1]} columns, but {smallest.output!r} moves {smallest.n_outputs} outputs: "
                f"give y of shape (n, {smallest.n_outputs}){self._hint(smallest, targets.shape[1])}"
            )
        self._question_parts(smallest, points, targets)
        data = VectorData.of(smallest, points, targets, weights)
        rows = len(data.points) * smallest.n_rows
        with one_thread(rows):
            basis: Any = self._default_basis(len(data.points), held=True) if cutoff is None else self._basis(cutoff)
            data = data.of_each_orbit(basis)
            candidates = self._searched(data, alpha)
            self._take_basis(basis)
            fit = self._solved(data.problem(), candidates, alpha)
            self._keep(fit.of_weights(unit), outputs, None)
            self._question_error(points, targets, fit, len(data.points), len(data.points) * basis.n_rows)
            return self

    def _refuse_tensors(self, y: Any) -> None:
        """Refuse arrays of tensors, and vectors where one number is meant, in words of `output`."""
        if getattr(y, "ndim", 2) > 2:
            raise ValueError(f"y has shape {y.shape}, and an output has one axis: (n, p){self._tensor_hint()}")
        if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1 and self._output() in _NUMBERS:
            raise ValueError(
                f"y has {y.shape[1]} columns, and output={self._output()!r} is one number. Name what moves with the "
                "points: output='vector', 'axial vector', 'ij=ji'; InvariantKernelRidge takes numbers that stay."
            )

    def _question_parts(self, basis: EquivariantBasis, points: Array, targets: Array) -> None:
        """Warn where much of y is what no function can have: tangent vectors in other components than those of R³."""
        largest = float(np.abs(targets).max(initial=0.0)) or 1.0  # squares of very large targets are no numbers
        whole = targets / largest
        lost = float(np.linalg.norm(whole - basis.possible(points, whole))) / (float(np.linalg.norm(whole)) or 1.0)
        if lost > _LOST:
            warnings.warn(
                f"{lost**2:.0%} of the squares of y lie along x, and {self._output()!r} drops that part. Give "
                f"{_ALONG_AXES}.",
                stacklevel=users_line(),
            )

    def _tensor_hint(self) -> str:
        hint = tensor_hint(self._output())
        return f". {hint}" if hint else ""

    def _hint(self, basis: EquivariantBasis, columns: int) -> str:
        """What may be the matter with another number of columns, for messages."""
        return f". Give {_ALONG_AXES}" if basis.output.tangent and columns == 2 else self._tensor_hint()

    def _built(self, space: Space, group: Group, cutoff: Cutoff, order: Order, seconds: float) -> EquivariantBasis:
        output = output_representation(space, group, self._output())
        return built_equivariant_basis(space, output, cutoff, order, "auto", seconds)

    def _numbers_of_a_point(self) -> int:
        return self._basis(Cutoff("max_eigenvalue", 0.0)).n_rows

    def _fitted_outputs(self) -> tuple[int, ...]:
        return self.output_shape_

    def _moment_problem(self, moments: Moments) -> Problem:
        return moment_problem(self.basis_, moments)

    def _searched(self, data: VectorData, alpha: float | None) -> list[Spectrum]:
        """The most promising spectra, on some of the points where there are many."""
        candidates = self._candidates(data.basis)
        some = data.sample(_limits.SEARCH_ROWS)
        if some is None or len(candidates) <= _limits.SHORTLIST or data.basis.dim == data.basis.n_constants:
            return candidates
        problem = some.features_problem(_limits.FUNCTIONS_PER_POINT * _limits.SEARCH_ROWS)
        return shortlist(problem, VectorLevels.of(data.basis), candidates, alpha, _limits.SHORTLIST).spectra

    def _levels(self, basis: EquivariantBasis) -> Levels:
        return VectorLevels.of(basis)

    def _output(self) -> Any:
        return "scalar" if self.output is None else self.output

    def _mean(self) -> str:
        return "the part of the mean of y that the group leaves alone"

    def _solved(self, problem: Problem, candidates: list[Spectrum], alpha: float | None) -> RidgeFit:
        basis: EquivariantBasis = self.basis_
        if not basis.dim:
            if basis.is_complete:
                raise ValueError(
                    f"the output {self._output()!r} has no function with F(gx) = ρ(g)F(x): the flows of "
                    f"{basis.group!r} take every point of {basis.space!r} to every other, and the elements that keep "
                    "one leave no value there alone"
                )
            advice = (
                "raise the cutoff"
                if self._cutoff() is not None
                else "this output may allow none at all; with a cutoff the search goes as far as you say"
            )
            raise ValueError(
                f"there is no function with F(gx) = ρ(g)F(x) below {basis.cutoff.kind} = {basis.cutoff.value:g}: "
                f"{advice}"
            )
        return super()._solved(problem, candidates, alpha)

    def _keep_outputs(self, fit: RidgeFit, outputs: tuple[int, ...]) -> None:
        self.coef_, self.alpha_, self.noise_variance_ = fit.coefficients[:, 0], float(fit.alpha), float(fit.noise[0])
        p = self.basis_.n_outputs
        self.output_shape_ = (p,) if p > 1 else tuple(int(q) for q in outputs)

    def predict(self, X: ArrayLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Values of the estimated function: exactly equivariant.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
        return_std : bool, default False
            Whether to return the posterior standard deviation of each output too.
        return_cov : bool, default False
            Whether to return the posterior covariance of the outputs at each point instead.

        Returns
        -------
        mean : ndarray of shape (n, p), or (n,) where y had that shape
        std : ndarray of the same shape
            Only if `return_std`.
        cov : ndarray of shape (n, p, p)
            Only if `return_cov`.
        """
        check_is_fitted(self)
        alone = not (return_std or return_cov)
        if alone and is_dask(X):
            return distributed_apply(self, "predict", X, self.output_shape_)
        points, p = self._points_with_deviations(X), self.basis_.n_outputs
        mean = self._values(points).reshape(len(points), *self.output_shape_)
        if alone:
            return mean
        chunks = self.basis_.values_in_chunks(points)
        if not return_cov:
            return mean, self._deviations(chunks, (len(points), p)).reshape(mean.shape)
        covariance = np.tile(np.diag(np.full(p, np.inf)), (len(points), 1, 1))  # where all data lie on one orbit
        if self._posterior is not None:
            for rows, values in chunks:
                covariance[rows] = self._posterior.covariance(values)
        return mean, covariance

    def _values(self, points: Array) -> Array:
        """Σ c F at `points`; by way of one point of each orbit where that makes values equivariant to the last bit."""
        basis: EquivariantBasis = self.basis_
        elements = basis.canonical_elements
        if elements is None:
            return basis.combine(points, self.coef_)
        places, leading = elements.places(points)
        return elements.taken_back(basis.combine(places, self.coef_), leading)

    def gradient(self, X: Any, return_std: bool = False) -> Any:
        """Gradients of every output of the estimated function.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
            A Dask array gives a lazy Dask array.
        return_std : bool, default False
            Whether to return the posterior standard deviation of each derivative too.

        Returns
        -------
        gradient : ndarray of shape (n, n_features, p), or (n, n_features) where y had one number for each point
            By the coordinates of `X`, as `InvariantKernelRidge.gradient` says.
        std : ndarray of the same shape
            Only if `return_std`.

        Examples
        --------
        >>> import specavg as sa
        >>> space = sa.Torus(2)
        >>> X = space.sample(60, random_state=0)
        >>> model = sa.EquivariantKernelRidge(space, sa.groups.sign_flips(2), "vector").fit(X, np.sin(np.pi * X))
        >>> np.abs(model.gradient([[0.0, 0.5]])[0] - [[np.pi, 0], [0, 0]]).max() < 1e-6
        np.True_
        """
        check_is_fitted(self)
        if is_dask(X) and not return_std:
            return distributed_apply(self, "gradient", X, (self.n_features_in_, *self.output_shape_))
        points = self._points_with_deviations(X)
        found = self.basis_.combine_gradient(points, self.coef_).reshape(*points.shape, *self.output_shape_)
        if not return_std:
            return found
        chunks = (  # constants have no slopes, and add nothing
            (rows, slopes.reshape(-1, *slopes.shape[2:])) for rows, slopes in self.basis_.gradients_in_chunks(points)
        )
        deviations = self._deviations(chunks, (*points.shape, self.basis_.n_outputs), slopes=True)
        return found, deviations.reshape(found.shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.output is not None
        tags.regressor_tags.poor_score = True  # as for `InvariantKernelRidge`
        return tags
