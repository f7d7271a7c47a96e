"""Axes of a cell: whether matrices of fractional coordinates move Cartesian vectors too, whatever the lattice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg.groups._group import Group
from specavg.groups.families import AffineGroup, DirectProduct
from specavg.groups.families._made_of_groups import OfCopies
from specavg.isometries import Affine, Copies, Factors, Isometry, SignedPermutation


def require_known_axes(group: Group) -> None:
    """Refuse maps of fractional coordinates whose Cartesian matrices depend on a lattice that is not known.

    Space groups, plane groups, and all groups with an affine map act on fractional coordinates. Their matrices move
    Cartesian vectors too where no axis of the cell is moved to one that need not be at right angles to it. A group that
    is given by permutations and sign changes alone is taken for one of Cartesian coordinates.

    Raises
    ------
    ValueError
        Where such axes are exchanged or combined; the message asks for the lattice.

    Examples
    --------
    >>> from specavg import groups
    >>> require_known_axes(groups.plane_group("p4m"))  # a square, whatever its size
    >>> require_known_axes(groups.plane_group("p3"))
    Traceback (most recent call last):
    ...
    ValueError: plane_group('p3') exchanges axes of the cell that need not be at right angles, as in hexagonal and ...
    """
    maps = [part for g in group.generators for part in _parts(g)]
    if len({g.size for g in maps}) != 1 or not (_of_a_cell(group) or any(isinstance(g, Affine) for g in maps)):
        return
    if not _at_right_angles([np.asarray(g.matrix) for g in maps if isinstance(g, Affine | SignedPermutation)]):
        raise ValueError(
            f"{group!r} exchanges axes of the cell that need not be at right angles, as in hexagonal and rhombohedral "
            "cells: they are no Cartesian axes, as vectors and tensors have them. Give the lattice (rows are lattice "
            f"vectors); on a torus without one it is lattice=np.eye({maps[0].size})."
        )


def _parts(g: Isometry) -> Iterator[Isometry]:
    """The maps of which those of copies and factors consist."""
    if isinstance(g, Copies | Factors):
        for part in dict.fromkeys(g.parts):
            yield from _parts(part)
    else:
        yield g


def _of_a_cell(group: Group) -> bool:
    """Whether a group was made as one of fractional coordinates, though none of its generators may shift anything."""
    made = group.structure
    if isinstance(made, OfCopies):
        return _of_a_cell(made.group)
    if isinstance(made, DirectProduct):
        return any(map(_of_a_cell, made.groups))
    return isinstance(made, AffineGroup)


def _at_right_angles(matrices: Sequence[NDArray[Any]]) -> bool:
    """Whether axes that integer matrices exchange are at right angles in every metric that the matrices leave alone."""
    d = len(matrices[0])
    if any((np.count_nonzero(A, axis=1) != 1).any() for A in matrices):
        return False  # combines axes: in no metric are they orthonormal
    images = [np.abs(A).argmax(axis=1) for A in matrices]
    axis_orbit = _orbits(images)
    # The product a_i · a_j of two axes is that of their images, up to a sign: where the matrices lead from a product to
    # its negative, it is zero. Nodes are the products, and then their negatives.
    pairs = np.arange(d * d)
    i, j = np.divmod(pairs, d)
    moved: list[NDArray[np.intp]] = []
    for A, image in zip(matrices, images, strict=True):
        signs = A[np.arange(d), image]
        negative = signs[i] * signs[j] < 0
        to = image[i] * d + image[j]
        moved.append(np.concatenate([to + d * d * negative, to + d * d * ~negative]))
    orbit = _orbits(moved)
    zero = orbit[: d * d] == orbit[d * d :]
    return bool(np.all(zero[(i != j) & (axis_orbit[i] == axis_orbit[j])]))


def _orbits(permutations: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """The least node of the orbit of each node. NumPy alone does it: tensors of crystals need no SciPy."""
    least = np.arange(len(permutations[0]))
    while True:
        before = least
        for image in permutations:
            least = np.minimum(least, least[image])
        least = least[least]
        if np.array_equal(least, before):
            return least
