"""Outputs by name: scalars, vectors and tensors, and how a group moves them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial, reduce
from operator import add

import numpy as np
from numpy.typing import ArrayLike

from specavg._messages import shown
from specavg.groups._cell_axes import require_known_axes
from specavg.groups._given_generators import not_a_group
from specavg.groups._group import Group
from specavg.groups._index_symmetry import index_exchanges, index_symmetry
from specavg.groups._linear_part import determinant, linear_part, linear_velocity
from specavg.groups._representation import Linear, Representation
from specavg.groups._tangent_vectors import TANGENT_KINDS
from specavg.isometries import Isometry, SignedPermutation
from specavg.isometries.fields import Field, RotationField

# name: whether the sign det g comes in, and index symmetries
_NAMES = {"scalar": (False, ""), "pseudoscalar": (True, ""), "vector": (False, "i"), "axial vector": (True, "i")}

_SUM = re.compile(r"(?<!=)\s*\+\s*")  # between outputs; the plus of 'ij=+ji' is a sign


def representation(group: Group, output: str | Representation, *, lattice: ArrayLike | None = None) -> Representation:
    """How a group moves outputs of a named kind.

    Parameters
    ----------
    group : Group
        The group.
    output : str or Representation
        ``"scalar"`` (nothing moves), ``"pseudoscalar"`` (det g), ``"vector"`` (the matrix of g: the Cartesian point
        part on a lattice, the left matrix for X ↦ A X Bᵀ, the common part of copies and factors), ``"axial vector"``
        (det g times that matrix), ``"tangent vector"`` and ``"axial tangent vector"`` (the same for vectors that are
        orthogonal to their point of the unit sphere of R³), or a tensor by its index symmetries, such as ``"ij=ji"``,
        ``"ij=-ji"`` or ``"ijkl=jikl=klij"``, with the sign det g if ``"axial "`` stands before it; its outputs are the
        components of `IndexSymmetry`. ``"vector + scalar"`` has the outputs of both, side by side. A representation is
        returned as it is.

        Permutations of copies: under `symmetric` alone ``"pseudoscalar"`` is their sign, as for antisymmetric
        (fermionic) functions. Beside maps of the copies themselves, as in ``joined(diagonal(G, m), symmetric(m))``,
        permutations move no outputs; for antisymmetric functions give a `Representation` with −1 for each odd one.
    lattice : array_like of shape (d, d), optional
        Lattice vectors as rows, where the group acts on fractional coordinates, on all copies and factors alike. Space
        groups, plane groups and affine maps need it for vectors and tensors where they exchange axes that need not be
        at right angles (``np.eye(d)`` on a torus without lattice); maps that are given as permutations and sign
        changes alone are taken for those of Cartesian coordinates.
        Where factors differ in that, name the output to `equivariant_basis` or an estimator: their space knows.

    Returns
    -------
    Representation

    Examples
    --------
    >>> from specavg import groups
    >>> G = groups.point_group("Oh")
    >>> [groups.representation(G, kind).dim for kind in ("pseudoscalar", "vector", "ij=ji", "vector + scalar")]
    [1, 3, 6, 4]
    """
    if lattice is not None:
        return representation_by(group, output, partial(linear_part, lattice=lattice))
    checked = cache(partial(require_known_axes, group))  # once, and only where the output has vectors

    def moved(g: Isometry) -> Linear:
        checked()
        return linear_part(g)

    return representation_by(group, output, moved)


def representation_by(
    group: Group, output: str | Representation, moved: Callable[[Isometry], Linear]
) -> Representation:
    """How a group moves outputs of a named kind, where `moved` tells by which matrix an element moves vectors."""
    if not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    if isinstance(output, Representation):
        if output.group != group:
            raise ValueError(f"the representation is one of {output.group!r}; the group here is {group!r}")
        return output
    if output in tuple(TANGENT_KINDS):  # of what is no text, `output_kind` tells
        rho = representation_by(group, TANGENT_KINDS[output], moved)
        return Representation._built(group, rho.images, rho.field_images, rho.dim, tangent=True)  # pyright: ignore[reportPrivateUsage]
    if isinstance(output, str) and _SUM.search(output):  # pyright: ignore[reportUnnecessaryIsInstance]
        return reduce(add, (representation_by(group, part.strip(), moved) for part in _SUM.split(output)))
    axial, equations = output_kind(output)
    images = [_image(g, axial, equations, moved) for g in group.generators]
    velocities = [_field_image(field, equations) for field in group.fields]
    known = [*images, *velocities] or [_image(group.identity, axial, equations, moved)]
    return Representation._built(group, images, velocities, known[0].size)  # pyright: ignore[reportPrivateUsage]


def output_kind(output: str) -> tuple[bool, str]:
    """Whether the sign det g comes in, and the index symmetries; none for numbers."""
    if not isinstance(output, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"output must be a text such as 'vector' or 'ij=ji', or a Representation; got {shown(output)}")
    if output in _NAMES:
        return _NAMES[output]
    axial = output.startswith("axial ")
    equations = output.removeprefix("axial ")
    try:
        index_exchanges(equations)
    except ValueError as error:
        if "=" in equations:  # a tensor is meant
            raise
        known = ", ".join(map(repr, (*_NAMES, *TANGENT_KINDS)))
        raise ValueError(
            f"no output is called {output!r}: known are {known}, and tensors such as 'ij=ji' and 'axial ij=ji', and "
            "sums such as 'vector + scalar'; give "
            f"any other as groups.Representation(group, images). ({error})"
        ) from None
    return axial, equations


def _image(g: Isometry, axial: bool, equations: str, moved: Callable[[Isometry], Linear]) -> Linear:
    sign = determinant(g) if axial else 1
    if not equations:
        return SignedPermutation((0,), (sign,))
    part = moved(g)
    return index_symmetry(equations, part.size).moved(part, sign)


def _field_image(field: Field, equations: str) -> RotationField:
    # A flow has determinant 1: the sign det g does not come in.
    if not equations:
        return RotationField(np.zeros((1, 1)))
    velocity = linear_velocity(field)
    return RotationField(index_symmetry(equations, velocity.size).velocity(velocity.matrix))
