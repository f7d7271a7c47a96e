"""Which rows are one observation of a density, and which points are atoms."""

import warnings

import numpy as np
import pytest

from specavg.estimators._repeated_points import observations


def repeated(*counts):
    """Features of points that hold so many rows each, in random order."""
    rng = np.random.default_rng(0)
    return rng.permutation(np.repeat(rng.normal(size=(len(counts), 3)), counts, axis=0))


@pytest.mark.parametrize(
    "atoms, others, found",
    [((600,), 400 * (1,), 600 + 400), ((300, 40), 100 * (1, 3), 340 + 200), ((5_300,), 90 * (1,), 1_000 + 90)],
)
def test_rows_of_atoms_are_up_to_a_thousand_observations_and_other_orbits_one(atoms, others, found):
    features = repeated(*atoms, *others)
    with pytest.warns(UserWarning, match=rf"^{sum(atoms):,} of {len(features):,} rows lie on .*atom"):
        first, label = observations(features, widths=True)
    assert len(first) == found
    assert (features[first][label] == features).all()


@pytest.mark.parametrize("counts", [200 * (1,), 200 * (1, 3, 8), (90, 50, 20, 10, *30 * (2,), *60 * (1,)), 40 * (30,)])
def test_repeated_rows_without_a_gap_are_no_atoms(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(observations(repeated(*counts), widths=True)[0]) == len(counts)
