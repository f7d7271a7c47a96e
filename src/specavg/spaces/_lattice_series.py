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
from specavg.spaces._frequency_sets import TypeRange

if TYPE_CHECKING:
    from specavg.spaces._torus import Torus


def lattice_series(space: Torus, waves: FirstWaves, eigenspaces: Sequence[Eigenspace]) -> Series:
    """`Space.von_mises_series` of a torus whose coordinates are not alike.

    All functions of one type share a coefficient. Where types of an eigenvalue are not apart they have their mean.
    """

    @cache  # listed when a coefficient is first asked for: most bases need none, and it takes as long as the basis
    def frequencies() -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        K, counts = space.frequencies_together(eigenspaces)
        # One of each type; those of other sets may be of several types.
        sizes = np.where([isinstance(V.label, TypeRange) for V in eigenspaces], 1, counts)
        chosen = np.arange(len(K)) - np.repeat(np.cumsum(counts) - counts, counts) < np.repeat(sizes, counts)
        return space.cell.short_frequencies(K[chosen]), sizes

    def logarithms(kappa: float) -> Array:
        K, sizes = frequencies()
        return means_of_logarithms(waves.log_coefficients(K, kappa), sizes)

    return logarithms
