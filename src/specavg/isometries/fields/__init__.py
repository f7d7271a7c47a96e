"""Infinitesimal isometries (Killing fields): the velocities of flows that keep distances.

A field ξ is a small immutable object. ``field.flow(t)`` is the isometry exp(tξ), fields add and scale, and
``field.bracket(other)`` is the commutator ξη − ηξ of derivatives of functions. For the fields dx/dt = A x and
dx/dt = B x this is the field of **BA − AB**, minus the commutator of the matrices. With this sign
``space.infinitesimal`` keeps brackets: [dD(ξ), dD(η)] = dD(ξ.bracket(η)).

Examples
--------
>>> from specavg.isometries import fields
>>> around_z = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
>>> around_x = fields.rotation([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
>>> around_z.bracket(around_x)
rotation([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
>>> around_z.flow(1.5707963267948966)
signed_permutation([1, 0, 2], [-1, 1, 1])
"""

from specavg.isometries.fields._block_fields import CopiesField, FactorsField, complete, copies, factors, flatten, still
from specavg.isometries.fields._field import Field
from specavg.isometries.fields._matrix_fields import LeftRightField, RotationField, left_right, rotation, two_sided
from specavg.isometries.fields._shift_field import ShiftField, shift
from specavg.isometries.fields._speeds import integer_speed, period

__all__ = [
    "CopiesField",
    "FactorsField",
    "Field",
    "LeftRightField",
    "RotationField",
    "ShiftField",
    "complete",
    "copies",
    "factors",
    "flatten",
    "integer_speed",
    "left_right",
    "period",
    "rotation",
    "shift",
    "still",
    "two_sided",
]


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
