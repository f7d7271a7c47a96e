"""Space groups and plane groups: the symmetries of crystals, exact, on the torus of a lattice."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg.groups._group import Group
from specavg.groups._space_group_settings import database, hall_number, installed_spglib, setting_name
from specavg.groups.families import Trivial
from specavg.groups.recognition._affine_maps import affine_group
from specavg.isometries import Isometry, affine

_PARTS = 24  # every translation of a space group is a multiple of 1/24

# Primitive cells, (a_p, b_p, c_p) = (a, b, c) P, by the letter of the lattice (spglib's choice), in sixths.
_PRIMITIVE = {
    "P": ((6, 0, 0), (0, 6, 0), (0, 0, 6)),
    "A": ((6, 0, 0), (0, 3, -3), (0, 3, 3)),
    "B": ((3, 0, -3), (0, 6, 0), (3, 0, 3)),
    "C": ((3, 3, 0), (-3, 3, 0), (0, 0, 6)),
    "I": ((-3, 3, 3), (3, -3, 3), (3, 3, -3)),
    "F": ((0, 3, 3), (3, 0, 3), (3, 3, 0)),
    "R": ((4, -2, -2), (2, 2, -4), (2, 2, 2)),
}

_Operation = tuple[tuple[tuple[int, ...], ...], tuple[Fraction, ...]]
_O, _H = Fraction(0), Fraction(1, 2)
_CENTRE: _Operation = (((1, 0), (0, 1)), (_H, _H))
_HALF_TURN: _Operation = (((-1, 0), (0, -1)), (_O, _O))
_THIRD: _Operation = (((0, -1), (1, -1)), (_O, _O))
_QUARTER: _Operation = (((0, -1), (1, 0)), (_O, _O))
_SIXTH: _Operation = (((1, -1), (1, 0)), (_O, _O))


def _mirror(x: Fraction = _O, y: Fraction = _O) -> _Operation:
    return (((-1, 0), (0, 1)), (x, y))


_ACROSS: _Operation = (((0, -1), (-1, 0)), (_O, _O))  # the mirror of p3m1
_ALONG: _Operation = (((0, 1), (1, 0)), (_O, _O))  # the mirror of p31m

# In the order of the International Tables: names, and generators in the conventional cell.
_PLANE: list[tuple[tuple[str, ...], tuple[_Operation, ...]]] = [
    (("p1",), ()),
    (("p2", "p211"), (_HALF_TURN,)),
    (("pm", "p1m1"), (_mirror(),)),
    (("pg", "p1g1"), (_mirror(y=_H),)),
    (("cm", "c1m1"), (_mirror(), _CENTRE)),
    (("p2mm", "pmm"), (_HALF_TURN, _mirror())),
    (("p2mg", "pmg"), (_HALF_TURN, _mirror(x=_H))),
    (("p2gg", "pgg"), (_HALF_TURN, _mirror(_H, _H))),
    (("c2mm", "cmm"), (_HALF_TURN, _mirror(), _CENTRE)),
    (("p4",), (_QUARTER,)),
    (("p4mm", "p4m"), (_QUARTER, _mirror())),
    (("p4gm", "p4g"), (_QUARTER, _mirror(_H, _H))),
    (("p3",), (_THIRD,)),
    (("p3m1",), (_THIRD, _ACROSS)),
    (("p31m",), (_THIRD, _ALONG)),
    (("p6",), (_SIXTH,)),
    (("p6mm", "p6m"), (_SIXTH, _ACROSS)),
]


def plane_group(name: str | int) -> Group:
    """One of the 17 plane (wallpaper) groups, on `Torus(lattice=...)` with the conventional cell.

    Parameters
    ----------
    name : str or int
        Full or short name of the International Tables ("p4mm" or "p4m"), or number 1 to 17.

    Examples
    --------
    >>> plane_group("p4m").order, plane_group("cmm").order
    (8, 8)
    >>> plane_group("pg").generators
    (affine([[-1, 0], [0, 1]], [0, '1/2']),)
    """
    for number, (names, generators) in enumerate(_PLANE, start=1):
        if name == number or name in names:
            return group_of_affine_maps([affine(A, t) for A, t in generators], f"plane_group({names[0]!r})", 2)
    known = ", ".join(names[0] for names, _ in _PLANE)
    raise ValueError(f"no plane group is called {name!r}; known are the numbers 1 to 17 and the names {known}")


def space_group(number: int | str, setting: str | int | None = None) -> Group:
    """One of the 230 space groups, modulo the translations of the conventional cell.

    It acts on `Torus(lattice=B)`, the rows of B being the conventional lattice vectors: x ↦ W x + w on fractional
    coordinates, W integer and w exact fractions. Needs spglib, which holds the tables
    (``pip install "specavg[crystal]"``).

    Parameters
    ----------
    number : int or str
        1 to 230, as in the International Tables, or the short or full symbol of Hermann and Mauguin ("Fm-3m",
        "P6_3/mmc"), which stands for its own setting ("P2_1/n", "Pbnm", "P 1 1 2/m", "Fd-3m:2"); old symbols
        ("Fm3m", "Cmca") too.
    setting : str or int, optional
        Another setting of the same group: its choice of axes or origin ("2" or 2, "R", "c1", ...), or spglib's Hall
        number. Default: that of the symbol, and of a number, or a symbol of several settings, the first that spglib
        lists (unique axis b, origin choice 1, hexagonal axes).

    Examples
    --------
    >>> G = space_group(225)  # Fm-3m: rock salt, copper
    >>> G.order, len(G.generators)
    (192, 2)
    >>> space_group(136).order  # P4_2/mnm: rutile
    16
    >>> space_group("Fm-3m") == G
    True
    >>> space_group("Pbnm")  # perovskites, with the axes of the International Tables exchanged
    space_group(62, setting='cab')
    """
    hall = hall_number(number, setting)
    return group_of_operations(*_tables(hall), f"space_group({setting_name(hall, setting)})")


def reciprocal_point_group(number: int | str, setting: str | int | None = None, *, time_reversal: bool = True) -> Group:
    """The point group of a space group on wave vectors: the symmetry of bands in the Brillouin zone.

    A rotation W of direct space acts on wave vectors by q ↦ W⁻ᵀ q, q in fractions of the reciprocal vectors of the
    *primitive* cell (energies repeat with these, and not with those of a centred cell). So it acts on
    ``Torus(lattice=reciprocal_lattice(primitive_lattice(number, B)))``.

    Parameters
    ----------
    number, setting
        As for `space_group`.
    time_reversal : bool, default True
        Add q ↦ −q, which holds for phonons and for electrons without magnetism.

    Examples
    --------
    >>> reciprocal_point_group(216).order, reciprocal_point_group(216, time_reversal=False).order
    (48, 24)
    """
    hall = hall_number(number, setting)
    P = _primitive(hall)
    name = f"reciprocal_point_group({setting_name(hall, setting)}{'' if time_reversal else ', time_reversal=False'})"
    W = np.rint(np.linalg.inv(P) @ _tables(hall)[0] @ P)
    return group_of_wave_vectors(W, name, time_reversal=time_reversal)


def primitive_lattice(number: int | str, lattice: ArrayLike, setting: str | int | None = None) -> Array:
    """The primitive lattice vectors of a space group's conventional cell, as rows.

    Examples
    --------
    >>> primitive_lattice(225, np.eye(3))
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    return _primitive(hall_number(number, setting)).T @ np.asarray(lattice, dtype=float)


def reciprocal_lattice(lattice: ArrayLike) -> Array:
    """The rows b_i with b_i · a_j = 1 if i = j and 0 if not (no factor 2π).

    Examples
    --------
    >>> reciprocal_lattice([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return np.linalg.inv(np.asarray(lattice, dtype=float)).T + 0.0


# --- helpers --------------------------------------------------------------------------------------


def group_of_affine_maps(generators: Sequence[Isometry], name: str, d: int) -> Group:
    structure = affine_group(generators) if generators else Trivial(d)
    return Group(generators, name=name, structure=structure, size=d)


def group_of_operations(W: NDArray[np.int64], w: NDArray[np.int64], name: str) -> Group:
    """The group of the maps x ↦ Wx + w, translations w in 24ths, by a few of them."""  # (n, d, d), (n, d)
    maps = [affine(W[i], [Fraction(int(part), _PARTS) for part in w[i]]) for i in generating(W, w)]
    return group_of_affine_maps(maps, name, W.shape[1])


def group_of_wave_vectors(W: NDArray[Any], name: str, *, time_reversal: bool) -> Group:
    """How rotations W of a primitive cell move wave vectors: by W⁻ᵀ, and by −W⁻ᵀ with time reversal."""  # (n, d, d)
    R = np.rint(np.linalg.inv(W).transpose(0, 2, 1)).astype(np.int64)
    R = np.unique(np.concatenate([R, -R]) if time_reversal else R, axis=0)[::-1]
    return group_of_operations(R, np.zeros(R.shape[:2], dtype=np.int64), name)


def _tables(hall: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The matrices W of the operations of a Hall number, and their translations w in 24ths."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        operations = installed_spglib().get_symmetry_from_database(hall)
    W = np.asarray(operations["rotations"], dtype=np.int64)
    w, error = in_parts(np.asarray(operations["translations"], dtype=float))
    if error > 1e-3 / _PARTS:
        raise ArithmeticError(f"Hall number {hall}: a translation is no multiple of 1/{_PARTS}")
    return W, w


def in_parts(translations: Array) -> tuple[NDArray[np.int64], float]:
    """Translations rounded to 24ths, and the largest change that rounding made."""
    w = np.rint(_PARTS * translations).astype(np.int64)
    return w % _PARTS, float(np.abs(translations - w / _PARTS).max())


def _primitive(hall: int) -> Array:
    letter = str(database()[hall].hall_symbol).lstrip("-")[0]
    return np.array(_PRIMITIVE[letter]) / 6.0


def generating(W: NDArray[np.int64], w: NDArray[np.int64]) -> list[int]:
    """A few operations that generate all: at each step the one that makes the subgroup largest.

    Each step at least doubles the subgroup, so there are at most log2 of the order.
    """
    table = _products(W, w)
    unit = np.eye(W.shape[1], dtype=np.int64)
    one = next(i for i in range(len(W)) if np.array_equal(W[i], unit) and not w[i].any())
    chosen: list[int] = []
    reached = {one}
    while len(reached) < len(W):
        best: set[int] = set()
        choice = -1
        for i in range(len(W)):
            if i not in reached and i not in best:
                closed = _closure(table, [*chosen, i], one)
                if len(closed) > len(best):
                    best, choice = closed, i
        chosen.append(choice)
        reached = best
    return chosen


def _closure(table: NDArray[np.intp], generators: list[int], one: int) -> set[int]:
    reached, fresh = {one}, [one]
    while fresh:
        products = set(table[np.ix_(fresh, generators)].ravel().tolist())
        fresh = list(products - reached)
        reached |= products
    return reached


def _products(W: NDArray[np.int64], w: NDArray[np.int64]) -> NDArray[np.intp]:
    """The number of operation i after operation j, for all i and j."""
    matrices = np.einsum("iab,jbc->ijac", W, W)
    shifts = (np.einsum("iab,jb->ija", W, w) + w[:, None]) % _PARTS
    codes = _codes(W, w)
    order = np.argsort(codes)
    products = _codes(matrices, shifts)
    place = np.minimum(np.searchsorted(codes[order], products), len(order) - 1)
    if (codes[order][place] != products).any():
        raise ArithmeticError("the operations do not form a group")
    return order[place]


def _codes(W: NDArray[np.int64], w: NDArray[np.int64]) -> NDArray[np.int64]:
    """One integer per operation: its 12 entries as digits of base 32."""
    digits = np.concatenate([W.reshape(*W.shape[:-2], -1) + 8, w], axis=-1)
    return digits @ (np.int64(32) ** np.arange(digits.shape[-1], dtype=np.int64))
