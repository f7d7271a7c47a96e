"""The data of a search, and the functions they can bear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg.discovery._information import Information
from specavg.spaces import Eigenspace, Space

__all__ = ["Samples"]

Array = NDArray[np.float64]
_PER_FUNCTION = 4  # samples for each function that is compared
_MOST_FUNCTIONS = 300  # their Gram matrix is projected for every candidate


@final
@dataclass(frozen=True, eq=False)
class Samples:
    """Checked points of a space, and one target for each."""

    space: Space
    points: Array
    targets: Array

    @classmethod
    def of(cls, X: ArrayLike, y: ArrayLike, space: Space) -> Samples:
        """Checked, or an error."""
        points, targets = space.check_points(X), np.asarray(y, dtype=np.float64)
        if targets.ndim != 1:
            raise ValueError(f"y must have one dimension; got shape {targets.shape}. Search one output at a time")
        if len(points) != len(targets):
            raise ValueError(f"X has {len(points)} rows but y has {len(targets)}")
        if not np.isfinite(targets).all():
            raise ValueError(f"y has NaN or infinity in {int((~np.isfinite(targets)).sum())} of {len(targets)} rows")
        return cls(space, points, targets)

    @property
    def count(self) -> int:
        """How many samples there are."""
        return len(self.targets)

    def band(self) -> tuple[Eigenspace, ...]:
        """The first eigenspaces after the constant, as many as the samples can bear."""
        n = len(self.targets)
        bound = min(_MOST_FUNCTIONS, n / _PER_FUNCTION)
        band: list[Eigenspace] = []
        total = 0
        for V in islice(self.space.eigenspaces(), 1, None):
            total += V.dim
            if total > bound:
                break
            band.append(V)
        if not band:
            raise ValueError(
                f"{n} samples are too few to tell anything on {self.space!r}: there are {total} functions in the first "
                f"eigenspace after the constant, and each needs {_PER_FUNCTION} samples. "
                f"Give at least {_PER_FUNCTION * total}"
            )
        return tuple(band)

    def chunks(self) -> list[tuple[Array, Array]]:
        """Points and targets, a piece at a time."""
        return [(self.points, self.targets)]

    def information(self, columns: Callable[[Array], Array]) -> Information:
        """What the samples say about some functions of the points."""
        return Information.of(columns, self.chunks(), self.chunks())
