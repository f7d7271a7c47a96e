"""The point groups of R^3: crystal classes, icosahedral groups and the axial families."""

from __future__ import annotations

import difflib
import re
import unicodedata
from dataclasses import replace

import numpy as np

from specavg._messages import shown
from specavg.groups._catalogue import orthogonal, special_orthogonal
from specavg.groups._group import Group
from specavg.groups.families import AxialGroup, OrthogonalGroup, PointGroup, Turn
from specavg.groups.families._made_of_groups import rotation_of_space
from specavg.groups.families._point_group import (
    ALIASES,
    AROUND_Z,
    DIAGONAL,
    POLYHEDRAL,
    Axis,
    X,
    Y,
    Z,
    schoenflies,
    turns_of,
    usual,
)
from specavg.groups.recognition._point_group_of import are_elements, point_group_of

# Hermann–Mauguin name: Schoenflies name, principal axis, secondary axis. For Dn and Dnh, Dnd the secondary
# axis is a two-fold one; for Cnv it is the normal of a mirror.
_HERMANN_MAUGUIN: dict[str, tuple[str, Axis, Axis]] = {
    **dict.fromkeys(("1",), ("C1", Z, X)),
    **dict.fromkeys(("-1",), ("S2", Z, X)),
    **dict.fromkeys(("2", "112"), ("C2", Z, X)),
    "121": ("C2", Y, X),
    "211": ("C2", X, Y),
    **dict.fromkeys(("m", "-2", "11m"), ("C1h", Z, X)),
    "1m1": ("C1h", Y, X),
    "m11": ("C1h", X, Y),
    **dict.fromkeys(("2/m", "112/m"), ("C2h", Z, X)),
    "12/m1": ("C2h", Y, X),
    "2/m11": ("C2h", X, Y),
    "222": ("D2", Z, X),
    **dict.fromkeys(("mm2", "mm"), ("C2v", Z, X)),
    "2mm": ("C2v", X, Y),
    "m2m": ("C2v", Y, X),
    **dict.fromkeys(("mmm", "2/m2/m2/m"), ("D2h", Z, X)),
    "4": ("C4", Z, X),
    "-4": ("S4", Z, X),
    "4/m": ("C4h", Z, X),
    **dict.fromkeys(("422", "42"), ("D4", Z, X)),
    **dict.fromkeys(("4mm", "4m"), ("C4v", Z, X)),
    "-42m": ("D2d", Z, X),
    "-4m2": ("D2d", Z, DIAGONAL),
    **dict.fromkeys(("4/mmm", "4/m2/m2/m"), ("D4h", Z, X)),
    "3": ("C3", Z, X),
    "-3": ("S6", Z, X),
    **dict.fromkeys(("32", "321"), ("D3", Z, X)),
    "312": ("D3", Z, Y),
    **dict.fromkeys(("3m", "3m1"), ("C3v", Z, X)),
    "31m": ("C3v", Z, Y),
    **dict.fromkeys(("-3m", "-3m1", "-32/m", "-32/m1"), ("D3d", Z, X)),
    **dict.fromkeys(("-31m", "-312/m"), ("D3d", Z, Y)),
    "6": ("C6", Z, X),
    **dict.fromkeys(("-6", "3/m"), ("C3h", Z, X)),
    "6/m": ("C6h", Z, X),
    **dict.fromkeys(("622", "62"), ("D6", Z, X)),
    **dict.fromkeys(("6mm", "6m"), ("C6v", Z, X)),
    "-62m": ("D3h", Z, X),
    "-6m2": ("D3h", Z, Y),
    **dict.fromkeys(("6/mmm", "6/m2/m2/m"), ("D6h", Z, X)),
    "23": ("T", Z, X),
    **dict.fromkeys(("m-3", "m3", "2/m-3"), ("Th", Z, X)),
    **dict.fromkeys(("432", "43"), ("O", Z, X)),
    **dict.fromkeys(("-43m",), ("Td", Z, X)),
    **dict.fromkeys(("m-3m", "m3m", "4/m-32/m"), ("Oh", Z, X)),
    **dict.fromkeys(("532", "235", "53", "25"), ("I", Z, X)),
    **dict.fromkeys(("m-3-5", "m-35", "m35", "-5-3m", "-53m", "2/m-3-5", "-5-32/m"), ("Ih", Z, X)),
}


# The crystal classes and the icosahedral groups, to suggest when a name is not known.
_SCHOENFLIES = (
    *ALIASES,
    *POLYHEDRAL,
    *(f"C{n}{kind}" for n in (1, 2, 3, 4, 6) for kind in ("", "v", "h")),
    *(f"D{n}{kind}" for n in (2, 3, 4, 6) for kind in ("", "h")),
    *("D2d", "D3d", "S2", "S3", "S4", "S6", "C3i"),
)

# What a crystal system or a symmetry of specimens is called, and its Laue class: that of most symmetry.
_SYSTEMS = {
    "triclinic": "-1",
    "monoclinic": "2/m",
    "orthorhombic": "mmm",
    "tetragonal": "4/mmm",
    "trigonal": "-3m",
    "hexagonal": "6/mmm",
    "cubic": "m-3m",
    "axial": "∞/mm",
}

# Groups with rotations by every angle about z: the turns that lead to their other components.
_AXIAL_TURNS: dict[str, tuple[Turn, ...]] = {
    "C∞": (),
    "C∞v": (Turn(X, 2, improper=True),),
    "C∞h": (Turn(Z, 2, improper=True),),
    "D∞": (Turn(X, 2),),
    "D∞h": (Turn(X, 2), Turn(Z, 2, improper=True)),
}
_CONTINUOUS = {
    **{spelled: name for name in (*_AXIAL_TURNS, "K", "Kh") for spelled in (name, name.lower())},
    "∞": "C∞",
    "∞m": "C∞v",
    "∞/m": "C∞h",
    "∞2": "D∞",
    "∞/mm": "D∞h",
    "∞∞": "K",
    "∞∞m": "Kh",
}


def point_group(name: str) -> Group:
    """A point group of R^3 by its Schoenflies or Hermann–Mauguin name, acting on `Sphere(3)`.

    All 32 crystal classes are known by every usual name, the icosahedral groups as ``I`` (``532``) and ``Ih``
    (``m-3-5``), and the axial families ``Cn``, ``Cnv``, ``Cnh``, ``Dn``, ``Dnh``, ``Dnd``, ``S2n`` and
    ``Cni`` (n odd) for every n. Groups with a continuous part are ``C∞``, ``C∞v``, ``C∞h``, ``D∞``, ``D∞h``, ``K``
    (all rotations) and ``Kh`` (with reflections); ``Cinfv`` is the same as ``C∞v``. A minus sign
    stands for an overbar. Generators that are signed permutations are exact.

    The principal axis is z. With Schoenflies names a two-fold axis across it (D families) lies along x, and a
    vertical mirror (Cnv) has x as its normal. Hermann–Mauguin names put the element they name second along x,
    and so tell orientations apart: ``-42m`` (two-fold axis x; the same as ``D2d``) from ``-4m2`` (mirror
    across x), ``321`` from ``312``, ``3m1`` from ``31m``, ``-3m1`` from ``-31m``, ``-62m`` (the same as
    ``D3h``) from ``-6m2``. Monoclinic names have the unique axis z; ``121``, ``1m1``, ``12/m1`` have it along
    y, ``2mm`` and ``m2m`` the two-fold axis along x and y. Cubic groups have the coordinate axes as four-fold
    (or two-fold) axes, and the icosahedral ones as two-fold axes, with five-fold axes along (0, ±1, ±φ) and
    its cyclic permutations, φ = (1 + √5)/2.

    Parameters
    ----------
    name : str
        The name; spaces and underscores are ignored.

    Returns
    -------
    Group
        With structure `PointGroup`, `AxialGroup` or `OrthogonalGroup`.

    Examples
    --------
    >>> point_group("Oh").order, point_group("m-3m").order
    (48, 48)
    >>> point_group("D5h").order, point_group("Cinfv").order
    (20, inf)
    >>> point_group("-42m").generators
    (signed_permutation([1, 0, 2], [1, -1, -1]), signed_permutation([0, 1, 2], [1, -1, -1]))
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"point_group needs a name such as 'Oh' or 'm-3m'; got {shown(name)}")
    plain = _plain(name)
    continuous = _CONTINUOUS.get(re.sub("inf(inity)?", "∞", plain, flags=re.IGNORECASE))
    if continuous is not None:
        return _continuous(continuous)
    symbol, axis, second = _HERMANN_MAUGUIN.get(plain, (schoenflies(plain), Z, X))
    if symbol is None:
        known = [*_SCHOENFLIES, *_HERMANN_MAUGUIN]
        near = difflib.get_close_matches(plain, known, n=4, cutoff=0.3)
        hint = f"Did you mean {', '.join(near)}? " if near else ""
        if matrices := re.fullmatch(r"(S?)O\(?(\d+)\)?", plain, flags=re.IGNORECASE):
            hint = f"It is groups.{'special_' * bool(matrices[1])}orthogonal({matrices[2]}). "
        if plain.lower() in _SYSTEMS:
            classes = ", ".join(f"{system} {laue}" for system, laue in _SYSTEMS.items())
            hint = f"A system has several point groups. The Laue classes of most symmetry are {classes}. "
        raise ValueError(
            f"no point group is called {name!r}. {hint}Known are the Schoenflies names (Cn, Cnv, Cnh, Dn, "
            "Dnh, Dnd, S2n "
            "for any n, T, Th, Td, O, Oh, I, Ih) and the Hermann–Mauguin names of the 32 crystal classes "
            "(m-3m, -42m)."
        )
    turns, generating = turns_of(symbol, axis, second)
    return Group([turn.isometry for turn in generating], name=plain, structure=PointGroup(usual(symbol), turns), size=3)


def rotations_of(group: Group) -> Group | None:
    """The rotations of a point group that has the inversion, in its own orientation; None where it has none.

    The group is then its rotations, with and without the inversion: each turn, without its inversion, is one of them.

    Examples
    --------
    >>> rotations_of(point_group("m-3m")), rotations_of(point_group("12/m1"))
    (point_group('O'), point_group('121'))
    >>> rotations_of(point_group("mm2")) is None
    True
    """
    matrices = [rotation_of_space(g).matrix for g in group.generators]
    structure = group.structure
    if isinstance(structure, AxialGroup):
        return point_group(structure.symbol[:-1]) if structure.symbol.endswith("h") else None
    if isinstance(structure, OrthogonalGroup):
        return point_group("K")
    if not isinstance(structure, PointGroup):
        structure = None if group.fields else point_group_of(matrices)
    if structure is None:
        return None
    turns: dict[Axis, Turn] = {}
    for turn in structure.turns:
        turns.setdefault(turn.axis, replace(turn, improper=False))  # a mirror across an axis comes after its rotations
    proper = tuple(turn for turn in turns.values() if turn.order > 1)
    found = PointGroup(_rotation_symbol(structure.symbol), proper)
    if 2 * found.order != structure.order:  # without the inversion these are no elements
        return None
    oriented = (name for name, (symbol, _, _) in _HERMANN_MAUGUIN.items() if symbol == found.symbol)
    for named in map(point_group, (found.symbol, *oriented)):
        if are_elements([rotation_of_space(g).matrix for g in named.generators], found):
            return named
    return Group([np.linalg.det(A) * A for A in matrices], structure=found, size=3)


def _rotation_symbol(symbol: str) -> str:
    """The symbol of the rotations of a group with the inversion: O for Oh, D3 for D3d and C3 for S6."""
    if symbol in POLYHEDRAL:
        return symbol[0]
    match = re.fullmatch(r"([CDS])(\d+).?", symbol)
    if match is None:  # Ci
        return "C1"
    letter, n = match[1], int(match[2])
    return f"C{n // 2}" if letter == "S" else f"{letter}{n}"


def _continuous(symbol: str) -> Group:
    if symbol in ("K", "Kh"):
        like = special_orthogonal(3) if symbol == "K" else orthogonal(3)
        return Group(like.generators, like.fields, f"point_group({symbol!r})", structure=like.structure)
    turns = _AXIAL_TURNS[symbol]
    return Group([turn.isometry for turn in turns], [AROUND_Z], symbol, structure=AxialGroup(symbol, turns))


def _plain(name: str) -> str:
    """The name without spaces and underscores, with every minus and overbar as "-" before its number."""
    text = unicodedata.normalize("NFD", name)
    text = re.sub(r"[‐‑‒–—−]", "-", text)
    text = re.sub("(.)[\u0304\u0305]", r"-\1", text)
    return re.sub(r"[\s_{}$]", "", text)
