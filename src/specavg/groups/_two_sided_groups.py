"""Groups that act on matrices from the left and from the right: frames, orientations, subspaces."""

from __future__ import annotations

import numpy as np

from specavg._messages import shown
from specavg.groups._group import Group
from specavg.groups._structure import Structure
from specavg.isometries import Isometry, LeftRight, Orthogonal, SignedPermutation, identity
from specavg.isometries.fields import Field, LeftRightField, RotationField


def left_right(left: Group, right: Group) -> Group:
    """X and A X Bᵀ are the same for A in one group and B in another: on `Stiefel` manifolds and `Rotations`.

    Parameters
    ----------
    left : Group
        Of the rows: linear maps of R^n for n × k matrices. ``trivial(n)`` where only columns are moved.
    right : Group
        Of the columns: linear maps of R^k. ``orthogonal(k)`` forgets the frame of a subspace (functions on a Grassmann
        manifold), ``sign_flips(k)`` the signs of the columns, ``hyperoctahedral(k)`` their order too.

    Returns
    -------
    Group

    Notes
    -----
    Groups of linear maps alone act from the left. The order is that of the maps: where both groups have −1,
    (A, B) and (−A, −B) are one of them.

    Examples
    --------
    >>> from specavg.groups import hyperoctahedral, orthogonal, sign_flips, trivial
    >>> left_right(trivial(5), hyperoctahedral(3)).order  # columns in any order and with any sign
    48
    >>> planes = left_right(trivial(5), orthogonal(2))  # functions of the plane that two columns span
    >>> planes.order, len(planes.fields)
    (inf, 1)
    >>> left_right(sign_flips(3), sign_flips(2)).order
    16
    """
    for group, side in ((left, "left"), (right, "right")):
        if not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"left_right takes two groups, from the left and from the right; the {side} one is {shown(group)}. "
                "Where nothing moves give trivial(n), n the number of rows or of columns"
            )
    return two_sided_group(left, right, f"left_right({left!r}, {right!r})")


def two_sided_group(left: Group, right: Group, name: str, structure: Structure | None = None) -> Group:
    """The same with a name and, where it is known, a structure."""
    rows, columns = identity(left.size), identity(right.size)
    generators = [LeftRight(_linear(g, "left"), columns) for g in left.generators]
    generators += [LeftRight(rows, _linear(g, "right")) for g in right.generators]
    still, frozen = (RotationField(np.zeros((group.size,) * 2)) for group in (left, right))
    fields: list[Field] = [LeftRightField(_rotation(f, "left"), frozen) for f in left.fields]
    fields += [LeftRightField(still, _rotation(f, "right")) for f in right.fields]
    return Group(generators, fields, name, structure=structure, size=left.size)


def _linear(g: Isometry, side: str) -> SignedPermutation | Orthogonal:
    if isinstance(g, SignedPermutation | Orthogonal):
        return g
    raise ValueError(f"{g!r} is no matrix: what acts on matrices from the {side} is one")


def _rotation(field: Field, side: str) -> RotationField:
    if isinstance(field, RotationField):
        return field
    raise ValueError(f"{field!r} is no rotation: what acts on matrices from the {side} is one")
