"""The coefficients of the kernel that the first waves of a lattice make, for the functions of a torus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._bessel_series import Series
from specavg.spaces._eigenspace import Eigenspace
from specavg.spaces._first_waves import FirstWaves, means_of_logarithms
from specavg.spaces._frequency_sets import types_below

if TYPE_CHECKING:
    from specavg.spaces._torus import Torus


def lattice_series(space: Torus, waves: FirstWaves, eigenspaces: Sequence[Eigenspace]) -> Series:
    """`Space.von_mises_series` of a torus whose coordinates are not alike.

    All functions of one type share a coefficient. Where types of an eigenvalue are not apart they have their mean.
    """

    @cache  # listed when a coefficient is first asked for: most bases need none, and it takes as long as the basis
    def frequencies() -> list[NDArray[np.int64]]:
        top = max((V.eigenvalue for V in eigenspaces), default=0.0)
        known = dict(zip(*map(list, types_below(space, 2 * top + space.first_bound)), strict=True))
        short = space.cell.short_frequencies
        return [known[V][None] if V in known else short(space.frequencies(V)) for V in eigenspaces]

    def logarithms(kappa: float) -> Array:
        K = frequencies()
        return means_of_logarithms(waves.log_coefficients(np.concatenate(K), kappa), [len(one) for one in K])

    return logarithms
