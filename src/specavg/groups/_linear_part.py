"""How an isometry moves vectors: its linear part, an orthogonal matrix."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from specavg.isometries import Affine, Copies, Factors, Isometry, LeftRight, Orthogonal, SignedPermutation, orthogonal
from specavg.isometries.fields import CopiesField, FactorsField, Field, LeftRightField, RotationField, ShiftField

Linear = SignedPermutation | Orthogonal

# BᵀAB⁻ᵀ loses a few units in the last place; an orthogonal matrix this close to a signed permutation is one.
_SNAP = 1e-12
_SAME = 1e-12  # two parts whose matrices differ by less are one and the same map


def linear_part(g: Isometry, lattice: ArrayLike | None = None) -> Linear:
    """The orthogonal matrix by which `g` moves a vector attached to a point.

    Signed permutations and orthogonal maps are their own linear part. A map X ↦ A X Bᵀ moves vectors by A. An affine
    map u ↦ A u + t of fractional coordinates moves Cartesian vectors x = Bᵀ u (the rows of B are the lattice
    vectors) by Bᵀ A B⁻ᵀ. Copies and factors that all move in one way have the linear part of each of them.

    Parameters
    ----------
    g : Isometry
        The map.
    lattice : array_like of shape (d, d), optional
        Lattice vectors as rows, where `g` acts on fractional coordinates.

    Returns
    -------
    SignedPermutation or Orthogonal
        Exact where the matrix is a signed permutation.

    Raises
    ------
    ValueError
        Where no single matrix moves a vector; the message says what to give instead.

    Examples
    --------
    >>> from specavg import isometries
    >>> third = isometries.affine([[0, -1], [1, -1]], [0, 0])
    >>> linear_part(third, lattice=[[1, 0], [-0.5, 0.75**0.5]]).matrix.round(4)
    array([[-0.5  , -0.866],
           [ 0.866, -0.5  ]])
    """
    if isinstance(g, Copies | Factors):
        return _common(g, [linear_part(part, lattice) for part in dict.fromkeys(g.parts)])
    if isinstance(g, LeftRight):
        return g.left
    if isinstance(g, SignedPermutation | Orthogonal) and lattice is None:
        return g
    if isinstance(g, SignedPermutation | Affine):
        return _cartesian(g, lattice)
    if isinstance(g, Orthogonal):
        raise ValueError(
            f"{g!r} moves Cartesian coordinates, and a lattice is for maps of fractional ones. Leave out lattice=. "
            "Where one factor of a product has a lattice and another has none, name the output ('vector') to "
            "equivariant_basis or EquivariantKernelRidge: their space knows the lattice of each factor"
        )
    raise ValueError(f"{g!r} has no linear part that is known here: give groups.Representation(group, images)")


def determinant(g: Isometry) -> int:
    """The determinant of the linear part, 1 or −1; it needs no lattice.

    Examples
    --------
    >>> from specavg import isometries
    >>> determinant(isometries.permutation([1, 0, 2]))
    -1
    """
    if isinstance(g, Copies | Factors):
        return determinant(
            _common(g, [SignedPermutation((0,), (determinant(part),)) for part in dict.fromkeys(g.parts)])
        )
    if isinstance(g, LeftRight):
        return determinant(g.left)
    if isinstance(g, SignedPermutation):
        return prod(sign * (-1) ** (length - 1) for length, sign in g.cycles)
    if isinstance(g, Orthogonal | Affine):
        return 1 if np.linalg.det(g.matrix) > 0 else -1
    raise ValueError(f"{g!r} has no determinant that is known here: give groups.Representation(group, images)")


def linear_velocity(field: Field) -> RotationField:
    """The velocity by which the flow of `field` moves vectors: `linear_part` for fields.

    Examples
    --------
    >>> from specavg.isometries import fields
    >>> linear_velocity(fields.shift([1, 0])).is_zero
    True
    """
    if isinstance(field, RotationField):
        return field
    if isinstance(field, LeftRightField):
        return field.left
    if isinstance(field, ShiftField):
        return RotationField(np.zeros((field.size, field.size)))
    if isinstance(field, CopiesField | FactorsField):
        parts = [None if part is None else linear_velocity(part) for part in field.parts]
        first = parts[0]
        if first is not None and all(part is not None and _same(part, first) for part in parts):
            return first
    raise ValueError(
        f"{field!r} moves its parts in different ways, so no single matrix moves a vector. Give "
        "groups.Representation(group, images, field_images) with the image of each generator and field."
    )


def _same(a: Linear | RotationField, b: Linear | RotationField) -> bool:
    return a.size == b.size and float(np.abs(a.matrix - b.matrix).max(initial=0.0)) <= _SAME


def _cartesian(g: SignedPermutation | Affine, lattice: ArrayLike | None) -> Linear:
    A = np.asarray(g.matrix, dtype=float)
    B = np.eye(len(A)) if lattice is None else np.asarray(lattice, dtype=float)
    if B.shape != A.shape:
        raise ValueError(f"{g!r} moves {len(A)} coordinates; the lattice has shape {B.shape}")
    R = np.linalg.solve(B, A.T @ B).T  # Bᵀ A B⁻ᵀ
    whole = np.rint(R)
    try:
        return orthogonal(whole if np.abs(R - whole).max() < _SNAP else R)
    except ValueError as error:
        hint = "Give the lattice (rows are lattice vectors)" if lattice is None else "Give the lattice of the crystal"
        raise ValueError(
            f"{g!r} does not move Cartesian vectors by an orthogonal matrix in this lattice. {hint}. ({error})"
        ) from None


def _common(g: Copies | Factors, parts: Sequence[Linear]) -> Linear:
    first = parts[0]
    for part in parts[1:]:
        if not _same(part, first):
            raise ValueError(
                f"{g!r} moves its parts in different ways ({first!r} and {part!r}), so no single matrix moves a "
                "vector. Give groups.Representation(group, images) with the image of each generator and, of a "
                "continuous group, field_images with the antisymmetric matrix of each of group.fields."
            )
    return first
