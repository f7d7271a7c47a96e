"""Rows that are reduced once: decompositions of scaled features, wide and tall, whole and by squares."""

import numpy as np
import pytest

from specavg.regression._feature_path import FeatureProblem
from specavg.regression._reduced_rows import ReducedRows
from specavg.regression._spectra import Spectrum
from specavg.regression._spectrum_choice import screened, shortlist


@pytest.mark.parametrize("n, D", [(12, 40), (40, 12), (13, 12)])
def test_a_decomposition_gives_back_the_scaled_features(n, D):
    rng = np.random.default_rng(0)
    F, scale = rng.normal(size=(n, D)), np.geomspace(1.0, 1e-9, D)
    rows = ReducedRows(np.ones((n, 1)), F - F.mean(axis=0), rng.normal(size=(n, 1)))
    U, s, V = rows.decomposed(scale)
    assert np.abs(U * s @ V.T - rows.core * scale).max() < 1e-14 * n
    for Q in (U, V):
        assert np.abs(Q.T @ Q - np.eye(Q.shape[1])).max() < 1e-13
    assert np.allclose(rows.left_vectors_by_squares(scale)[1][:4], s[:4], rtol=1e-10)


def test_more_rows_than_functions_have_a_rough_path_too():
    # The part of the targets that no function reaches belongs to what is left.
    rng = np.random.default_rng(1)
    F, y = rng.normal(size=(300, 30)), rng.normal(size=(300, 1))
    problem, scale = FeatureProblem(F, y, np.ones(300)), np.geomspace(1.0, 0.1, 30)
    rough, exact = problem.rough_path(scale), problem.path(scale)
    assert rough is not None
    alphas = np.array([1e-4, 1.0, 100.0])
    assert np.allclose(rough.scores(alphas).error, exact.scores(alphas).error, rtol=1e-9)
    assert np.allclose(rough.scores(alphas).density, exact.scores(alphas).density, rtol=1e-9)
    assert np.allclose(rough.coefficients(1.0), exact.coefficients(1.0), atol=1e-10)
    assert rough.noise_variance(1.0) == pytest.approx(exact.noise_variance(1.0))


class _Levels:
    eigenvalues = np.arange(61.0) ** 2
    counts = np.arange(1.0, 62.0)
    dimension = 1
    types = None


def test_screening_finds_the_spectrum_that_all_rows_choose():
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 2 * np.pi, 400)
    F = np.sqrt(2) * np.cos(np.outer(x, np.arange(1, 61)))
    y = np.exp(np.cos(x)) + 0.1 * rng.normal(size=400)
    problem = FeatureProblem(F, y[:, None], np.ones(400))
    candidates = [Spectrum("heat", length_scale=length) for length in np.geomspace(0.01, 3.0, 11)]
    first = screened(problem, _Levels(), candidates, None)
    assert first is not None
    assert list(first.values()) == sorted(first.values())
    best = shortlist(problem, _Levels(), candidates, None, 1)[0]
    assert best == shortlist(problem, _Levels(), candidates, None, 1, list(first)[:2])[0]
    assert screened(FeatureProblem(F[:150], y[:150, None], np.ones(150)), _Levels(), candidates, None) is None
