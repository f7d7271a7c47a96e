"""Points in small sets of near ones, each in a ball: what lies out of reach of all of them is told at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree  # pyright: ignore[reportAttributeAccessIssue]

from specavg._arrays import Array

Places = NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class Leaves:
    """Points of a Euclidean space in small sets of near ones, with a ball around each set.

    Attributes
    ----------
    order : ndarray of shape (N,)
        The points, leaf after leaf.
    starts, counts : ndarray of shape (L,)
        Where each leaf begins in `order`, and how many points it has.
    centres : ndarray of shape (L, m)
    radii : ndarray of shape (L,)
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    counts: NDArray[np.intp]
    centres: Array
    radii: Array

    @classmethod
    def of(cls, points: Array, size: int) -> Leaves:
        """Leaves of at most `size` points."""  # (N, m)
        tree: Any = cKDTree(points, leafsize=size)
        order = np.asarray(tree.indices, dtype=np.intp)
        found: list[tuple[int, int]] = []
        waiting: list[Any] = [tree.tree]
        while waiting:
            node = waiting.pop()
            if node.split_dim == -1:
                starts = range(node.start_idx, node.end_idx, size)  # several where points are equal
                found += [(start, min(start + size, node.end_idx)) for start in starts]
            else:
                waiting += [node.lesser, node.greater]
        starts, ends = np.array(sorted(found), dtype=np.intp).T
        counts = ends - starts
        sorted_points = points[order]
        centres = np.add.reduceat(sorted_points, starts) / counts[:, None]
        squares = np.sum((sorted_points - np.repeat(centres, counts, axis=0)) ** 2, axis=1)
        return cls(order, starts, counts, centres, np.sqrt(np.maximum.reduceat(squares, starts)))

    def places(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where the points of some leaves stand in `order`."""
        counts = self.counts[chosen]
        before = np.cumsum(counts) - counts
        return np.repeat(self.starts[chosen] - before, counts) + np.arange(int(counts.sum()))
