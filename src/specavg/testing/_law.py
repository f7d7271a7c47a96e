"""The error of a law that does not hold, the record of one that does, and what checks of laws share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specavg._arrays import Array
from specavg.isometries import Isometry
from specavg.isometries.fields import Field
from specavg.spaces import Eigenspace, Space

DIFFERENCES = 1e-9  # tolerance for central differences of order 8, which lose some digits of 1e-12 to cancellation
_STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # steps and weights of that difference


class LawBroken(AssertionError):
    """A law does not hold.

    Attributes
    ----------
    law : str
        Its name.
    residual : float
        How far it is from holding.
    tolerance : float
        How far it may be.
    where : str
        On which space, group and eigenspace.

    Examples
    --------
    >>> raise LawBroken("orthonormality", 0.1, 1e-10, "Torus(2)")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    specavg.testing.LawBroken: ...
    """

    def __init__(self, law: str, residual: float, tolerance: float, where: str) -> None:
        super().__init__(
            f"law broken: {law}, on {where}. The residual is {residual:.3g}; the tolerance is {tolerance:.0e}."
        )
        self.law = law
        self.residual = residual
        self.tolerance = tolerance
        self.where = where


@dataclass(frozen=True)
class Checked:
    """One law that was checked, or left out.

    Attributes
    ----------
    law : str
        Its name.
    residual : float
        The largest found; NaN where the law was left out.
    tolerance : float
        What it was compared with.
    left_out : str
        Why the law was not checked; empty where it was.

    Examples
    --------
    >>> import specavg as sa
    >>> first = sa.testing.check_space(sa.Circle(), sa.groups.dihedral(3))[0]
    >>> first.residual <= first.tolerance
    True
    """

    law: str
    residual: float
    tolerance: float
    left_out: str = ""


def kept(law: str, residual: float, tolerance: float, where: str) -> float:
    """`residual` if it is within the tolerance; `LawBroken` otherwise, also for NaN."""
    if not residual <= tolerance:
        raise LawBroken(law, float(residual), tolerance, where)
    return float(residual)


def central_difference(function: Callable[[float], Array], step: float) -> Array:
    """The derivative of an array-valued function at 0, by differences of order 8."""
    terms = (weight * (function(j * step) - function(-j * step)) for j, weight in _STENCIL)
    return np.sum(list(terms), axis=0) / step


def largest(values: Array) -> float:
    """The largest absolute value; 0 of no values."""
    return float(np.abs(values).max(initial=0.0))


def scale(values: Array) -> float:
    """The scale that residuals are divided by: the largest absolute value, or 1 if that is larger."""
    return max(1.0, largest(values))


def place(space: Space, eigenspace: Eigenspace, *moved_by: Isometry | Field) -> str:
    """Where a law was checked, for messages."""
    maps = f" and {' and '.join(map(repr, moved_by))}" if moved_by else ""
    return f"{space!r}, λ = {eigenspace.eigenvalue:.6g} ({eigenspace.dim} functions){maps}"
