"""Canonicalisation: every point is first moved to one point of its orbit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg.baselines._averaged import CostError, check_listable, listed
from specavg.baselines._kernels import Array
from specavg.baselines._meta import MetaRegressor
from specavg.groups import Group
from specavg.invariants._acting_group import canonical_points, group_of_columns
from specavg.spaces import Space

LARGEST_ORBIT = 20_000  # elements that are listed and applied to every point: seconds for a thousand points


def canonical(space: Space, group: Group, X: ArrayLike) -> Array:
    """One point of the orbit of each point: the same for every point of that orbit.

    Permutations and sign changes have an exact one (sorted, absolute values, least rotation): the same bits
    that the estimators' exact predictions rest on. For any other finite group it is the point of the orbit that
    maximises a fixed linear functional, found by listing the group; equal up to rounding.

    Parameters
    ----------
    space : Space
    group : Group
    X : array-like of n points

    Returns
    -------
    ndarray of shape (n, n_features)

    Examples
    --------
    >>> import specavg as sa
    >>> canonical(sa.Torus(3), sa.groups.symmetric(3), [[0.5, -0.25, 0.0]])
    array([[-0.25,  0.  ,  0.5 ]])
    """
    points = space.wrapped(space.check_points(X))
    if group_of_columns(space, group) is not None:
        return canonical_points(space, group, points)
    best, value = points, functional(space, points)
    for image in orbit(space, group, points):
        height = functional(space, image)
        higher = height > value
        best = np.where(higher[:, None], image, best)
        value = np.where(higher, height, value)
    return best


def orbit(space: Space, group: Group, X: Array) -> Iterator[Array]:
    """The images of `X` under every element, one element at a time."""
    check_listable(
        group,
        ", and the orbit of a point is not listed: use RandomlyAveragedKernelRidge or Augmented(n_elements=...), which "
        "take some at random",
    )
    if group.finite_order > LARGEST_ORBIT:
        raise CostError(
            f"the orbits of {group!r} have up to {group.finite_order:.4g} points; listing them is limited to "
            f"{LARGEST_ORBIT}. Permutations and sign changes need no list: there canonical points have a "
            "closed form.",
            group.finite_order,
        )
    for g in listed(group):
        yield space.wrapped(space.act(g, X))


def embedded(space: Space, X: Array) -> Array:
    """Points in a Euclidean space in which the manifold has no seam."""
    periodic = np.isfinite(space.column_periods)
    angle = 2 * np.pi * X[:, periodic] / space.column_periods[periodic]
    return np.hstack([np.cos(angle), np.sin(angle), X[:, ~periodic]])


def functional(space: Space, X: Array) -> Array:
    """A fixed linear functional in general position on the embedded points."""  # (n,)
    E = embedded(space, X)
    direction = np.random.default_rng(1729).standard_normal(E.shape[1])
    return E @ (direction / np.linalg.norm(direction))


class Canonicalized(MetaRegressor):
    """Any regressor, on canonical points: exactly invariant, but not continuous in general.

    Where two canonical points meet (the boundary of a fundamental domain) the canonical point of a moving point
    may jump, and the prediction with it: sorting is continuous on a sphere and jumps on a torus, where a
    coordinate that leaves at 1 comes back at −1.

    Parameters
    ----------
    estimator : regressor, optional
        Default: `KernelRidge` on the space, with a `VonMisesKernel` on box tori and a `SpectralKernel` elsewhere.
    space : Space, optional
        Default: `Torus(n_features)`.
    group : Group, optional
        Default: the trivial group.

    Attributes
    ----------
    estimator_ : regressor
        The fitted copy.

    Examples
    --------
    >>> import specavg as sa
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> model = Canonicalized(KNeighborsRegressor(), group=sa.groups.symmetric(2)).fit(X, X.sum(axis=1))
    >>> bool((model.predict(X[:, ::-1]) == model.predict(X)).all())
    True
    """

    def _fit(self, points: Array, targets: Array, sample_weight: Any) -> None:
        images = canonical(self.space_, self.group_, points)
        self.estimator_ = self._fitted(self._unfitted(), images, targets, sample_weight)

    def _predict(self, points: Array) -> Array:
        return self.estimator_.predict(canonical(self.space_, self.group_, points))
