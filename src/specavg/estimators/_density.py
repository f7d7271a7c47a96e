"""Invariant density estimation."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from specavg._arrays import Array
from specavg._messages import whole_number
from specavg._named_columns import of_arrays
from specavg._random import as_generator
from specavg.data._dask_collections import distributed_apply
from specavg.data._questioned_columns import users_line
from specavg.data._streaming import is_dask
from specavg.estimators._base import relative_weights
from specavg.estimators._exponential_family import ExponentialFit, exponential_fit, exponential_fit_from_moments
from specavg.estimators._fitted_kernels import fitted_mixture
from specavg.estimators._kernel_mixture import KernelMixture
from specavg.estimators._left_out import LeftOut
from specavg.estimators._number_of_functions import affordable_basis
from specavg.estimators._one_thread import one_thread
from specavg.estimators._orbit_space import orbit_space
from specavg.estimators._penalty_of_density import Chosen, chosen_fit
from specavg.estimators._rejection_sample import rejection_sample
from specavg.estimators._repeated_points import observations
from specavg.estimators._series_of_least_risk import series_of_least_risk
from specavg.estimators._streamed import StreamedEstimator
from specavg.groups import Group
from specavg.invariants import InvariantBasis, Order
from specavg.regression._moments import Moments
from specavg.spaces import Space
from specavg.spaces._order_of_functions import order_in_own_units
from specavg.spaces._von_mises import VonMises

FEWEST_FUNCTIONS, MOST_FUNCTIONS = 96, 192  # invariant functions of a default: 96 for up to 96 points, 192 for more
_LOOKED_AT = 10_000  # rows, to see whether there are more than FEWEST_FUNCTIONS different ones
_OF_ONE_FORM = "coef_ shrinkage_ smoothness_ l2_risk_ quadrature_ normalisation_error_ kernels_ loo_log_likelihood_"


class InvariantDensity(DensityMixin, StreamedEstimator):
    """A probability density that is exactly invariant to a group.

    By default the density is positive and of integral one. It has one of two forms, whichever predicts better the
    points that are left out (`form_` says which):

    - "exponential": f = exp(Σ c ψ − log Z), ψ the invariant functions, by penalised maximum likelihood. For smooth
      densities.
    - "kernels": kernels around the points, averaged over the group. For densities far sharper than the functions of a
      basis can be, such as the orientations of pixels in grains.

    With ``positive=False`` it is the orthogonal series of the paper, whose coefficients are means over the data.

    Parameters
    ----------
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2; data wrap and are not rescaled.
    group : Group, optional
        Who acts. Default: the trivial group.
    positive : bool, default True
        True: the exponential family, or kernels where no cutoff is given and they predict better. False: the plain
        orthogonal series 1 + Σ w θ ψ, which integrates to one but may be negative where there are few data.
    max_dim, max_invariant_dim, max_eigenvalue : float, optional
        At most one explicit cutoff, as in `invariant_basis`. Default: up to 192 invariant functions, 96 for fewer
        than 97 points.
    order : str or Order, optional
        Which functions come first, as in `invariant_basis`. Default: that of eigenvalues. Where no cutoff is given,
        factors of a product and sides of a box are measured in units of their own (``ByType(balanced=True)``), so that
        an angle in degrees beside a length has the density that it has in radians. A lattice has one unit of length.

    Attributes
    ----------
    basis_ : InvariantBasis
    form_ : {"exponential", "kernels", "series"}
        What the density is. Attributes of one form only are absent from the others.
    coef_ : ndarray of shape (basis_.dim,)
        Coefficients of the invariant functions, in the exponent if `form_` is "exponential"; the first is −log Z, or 1.
        Kernels have none.
    kernels_ : KernelMixture
        The kernels, where they were chosen: `.images` of the data, `.weights` (for each width where they
        differ), `.concentrations`, `.shares` (that of the uniform density first).
    cutoff_ : Cutoff
    shrinkage_ : float
        Of an exponential density, the α of the penalty α Σ c² (1 + λ/λ₁)^s / n, s = `smoothness_`; of a series, the t
        of the weights w = exp(−tλ/λ₁), λ₁ the first non-constant invariant eigenvalue. Kernels have none.
    l2_risk_ : float
        The estimated ∫(f − p)² dμ, but for the constant ∫p²: unbiased for the series. Kernels have none, and it is NaN
        for an exponential density of a stream.
    loo_log_likelihood_ : float
        Mean leave-one-out log density (not for "series"); for kernels less a number for each share that was fitted.
    quadrature_ : str
        How log Z was computed (only if `form_` is "exponential"; kernels have integral one by themselves).
    normalisation_error_ : float
        Of log Z: the difference from a second rule, or the standard error of random nodes (as `quadrature_`). Beyond
        0.01 finer rules are taken as far as there are, and of rotations cells that are halved around peaks.
    n_features_in_ : int

    Notes
    -----
    *Unit.* Densities are relative to the *uniform probability measure*: the uniform density is 1, its log 0, on every
    space. Subtract log(space.volume) for the density per unit of volume. The measure of an `Interval` is the arcsine
    measure, dx/(π√((x − low)(high − x))): uniform data on [0, 1] have density 0.44 at 0.02 and 1.57 at 0.5 relative to
    it.

    *The exponential family* maximises the leave-one-out log-likelihood over the penalty α and its smoothness s. A row
    that is left out lowers the density at its place by a factor in closed form. This agrees with fits without the row
    to a few hundredths of a nat on average, and to 0.3 with very unequal weights; for streams it is right to first
    order. Rows that have more than a sixteenth of all weight, and rows that are nearly alone, such as those far from a
    sharp peak, are left out by fits without them (of more than sixteen, sixteen at random). Rows on one orbit are left
    out together, so that repeated rows and rounded angles do not predict one another; rows of streams are left out one
    by one. So are those of an atom, a point with at least ten times as many rows as any other: it has no density. A
    warning says how many rows it has, and the density is as sharp there as its form can be; kernels, of 0.08° on a
    sphere or circle, have the mass of these rows around it. Up to sixteen rows have to be likelier than under the
    uniform density by more than one close pair among them carries; the density is nearly uniform otherwise. Where all
    rows lie on one orbit, nothing tells how wide a density is: it is nearly uniform, and a warning says so, as for many
    rows on two to ten orbits.

    Data rounded to a coarse step give a density that is too broad: 2,000 angles of width 40° that were rounded to 1° or
    2° give a mean |f − p| of 0.05, to 5° of 0.10, to 10° of 0.17 (0.04 without rounding); a plain series has 0.12 to
    0.21 (0.08 without). A warning is given if data in memory have sharper peaks than the density that is chosen. Many
    peaks that a given cutoff blurs into few are not noticed.

    log Z is an integral over nodes, finer ones for sharper densities. A density is not considered if even the finest
    two rules disagree about its log Z by more than 0.05.

    *Kernels.* f = s_0 + Σ_k s_k Σ_i w_ki k_κ(x, x_i), averaged over the group, with von Mises kernels
    exp(−κ|e(x) − e(y)|²/2) of integral one and 20 values of κ, each twice the one before. The shares s_k maximise the
    leave-one-out likelihood, which is concave in them; a width that one close pair of points asks for is left out.
    Weights are equal, or those of rows that the others explain by this width, where that is likelier: a peak beside
    orientations anywhere keeps its volume.
    Kernels are tried on `Torus`, `Sphere` and `Rotations`, where data are in memory, no cutoff is given and the group
    has at most 2,000 elements, which are listed. They are taken if their leave-one-out likelihood is larger by 0.5/√m,
    where both forms are compared on the same m rows: all, or at least 1,000 taken at random.
    At most 300,000 images of points are kept (other points count for the nearest of them) and 3·10⁸ pairs compared:
    some seconds, and 3 ms for the density at a point.

    *Continuous groups.* Functions that the turns about an axis leave alone (`C∞v` on a sphere, the fibre textures of
    `crystal_symmetry(..., specimen="C∞")`), or the shifts of a torus, are integrated with one node on each orbit.
    Kernels are averaged over such turns in closed form: on spheres by a Bessel function, on rotations turned from one
    side by the kernel of the direction that they leave alone. Under other groups with a continuous part there are no
    kernels.

    *Series* minimise the unbiased estimate Σ w²θ̂² − 2w (n²θ̂² − Σψ²)/(n(n−1)) of their L² risk, over all cutoffs up to
    the given one and a grid of t.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space, group = sa.Sphere(3), sa.groups.point_group("Ci")
    >>> X = np.random.default_rng(0).normal([0, 0, 2], 0.5, size=(200, 3))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> model = sa.InvariantDensity(space, group).fit(X[:150])
    >>> model.score(X[150:]) / 50 > 1
    True
    >>> bool((model.score_samples(X) == model.score_samples(-X)).all())
    True
    """

    saved_records: ClassVar[tuple[type, ...]] = (KernelMixture,)
    _has_targets = False

    kernels_: KernelMixture

    def __init__(
        self,
        space: Space | None = None,
        group: Group | None = None,
        *,
        positive: bool = True,
        max_dim: float | None = None,
        max_invariant_dim: float | None = None,
        max_eigenvalue: float | None = None,
        order: str | Order | None = None,
    ) -> None:
        cutoff = {"max_dim": max_dim, "max_invariant_dim": max_invariant_dim, "max_eigenvalue": max_eigenvalue}
        super().__init__(space, group, **cutoff, order=order)
        self.positive = positive

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> InvariantDensity:
        """Estimate the density.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape), or a stream
            Data that do not fit in memory come as an iterator of chunks X or (X, sample_weight), a list of such tuples,
            the path of a Parquet file (then `sample_weight` names a column), or a Dask array or dataframe; `l2_risk_`
            of a positive density is then not known.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How much each row counts beside the others: only ratios matter. Rows of one orbit are one observation with
            the sum of their weights (but for atoms), so that a weight of two is the same as a repeated row, and
            observations count as (Σw)²/Σw² equal ones. Of a stream every row is an observation.

        Returns
        -------
        self
        """
        for name in _OF_ONE_FORM.split():
            vars(self).pop(name, None)
        stream = self._stream(X, None, sample_weight)
        if stream is not None:
            return self._fit_stream(stream)
        points = self._points(X, reset=True)
        weights, _ = relative_weights(sample_weight, points)
        points, weights = points[weights > 0], weights[weights > 0]
        given = self._cutoff()
        self._take_basis(self._default_basis(_distinct(points)) if given is None else self._basis(given))
        points = self.basis_.evaluation_points(points)
        features = self.basis_.evaluate(points)[:, 1:]
        self._require_functions()
        first, label = observations(features, widths=self.positive)
        points, features, weights = points[first], features[first], np.bincount(label, weights).astype(np.float64)
        weights *= float(weights.sum()) / float(weights @ weights)
        n = float(weights.sum())
        if self.positive:
            kernels = told = None
            if given is None:
                kernels, told = fitted_mixture(self.basis_.space, self.basis_.group, points, weights)
            with one_thread(self.basis_.dim):  # nodes and rows of so many functions
                least = -np.inf if told is None else told.least
                chosen = chosen_fit(partial(exponential_fit, features, weights), self.basis_, n, least)
            if kernels is None or told is None or (chosen is not None and not _is_worse(chosen.fit, told)):
                self._take_exponential(chosen, len(points))
            else:
                self.form_, self.kernels_ = "kernels", kernels
                known = None if chosen is None else chosen.fit.left_out
                self.loo_log_likelihood_ = told.mean if known is None else told.mean_over_all(known, weights)
        else:
            pairs = n * n - float(weights @ weights)
            self._fit_series(len(features), n, weights @ features, weights**2 @ features**2, pairs)
        return self

    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> InvariantDensity:
        assert moments.gram is not None
        self._require_functions()
        n, total = float(moments.count), float(moments.weight.value)
        target, scatter = moments.features.value[1:] / total, moments.gram.value[1:, 1:] / total
        if self.positive:
            maximise = partial(exponential_fit_from_moments, target, scatter, n)
            self._take_exponential(chosen_fit(maximise, self.basis_, n), moments.count)
        else:
            self._fit_series(moments.count, n, n * target, n * np.diagonal(scatter), n * (n - 1))
        return self

    def _default_basis(self, rows: int | None) -> InvariantBasis:
        few = rows is not None and rows <= FEWEST_FUNCTIONS
        order = order_in_own_units(self._space()) if self.order is None else self._order()
        basis_at = partial(self._basis_in_time, order=order)
        return affordable_basis(basis_at, FEWEST_FUNCTIONS if few else MOST_FUNCTIONS)

    def _require_functions(self) -> None:
        if self.basis_.dim == 1:
            raise ValueError(f"only the uniform density is left: {self._only_the_constant()}.")

    def _fit_series(self, count: int, n: float, sums: Array, squares: Array, pairs: float) -> None:
        """From Σ w = n, Σ w ψ, and sums over pairs of one row with itself: their ψ², and how many other pairs are left.

        A pair counts as the product of its weights. Of rows in memory pairs of one orbit are such pairs, of weight w²;
        of a stream those of one row.
        """
        if not pairs > 0:
            raise ValueError(
                f"n_samples={count} on different orbits, with weights that sum to {n:.3g}: an estimate of the risk "
                "needs more than one observation"
            )
        squared = (sums**2 - squares) / pairs  # unbiased for θ²
        coefficients, self.shrinkage_, risk = series_of_least_risk(self.basis_.eigenvalues[1:], sums / n, squared)
        self.form_ = "series"
        self.l2_risk_ = risk - 1.0  # with the constant function: 1 − 2
        self.coef_ = np.concatenate([[1.0], coefficients])

    def _take_exponential(self, chosen: Chosen | None, rows: int) -> None:
        if chosen is None:
            raise ValueError(
                "even the smoothest density has an integral that quadrature nodes cannot tell: lower the cutoff "
                f"({self.cutoff_.kind} = {self.cutoff_.value:.6g})."
            )
        self.form_, self.shrinkage_, self.smoothness_ = "exponential", chosen.alpha, chosen.smoothness
        self.coef_ = np.concatenate([[-chosen.fit.log_z], chosen.fit.coefficients])
        self.loo_log_likelihood_, self.l2_risk_ = chosen.fit.loo_log_likelihood, chosen.fit.l2_risk
        self.quadrature_, self.normalisation_error_ = chosen.nodes[0].description, chosen.fit.error
        if chosen.is_too_broad(rows):
            elsewhere = self._cutoff() is not None
            what = f"{self.basis_.dim} functions give no more: raise the cutoff" + ", or leave it out" * elsewhere
            if chosen.ended_by_nodes:
                what = f"no more can be told by {self.quadrature_}" + ": leave out the cutoff" * elsewhere
            warnings.warn(
                f"the data are sharper than this density: it is {chosen.fit.met:.2f} times as large at points that "
                "were left out as at points drawn from it, where 1 is right. Its peaks are too low, and numbers such "
                f"as texture indices too small; {what}.",
                stacklevel=users_line(),
            )

    def density(self, X: ArrayLike) -> Array:
        """The density at `X`, relative to the uniform probability measure: exactly invariant.

        Returns
        -------
        ndarray of shape (n,)
        """
        values = self._values(X)
        return np.exp(values) if self.form_ == "exponential" else values

    def score_samples(self, X: ArrayLike) -> Array:
        """The log density at `X`, relative to the uniform probability measure.

        On an `Interval` this is the arcsine measure: add −log(π√((x − low)(high − x))) for each interval to have the
        log density in dx.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)

        Returns
        -------
        ndarray of shape (n,)
            −inf where a plain series (`positive=False`) is not positive.
        """
        if is_dask(X):
            return distributed_apply(self, "score_samples", X, ())
        values = self._values(X)
        if self.form_ == "exponential":
            return values
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(values, 0.0))

    def gradient(self, X: ArrayLike) -> Array:
        """The gradient of the log density at `X` (the score of statistics), as `score_samples` has it.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)

        Returns
        -------
        ndarray of shape (n, n_features)
            As `InvariantKernelRidge.gradient`; NaN where a plain series (`positive=False`) is not positive.

        Examples
        --------
        >>> import specavg as sa
        >>> X = sa.Torus(1).sample(500, random_state=0) / 4  # nothing beyond ±0.25
        >>> model = sa.InvariantDensity(sa.Torus(1), sa.groups.sign_flips(1)).fit(X)
        >>> bool(model.gradient([[0.3]])[0, 0] < 0 < model.gradient([[-0.3]])[0, 0])
        True
        """
        if is_dask(X):
            return distributed_apply(self, "gradient", X, (self.n_features_in_,))
        check_is_fitted(self)
        points = self._points(X, reset=False)
        if self.form_ == "kernels":
            return self.kernels_.gradient(self._von_mises, points)
        slopes = self.basis_.combine_gradient(points, self.coef_[:, None])[:, :, 0]
        if self.form_ == "exponential":
            return slopes
        values = self._values(X)[:, None]
        return np.where(values > 0, slopes / np.where(values > 0, values, 1.0), np.nan)

    def score(self, X: ArrayLike, y: Any = None) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The total log-likelihood of `X`, as scikit-learn's `KernelDensity` has it.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Independent points from the density, by rejection of uniform ones.

        Periodic coordinates run from −period/2 to period/2, as those of `Torus.sample`: hours of a day come from −12 to
        12, and ``model.sample(n) % 24`` has them from 0 to 24.

        Parameters
        ----------
        n_samples : int, default 1
        random_state : int, Generator or None

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        n_samples = whole_number(n_samples, "n_samples", 0)
        rng = as_generator(random_state)
        space = self.basis_.space
        if self.form_ == "kernels":
            return self.kernels_.sample(space, self._von_mises, n_samples, rng)
        return rejection_sample(of_arrays(self.density), space, n_samples, rng)

    @property
    def _von_mises(self) -> VonMises:
        family = orbit_space(self.basis_.space, self.basis_.group).family
        assert family is not None
        return family

    def _values(self, X: ArrayLike) -> Array:
        """The density, or its logarithm in the exponential family."""
        check_is_fitted(self)
        points = self.basis_.evaluation_points(self._points(X, reset=False))
        if self.form_ == "kernels":
            return self.kernels_.density(self._von_mises, points)
        return self.basis_.combine(points, self.coef_[:, None])[:, 0]


def _is_worse(fit: ExponentialFit, kernels: LeftOut) -> bool:
    """Whether kernels say more of rows that are left out; what is far below them is not known row by row."""
    return fit.loo_log_likelihood < kernels.least or kernels.is_better_than(fit.left_out)


def _distinct(points: Array) -> int:
    """How many different rows there are; of many rows some are looked at."""
    return len(np.unique(points[:: -(-len(points) // _LOOKED_AT)], axis=0))
