"""What every estimator here shares: which space, which group, which basis, and points in the right form."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import (
    _check_sample_weight,  # pyright: ignore[reportPrivateUsage]
    check_is_fitted,
    validate_data,
)

from specavg._arrays import Array
from specavg._known_arguments import KnownArguments
from specavg.data._dask_collections import distributed_apply
from specavg.data._given_data import check_weights_mask, equal_rows, given_table, given_targets
from specavg.data._kinds_of_columns import check_columns
from specavg.data._questioned_columns import question_order, question_periods, question_unit
from specavg.data._questioned_resolution import question_resolution
from specavg.data._streaming import Stream, check_total, is_dask, stream_of
from specavg.groups import Group
from specavg.groups.families import CrystalSymmetry
from specavg.invariants import Cutoff, InvariantBasis, Order, default_group
from specavg.invariants._acting_group import canonical_points
from specavg.invariants._basis import built_basis
from specavg.invariants._building import checked_request
from specavg.invariants._one_orbit import is_one_orbit
from specavg.isometries import LeftRight, flatten
from specavg.persistence._savable import Savable
from specavg.regression._measured_limits import BASIS_SECONDS
from specavg.spaces import Space, default_space

_FIRST_ROWS = 1024  # rows of a prediction in which equal points are looked for first: 0.1 ms of several


class InvariantEstimator(KnownArguments, Savable, BaseEstimator):
    """Shared by all estimators that work on an invariant basis."""

    _has_targets: ClassVar[bool] = True

    basis_: InvariantBasis
    cutoff_: Cutoff
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        space: Space | None = None,
        group: Group | None = None,
        *,
        max_dim: float | None = None,
        max_invariant_dim: float | None = None,
        max_eigenvalue: float | None = None,
        order: str | Order | None = "eigenvalue",
    ) -> None:
        self.space = space
        self.group = group
        self.max_dim = max_dim
        self.max_invariant_dim = max_invariant_dim
        self.max_eigenvalue = max_eigenvalue
        self.order = order

    def _space(self) -> Space:
        """The space in use: `space`, or the paper's torus with as many coordinates as the data have."""
        return default_space(self.n_features_in_) if self.space is None else self.space

    def _group(self) -> Group:
        """The group in use: `group`, or the trivial one."""
        return default_group(self._space()) if self.group is None else self.group

    def _cutoff(self) -> Cutoff | None:
        """The cutoff given by the user, or None."""
        return Cutoff.of(self.max_eigenvalue, self.max_dim, self.max_invariant_dim)

    def _order(self) -> Order:
        """The order in use: `order`, or that of eigenvalues."""
        return self._space().check_order("eigenvalue" if self.order is None else self.order)

    def _basis(self, cutoff: Cutoff, order: Order | None = None, seconds: float = inf) -> Any:
        """The invariant basis, computed once for each (space, group, cutoff, order) and shared between fits.

        It ends before the cutoff where finding more would take longer than `seconds`.
        """
        space = self._space()
        group, cutoff, by = checked_request(space, self._group(), cutoff, order or self._order())
        return self._built(space, group, cutoff, by, seconds)

    def _built(self, space: Space, group: Group, cutoff: Cutoff, order: Order, seconds: float) -> Any:
        """The basis of this kind of estimator."""
        return built_basis(space, group, cutoff, order, "auto", seconds)

    def _basis_in_time(self, cutoff: Cutoff, order: Order | None = None) -> Any:
        """The invariant basis within the time that a default may take."""
        return self._basis(cutoff, order, BASIS_SECONDS)

    def _take_basis(self, basis: InvariantBasis, *, order_is_chosen: bool = False) -> None:
        """Work with `basis` from now on, and forget the sums over earlier data.

        Its order is questioned where the data have not chosen it: once for a basis, since pieces of data share one.
        """
        if not order_is_chosen and basis is not getattr(self, "basis_", None):
            question_resolution(basis)
        self.basis_, self.cutoff_ = basis, basis.cutoff
        vars(self).pop("moments_", None)

    def _only_the_constant(self) -> str:
        """Why there is no other function, for messages."""
        basis: Any = self.basis_
        space, group = basis.space, basis.group
        if group.fields and (is_one_orbit(space, group) if basis.kind == "invariant" else basis.is_complete):
            return f"{group!r} takes every point of {space!r} to every other"
        bound = f"{self.cutoff_.value:.{3 if self.cutoff_.value < 1000 else 10}g}"
        function = f"non-constant {basis.kind} function of {group!r} on {space!r}"
        if self._cutoff() is None and self.cutoff_.kind == "max_eigenvalue":  # where a default search ended
            from specavg.invariants._plan import first_function

            known = first_function(space, group) if basis.kind == "invariant" else ""
            advice = known or (
                "the group may have none: with max_eigenvalue, max_dim or max_invariant_dim the search goes as far as "
                "you say"
            )
            return (
                f"a search of about {BASIS_SECONDS:g} seconds, up to the eigenvalue {bound}, found no {function} "
                f"({advice})"
            )
        remedy = "" if self._cutoff() is None else ": raise it"
        return f"{self.cutoff_.kind} = {bound} ends before the first {function}{remedy}"

    def _stream(self, X: Any, y: Any, sample_weight: Any, gradient: Any = None) -> Stream | None:
        """`X` as a stream of chunks; None if it is data in memory."""
        return stream_of(X, y, sample_weight, gradient, targets=self._has_targets)

    def _points(self, X: Any, *, reset: bool) -> Array:
        """`X` as scikit-learn wants it: points flattened to (n, n_features), finite, float64."""
        space = self.space
        if not reset and space is not None and hasattr(self, "basis_"):
            space = self.basis_.space  # one that was set since belongs to the next fit
        if space is None:
            _require_space_of_matrices(self.group, X)
        points: Any = validate_data(self, given_table(space, self.group, X), reset=reset, dtype=np.float64)
        if reset:
            self._question(points)
        elif space is not None:  # the default torus is known to wrap
            question_unit(space, points, getattr(self, "feature_names_in_", None))
        return points

    def _points_and_targets(self, X: Any, y: Any, *, multi_output: bool = True) -> tuple[Array, Array]:
        """Training points as `_points` gives them, and targets, of several outputs if `multi_output`."""
        settings: dict[str, Any] = {"dtype": np.float64, "multi_output": multi_output, "y_numeric": True}
        with np.errstate(invalid="ignore"):  # all numbers are summed to see whether they are finite: ∞ − ∞
            pair: Any = validate_data(self, self._table(X), given_targets(y), **settings)
        self._question(pair[0])
        return pair[0], np.asarray(pair[1], dtype=np.float64)  # extended precision is not summed

    def _question(self, points: Array) -> None:
        """Refuse points off the space, and warn of what look like other units or columns in another order."""
        space = self._space()
        space.check_points(points)  # before copies and rows of weight zero are left out: the others have other numbers
        names = getattr(self, "feature_names_in_", None)
        group = self.group if isinstance(self.group, Group) else None
        question_periods(space, points, group, given=self.space is not None, names=names)
        if names is not None:
            question_order(space, list(names))

    def _table(self, X: Any) -> Any:
        if self.space is None:
            _require_space_of_matrices(self.group, X)
        return given_table(self.space, self.group, X)

    def _take_features(self, stream: Stream) -> None:
        """The number and the names of the columns of a stream."""
        if self.space is None:
            _require_space_of_matrices(self.group)
        check_columns(self.space, self.group, stream.n_features, stream.selection)
        self.n_features_in_ = stream.n_features
        vars(self).pop("feature_names_in_", None)
        if stream.feature_names is not None:
            self.feature_names_in_ = np.array(stream.feature_names, dtype=object)

    def _canonical(self, points: Array) -> Array:
        """Training points at the canonical places of their orbits."""
        return canonical_points(self._space(), self._group(), points)


def _require_space_of_matrices(group: Any, X: Any = None) -> None:
    """Refuse 3 × 3 matrices, and groups that move matrices from both sides, without a space: no torus has them."""
    moved = [g for g in map(flatten, getattr(group, "generators", ())) if isinstance(g, LeftRight)]
    sizes = {(g.left.size, g.right.size) for g in moved}
    shape = np.shape(X)[1:] if isinstance(X, np.ndarray) else ()
    if isinstance(getattr(group, "structure", None), CrystalSymmetry) or sizes == {(3, 3)}:
        what = f"{group!r} acts on rotations"
    elif moved:
        n, k = min(sizes)
        raise ValueError(f"{group!r} moves {n} × {k} matrices, and no torus has them: give space=sa.Stiefel({n}, {k})")
    elif shape == (3, 3):
        what = "X holds 3 × 3 matrices"
    elif shape == (9,) and getattr(group, "columns", 0) == 3:
        what = f"X has 9 columns, as rotations have, and {group!r} acts on three directions"
    else:
        return
    raise ValueError(f"{what}, and without space= points are those of a torus: give space=sa.Rotations()")


class InvariantSeries(RegressorMixin, InvariantEstimator):
    """A regressor whose prediction is a series in the functions of its basis."""

    coef_: Array

    def predict(self, X: Any) -> Any:
        """Values of the estimated function: exactly invariant.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
            A Dask collection gives a lazy Dask collection.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        if is_dask(X):
            return distributed_apply(self, "predict", X, self.coef_.shape[1:])
        return self._series(self.basis_.evaluation_points(self._points(X, reset=False)))

    def gradient(self, X: Any) -> Any:
        """Gradients of the estimated function, at `X` itself: they move with the group as vectors do.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n, *space.shape)
            A Dask array gives a lazy Dask array.

        Returns
        -------
        ndarray of shape (n, n_features) or (n, n_features, n_outputs)
            By the coordinates of `X` on tori, lattices and intervals. Those of a lattice B are fractional:
            ``G @ np.linalg.inv(B).T`` is Cartesian, as the output "vector" of an equivariant model is. On embedded
            spaces (spheres, rotations, Stiefel manifolds) the tangential gradient in the coordinates of `X`, flattened.
            On products side by side.
        """
        check_is_fitted(self)
        outputs = self.coef_.shape[1:]
        if is_dask(X):
            return distributed_apply(self, "gradient", X, (self.n_features_in_, *outputs))
        points = self._points(X, reset=False)  # a canonical point would have another gradient
        C = self.coef_.reshape(self.basis_.dim, -1)
        return self.basis_.combine_gradient(points, C).reshape(*points.shape, *outputs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # The default space is a torus of period 2: standardised data wrap around it and make little sense there.
        tags.regressor_tags.poor_score = True
        return tags

    def _series(self, points: Array) -> Array:
        """Σ c ψ at canonical points, once for each of them where they repeat."""
        C = self.coef_.reshape(self.basis_.dim, -1)
        first, mine = distinct_rows(points, self.basis_.orbit_points)
        return self.basis_.combine(points[first], C)[mine].reshape(len(points), *self.coef_.shape[1:])


def distinct_rows(
    points: Array, keys: Callable[[Array], Array]
) -> tuple[NDArray[np.intp] | slice, NDArray[np.intp] | slice]:
    """One point of each orbit, and for each point the place of its orbit among them; all points if few share one.

    Points with equal rows of `keys` share an orbit. Where at most half of the first points share one, the others are
    not looked at.
    """
    everything = slice(None), slice(None)
    if len(points) > _FIRST_ROWS and isinstance(distinct_rows(points[:_FIRST_ROWS], keys)[0], slice):
        return everything
    found = equal_rows(keys(points))
    return everything if found is None or 2 * len(found[0]) > len(points) else found


def weights_or_ones(sample_weight: Any, X: Array) -> Array:
    """Checked non-negative weights, as large as they are."""  # (n,)
    weights = _checked_weights(sample_weight, X)
    check_total(weights)
    return weights


def _checked_weights(sample_weight: Any, X: Array) -> Array:
    check_weights_mask(sample_weight)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight sums to zero: there is nothing to fit")
    return weights


def relative_weights(sample_weight: Any, X: Array) -> tuple[Array, float]:
    """Checked weights, divided by the mean of the positive ones, and that mean: noise is estimated row by row."""
    weights = _checked_weights(sample_weight, X)
    if sample_weight is None:
        return weights, 1.0
    power = 2.0 ** float(np.floor(np.log2(weights.max())))  # changes no digit, and the sum of any weights is a number
    unit = power * float((weights / power).sum() / np.count_nonzero(weights))
    return (weights, 1.0) if unit == 1 else (weights / unit, unit)


def checked_alpha(alpha: Any, unit: float = 1.0) -> float | None:
    """The penalty for weights divided by `unit`, None for "auto"; an error for anything else."""
    if isinstance(alpha, str):
        if alpha != "auto":
            raise ValueError(f"alpha must be a positive number or 'auto'; got {alpha!r}")
        return None
    if np.ndim(alpha):
        raise ValueError(f"alpha is one number for all outputs, or 'auto'; got {np.size(alpha)} numbers")
    if alpha is None:
        raise ValueError("alpha must be a positive number or 'auto'; got None")
    if not (np.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be positive and finite; got {alpha!r}. 'auto' goes down to interpolation.")
    return float(alpha) / unit
