"""Rows that are reduced once: decompositions of scaled features, wide and tall, whole and by squares."""

import pickle

import numpy as np
import pytest

from specavg.regression import _measured_limits as _limits
from specavg.regression import _tried_spectra
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._reduced_rows import LongVectors, ReducedRows
from specavg.regression._spectra import Spectrum, grids_of
from specavg.regression._spectrum_choice import ridge_fit, shortlist
from specavg.regression._tried_spectra import apart, screened


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


@pytest.mark.parametrize("whole", [True, False])
def test_long_vectors_are_found_in_parts(whole):
    rng = np.random.default_rng(2)
    F, scale = rng.normal(size=(17, 60)), np.geomspace(1.0, 0.01, 60)
    rows = ReducedRows(np.ones((17, 1)), F - F.mean(axis=0), rng.normal(size=(17, 1)))
    found = rows.decomposition(scale)
    long = LongVectors(rows.core, scale, found.U, found.s, found if whole else None)
    _, _, V = rows.decomposed(scale)
    weights, some = rng.normal(size=(16, 3)), np.array([0, 7, 59])
    assert np.abs(long.all() - V).max() < 1e-12
    assert np.abs(long.times(weights) - V @ weights).max() < 1e-12
    assert np.abs(long.reached(some) - V[some] * found.s).max() < 1e-12
    along, squares = long.along(5)
    assert np.abs(along - V[:, :5] * found.s[:5]).max() < 1e-12
    assert np.allclose(squares, np.sum((rows.core * scale) ** 2, axis=0), rtol=1e-13)


def test_functions_that_vanish_take_no_part_in_a_decomposition():
    rng = np.random.default_rng(4)
    F, scale = rng.normal(size=(17, 60)), np.geomspace(1.0, 1e-24, 60)  # 35 of them are above 1e-14
    rows = ReducedRows(np.ones((17, 1)), F - F.mean(axis=0), rng.normal(size=(17, 1)))
    found = rows.decomposition(scale)
    V = found.right_vectors()
    assert len(found.reflectors[0]) == 35
    assert not V[35:].any()
    assert np.abs(V.T @ V - np.eye(16)).max() < 1e-13
    assert np.abs((found.U * found.s) @ V.T - rows.core * scale).max() < 1e-13
    s = np.linalg.svd(rows.core * scale, compute_uv=False)
    assert np.abs(found.s - s).max() < 1e-14 * s[0]


@pytest.mark.parametrize("rough", [True, False])
def test_what_is_shown_of_a_function_is_bounded_from_below(rough):
    rng = np.random.default_rng(3)
    F, y, scale = rng.normal(size=(200, 500)), rng.normal(size=(200, 1)), np.geomspace(1.0, 1e-3, 500)
    problem = FeatureProblem(F, y, np.ones(200))
    path = problem.rough_path(scale) if rough else problem.path(scale)
    for alpha in (1e-6, 1e-2, 10.0):
        least, shown = path.least_shown(alpha), path.shown(alpha, np.arange(500))
        assert (least <= shown * (1 + 1e-9)).all()
        assert least.sum() > 0.2 * shown.sum()  # an eighth of the directions alone would show an eighth
        assert np.allclose(shown, path.right_vectors() ** 2 @ (path.s**2 / (path.s**2 + alpha)), rtol=1e-9)


def test_a_posterior_is_pickled_with_vectors_that_nobody_asked_for():
    rng = np.random.default_rng(4)
    problem = FeatureProblem(rng.normal(size=(30, 80)), rng.normal(size=(30, 1)), np.ones(30))
    posterior = problem.path(np.geomspace(1.0, 0.1, 80)).posterior(0.1).in_units(np.array([2.0]))
    again, Z = pickle.loads(pickle.dumps(posterior)), rng.normal(size=(5, 80))
    np.testing.assert_array_equal(again.deviation(Z), posterior.deviation(Z))


def test_neighbours_that_data_do_not_tell_apart_count_as_one():
    spectra = [Spectrum("matern", s, length) for s in (1.0, 2.0, 3.0) for length in (1.0, 2.0, 3.0)]
    near = _limits.UNDECIDED / 100 / 2
    scores = {spectra[4]: 0.0, spectra[5]: near, spectra[0]: near, spectra[8]: 5 * near}
    # The second and third are neighbours of the first; the last one too, but its score tells it apart.
    assert list(apart(scores, grids_of(spectra), 100)) == [spectra[4], spectra[8]]
    corners = {spectra[0]: 0.0, spectra[8]: near}  # no neighbours
    assert list(apart(corners, grids_of(spectra), 100)) == [spectra[0], spectra[8]]


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
    some = problem.some_rows(_limits.SCREEN_ROWS)
    assert some is not None
    first = screened(some, _Levels(), candidates, None)
    assert list(first.values()) == sorted(first.values())
    best = shortlist(problem, _Levels(), candidates, None, 1)[0]
    assert best == shortlist(problem, _Levels(), candidates, None, 1, list(first)[:2])[0]
    assert FeatureProblem(F[:150], y[:150, None], np.ones(150)).some_rows(_limits.SCREEN_ROWS) is None


@pytest.mark.parametrize("decay", [3.0, 6.0])
@pytest.mark.parametrize("relative", [1e-12, 1e-18])
def test_one_penalty_is_scored_without_singular_values_as_with_them(decay, relative):
    rng = np.random.default_rng(7)
    F, w = rng.normal(size=(80, 200)), rng.uniform(0.5, 2.0, 80)
    y = F @ (np.arange(1.0, 201.0) ** -4 * rng.normal(size=200))
    problem, scale = FeatureProblem(F, y[:, None], w), np.arange(1.0, 201.0) ** -decay
    alone = problem.scored_alone(scale, relative)
    assert alone is not None
    scored, alphas = alone
    exact = problem.scored(scale)
    assert alphas == pytest.approx([relative * exact.top], rel=1e-3)
    np.testing.assert_allclose(scored.scores(alphas).joint, exact.scores(alphas).joint, rtol=0, atol=1e-6)
    tall = FeatureProblem(F[:, :20], y[:, None], w)
    assert tall.scored_alone(scale[:20], relative) is None  # singular values take no longer there


def test_functions_that_vanish_change_no_score():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 200)), rng.normal(size=(40, 1))
    scale = np.exp(-np.arange(200.0))  # 33 of them are above 1e-14
    problem = FeatureProblem(X, y, np.ones(40))
    assert problem.scored(scale).left.shape == (40, 33)
    alphas = 10.0 ** np.arange(-16.0, 2.0)
    few, all_of_them = problem.scored(scale).scores(alphas), problem.path(scale).scores(alphas)
    for name in ("error", "density", "evidence"):
        np.testing.assert_allclose(getattr(few, name), getattr(all_of_them, name), rtol=1e-7)


def test_half_of_the_digits_are_enough_for_all_penalties_where_no_eigenvalue_is_small():
    rng = np.random.default_rng(5)
    F = rng.normal(size=(60, 150))
    y = np.sin(F[:, :3].sum(axis=1))[:, None]
    problem, scale = FeatureProblem(F, y, np.ones(60)), np.geomspace(1.0, 1e-2, 150)
    rough, exact = problem.roughly_scored(scale), problem.scored(scale)
    assert rough is not None
    assert rough.bottom == pytest.approx(np.linalg.svd((F - F.mean(axis=0)) * scale)[1][58] ** 2, rel=1e-9)
    alphas = rough.top * np.geomspace(1e-18, 1.0, 19)
    np.testing.assert_allclose(rough.scores(alphas).joint, exact.scores(alphas).joint, rtol=0, atol=1e-9)
    few = FeatureProblem(F[:, :20], y, np.ones(60))
    assert few.scored(scale[:20]).bottom == 0.0  # fewer functions than rows


def test_once_a_spectrum_predicts_to_rounding_no_other_is_decomposed_with_all_digits(monkeypatch):
    x = np.random.default_rng(6).uniform(0, 2 * np.pi, 50)  # fewer rows than functions
    F = np.sqrt(2) * np.cos(np.outer(x, np.arange(1, 61)))
    candidates = [Spectrum("heat", length_scale=length) for length in np.geomspace(0.5, 1.0, 6)]
    asked = []
    plain = FeatureProblem.scored
    monkeypatch.setattr(FeatureProblem, "scored", lambda self, scale: asked.append(1) or plain(self, scale))

    def least_error():
        asked.clear()
        problem = FeatureProblem(F, (np.cos(2 * x) + np.cos(3 * x))[:, None], np.ones(50))
        return min(trial.error for trial in ridge_fit(problem, _Levels(), candidates, None).trials)

    assert least_error() < 1e-13
    assert len(asked) == 1
    monkeypatch.setattr(_tried_spectra, "_TO_ROUNDING", 0.0)
    assert least_error() < 1e-13
    assert len(asked) > 1
