"""Isometries: the maps themselves, the lowest layer.

An isometry is a small immutable object. Call it on points, compose it with ``@``, invert it, compare it.
*Exact* kinds stay exact: a permutation is integers, a sign is ±1, a torus shift is a `Fraction` of the
period, an integer matrix is integers. Only a general rotation is floating point. The lowercase functions
return the simplest kind that describes the map, so that exactness is never lost by the way a map is
written: ``orthogonal([[0, 1], [1, 0]])`` *is* ``permutation([1, 0])``.
"""

from __future__ import annotations

from specavg.isometries import fields
from specavg.isometries._affine import Affine, affine, shift
from specavg.isometries._block_maps import Copies, Factors, copies, factors, flatten
from specavg.isometries._isometry import Isometry
from specavg.isometries._left_right import LeftRight, left_right
from specavg.isometries._linear import (
    Orthogonal,
    SignedPermutation,
    identity,
    orthogonal,
    permutation,
    signed_permutation,
)

__all__ = [
    "Affine",
    "Copies",
    "Factors",
    "Isometry",
    "LeftRight",
    "Orthogonal",
    "SignedPermutation",
    "affine",
    "copies",
    "factors",
    "fields",
    "flatten",
    "identity",
    "left_right",
    "orthogonal",
    "permutation",
    "shift",
    "signed_permutation",
]


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
