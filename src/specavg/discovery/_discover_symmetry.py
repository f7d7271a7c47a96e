"""Which symmetry do the data have? The one function that users call."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from specavg.discovery._discovery import Discovery
from specavg.discovery._element_search import search_elements
from specavg.discovery._field_search import search_fields
from specavg.discovery._interchangeable_parts import search_transpositions
from specavg.discovery._random_element_search import search_random_elements
from specavg.discovery._samples import Samples
from specavg.discovery._subgroup_search import search_subgroups
from specavg.discovery._subgroups import MOST_ELEMENTS, lattice_is_small
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.isometries import SignedPermutation
from specavg.spaces import Space

_METHODS = ("auto", "subgroups", "elements", "transpositions", "fields", "sampling")


def discover_symmetry(
    X: ArrayLike | Iterable[tuple[ArrayLike, ...]],
    y: ArrayLike | None,
    space: Space,
    group: Group,
    *,
    method: str = "auto",
    level: float = 0.05,
    random_state: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Discovery:
    """The largest subgroup of `group` under which y, as a function of X, is invariant as far as the data tell.

    Parameters
    ----------
    X : array-like of shape (n, n_features) or (n, *space.shape), Dask collection, or iterable of (X, y) chunks
        Chunks (with `y` None) are read several times, and never have to fit in memory together. (X, y, sample_weight)
        are chunks too.
    y : array-like of shape (n,), Dask collection, or None
    space : Space
    group : Group
        A group that surely contains the symmetry.
    method : {"auto", "subgroups", "elements", "transpositions", "fields", "sampling"}, default "auto"
        "subgroups" compares all subgroups (groups of up to 2,000 elements with up to 5,000 subgroups).
        "elements" builds a symmetry from single elements, where there are more subgroups than that.
        "transpositions" finds blocks of interchangeable coordinates or copies, for symmetric groups of any size.
        "fields" finds the fields of a group with a continuous part (shifts, and rotations of any number of directions).
        "sampling" tries random elements on held-out data, for comparison. "auto" takes the first of them that can be.
    level : float, default 0.05
        The probability of a false symmetry that is tolerated: the group returned is the largest one that
        the function has with posterior probability at least 1 − level.
    random_state : int, Generator, RandomState or None
        For "sampling".
    sample_weight : array-like of shape (n,), Dask collection, or None
        Relative precisions 1/σ², as the regressors take them; rows of weight zero count for nothing. The model is
        fitted with them too. Not with "sampling".

    Returns
    -------
    Discovery

    Notes
    -----
    Compared are the first eigenfunctions φ and those of finer eigenspaces that stand out from noise, at most a
    quarter as many as there are samples, and 300. One reading of the data finds the latter, from 5000 rows at most; a
    second one gives the sums Σφφᵀ and Σφy, and a third one the variance of the noise from place to place. From then
    on each subgroup H is a projection of these sums on the functions that H leaves alone. Its evidence is the
    probability of the data, with noise of the variance measured and normal coefficients of these functions. A wrong
    symmetry has low evidence because it explains less; a missed one because coefficients that should be large are
    near zero. The spectrum of the coefficients, and up to which eigenspace the function reaches, are those of the
    largest evidence.

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
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}; got {method!r}")
    if not 0 < level < 1:
        raise ValueError(f"level is a probability between 0 and 1; got {level!r}")
    if isinstance(X, Space):
        raise TypeError("the data come first: discover_symmetry(X, y, space, group)")
    if not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    samples = Samples.of(X, y, space, sample_weight)
    if method == "sampling":
        return search_random_elements(samples, group, level, random_state)
    if method == "fields" or (method == "auto" and not group.is_finite):
        if group.is_finite:
            raise ValueError(f"{group!r} has no fields to choose from: use method='auto'")
        return search_fields(samples, group, level)
    if method == "transpositions" or (method == "auto" and group.order > MOST_ELEMENTS and _is_symmetric(group)):
        if not _is_symmetric(group):
            raise ValueError(
                f"{group!r} is not the group of all permutations of its parts, of which transpositions find blocks: "
                "use method='auto'"
            )
        return search_transpositions(samples, group, level)
    if method == "elements" or (method == "auto" and not lattice_is_small(samples.space, group)):
        return search_elements(samples, group, level)
    return search_subgroups(samples, group, level)


def _is_symmetric(group: Group) -> bool:
    """Whether the group has all permutations of the coordinates or copies, and nothing else."""
    plain = all(isinstance(g, SignedPermutation) and g.is_permutation for g in group.generators)
    return plain and group.order == math.factorial(group.size)
