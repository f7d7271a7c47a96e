"""Tangent vectors: outputs that are orthogonal to the point they belong to, and the potentials of fields of them.

A tangent field on the unit sphere of R³ is ∇f + x × ∇g with two functions f and g, unique up to constants (the theorem
of Helmholtz and Hodge). It moves as the points do, F(gx) = R F(x), where f is a scalar and g a pseudoscalar; with the
sign det R (axial vectors) it is the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specavg.groups._group import Group
from specavg.groups._linear_part import determinant, linear_part, linear_velocity
from specavg.isometries import Orthogonal, SignedPermutation
from specavg.isometries.fields import RotationField

TANGENT_KINDS = {"tangent vector": "vector", "axial tangent vector": "axial vector"}
"""Names of tangent outputs, and how their components in R³ move."""

_SAME = 1e-9  # entries of an image and of plus or minus the matrix of its generator


def images_of_potentials(
    group: Group, images: Sequence[SignedPermutation | Orthogonal], field_images: Sequence[RotationField]
) -> list[SignedPermutation]:
    """How each generator moves the potentials f and g of a tangent field.

    Parameters
    ----------
    group : Group
    images : sequence of SignedPermutation or Orthogonal
        How each generator moves tangent vectors: as points in R³, or as the opposites of points.
    field_images : sequence of RotationField
        How the fields move them.

    Raises
    ------
    ValueError
        Where vectors do not move as points do: they would not stay tangent.

    Examples
    --------
    >>> from specavg import groups
    >>> Ci = groups.point_group("Ci")  # the inversion
    >>> images_of_potentials(Ci, groups.representation(Ci, "vector").images, [])[0].signs
    (1, -1)
    """
    moved: list[SignedPermutation] = []
    for i, (g, image) in enumerate(zip(group.generators, images, strict=True)):
        matrix = linear_part(g).matrix
        sign = 1 if matrix.shape == image.matrix.shape and float(np.sum(matrix * image.matrix)) > 0 else -1
        _require_same(image.matrix, sign * matrix, f"image {i}")
        moved.append(SignedPermutation((0, 1), (sign, sign * determinant(g))))
    for i, (field, image) in enumerate(zip(group.fields, field_images, strict=True)):
        _require_same(image.matrix, linear_velocity(field).matrix, f"field image {i}")
    return moved


def _require_same(found: np.ndarray, expected: np.ndarray, name: str) -> None:
    if found.shape != (3, 3) or expected.shape != (3, 3) or np.abs(found - expected).max() > _SAME:
        raise ValueError(
            f"{name} does not move vectors as points of R³ are moved, or as their opposites: vectors would not stay "
            "tangent to the sphere. Leave tangent=True out"
        )
