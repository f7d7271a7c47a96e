"""The catalogue of named groups: generators and structure, nothing listed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, islice, permutations
from numbers import Integral

import numpy as np

from specavg.groups import families
from specavg.groups._group import Group
from specavg.groups.recognition._continuous_part import normalises, shift_directions
from specavg.isometries import (
    Copies,
    Factors,
    Isometry,
    SignedPermutation,
    copies,
    factors,
    flatten,
    shift,
    signed_permutation,
)
from specavg.isometries.fields import CopiesField, Field, rotation, still
from specavg.isometries.fields import copies as copies_field
from specavg.isometries.fields import factors as factors_field
from specavg.isometries.fields import shift as shift_field


def trivial(d: int) -> Group:
    """The group of the identity alone, on `d` coordinates.

    Examples
    --------
    >>> trivial(3).order, trivial(3).generators
    (1, ())
    """
    d = _positive(d, "trivial", "d, the number of coordinates,")
    return Group([], name=f"trivial({d})", structure=families.Trivial(d), size=d)


def sign_flips(d: int) -> Group:
    """Every change of signs of `d` coordinates: (Z/2)^d, one generator per coordinate.

    Examples
    --------
    >>> sign_flips(10).order
    1024
    """
    d = _positive(d, "sign_flips", "d, the number of coordinates,")
    flips = [_signed(range(d), flipped=[i]) for i in range(d)]
    return Group(flips, name=f"sign_flips({d})", structure=families.SignFlips(d), size=d)


def symmetric(d: int) -> Group:
    """Every permutation of `d` coordinates: S_d, from a transposition and the full cycle.

    Examples
    --------
    >>> symmetric(4).generators
    (permutation([1, 0, 2, 3]), permutation([1, 2, 3, 0]))
    >>> len(str(symmetric(1000).order))  # 1000! and its two generators
    2568
    """
    d = _positive(d, "symmetric", "d, the number of coordinates,")
    return Group(_symmetric_generators(d), f"symmetric({d})", structure=families.Symmetric(d), size=d)


def alternating(d: int) -> Group:
    """Every even permutation of `d` coordinates: A_d, from a 3-cycle and a long cycle.

    Examples
    --------
    >>> alternating(5).order
    60
    """
    d = _positive(d, "alternating", "d, the number of coordinates,")
    generators: list[SignedPermutation] = []
    if d >= 3:
        generators.append(_signed([1, 2, 0, *range(3, d)]))
    if d >= 4:  # the full cycle is even only for odd d; else leave one coordinate out
        generators.append(_signed([*range(1, d), 0] if d % 2 else [0, *range(2, d), 1]))
    return Group(generators, name=f"alternating({d})", structure=families.Alternating(d), size=d)


def hyperoctahedral(d: int) -> Group:
    """Every signed permutation of `d` coordinates: B_d, from a transposition and a cycle with one sign.

    Examples
    --------
    >>> hyperoctahedral(3).order, len(hyperoctahedral(3).generators)
    (48, 2)
    """
    d = _positive(d, "hyperoctahedral", "d, the number of coordinates,")
    generators = [_signed([1, 0, *range(2, d)])] if d >= 2 else []
    generators.append(_signed([*range(1, d), 0], flipped=[d - 1]))
    return Group(generators, name=f"hyperoctahedral({d})", structure=families.Hyperoctahedral(d), size=d)


def cyclic_shifts(d: int) -> Group:
    """The rotations of a ring of `d` coordinates, Z/d, from the shift by one.

    Examples
    --------
    >>> cyclic_shifts(4).canonical([[3.0, 1.0, 2.0, 5.0]])
    array([[1., 2., 5., 3.]])
    """
    d = _positive(d, "cyclic_shifts", "d, the number of coordinates,")
    generators = [_signed([*range(1, d), 0])] if d >= 2 else []
    return Group(generators, name=f"cyclic_shifts({d})", structure=families.CyclicShifts(d), size=d)


def dihedral_shifts(d: int) -> Group:
    """The rotations and reversals of a ring of `d` coordinates (for d ≤ 2 a reversal is a rotation).

    Examples
    --------
    >>> dihedral_shifts(5).order
    10
    """
    d = _positive(d, "dihedral_shifts", "d, the number of coordinates,")
    generators = [_signed([*range(1, d), 0])] if d >= 2 else []
    if d >= 3:
        generators.append(_signed([0, *range(d - 1, 0, -1)]))
    return Group(generators, name=f"dihedral_shifts({d})", structure=families.DihedralShifts(d), size=d)


def cyclic(n: int) -> Group:
    """The rotations of the circle by multiples of 1/n of the period.

    Examples
    --------
    >>> cyclic(6).generators
    (shift(['1/6']),)
    """
    n = _positive(n, "cyclic", "n, the number of rotations,")
    generators = [shift([Fraction(1, n)])] if n >= 2 else []
    return Group(generators, name=f"cyclic({n})", structure=families.Cyclic(n), size=1)


def dihedral(n: int) -> Group:
    """The rotations of the circle by multiples of 1/n of the period, and the reflection u ↦ −u.

    Examples
    --------
    >>> dihedral(6).order, dihedral(6).generators
    (12, (shift(['1/6']), signed_permutation([0], [-1])))
    """
    n = _positive(n, "dihedral", "n, the number of rotations,")
    generators = [*cyclic(n).generators, signed_permutation([0], [-1])]
    return Group(generators, name=f"dihedral({n})", structure=families.Dihedral(n), size=1)


def direct_product(*groups: Group) -> Group:
    """G × H × ..., each acting on its own factor of a product space.

    Examples
    --------
    >>> G = direct_product(cyclic(3), sign_flips(2))
    >>> G.order, len(G.generators)
    (12, 3)
    """
    if not groups:
        raise ValueError("direct_product needs at least one group; got none")
    for group in groups:
        _check_group(group, "direct_product")
    neutral = [group.identity for group in groups]
    generators: list[Isometry] = []
    for i, group in enumerate(groups):
        generators.extend(factors([*neutral[:i], g, *neutral[i + 1 :]]) for g in group.generators)
    rest = [still(one) for one in neutral]
    fields = [factors_field([*rest[:i], f, *rest[i + 1 :]]) for i, group in enumerate(groups) for f in group.fields]
    name = f"direct_product({', '.join(map(repr, groups))})"
    return Group(generators, fields, name, structure=families.DirectProduct(groups), size=len(groups))


def wreath(group: Group, m: int) -> Group:
    """H ≀ S_m on `m` copies of a space: an element of H on every copy, and the copies permuted.

    The generators are those of H on the first copy and the two of S_m.

    Examples
    --------
    >>> G = wreath(cyclic(4), 3)
    >>> G.order, len(G.generators)
    (384, 3)
    """
    _check_group(group, "wreath")
    m = _positive(m, "wreath", "m, the number of copies,")
    neutral = [group.identity] * m
    generators: list[Isometry] = [copies(range(m), [g, *neutral[1:]]) for g in group.generators]
    generators += [copies(swap.image, neutral) for swap in _symmetric_generators(m)]
    fields = [copies_field([f] + [None] * (m - 1)) for f in group.fields]
    return Group(generators, fields, f"wreath({group!r}, {m})", structure=families.Wreath(group, m), size=m)


def diagonal(group: Group, m: int) -> Group:
    """The same element of a group on each of `m` copies of a space: points that move together.

    Examples
    --------
    >>> G = diagonal(special_orthogonal(3), 4)  # four directions, turned together
    >>> G.order, len(G.fields)
    (inf, 2)
    >>> diagonal(cyclic(3), 2).order
    3
    """
    _check_group(group, "diagonal")
    m = _positive(m, "diagonal", "m, the number of copies,")
    generators = [copies(range(m), [g] * m) for g in group.generators]
    fields = [copies_field([f] * m) for f in group.fields]
    return Group(generators, fields, f"diagonal({group!r}, {m})", structure=families.Diagonal(group, m), size=m)


def joined(*groups: Group) -> Group:
    """The group generated by groups that act on the same space.

    Random elements are known where all groups are finite, and where each of them is normalised by the later ones, in
    some order; permutations of copies and a `diagonal` group are an example.

    Examples
    --------
    >>> G = joined(diagonal(orthogonal(3), 4), symmetric(4))  # four directions, up to rotations, mirrors and order
    >>> G.order, len(G.generators), len(G.fields)
    (inf, 3, 2)
    >>> two_kinds = direct_product(symmetric(2), symmetric(2))  # copies 0 and 1 alike, and copies 2 and 3
    >>> joined(diagonal(orthogonal(3), 4), two_kinds).order
    inf
    >>> joined(cyclic(4), cyclic(6)).order
    12
    """
    if not groups:
        raise ValueError("joined needs at least one group; got none")
    for group in groups:
        _check_group(group, "joined")
    name = f"joined({', '.join(map(repr, groups))})"
    if any(isinstance(part, Copies | CopiesField) for group in groups for part in (*group.generators, *group.fields)):
        groups = tuple(map(_of_copies, groups))
    generators = [g for group in groups for g in group.generators]
    fields = [f for group in groups for f in group.fields]
    size = groups[0].size
    if not fields:
        return Group(generators, name=name, size=size)
    orders = permutations(sorted((g for g in groups if g.generators or g.fields), key=lambda group: group.is_finite))
    order = next((order for order in islice(orders, 24) if _normalised(order)), None)
    return Group(generators, fields, name, structure=None if order is None else families.Composite(order), size=size)


def _of_copies(group: Group) -> Group:
    """A direct product of permutation groups as one group of permutations of copies; any other group as it is."""
    flat = [flatten(g) for g in group.generators]
    if group.fields or not any(isinstance(g, Factors) for g in group.generators):
        return group
    if not all(isinstance(g, SignedPermutation) and g.is_permutation for g in flat):
        return group
    return Group(flat, name=repr(group), size=flat[0].size)


def special_orthogonal(d: int) -> Group:
    """SO(d), all rotations of R^d: on `Sphere(d)`, and from the left on rotations and Stiefel manifolds.

    Its fields are the rotations in the planes of neighbouring coordinates, whose brackets generate the others.

    Examples
    --------
    >>> special_orthogonal(3).order, special_orthogonal(3).algebra
    (inf, <algebra of dimension 3: 2 independent fields, and 1 more from their brackets>)
    """
    d = _positive(d, "special_orthogonal", "d, the number of coordinates,")
    structure = families.OrthogonalGroup(d, special=True)
    return Group([], _neighbours(d), f"special_orthogonal({d})", structure=structure, size=d)


def orthogonal(d: int) -> Group:
    """O(d), all rotations and reflections of R^d: on `Sphere(d)`, and from the left on Stiefel manifolds.

    Examples
    --------
    >>> orthogonal(3).generators
    (signed_permutation([0, 1, 2], [-1, 1, 1]),)
    """
    d = _positive(d, "orthogonal", "d, the number of coordinates,")
    mirror = _signed(range(d), flipped=[0])
    return Group(
        [mirror], _neighbours(d), f"orthogonal({d})", structure=families.OrthogonalGroup(d, special=False), size=d
    )


def shifts(*directions: Sequence[int | Fraction | str]) -> Group:
    """All shifts of a torus along integer (or rational) directions.

    Floating-point directions are refused: a rounded slope does not say which torus the shifts fill.

    Examples
    --------
    >>> G = shifts([1, 0, 0], [0, 1, -1])
    >>> G.order, G.fields
    (inf, (shift([1, 0, 0]), shift([0, 1, -1])))
    """
    fields = [shift_field(v) for v in directions]
    if not fields or any(f.is_zero for f in fields):
        raise ValueError(f"shifts needs one direction or more, none of them zero; got {list(directions)}")
    if len({f.size for f in fields}) > 1:
        raise ValueError(f"directions of one torus have one length; got {[f.size for f in fields]}")
    structure = families.ShiftGroup(tuple(shift_directions(f) for f in fields))
    name = f"shifts({', '.join(str(list(v)) for v in structure.directions)})"
    return Group([], [shift_field(v) for v in structure.directions], name, structure=structure)


# --- helpers --------------------------------------------------------------------------------------


def _signed(image: range | list[int], flipped: list[int] | None = None) -> SignedPermutation:
    negative = flipped or []
    return SignedPermutation(tuple(image), tuple(-1 if i in negative else 1 for i in range(len(image))))


def _symmetric_generators(d: int) -> list[SignedPermutation]:
    swap = [_signed([1, 0, *range(2, d)])] if d >= 2 else []
    cycle = [_signed([*range(1, d), 0])] if d >= 3 else []
    return swap + cycle


def _neighbours(d: int) -> list[Field]:
    """The rotations in the planes of coordinates i and i + 1."""
    planes = np.zeros((d - 1, d, d))
    for i, plane in enumerate(planes):
        plane[i, i + 1], plane[i + 1, i] = -1.0, 1.0
    return [rotation(plane) for plane in planes]


def _normalised(order: Sequence[Group]) -> bool:
    """Whether each group is normalised by all later ones."""
    return all(normalises(late, early) for early, late in combinations(order, 2))


def _positive(value: int, function: str, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{function}: {what} must be an integer; got {value!r}")
    if value < 1:
        raise ValueError(f"{function}: {what} must be at least 1; got {value}")
    return int(value)


def _check_group(group: Group, function: str) -> None:
    if not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{function} needs groups; got {type(group).__name__}: make one with groups.Group(generators)")
