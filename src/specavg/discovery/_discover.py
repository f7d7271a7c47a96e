"""Which symmetry do the data have? The one function that users call."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from specavg.discovery._result import Discovery
from specavg.discovery._samples import Samples
from specavg.discovery._subgroup_search import search_subgroups
from specavg.groups import Group
from specavg.spaces import Space

__all__ = ["discover_symmetry"]


def discover_symmetry(
    X: ArrayLike,
    y: ArrayLike,
    space: Space,
    group: Group,
    *,
    method: str = "auto",
    level: float = 0.05,
    random_state: Any = None,
) -> Discovery:
    """The largest subgroup of `group` under which y, as a function of X, is invariant as far as the data tell.

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n, *space.shape)
    y : array-like of shape (n,)
    space : Space
    group : Group
        A group that surely contains the symmetry.
    method : {"auto", "subgroups"}, default "auto"
        "subgroups" compares all subgroups (groups of up to 2,000 elements with up to 5,000 subgroups).
    level : float, default 0.05
        The probability of a false symmetry that is tolerated: the group returned is the largest one that
        the function has with posterior probability at least 1 − level.
    random_state : int, Generator, RandomState or None
        For "sampling".

    Returns
    -------
    Discovery

    Notes
    -----
    One reading of the data gives the sums Σφφᵀ and Σφy over the first eigenfunctions φ, at most a quarter as many as
    there are samples; a second one gives the variance of the noise from place to place. From then on each subgroup H
    is a projection of these sums on the functions that H leaves alone. Its evidence is the probability of the
    data, with noise of the variance measured and normal coefficients of these functions. A wrong symmetry has low
    evidence because it explains less; a missed one because coefficients that should be large are near zero. The
    spectrum of the coefficients, and up to which eigenspace the function reaches, are those of the largest evidence.

    Examples
    --------
    >>> import numpy as np, specavg as sa
    >>> space = sa.Sphere(3)
    >>> X = space.sample(400, random_state=0)
    >>> noise = 0.02 * np.random.default_rng(0).normal(size=400)
    >>> found = sa.discover_symmetry(X, X[:, 0] * X[:, 1] * X[:, 2] + noise, space, sa.groups.point_group("Oh"))
    >>> found.group.order
    24
    """
    if method not in ("auto", "subgroups"):
        raise ValueError(f"method must be 'auto' or 'subgroups'; got {method!r}")
    if not 0 < level < 1:
        raise ValueError(f"level is a probability between 0 and 1; got {level!r}")
    return search_subgroups(Samples.of(X, y, space), group, level)
