"""Leaves of near points."""

import numpy as np

from specavg.estimators._leaves_of_points import Leaves


def test_leaves_hold_every_point_once_and_are_small_where_points_are_equal():
    rng = np.random.default_rng(0)
    points = rng.permutation(np.concatenate([rng.normal(size=(200, 3)), np.ones((300, 3))]))
    leaves = Leaves.of(points, 16)
    assert leaves.counts.max() <= 16
    assert sorted(leaves.places(np.arange(len(leaves.counts)))) == list(range(500))
    for start, count, centre, radius in zip(leaves.starts, leaves.counts, leaves.centres, leaves.radii, strict=True):
        inside = points[leaves.order[start : start + count]]
        assert np.linalg.norm(inside - centre, axis=1).max() <= radius + 1e-12
