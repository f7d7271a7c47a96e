"""Frame averaging: an average over a few images of each point, chosen by the point itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import has_fit_parameter

from specavg.baselines._canonicalized import LARGEST_ORBIT, canonical, functional, orbit
from specavg.baselines._kernels import Array, structure_of
from specavg.baselines._meta import MetaRegressor
from specavg.estimators._base import weights_or_ones
from specavg.groups import Group
from specavg.groups.families import Hyperoctahedral, SignFlips, Symmetric, Trivial
from specavg.invariants._acting_group import group_of_columns
from specavg.spaces import Space, Torus


@dataclass(frozen=True)
class Frame:
    """A weighted frame: some images of each point.

    Attributes
    ----------
    name : str
        Which frame.
    images : ndarray of shape (k, n, n_features)
    weights : ndarray of shape (k, n)
        They sum to one over the images of each point; many may be zero.

    Examples
    --------
    >>> import specavg as sa
    >>> from specavg.baselines import frame
    >>> images = frame(sa.Torus(3), sa.groups.symmetric(3), [[0.3, 0.1, 0.2]])
    >>> images.images.shape, images.weights.sum(axis=0)
    ((3, 1, 3), array([1.]))
    """

    name: str
    images: Array
    weights: Array


def frame(space: Space, group: Group, X: ArrayLike, width: float = 0.1) -> Frame:
    """The frame of each point: which of its images are averaged, and with which weights.

    Parameters
    ----------
    space : Space
    group : Group
    X : array-like of n points
    width : float
        For the frame "near the maximum": how far below the maximum an image still counts.

    Returns
    -------
    Frame
        With `name` one of

        - "cut at each gap": all permutations on a cubic torus. The coordinates lie on one circle; cutting it
          anywhere sorts them, and two cuts in the same gap sort alike. So d images, weighted by the gaps:
          continuous, since an order disappears only when its gap has closed.
        - "canonical point": where that is continuous (absolute values, sorting off the torus), and for groups of
          permutations and sign changes that are too large to list; one image.
        - "near the maximum": any other finite group, by listing it. The images at which a fixed functional is
          within `width` of its maximum over the orbit, weighted by how far within: continuous.

    Examples
    --------
    >>> import specavg as sa
    >>> found = frame(sa.Torus(2), sa.groups.symmetric(2), [[0.5, -0.5]])
    >>> found.weights.ravel()
    array([0.5, 0.5])
    """
    points = space.wrapped(space.check_points(X))
    if isinstance(space, Torus) and space.is_cubic and isinstance(structure_of(group), Symmetric):
        return _cut_at_each_gap(space, points)
    exact = group_of_columns(space, group) is not None
    if exact and (_is_continuous(space, group) or group.order > LARGEST_ORBIT):
        return Frame("canonical point", canonical(space, group, points)[None], np.ones((1, len(points))))
    images = np.stack(list(orbit(space, group, points)))  # (k, n, d)
    heights = np.stack([functional(space, image) for image in images])
    weights = np.maximum(0.0, width - (heights.max(axis=0) - heights))
    return Frame("near the maximum", images, weights / weights.sum(axis=0))


def _is_continuous(space: Space, group: Group) -> bool:
    """Whether canonical points are: |x| is on every torus and sphere, sorting wherever there is no seam."""
    structure = structure_of(group)
    if isinstance(structure, Symmetric):
        return not np.isfinite(space.column_periods).any()
    return isinstance(structure, Trivial | SignFlips | Hyperoctahedral)


def _cut_at_each_gap(space: Torus, points: Array) -> Frame:
    d, period = space.dim, float(space.period[0])
    ordered = np.sort(points + 0.0, axis=1)
    gaps = np.diff(ordered, axis=1, append=ordered[:, :1] + period)  # gap after each coordinate
    images = np.stack([np.roll(ordered, -(i + 1), axis=1) for i in range(d)])
    return Frame("cut at each gap", images, gaps.T / period)


class FrameAveraged(MetaRegressor):
    """Any regressor, averaged over a frame of each point: exactly invariant (to rounding).

    The regressor is fitted on the frames of the training points, their weights as sample weights where it takes
    them. See `frame` for which frame is used; `frame_name_` says it.

    Parameters
    ----------
    estimator : regressor, optional
        Default: `KernelRidge` on the space, with a `VonMisesKernel` on box tori and a `SpectralKernel` elsewhere.
    space : Space, optional
        Default: `Torus(n_features)`.
    group : Group, optional
        Default: the trivial group.
    width : float, default 0.1
        As in `frame`.

    Attributes
    ----------
    estimator_ : regressor
        The fitted copy.
    frame_name_ : str
        Which frame.

    Examples
    --------
    >>> import specavg as sa
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> model = FrameAveraged(KNeighborsRegressor(), group=sa.groups.symmetric(2)).fit(X, X.sum(axis=1))
    >>> model.frame_name_
    'cut at each gap'
    """

    _averages: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        space: Space | None = None,
        group: Group | None = None,
        *,
        width: float = 0.1,
    ) -> None:
        super().__init__(estimator, space, group)
        self.width = width

    def _fit(self, points: Array, targets: Array, sample_weight: Any) -> None:
        if not (np.isfinite(self.width) and self.width > 0):
            raise ValueError(f"width must be positive and finite; got {self.width!r}")
        found = frame(self.space_, self.group_, points, self.width)
        self.frame_name_ = found.name
        kept = found.weights > 0
        which = np.nonzero(kept)[1]  # the point that each image belongs to
        estimator = self._unfitted()
        weights = None
        if sample_weight is not None:
            weights = weights_or_ones(sample_weight, points)[which] * found.weights[kept]
        elif has_fit_parameter(estimator, "sample_weight") and len(found.images) > 1:
            weights = found.weights[kept]
        self.estimator_ = self._fitted(estimator, found.images[kept], targets[which], weights)

    def _predict(self, points: Array) -> Array:
        found = frame(self.space_, self.group_, points, self.width)
        if len(found.images) == 1:
            return self.estimator_.predict(found.images[0])
        kept = found.weights > 0
        which = np.nonzero(kept)[1]
        values = np.asarray(self.estimator_.predict(found.images[kept]))
        weights = found.weights[kept].reshape(-1, *(1,) * (values.ndim - 1))
        total = np.zeros((len(points), *values.shape[1:]))
        np.add.at(total, which, weights * values)
        return total
