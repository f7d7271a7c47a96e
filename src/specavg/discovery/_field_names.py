"""How a field is written in a sentence: its axis, or its planes and how fast each of them turns."""

from __future__ import annotations

import numpy as np

from specavg._arrays import Array
from specavg.isometries.fields import Field, LeftRightField, RotationField
from specavg.isometries.fields._field import FieldOfParts

_STILL = 1e-6  # speeds below this part of the fastest are none: directions found in data are exact to rounding only
_SAME = 1e-3  # relative difference of speeds that three digits do not show
_WRITTEN_OUT = 6  # directions of more numbers than this are not written


def field_label(field: Field) -> str:
    """The field in words; its numbers are in the field itself.

    Examples
    --------
    >>> from specavg.isometries import fields
    >>> around_z = fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> field_label(fields.copies([2 * around_z, around_z]))
    'rotation of part 0 about (0.000, 0.000, 1.000) at speed 2, with part 1 about (0.000, 0.000, 1.000)'
    """
    slowest = min((abs(speed) for speed, _ in field.circles()), default=1.0)
    label = _label(field, slowest)
    if isinstance(field, RotationField):
        return f"rotation {label}"
    return f"rotation of {label}" if isinstance(field, FieldOfParts) else label


def direction_label(u: Array) -> str:
    """A direction with three decimals; of u and −u the one whose largest number is positive."""
    u = (u if u[np.argmax(np.abs(u))] > 0 else -u) + 0.0
    return f"({', '.join(f'{abs(a) if abs(a) < 5e-4 else a:.3f}' for a in u)})"


def _label(field: Field, slowest: float) -> str:
    if isinstance(field, RotationField):
        return _turns(field.matrix, slowest)
    if isinstance(field, FieldOfParts):
        names = ("left", "right") if isinstance(field, LeftRightField) else [f"part {i}" for i in range(field.size)]
        moving = [(name, f) for name, f in zip(names, field.parts, strict=True) if f is not None and not f.is_zero]
        return ", with ".join(f"{name} {_label(f, slowest)}" for name, f in moving)
    return repr(field)


def _turns(A: Array, slowest: float) -> str:
    """The planes of a skew matrix, the axis in three dimensions, and speeds in units of the slowest."""
    d, squares, vectors = len(A), *np.linalg.eigh(A.T @ A)
    speeds = np.sqrt(np.maximum(squares, 0.0))
    labels: list[str] = []
    left = speeds > _STILL * speeds[-1]
    while left.any():
        speed = speeds[left][0]
        together = left & (speeds < speed * (1 + _SAME))
        left &= ~together
        P = vectors[:, together] @ vectors[:, together].T
        ratio = "" if abs(speed / slowest - 1) < _SAME else f" at speed {speed / slowest:.3g}"
        for _ in range(int(together.sum()) // 2):
            u = P[:, int(np.argmax(np.diagonal(P) > np.diagonal(P).max() - _SAME))]  # the first of equals
            u = u / np.linalg.norm(u)
            v = A @ u / np.linalg.norm(A @ u)
            P = P - np.outer(u, u) - np.outer(v, v)
            if d == 3:
                labels.append(f"about {direction_label(np.cross(u, v))}{ratio}")
            elif d <= _WRITTEN_OUT:
                labels.append(f"in the plane of {direction_label(u)} and {direction_label(v)}{ratio}")
            else:
                labels.append(f"in a plane of R^{d}{ratio}")
    return ", with one ".join(labels)
