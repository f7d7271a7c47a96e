"""Rotations by angles that were hardly meant: rounded fractions of a turn, and degrees that were taken for radians."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from specavg._arrays import Array
from specavg.isometries._affine import nearly

_EXACT_TURN = 1e-11  # turns: matrices of ten digits and more are not questioned
_FINEST = 720  # largest denominator of fractions of a turn that are meant as they are: half degrees
_MOST_PAIRED = 10  # generators whose products are looked at: 45 products take 2 ms
_LARGEST_MATRIX = 64  # rows: the eigenvalues of such a matrix take 2 ms
# Degrees that are looked for among radians: halves, above a whole turn of 6.28 radians, which nobody gives.
_DEGREES = np.arange(13, 721) / 2


def questioned_turn(single: Sequence[Array], paired: Sequence[Array]) -> tuple[str, str] | None:
    """What turns by an angle that was hardly meant, and what to do; None where every angle may be meant.

    Looked at are the matrices `single`, and products of two of the matrices `paired`. All angles of a matrix must be
    near fractions of a turn, as near as shifts of a torus that are questioned: others are as general as they look, and
    so are small angles.
    """
    single = [R for R in single if len(R) <= _LARGEST_MATRIX]
    # Products of mirrors and of turns by fractions: other turns generate an infinite group already.
    exact = [R for R in paired[:_MOST_PAIRED] if len(R) <= _LARGEST_MATRIX and single and not _rounded_turns(R)]
    pairs = (("a product of two generators", A @ B) for A, B in itertools.combinations(exact, 2))
    for what, R in itertools.chain((("a generator", R) for R in single), pairs):
        turns = _rounded_turns(R)
        near = [(t, fraction) for t in turns if (fraction := nearly(t)) is not None]
        if turns and len(near) == len(turns):
            t, fraction = near[0]
            return what, (
                f"turns by {t:.10g} of a turn, which is {abs(t - fraction):.1g} from {fraction} and another angle: it "
                f"generates a far larger group, with fewer invariants. If {fraction} is meant, the matrices were "
                "rounded: make them of exact angles, as scipy's "
                f"Rotation.from_euler('z', {360 * fraction}, degrees=True) does, or take the group by its name, such "
                f"as groups.point_group('C{fraction.denominator}')."
            )
        degrees = [_degrees(t) for t in turns]
        if degrees and all(degrees):
            return what, (
                f"turns by {degrees[0]:g} radians, which is no fraction of a turn: it generates an infinite group. If "
                f"{degrees[0]:g} is meant in degrees, degrees=True is missing: "
                f"Rotation.from_euler('z', {degrees[0]:g}, degrees=True)."
            )
    return None


def _rounded_turns(R: Array) -> list[float]:
    """The turns of the planes of an orthogonal matrix that are no fractions."""
    turns = [float(t) for t in np.abs(np.angle(np.linalg.eigvals(R))) / (2 * np.pi)]
    return [t for t in turns if abs(t - Fraction(t).limit_denominator(_FINEST)) > _EXACT_TURN]


def _degrees(turn: float) -> float | None:
    """The number of whole or half degrees that gives this part of a turn where it is taken for radians."""
    turns = _DEGREES / (2 * np.pi)
    off = np.abs(np.abs(turns - np.rint(turns)) - turn)
    return float(_DEGREES[off.argmin()]) if off.min() < _EXACT_TURN else None
