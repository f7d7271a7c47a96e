"""The symmetry of one crystal, from the cell that a program of physics works with."""

from __future__ import annotations

import os
import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._messages import shown
from specavg.groups._group import Group
from specavg.groups._space_group_settings import installed_spglib
from specavg.groups._space_groups import group_of_operations, group_of_wave_vectors, in_parts, reciprocal_lattice

# In the unit of the lattice, mostly Å. Files give two to four digits: of 280 lattices in random orientations, rounded
# to two digits, 0.01 finds the group of 27 %, 0.02 of 90 % and 0.03 of all but one.
_ROUNDED = 3e-2
_TOGETHER = 1e-2  # of the edge of a cube that holds one atom: nearer atoms are at one place, bonds are 50 times as long
_NEAR_THE_CELL = (-1.0, 2.0)  # fractional coordinates: molecules that were kept whole reach beyond the cell so far
_CLEAR = 3.7  # distance of copies of a plane over its longest lattice vector; any number, better not a simple ratio
# Of the largest number of a lattice: one so near to its symmetric form is kept as it was given. Two roots of matrices
# round 3.6 to 3.600000000000004, by 1e-15 of it; files have ten digits at most.
_ROUNDING = 1e-13
_FLAT = 1e-9  # the volume of a cell over that of a box with its edges: below, the edges lie in a plane

# The plane group of a plane of atoms, by the space group of its copies above each other: each with the mirror z ↦ −z.
_PLANE_GROUPS = {
    6: "p1", 10: "p2", 25: "pm", 26: "pg", 38: "cm", 47: "p2mm", 51: "p2mg", 55: "p2gg", 65: "c2mm", 83: "p4",
    123: "p4mm", 127: "p4gm", 174: "p3", 187: "p3m1", 189: "p31m", 175: "p6", 191: "p6mm",
}  # fmt: skip


def cell_symmetry(
    cell: Any, *, symprec: float = 1e-5, wave_vectors: bool = False, time_reversal: bool = True
) -> tuple[Array, Group, str]:
    """The lattice of a cell, made exactly symmetric, the group of the crystal on it and the name of its space group."""
    lattice, positions, numbers, told_apart = _parts(cell)
    symprec = _tolerance(symprec)
    d = len(lattice)
    if d == 2:
        lattice, positions = _stacked(lattice, positions)
    name, found = _operations((lattice, positions, numbers), symprec)
    if found is None:
        raise ValueError(
            f"spglib finds no symmetry of this cell with symprec={symprec:g}: is symprec as large as the distances?"
        )
    W, translations = np.asarray(found["rotations"], dtype=np.int64), np.asarray(found["translations"], dtype=float)
    _question_fractions((lattice, positions, numbers), symprec, len(W))
    _question_symmetry((lattice, positions, numbers), symprec, name, len(W))
    if d == 2:
        name, W, translations = _in_the_plane(name, W, translations)
        lattice, positions = lattice[:2, :2], positions[:, :2]
    name += ", unlike moments told apart" if told_apart else ""
    w, error = in_parts(translations)
    if error > 50 * symprec and not wave_vectors:
        raise ValueError(
            f"a translation of this crystal is no multiple of 1/24 of the cell (by {error:.1g}): "
            + _other_origin(W, translations, positions, 50 * symprec)
        )
    B = _symmetric_lattice(np.asarray(lattice, dtype=float), W)
    if not wave_vectors:
        return B, group_of_operations(W, w, "the crystal's space group"), name
    still = np.all(np.equal(W, np.eye(d, dtype=np.int64)), axis=(1, 2))
    if np.count_nonzero(still) > 1:
        raise ValueError(
            "the cell is not primitive, and energies repeat with the reciprocal vectors of the primitive cell. Use the "
            "cell that spglib.find_primitive(cell) returns."
        )
    group = group_of_wave_vectors(W, "the crystal's group of wave vectors", time_reversal=time_reversal)
    return reciprocal_lattice(B), group, name


def _stacked(lattice: Array, positions: Array) -> tuple[Array, Array]:
    """Copies of a plane of atoms above each other, which spglib takes for a crystal."""
    above = np.zeros((3, 3))
    above[:2, :2] = lattice
    above[2, 2] = _CLEAR * np.linalg.norm(lattice, axis=1).max()
    return above, np.pad(positions, ((0, 0), (0, 1)))


def _in_the_plane(name: str, W: NDArray[np.int64], translations: Array) -> tuple[str, NDArray[np.int64], Array]:
    """The name of the plane group, and the operations of stacked planes as maps of one plane, each once."""
    kept = (W[:, 2, :2] == 0).all(axis=1) & (W[:, :2, 2] == 0).all(axis=1) & (W[:, 2, 2] == 1)
    number = int(name.split("(")[-1].rstrip(") "))
    return _PLANE_GROUPS.get(number, f"planes of {name}"), W[kept, :2, :2], translations[kept, :2]


def _other_origin(W: NDArray[np.int64], translations: Array, positions: Array, tolerance: float) -> str:
    """Advice for an error: the nearest atom or centre that, as the origin, makes translations multiples of 1/24.

    With u' = u − s the operation u ↦ W u + w is u' ↦ W u' + w + (W − 1) s.
    """
    turns = W - np.eye(W.shape[1], dtype=np.int64)
    centres = [np.linalg.solve(A, -w) for A, w in zip(turns, translations, strict=True) if round(np.linalg.det(A))]
    centres += [np.linalg.lstsq(np.concatenate(turns), -translations.ravel(), rcond=None)[0]]
    near = [s - np.rint(s) for s in (*positions, *centres)]
    for s in sorted(near, key=lambda s: float(np.abs(s).max())):
        if in_parts(translations + turns @ s)[1] <= tolerance:
            return (
                f"the origin lies beside the symmetry elements. Subtract [{', '.join(f'{x:.10g}' for x in s + 0.0)}] "
                "from the fractional positions of the atoms, and from those of the data too."
            )
    return (
        "the cell is a supercell, or its origin lies beside the symmetry elements. Use the cell that "
        "spglib.standardize_cell(cell) returns."
    )


def _operations(cell: tuple[Any, Any, Any], symprec: float) -> tuple[str, Any]:
    """Name and number of the space group, and its operations; None where there are none."""
    spglib = installed_spglib()
    with warnings.catch_warnings():  # spglib announces, at every call, a change of its error handling
        warnings.simplefilter("ignore", DeprecationWarning)
        return str(spglib.get_spacegroup(cell, symprec=symprec)), spglib.get_symmetry(cell, symprec=symprec)


def _question_symmetry(cell: tuple[Array, Array, Any], symprec: float, name: str, order: int) -> None:
    """Warn where columns in place of rows, or more digits, would make the cell more symmetric."""
    lattice, positions, numbers = cell
    here = f"with symprec={symprec:g} this cell has the space group {name}, of {order} operations; with "
    turned, found = _operations((np.ascontiguousarray(lattice.T), positions, numbers), symprec)
    if found is not None and len(found["rotations"]) > order:
        warnings.warn(
            f"{here}its lattice transposed it has {turned}, of {len(found['rotations'])}. Do the lattice vectors stand "
            "in columns? They must be the rows.",
            stacklevel=4,
        )
        return
    if symprec >= _ROUNDED:
        return
    looser, found = _operations(cell, _ROUNDED)
    if found is not None and len(found["rotations"]) > order:
        warnings.warn(
            f"{here}symprec={_ROUNDED:g} it has {looser}, of {len(found['rotations'])}. If its numbers are rounded, "
            f"give more digits, or symprec={_ROUNDED:g}; if the crystal is distorted by so little, all is well.",
            stacklevel=4,
        )


def _question_fractions(cell: tuple[Array, Array, Any], symprec: float, order: int) -> None:
    """Warn of positions that are far from the cell, or beyond it and more symmetric if they are read as Cartesian."""
    lattice, positions, numbers = cell
    least, most = float(positions.min()), float(positions.max())
    if least >= 0 and most <= 1:
        return
    if _NEAR_THE_CELL[0] <= least and most <= _NEAR_THE_CELL[1]:
        found = _operations((lattice, positions @ np.linalg.inv(lattice), numbers), symprec)[1]
        if found is None or len(found["rotations"]) <= order:
            return
    warnings.warn(
        f"the positions of the atoms go from {least:.4g} to {most:.4g}, and fractional ones within the cell from 0 to "
        "1. If they are Cartesian, in the unit of the lattice, give positions @ np.linalg.inv(lattice).",
        stacklevel=4,
    )


def _parts(cell: Any) -> tuple[Array, Array, Any, bool]:
    """Lattice, fractional positions and kinds of a cell, and whether moments make kinds of one element different."""
    if hasattr(cell, "get_scaled_positions"):
        _refuse_molecules(cell)
        given = (np.asarray(cell.cell), cell.get_scaled_positions(), cell.numbers)
        moments = cell.get_initial_magnetic_moments()
    elif not isinstance(cell, list | tuple) or len(cell) < 3:
        got = f"a {type(cell).__name__} of {len(cell)} parts" if isinstance(cell, list | tuple) else shown(cell)
        reader = ". ase.io.read reads the Atoms of a file" if isinstance(cell, str | os.PathLike) else ""
        raise ValueError(
            "a cell is (lattice, positions, numbers) as spglib has it, lattice vectors as rows of a 3 × 3 array (of a "
            f"plane, 2 × 2), or the Atoms of ASE; got {got}{reader}"
        )
    elif np.shape(cell[0]) not in ((3, 3), (2, 2)):
        raise ValueError(
            "the lattice, the first part of a cell, has the lattice vectors as rows of a 3 × 3 array (of a plane, "
            f"2 × 2); got the shape {np.shape(cell[0])}. Of lengths and angles, crystals.lattice(a, b, c, alpha, beta, "
            "gamma) makes it"
        )
    else:
        given, moments = cell[:3], cell[3] if len(cell) > 3 else None
    lattice, positions = (np.asarray(part, dtype=float) for part in given[:2])
    kinds = np.asarray(given[2])
    if positions.shape != (len(kinds), len(lattice)) or kinds.ndim != 1:
        raise ValueError(
            f"a cell has a position and a number for each atom; the shapes are {positions.shape} and {kinds.shape}"
        )
    if not len(kinds):
        raise ValueError("the cell has no atoms; what repeats with the lattice alone has one atom, at the origin")
    _refuse_no_number(positions, "position")
    if kinds.dtype.kind in "fc":
        _refuse_no_number(kinds, "kind")
    if not np.abs(np.linalg.det(lattice)) > _FLAT * np.prod(np.linalg.norm(lattice, axis=1)):
        flat = "three lattice vectors lie in a plane" if len(lattice) == 3 else "two lattice vectors lie on a line"
        raise ValueError(f"the {flat}, or have NaN: they are the rows of the first part")
    _refuse_atoms_together(lattice, positions)
    kinds = np.unique(kinds, return_inverse=True)[1]  # spglib takes integers only
    if moments is None:
        return lattice, positions, kinds, False
    pairs = np.stack([kinds, _moments(moments, len(kinds))], axis=1)
    apart = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    return lattice, positions, apart, len(np.unique(apart)) > len(np.unique(kinds))


def _moments(given: Any, count: int) -> Array:
    """A moment for each atom."""
    moments = np.asarray(given, dtype=float)
    if moments.shape == (count, 3):
        raise ValueError(
            "magnetic moments with directions turn with the crystal, and its group must then be a magnetic one, which "
            "this function does not know. Give one number for each atom, or none for functions that do not depend on "
            "the moments."
        )
    if moments.shape != (count,):
        raise ValueError(f"a cell has one magnetic moment for each of {count} atoms; their shape is {moments.shape}")
    _refuse_no_number(moments, "magnetic moment")
    return moments


def _refuse_no_number(values: Array, what: str) -> None:
    """NaN and infinite numbers of atoms: those of positions end in a crash of spglib."""
    wrong = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"the {what} of atom {wrong[0]} is {values[wrong[0]].tolist()} ({len(wrong)} of {len(values)} are so): "
            "every atom of a cell needs one that is finite"
        )


def _tolerance(symprec: Any) -> float:
    """`symprec`; spglib does not end with 0, and crashes with less and with NaN."""
    if isinstance(symprec, Real) and 0 < float(symprec) < np.inf:
        return float(symprec)
    raise ValueError(
        "symprec is how far atoms may lie from symmetric places, a positive number in the unit of the lattice, such as "
        f"1e-5; got {shown(symprec)}"
    )


def _refuse_molecules(atoms: Any) -> None:
    """Say that there is no cell where ASE has none."""
    if atoms.cell.rank < 3:
        raise ValueError(
            f"these Atoms have no cell: {atoms.cell.rank} of 3 lattice vectors are given. A crystal has three "
            "(atoms.set_cell; atoms.center(vacuum=10, axis=2) makes one of a layer). Atoms of one height may be given "
            "as a plane, (cell[:2, :2], atoms.get_scaled_positions()[:, :2], numbers). The energy of a molecule is "
            "learnt by sa.InvariantPotential."
        )


def _refuse_atoms_together(lattice: Array, positions: Array) -> None:
    """Two atoms at one place, also of different kinds, are no crystal."""
    near = _TOGETHER * (abs(np.linalg.det(lattice)) / max(len(positions), 1)) ** (1 / len(lattice))
    for i in range(len(positions) - 1):
        apart = positions[i + 1 :] - positions[i]
        distances = np.linalg.norm((apart - np.rint(apart)) @ lattice, axis=1)  # exact where it is near zero
        if distances.min() < near:
            raise ValueError(
                f"atoms {i} and {i + 1 + distances.argmin()} are at one place ({distances.min():.2g} apart). Remove "
                "one of them; a place that two elements share is one atom, of a number of its own."
            )


def _symmetric_lattice(B: Array, W: NDArray[np.int64]) -> Array:
    """The lattice nearest to `B` that the rotations keep exactly: its metric is the mean of the rotated metrics."""
    metric = B @ B.T
    mean = np.mean(W.transpose(0, 2, 1) @ metric @ W, axis=0)
    found = _power(mean, 0.5) @ _power(metric, -0.5) @ B
    return B if np.abs(found - B).max() <= _ROUNDING * np.abs(B).max() else found


def _power(matrix: Array, exponent: float) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * values**exponent) @ vectors.T, dtype=np.float64)
