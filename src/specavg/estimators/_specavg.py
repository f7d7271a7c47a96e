"""Algorithm 1 of the paper: empirical mean coefficients, projected on the invariants."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from specavg._messages import shown
from specavg.data._given_data import equal_rows
from specavg.data._questioned_columns import users_line
from specavg.data._streaming import invariant_moments
from specavg.estimators._base import InvariantSeries, weights_or_ones
from specavg.estimators._streamed import PiecewiseEstimator
from specavg.functions._compensated_sums import Sum
from specavg.groups import Group
from specavg.invariants import Cutoff, InvariantBasis, Order
from specavg.invariants._acting_group import training_points
from specavg.regression._moments import Moments
from specavg.regression._spectra import is_positive
from specavg.regression._target_units import Units
from specavg.spaces import Interval, Power, Product, Space

_LARGE = 1e100  # targets from which on sums are made in another unit: with 10^12 rows they stay far below 1e308
_ROWS_TO_JUDGE = 100  # the mean of √2 T₂ over so many points of the arcsine measure is 0 ± 0.1
_MEANS = 10  # first invariant functions whose means say whether points are uniform
_ROWS_OF_MEANS = 10_000  # points that are asked for them: means of so many are known to 0.01
_FAR_FROM_UNIFORM = 0.2  # size of such a mean from which on points are questioned: of y its mean times this is added
# Chance of such means below which points are questioned. They are normal enough: of 2,880 uniform samples of 100 and
# 1,000 points of eight spaces and groups the least had 5e-4.
_NO_CHANCE = 1e-6
_FAR = 0.35  # size of this mean from which on points are questioned; points uniform in x have −√2/3 = −0.47


@dataclass(frozen=True)
class OracleCalls:
    """Calls to the two oracles of the paper, made and as Algorithm 1 counts them.

    Attributes
    ----------
    evaluations : int
        Values φ(x_i) that this fit used: n times the *invariant* functions.
    inner_products : int
        Entries <φ_l, φ_k∘g> that were computed for the basis (none where a closed form or orbits were used).
    paper_evaluations : int
        n · D_λ: Algorithm 1 evaluates every function.
    paper_inner_products : int
        |S| · Σ_λ m_λ²: Algorithm 1 asks for D(g) on every eigenspace and generator.

    Examples
    --------
    >>> import specavg as sa
    >>> X = sa.Torus(3).sample(100, random_state=0)
    >>> model = sa.SpecAvgRegressor(sa.Torus(3), sa.groups.symmetric(3), max_dim=50).fit(X, X.sum(axis=1) ** 2)
    >>> calls = model.oracle_calls_
    >>> calls.evaluations, calls.paper_evaluations, calls.inner_products
    (1200, 3300, 0)
    """

    evaluations: int
    inner_products: int
    paper_evaluations: int
    paper_inner_products: int


class SpecAvgRegressor(InvariantSeries, PiecewiseEstimator):
    """Spec-Avg: the paper's Algorithm 1, a regressor exactly invariant to a group given by its generators.

    Each coefficient is the empirical mean (1/n) Σ y_i φ(x_i); the coefficients of each eigenspace are projected
    on the null space of D(g) − I over the generators. This is the paper's estimator, faithfully: for data,
    `InvariantKernelRidge` on the same basis is far more accurate.

    Parameters
    ----------
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2; data wrap and are not rescaled.
    group : Group, optional
        Who acts. Default: the trivial group.
    smoothness : float, optional
        The Sobolev smoothness s of the target; the cutoff is D = n^(1/(1+α)) with α = 2s/d, d the dimension of
        the space. Default: s = d. Used only where no cutoff is given. The theorem's rate holds for s > d/2; smaller
        values are used as they are (`theory.bounds(...).in_scope` says which case it is).
    max_dim, max_invariant_dim, max_eigenvalue : float, optional
        At most one explicit cutoff, as in `invariant_basis`.
    order : str or Order, default "eigenvalue"
        Which functions come first, as in `invariant_basis`.

    Attributes
    ----------
    basis_ : InvariantBasis
        The invariant functions in use.
    coef_ : ndarray of shape (basis_.dim,) or (basis_.dim, n_outputs)
        Coefficients of the invariant functions.
    cutoff_ : Cutoff
        The cutoff in use.
    D_ : float
        The theorem's D, or the cutoff that was given: a number of functions, with `max_eigenvalue` an eigenvalue.
    exponent_ : float
        α = 2s/d.
    oracle_calls_ : OracleCalls
        Oracle calls of each kind, for comparison with the theorem.
    n_features_in_ : int

    Notes
    -----
    The mean estimates a coefficient only if the points are uniform (on an `Interval`: arcsine, as `space.sample` draws
    them; points that are uniform in x need the weights 1/√((x − low)(high − x))). Points that clearly are not uniform
    are warned of. For another density p give `sample_weight` proportional to 1/p: coefficients are then
    Σ w_i y_i φ(x_i) / Σ w_i. As elsewhere in scikit-learn a weight of two is a repeated observation, so n in the cutoff
    is Σ w_i: give weights of mean one.

    References
    ----------
    Soleymani, Tahmasebi, Jegelka, Jaillet. "Learning with Exact Invariances in Polynomial Time". ICML 2025.

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Torus(10), sa.groups.sign_flips(10)
    >>> X = space.sample(500, random_state=0)
    >>> y = (X**2) @ range(1, 11) / 10
    >>> model = sa.SpecAvgRegressor(space, group, max_invariant_dim=176).fit(X, y)
    >>> bool((model.predict(-X) == model.predict(X)).all())
    True
    """

    saved_records: ClassVar[tuple[type, ...]] = (OracleCalls, Moments, Sum, Units)
    _moments_of = staticmethod(partial(invariant_moments, gram=False))

    def __init__(
        self,
        space: Space | None = None,
        group: Group | None = None,
        *,
        smoothness: float | None = None,
        max_dim: float | None = None,
        max_invariant_dim: float | None = None,
        max_eigenvalue: float | None = None,
        order: str | Order = "eigenvalue",
    ) -> None:
        cutoff = {"max_dim": max_dim, "max_invariant_dim": max_invariant_dim, "max_eigenvalue": max_eigenvalue}
        super().__init__(space, group, **cutoff, order=order)
        self.smoothness = smoothness

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SpecAvgRegressor:
        """Estimate the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape), or a stream
            Data that do not fit in memory come as an iterator of (X, y) or (X, y, sample_weight) chunks, the path of
            a Parquet file (then `y` and `sample_weight` name columns), or a Dask array or dataframe.
        y : array-like of shape (n,) or (n, n_outputs), or None with an iterator
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        stream = self._stream(X, y, sample_weight)
        if stream is not None:
            return self._fit_stream(stream)
        points, targets = self._points_and_targets(X, y)
        columns, weight, count = targets.reshape(len(points), -1), float(len(points)), len(points)
        if sample_weight is not None:
            weights = weights_or_ones(sample_weight, points)
            columns, weight, count = weights[:, None] * columns, float(weights.sum()), int(np.count_nonzero(weights))
        asked = sample_weight is None and len(points) >= _ROWS_TO_JUDGE
        told = asked and _question_intervals(self._space(), points)
        order = self._order()
        places = training_points(self._space(), self._group(), points)
        self._take_basis(self._basis(self._cutoff() or self._theorem(weight), order))
        given = self.space is not None  # data without a space are not meant to fill the default torus
        if asked and given and not told:
            _question_uniformity(self.basis_, places)
        # Of the moments only Σ w y φ is needed here, and one sum is half the work of two.
        extreme = np.abs(columns).max() > _LARGE  # sums of such targets may be no numbers
        unit = Units.without_shift(columns).unit if extreme else 1.0
        sums = self.basis_.correlate(places, columns / unit if extreme else columns)
        return self._fit_sums(sums, weight, count, targets.shape[1:], unit)

    def _fit_moments(self, moments: Moments, outputs: tuple[int, ...]) -> SpecAvgRegressor:
        return self._fit_sums(moments.cross.value, float(moments.weight.value), moments.count, outputs)

    def _fit_sums(
        self, sums: NDArray[np.float64], weight: float, count: int, outputs: tuple[int, ...], unit: Any = 1.0
    ) -> SpecAvgRegressor:
        """Algorithm 1 from Σ w φ yᵀ in a unit, Σ w and the number of rows."""
        basis, cutoff = self.basis_, self.basis_.cutoff
        if basis.dim == 1:
            remedy = "" if self._cutoff() is not None else " Give max_invariant_dim, or more data."
            why = self._only_the_constant()
            warnings.warn(
                f"only the constant function is left: {why}. Predictions are the mean of y.{remedy}",
                stacklevel=users_line(),
            )
        self.exponent_, self.D_ = self._exponent(), cutoff.value
        self.coef_ = (sums / weight * unit).reshape(basis.dim, *outputs)
        self.oracle_calls_ = OracleCalls(
            evaluations=count * basis.dim,
            inner_products=basis.inner_products,
            paper_evaluations=count * basis.total_dim,
            paper_inner_products=len(basis.group.generators) * sum(row.dim**2 for row in basis.table),
        )
        return self

    def _default_basis(self, rows: int | None) -> InvariantBasis | None:
        return None if rows is None else self._basis(self._theorem(float(rows)))

    def _theorem(self, n: float) -> Cutoff:
        """The theorem's cutoff D = n^(1/(1+α))."""
        return Cutoff("max_dim", max(1.0, n ** (1 / (1 + self._exponent()))))

    def _exponent(self) -> float:
        d = self._space().dim
        s = d if self.smoothness is None else self.smoothness
        if self.smoothness is not None and not is_positive(s):
            raise ValueError(f"smoothness must be positive and finite, or None for the dimension, {d}; got {shown(s)}")
        return 2.0 * s / d


def _question_uniformity(basis: InvariantBasis, places: NDArray[np.float64]) -> None:
    """Warn where points are not uniform, by the means of the first invariant functions: means are no coefficients then.

    Points that are uniform in a part of the space to which the group moves all others have means of zero too.
    """
    some = places[:: -(-len(places) // _ROWS_OF_MEANS)]
    first = min(basis.dim, basis.n_constants + _MEANS)
    means = (basis.correlate(some, np.ones((len(some), 1)))[:, 0] / len(some))[basis.n_constants : first]
    if not len(means) or np.abs(means).max() < _FAR_FROM_UNIFORM:
        return
    same = equal_rows(some)
    rows = len(some) if same is None else len(same[0])  # repeated points tell once how they are spread
    chance = float(chdtrc(len(means), rows * means @ means))
    if chance < _NO_CHANCE:
        worst = int(np.abs(means).argmax())
        warnings.warn(
            f"the points are not uniform on {basis.space!r}: the mean of invariant function "
            f"{basis.n_constants + worst} over them is {means[worst]:.2g}, not 0 ± {rows**-0.5:.1g} "
            f"(p = {chance:.1g}), and Algorithm 1 takes means for coefficients. For points of density p give "
            "sample_weight proportional to 1/p, or use InvariantKernelRidge, which assumes no distribution.",
            stacklevel=users_line(),
        )


def _question_intervals(space: Space, points: NDArray[np.float64]) -> bool:
    """Warn where points of an interval do not follow its measure: means are then no coefficients. Whether it did."""
    for column, interval in _intervals(space):
        t = (2 * points[:, column] - interval.low - interval.high) / (interval.high - interval.low)
        mean = float(np.mean(np.sqrt(2) * (2 * t * t - 1)))
        if abs(mean) > _FAR:
            warnings.warn(
                f"column {column} does not follow the arcsine measure of {interval!r} (the mean of its second function "
                f"is {mean:.2g}, not 0), and Algorithm 1 takes means for coefficients. For points uniform in x "
                "give sample_weight proportional to 1/√((x − low)(high − x)), or use InvariantKernelRidge, which "
                "assumes no distribution.",
                stacklevel=users_line(),
            )
            return True
    return False


def _intervals(space: Space, first: int = 0) -> list[tuple[int, Interval]]:
    """The columns that are numbers of an interval."""
    if isinstance(space, Interval):
        return [(first, space)]
    parts = (
        [space.base] * space.copies if isinstance(space, Power) else space.factors if isinstance(space, Product) else []
    )
    found: list[tuple[int, Interval]] = []
    for part in parts:
        found += _intervals(part, first)
        first += part.n_features
    return found
