"""Any regressor made exactly invariant: the projection of its truncated spectral expansion."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from specavg._arrays import Array, check_real
from specavg.data._streaming import Stream, is_dask
from specavg.estimators._base import InvariantSeries, weights_or_ones
from specavg.estimators._number_of_functions import affordable_basis, rounded
from specavg.estimators._quadrature import Rule, quadratures
from specavg.estimators._wrapped_estimator import check_wrapped
from specavg.groups import Group
from specavg.invariants import InvariantBasis, Order
from specavg.regression._measured_limits import FEWEST_FUNCTIONS
from specavg.regression._moment_path import MomentProblem
from specavg.regression._moments import Moments
from specavg.regression._ridge_fit import mean_fit
from specavg.regression._spectra import spectrum_candidates
from specavg.regression._spectrum_choice import ridge_fit
from specavg.spaces import Space

MOST_NODES = 20_000  # nodes at which the inner estimator predicts, at most
MOST_FUNCTIONS = 384  # there are then more than fifty nodes for each function


class Symmetrized(MetaEstimatorMixin, InvariantSeries):
    """The paper's meta approach: fit any regressor, then replace it by an exactly invariant one.

    The fitted function h is expanded in the invariant functions, c = ∫ h ψ: its truncated spectral expansion,
    projected on the invariants (the average of h over the group, cut off), without an average over the group.
    The integrals are quadratures of predictions, and their error is estimated.

    Parameters
    ----------
    estimator : regressor
        Any scikit-learn regressor: a forest, a neural network, a Gaussian process.
    space : Space, optional
        Where the points live. Default: `Torus(n_features)` with period 2; data wrap and are not rescaled.
    group : Group, optional
        Who acts. Default: the trivial group.
    n_nodes : int, default 20000
        At most so many predictions of `estimator` are made for the integrals (for the check: some more).
    max_dim, max_invariant_dim, max_eigenvalue : float, optional
        At most one cutoff, as in `invariant_basis`. Default: about as many invariant functions as points, between 96
        and 384, and fewer of these where only fewer have a product rule of `n_nodes` nodes.
    order : str or Order, default "eigenvalue"
        Which functions come first, as in `invariant_basis`.

    Attributes
    ----------
    estimator_ : regressor
        The fitted regressor that was symmetrised; `predict` does not use it. It was fitted on points with periodic
        columns in [−p/2, p/2), p their period, whatever range the data had, and knows that range only.
    basis_ : InvariantBasis
    coef_ : ndarray of shape (basis_.dim,) or (basis_.dim, n_outputs)
    cutoff_ : Cutoff
    quadrature_ : str
        The rule in use.
    quadrature_error_ : float
        Estimated L² distance of the prediction from the true projection of h, root mean square over outputs:
        the distance between the results of two rules.
    n_features_in_ : int

    Notes
    -----
    Where the space has a product rule of at most `n_nodes` nodes it is used: exact if h is in the span of the
    functions up to the rule's eigenvalue, so that for a smooth h the error is small and for a forest, which is a
    step function, it decays slowly. Elsewhere (dimension above 8, or many functions) nodes are random and the
    coefficients are fitted to the predictions at the nodes by ridge regression, with the penalty that predicts nodes
    best that are left out; then `n_nodes` should be several times `basis_.dim`. `quadrature_error_` is a mean over the
    space: at single points far from all random nodes, near an axis of a sphere of many dimensions say, it tells little.

    Examples
    --------
    >>> import specavg as sa
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> space, group = sa.Torus(2), sa.groups.hyperoctahedral(2)
    >>> X = space.sample(200, random_state=0)
    >>> y = (X**2).sum(axis=1)
    >>> model = sa.Symmetrized(RandomForestRegressor(30, random_state=0), space, group, max_invariant_dim=30).fit(X, y)
    >>> bool((model.predict(X) == model.predict(-X[:, ::-1])).all())
    True
    """

    not_saved: ClassVar[tuple[str, ...]] = ("estimator", "estimator_")

    def __init__(
        self,
        estimator: Any,
        space: Space | None = None,
        group: Group | None = None,
        *,
        n_nodes: int = MOST_NODES,
        max_dim: float | None = None,
        max_invariant_dim: float | None = None,
        max_eigenvalue: float | None = None,
        order: str | Order = "eigenvalue",
    ) -> None:
        cutoff = {"max_dim": max_dim, "max_invariant_dim": max_invariant_dim, "max_eigenvalue": max_eigenvalue}
        super().__init__(space, group, **cutoff, order=order)
        self.estimator = estimator
        self.n_nodes = n_nodes

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Symmetrized:
        """Fit `estimator`, then project it.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
            All of it: `estimator` is fitted on the data as they are, not on sums over them, so chunks, files and Dask
            collections are refused.
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), optional
            Passed to `estimator`.
        **fit_params
            Passed to `estimator`, by metadata routing where that is enabled.

        Returns
        -------
        self
        """
        check_wrapped(self.estimator, "Symmetrized", averages=True)
        if not int(self.n_nodes) >= 1:
            raise ValueError(f"n_nodes must be at least 1; got {self.n_nodes!r}")
        if is_dask(X) or isinstance(X, Iterator | str | os.PathLike | Stream):
            raise TypeError(
                f"Symmetrized fits {type(self.estimator).__name__} on all data at once, and cannot take them in parts; "
                f"got a {type(X).__name__}. Give an array that fits in memory (a sample of the rows, if need be), or "
                "fit an InvariantKernelRidge, which takes chunks"
            )
        points, targets = self._points_and_targets(X, y)
        if sample_weight is not None:
            fit_params = {**fit_params, "sample_weight": weights_or_ones(sample_weight, points)}
        routed = _routed(self, fit_params)
        given = self._cutoff()
        self._take_basis(self._default_basis(len(points)) if given is None else self._basis(given))
        self.basis_.check_points(points)
        inner: Any = clone(self.estimator)
        self.estimator_ = inner.fit(self.basis_.space.wrapped(points), targets, **routed)
        rule, check = self._rules(self.basis_)
        coefficients, other = (_expansion(self.basis_, r, self.estimator_) for r in (rule, check))
        distance = np.sqrt(np.mean(np.sum((coefficients - other) ** 2, axis=0)))
        if rule.random:  # the mean of two independent estimates is off by half of their distance
            coefficients, distance = 0.5 * (coefficients + other), 0.5 * distance
        self.coef_ = coefficients.reshape(self.basis_.dim, *targets.shape[1:])
        self.quadrature_ = rule.description if not rule.random else f"2 × {rule.description}, ridge regression"
        self.quadrature_error_ = float(distance)
        return self

    def _default_basis(self, rows: int) -> InvariantBasis:
        """About as many functions as rows; of fewer, down to the fewest, the first that have a product rule.

        Values of high degrees at random nodes took 5 to 28 s where 192 functions with a product rule took 0.3 to 2 s,
        and predictions of a forest were no better.
        """
        target = rounded(float(np.clip(rows, FEWEST_FUNCTIONS, MOST_FUNCTIONS)), up=True)
        most = basis = affordable_basis(self._basis_in_time, target)
        while self._rules(basis)[0].random and target > FEWEST_FUNCTIONS:
            target = rounded(target - 1, up=False)
            basis = affordable_basis(self._basis_in_time, target)
        return most if self._rules(basis)[0].random else basis

    def _rules(self, basis: InvariantBasis) -> list[Rule]:
        """A rule to integrate with, and one to check it by."""
        return list(islice(quadratures(basis, int(self.n_nodes)), 2))

    def get_metadata_routing(self) -> MetadataRouter:
        """How metadata such as `sample_weight` reach `estimator`."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self.estimator, "__sklearn_tags__", None)
        if inner is not None:
            theirs = inner()
            tags.target_tags.multi_output = theirs.target_tags.multi_output
            tags.non_deterministic = theirs.non_deterministic
        tags.regressor_tags.poor_score = True  # the domain is the whole space, the data may fill little of it
        return tags


def _routed(owner: Symmetrized, params: dict[str, Any]) -> dict[str, Any]:
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return dict(process_routing(owner, "fit", **params).estimator.fit)
    return {name: value for name, value in params.items() if value is not None}


def _expansion(basis: InvariantBasis, rule: Rule, model: Any) -> Array:
    """The coefficients of `model` on the invariant functions."""  # (dim, q)
    predicted = np.asarray(model.predict(basis.space.wrapped(rule.points)))
    check_real(predicted, "estimator.predict(X)")
    values = predicted.astype(float).reshape(len(rule.points), -1)
    if not rule.random:
        return basis.correlate(rule.points, rule.weights[:, None] * values)
    if len(values) < 2 * basis.dim:
        raise ValueError(
            f"{len(values)} nodes are too few for {basis.dim} invariant functions: raise n_nodes to several times "
            "as many, or lower the cutoff."
        )
    # Fine functions of many coordinates are large where no node falls, near an axis say. Without a penalty they fit the
    # part of the model that is not invariant, by chance, and the error is a thousand times as large there as at nodes.
    problem = MomentProblem(Moments.of(basis, rule.points, values))
    spectra = spectrum_candidates(basis, "auto", None, None, few_first=basis.order.logarithmic)
    if basis.dim == basis.n_constants:
        return mean_fit(problem, spectra[0], None).coefficients
    return ridge_fit(problem, basis, spectra, None).coefficients
