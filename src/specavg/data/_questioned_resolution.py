"""Columns of unlike lengths, questioned: the order of eigenvalues resolves the long ones, and hardly the short ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import takewhile

import numpy as np

from specavg.data._questioned_columns import users_line
from specavg.invariants._basis_table import BasisTable
from specavg.spaces import Power, Product, Space, Torus
from specavg.spaces._order_of_functions import BY_EIGENVALUE, ByType, first_eigenvalue

# Ratio of the lengths of two columns from which the order of eigenvalues is questioned. Cells of crystals have up to 5,
# Interval beside period=1 has 2π. Of exp(3 cos) of the shorter of two columns, 100 functions left 5 % of the variance
# at 5, 27 % at 10 and at 15 (hours beside days of the year), and 0.002 % at 1.
_UNLIKE_LENGTHS = 6.0
# The frequency from which on nobody is asked, unless another column has far higher ones: the same target has 99.5 % of
# its variance below it. Degrees beside an interval have 60 times its degree: a density of a twelfth of the interval
# had 1.15 times its width with 192 functions, of degree 3 and frequency 183.
_RESOLVED, _FAR_HIGHER = 3, 30


def question_resolution(basis: BasisTable) -> None:
    """Warn where the order of eigenvalues gives some columns high frequencies and others hardly any.

    It is the Laplacian's own order: a column in hours beside one in days of the year is taken to be as smooth in a step
    of one hour as the other in a step of one day.
    """
    order, space = basis.order, basis.space
    if order not in (BY_EIGENVALUE, ByType()):
        return
    parts = _parts_with_lengths(space)
    lengths = np.array([length for _, length, _ in parts])
    if basis.dim <= basis.n_constants or lengths.max() < _UNLIKE_LENGTHS * lengths.min():
        return
    top = float(basis.eigenvalues[-1])
    (short, _, least), (long, _, most) = parts[int(lengths.argmin())], parts[int(lengths.argmax())]
    if least(top) >= _RESOLVED and most(top) < _FAR_HIGHER * least(top):
        return
    rescale = "divide each column by its period and give period=1"
    if isinstance(space, Product):
        rescale = (
            "give columns of tori in radians, with period=2π, which is a length like those of spheres and intervals"
        )
    others = [_parts_with_lengths(factor) for factor in space.factors] if isinstance(space, Product) else []
    if space.unlike_parts > 1 and all(len(inner) == 1 for inner in others):
        rescale += ", or give order=sa.invariants.ByType(balanced=True)"
    elif isinstance(space, Torus):
        rescale += ', or give order="few coordinates"'
    warnings.warn(
        f"{basis.dim} functions in the order of eigenvalues resolve {short} of X up to frequency {least(top)} and "
        f"{long} up to frequency {most(top)}, since lengths of {space!r} differ by a factor of "
        f"{lengths.max() / lengths.min():.3g}. If the target varies alike in both, {rescale}.",
        stacklevel=users_line(),
    )


def _parts_with_lengths(space: Space, start: int = 0) -> list[tuple[str, float, Callable[[float], int]]]:
    """The columns of a box, or of each factor: their name, their length, and the frequency reached at an eigenvalue.

    The length is that of a wave of the first eigenvalue. Copies are alike, and the first stands for all.
    """
    if isinstance(space, Power):
        return _parts_with_lengths(space.base, start)
    if isinstance(space, Product):
        starts = np.cumsum([start, *(factor.n_features for factor in space.factors)]).tolist()
        pairs = zip(space.factors, starts, strict=False)
        return [part for factor, first in pairs for part in _parts_with_lengths(factor, first)]
    if isinstance(space, Torus) and space.lattice is None:
        return [
            (f"column {start + i}", side, lambda top, side=side: int(side * np.sqrt(top) / (2 * np.pi) * (1 + 1e-9)))
            for i, side in enumerate(space.period.tolist())
        ]
    end = start + space.n_features
    name = f"column {start}" if end == start + 1 else f"columns {start} to {end - 1}"
    length = float(2 * np.pi / np.sqrt(first_eigenvalue(space)))
    return [(name, length, lambda top: _frequency_reached(space, top))]


def _frequency_reached(space: Space, top: float) -> int:
    """The highest degree up to an eigenvalue; in multiples of the first frequency where functions have no degree."""
    try:
        return max(space.degree(V) for V in takewhile(lambda V: V.eigenvalue <= top * (1 + 1e-9), space.eigenspaces()))
    except ValueError:
        return int(np.sqrt(top / first_eigenvalue(space)) * (1 + 1e-9))
