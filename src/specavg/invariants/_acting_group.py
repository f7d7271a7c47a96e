"""A group that acts on a space: the check that it does, its order, and one point of each orbit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import chain
from math import inf
from operator import matmul

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._messages import shown
from specavg.functions._threads import ROWS, for_all_rows
from specavg.groups import Group, direct_product, trivial, wreath
from specavg.groups._given_generators import not_a_group
from specavg.groups.families import DirectProduct, SignFlips, Symmetric
from specavg.groups.recognition._questioned_turns import questioned_turn
from specavg.isometries import Copies, Factors, Isometry, LeftRight, Orthogonal, SignedPermutation
from specavg.isometries._linear import exact_signed
from specavg.isometries.fields import complete
from specavg.spaces import Power, Product, Space, Torus

_MOST_COLUMNS = 64  # columns up to which a group without a structure is searched: its chain took 0.1 s


def default_group(space: Space) -> Group:
    """What `group=None` means: no symmetry.

    Examples
    --------
    >>> import specavg as sa
    >>> default_group(sa.Sphere(3))
    trivial(3)
    """
    return trivial(space.shape[0])


def not_a_space(given: object) -> TypeError:
    """The refusal of what is given as a space and is another thing: the group, say."""
    return TypeError(f"space must be a specavg space, for instance sa.Sphere(3) or sa.Torus(2); got {shown(given)}")


def check_group(space: Space, group: Group) -> Group:
    """The group, if its generators are isometries of the space and its fields infinitesimal ones; an error otherwise.

    Factors that a field does not move (None) are filled in.
    """
    if not isinstance(space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_space(space)
    if not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    for i, g in enumerate(group.generators):
        try:
            space.check_isometry(g)
        except ValueError as error:
            raise ValueError(f"generator {i} of {group!r} does not fit: {error}") from None
    for i, field in enumerate(group.fields):
        try:
            space.check_field(field)
        except ValueError as error:
            raise ValueError(f"field {i} of {group!r} does not fit: {error}") from None
    if not group.generators and not group.fields and group.columns != space.n_features and group.size != space.shape[0]:
        raise ValueError(f"{group!r} acts on {group.columns} coordinates; points of {space!r} have {space.n_features}")
    if all(map(complete, group.fields)):
        return group
    return Group(group.generators, [space.check_field(f) for f in group.fields], group.name)


def canonical_points(space: Space, group: Group, X: ArrayLike) -> Array:
    """A point of each orbit, the same bits for all of the orbit; `X` itself where the group has no such choice.

    Canonical points change an invariant function by rounding only. Estimators use them so that predictions are equal
    to the last bit.
    """  # (n, n_features)
    points = np.asarray(space.as_table(X), dtype=np.float64)
    moving = group_of_columns(space, group)
    if moving is None:
        return points
    if len(points) <= ROWS:
        return moving.canonical(points)
    places = np.empty_like(points)

    def work(rows: slice) -> None:
        places[rows] = moving.canonical(points[rows])

    for_all_rows(work, len(points))
    return places


def training_points(space: Space, group: Group, points: Array) -> Array:
    """`canonical_points`; `X` itself where the functions are products of cosines, which are even to the last bit."""
    cosines = isinstance(space, Torus) and space.lattice is None and isinstance(group.structure, SignFlips)
    return points if cosines else canonical_points(space, group, points)


@lru_cache(maxsize=32)
def group_of_columns(space: Space, group: Group) -> Group | None:
    """`group` as a group that moves the columns of the points, if it has canonical points; else None."""
    check_group(space, group)
    moving = _on_columns(space, group)
    if not moving.has_canonical or moving.columns != space.n_features:
        return _exact_on_columns(space, group)
    checked = map(space.check_isometry, group.generators)
    return moving if all(map(space.columns_follow, checked)) else None


def _on_columns(space: Space, group: Group) -> Group:
    """Permuting copies moves whole blocks of columns."""
    structure = group.structure
    if isinstance(space, Power) and isinstance(structure, Symmetric):
        return wreath(trivial(space.base.n_features), space.copies)
    if isinstance(space, Product) and isinstance(structure, DirectProduct):
        return direct_product(*(_on_columns(M, G) for M, G in zip(space.factors, structure.groups, strict=True)))
    return group


def _exact_on_columns(space: Space, group: Group) -> Group | None:
    """The signed permutations of columns that the generators are; None where one of them is something else.

    Permutations of copies with several columns, and signed permutations that multiply the matrices of rotations and
    Stiefel manifolds, are such groups.
    """
    if group.fields or not group.generators or space.n_features > _MOST_COLUMNS:
        return None
    probe = space.sample(2, random_state=0)
    found: list[SignedPermutation] = []
    for g in group.generators:
        signed = exact_signed(space.differential(g))
        if signed is None or not np.array_equal(space.act(g, probe), signed(probe)):  # a shift, or rounding
            return None
        found.append(signed)
    return Group(found)


def group_order(group: Group) -> float:
    """The order of a group; infinite where it is not known to be finite, or beyond floating-point numbers."""
    try:
        return float(group.order)
    except (ValueError, OverflowError):
        return inf


def warn_of_rounded_turns(group: Group) -> None:
    """Question the first generator, or product of two, that turns by an angle that was hardly meant."""
    if group.fields or group.structure is not None:
        return
    single = [R for g in group.generators for R in _matrices(g)]
    whole = [g.matrix for g in group.generators if isinstance(g, SignedPermutation | Orthogonal)]
    question = questioned_turn(single, whole)
    if question is not None:
        what, why = question
        warnings.warn(f"{what} of {group!r} {why}", stacklevel=4)


def _matrices(g: Isometry) -> Iterator[Array]:
    """The floating-point matrices that an isometry is made of.

    Of copies that are exchanged only those that bring a copy back turned by an angle that is questioned too: a turn on
    the way that is taken back may have any angle.
    """
    if isinstance(g, Orthogonal):
        yield g.matrix
    elif isinstance(g, LeftRight):
        yield from (*_matrices(g.left), *_matrices(g.right))
    elif isinstance(g, Factors):
        yield from chain.from_iterable(map(_matrices, g.parts))
    elif isinstance(g, Copies):
        for parts in _round_trips(g):
            if questioned_turn(list(_matrices(reduce(matmul, parts))), ()) is not None:
                yield from chain.from_iterable(map(_matrices, parts))


def _round_trips(g: Copies) -> Iterator[list[Isometry]]:
    """For each cycle of copies, what happens to one of them until it is back."""
    left = set(range(g.size))
    while left:
        place, parts = min(left), list[Isometry]()
        while place in left:
            left.remove(place)
            parts.append(g.parts[place])
            place = g.image[place]
        yield parts
