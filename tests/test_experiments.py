"""The experiments: what they measure is what they say, and verdicts follow the numbers."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import specavg as sa
from specavg import baselines, groups, theory

pytest.importorskip("matplotlib")

from specavg.experiments import (
    EXPERIMENTS,
    Changes,
    Claim,
    Experiment,
    Figure,
    Record,
    Result,
    Table,
    reproduce,
)
from specavg.experiments import _alternatives as alternatives
from specavg.experiments import _examples as examples
from specavg.experiments import _figure_2 as error
from specavg.experiments import _group_size as group_size
from specavg.experiments import _paper_task as task
from specavg.experiments import _rate as rate
from specavg.experiments import _sample_savings as samples_saved
from specavg.experiments._figure_style import new_figure, own_settings, save
from specavg.experiments._progress import progress
from specavg.experiments._report import Section, _text, write_report


def silent(items, description, total=None):
    return items


def test_target_is_the_paper_s():
    x = np.linspace(-1, 1, 10)
    assert task.target(x[None])[0] == pytest.approx(sum((i + 1) * x[i] ** 2 for i in range(10)) / 10)


def test_discrepancy_of_kernel_machines_equals_the_one_over_the_listed_group():
    space, G = sa.Torus(5), groups.sign_flips(5)
    X, tests = space.sample(40, 0), space.sample(7, 1)
    models = [baselines.KernelRidge(baselines.VonMisesKernel(0.7), a).fit(X, task.target(X)) for a in (0.1, 10.0)]
    listed = [sa.invariance_discrepancy(model, space, G, tests) for model in models]
    assert all(found.exhaustive for found in listed)
    duals = np.stack([model.dual_coef_ for model in models], axis=1)
    assert task.kernel_discrepancy(X, duals, 0.7, tests) == pytest.approx([float(found) for found in listed], rel=1e-10)


def test_spec_avg_is_evaluated_at_every_image():
    X, seen = task.SPACE.sample(3, 0), set()

    def first_coordinate(Z):
        seen.update(map(tuple, Z.tolist()))
        return Z[:, 0]

    assert task.discrepancy(first_coordinate, task.Changes(), X) == pytest.approx(2 * abs(X[:, 0]).max())
    assert len(seen) == 3 * 1024


def fabricated(spec_error, krr_error, seeds=(1, 2), sizes=(100, 1000)):
    fits = []
    for seed in seeds:
        for n in sizes:
            for sigma in task.SIGMAS:
                fits.append(task.Fit("Spec-Avg", n, seed, spec_error, None, {"D": 176, "sigma": sigma}))
            fits.append(task.Fit("mean of y", n, seed, 0.3, None, {"sigma": 0.0}))
            for eta in task.ETAS:
                settings = {"eta": eta, "alpha": 50.0, "penalty": "sum", "sigma": 0.0}
                fits.append(task.Fit("KRR", n, seed, krr_error, None, settings))
    return task.Sweep(tuple(fits), sizes, seeds)


@pytest.mark.slow
def test_sizes_seeds_and_the_penalty_of_the_figures_can_be_changed(tmp_path):
    changes = Changes(sizes=(20, 40), seed=7, penalty=3.0)
    page = reproduce(tmp_path, quick=True, only=["figure-2"], stream=io.StringIO(), changes=changes)
    text = page.read_text(encoding="utf-8")
    assert "KRR with λ = 3." in text
    assert "(quick run, changed)" in text
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(row["n"], row["seed"]) for row in rows} == {("20", "7"), ("20", "8"), ("40", "7"), ("40", "8")}
    assert any(json.loads(row["settings"]).get("alpha") == 3.0 for row in rows)


@pytest.mark.parametrize(
    "given, complaint",
    [
        ({"penalty": 0.0}, "λ must be positive"),
        ({"penalty": float("nan")}, "λ must be positive"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"sizes": ()}, "must increase and be at least 2"),
        ({"sizes": (100, 50)}, "must increase and be at least 2"),
        ({"group": groups.sign_flips(9)}, "has 10 coordinates"),
        ({"group": groups.orthogonal(10)}, "permutes them and changes their signs"),
        ({"group": groups.cyclic(10)}, "has 10 coordinates"),
        ({"group": groups.wreath(groups.sign_flips(5), 2)}, r"move copies of a space.*signed_permutation"),
        ({"group": groups.diagonal(groups.symmetric(5), 2)}, r"move copies of a space.*signed_permutation"),
    ],
)
def test_impossible_changes_are_refused(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        Changes(**given)


def test_weights_of_the_target_are_means_over_orbits_of_coordinates():
    assert np.array_equal(Changes().weights, np.arange(1.0, 11))
    assert np.array_equal(Changes(group=groups.hyperoctahedral(10)).weights, np.full(10, 5.5))
    swap = groups.Group([sa.isometries.permutation([3, 1, 2, 0, *range(4, 10)])])
    assert np.array_equal(Changes(group=swap).weights, [2.5, 2, 3, 2.5, *range(5, 11)])


@pytest.mark.slow
def test_what_is_said_of_figure_1_follows_its_numbers(tmp_path):
    """Under the trivial group every function is invariant, and the first eigenspaces have 21 functions."""
    changes = Changes(sizes=(20,), group=groups.trivial(10))
    text = reproduce(tmp_path, quick=True, only=["figure-1"], stream=io.StringIO(), changes=changes).read_text()
    assert "is no more than rounding in 10 of 10 fits, and 0 at most: under this group KRR is invariant too" in text
    assert "not invariant" not in text
    assert "do not make KRR invariant" not in text
    assert "Spec-Avg with D = 176 (21 functions)" in text
    assert "Spec-Avg, D = 176 (21 functions)" in text


def test_the_group_of_the_figures_can_be_changed(tmp_path):
    changes = Changes(sizes=(20, 40), group=groups.cyclic_shifts(10))
    page = reproduce(tmp_path, quick=True, only=["figure-1"], stream=io.StringIO(), changes=changes)
    assert "100 random elements of cyclic_shifts" in re.sub(r"<[^>]*>", "_", page.read_text(encoding="utf-8"))
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        found = [(row["series"], float(row["value"])) for row in csv.DictReader(file)]
    assert max(value for series, value in found if series == "Spec-Avg") <= 1e-12
    assert min(value for series, value in found if series == "KRR") > 0.01


def test_the_expected_risk_is_the_mean_over_samples():
    """With 60 samples of n = 100 and n = 316, under rotations about an axis and without symmetry."""
    sizes = np.array([100, 316])
    for way in (samples_saved.WAYS[0], samples_saved.WAYS[3]):
        risks = []
        for seed in range(60):
            rng = np.random.default_rng(1000 + seed)
            X = sa.Sphere(3).sample(316, rng)
            y = samples_saved._target(X) + samples_saved.NOISE * rng.standard_normal(316)
            risks.append([samples_saved._risk(way, X[:n], y[:n]) for n in sizes])
        error = np.std(risks, axis=0, ddof=1) / np.sqrt(60)
        expected = samples_saved._expected_risks(way.group, sizes)
        assert np.all(np.abs(np.mean(risks, axis=0) - expected) < 4 * error)


@pytest.mark.parametrize("spec, krr, holds", [(1.0, 2.0, True), (1.0, 100.0, False), (5.0, 1.0, False)])
def test_the_verdict_on_the_same_order_follows_the_numbers(spec, krr, holds):
    sweep = fabricated(spec, krr)
    assert error._claim_same_order(sweep).holds is holds
    assert error._claim_any_eta(sweep).holds is (True if holds else None)
    one = error._claim_same_order(fabricated(spec, krr, sizes=(100,))).verdict
    assert f"is {spec / krr:.3g} for n = 100: " in one
    assert error._claim_same_order(sweep).verdict.endswith("at every n tried." if holds else "at no n tried.")


@pytest.mark.parametrize("case", rate.CASES, ids=lambda case: case.title)
def test_sizes_of_the_rate_make_D_a_whole_number_of_eigenspaces(case):
    _, counts = theory.counting_function(case.space, 1e4)
    for n in rate.exact_sizes(case, 13, 100, 6):
        D = theory.cutoff_dimension(n, case.space.dim, case.s)
        below = counts[counts <= D].max()
        assert D - below < 0.05 * D
        assert below <= D


@pytest.mark.parametrize("case", rate.CASES, ids=lambda case: case.title)
def test_a_small_basis_is_the_beginning_of_a_large_one(case):
    # The risk is computed from coefficients, which rests on this.
    small = sa.invariant_basis(case.space, case.group, max_dim=30)
    large = sa.invariant_basis(case.space, case.group, max_dim=200)
    X = case.space.sample(20, 0)
    np.testing.assert_allclose(large.evaluate(X)[:, : small.dim], small.evaluate(X), atol=1e-12)


def test_edge_targets_lie_on_the_edge_of_the_sobolev_space():
    space, s = sa.Torus(2), 1.2
    basis = sa.invariant_basis(space, groups.trivial(2), max_dim=5000)
    coefficients = rate.edge_target(basis, s)
    counts = np.repeat(np.cumsum([r.dim for r in basis.table]), [r.invariant_dim for r in basis.table])
    terms = coefficients**2 * counts**1.2  # α = 2s/d; the squared norm of H^s grows like log D
    assert terms[counts > 2500].sum() == pytest.approx(np.log(2), rel=0.1)


def test_slope_is_recovered_with_an_interval_around_it():
    rng = np.random.default_rng(0)
    n = np.geomspace(100, 10_000, 8)
    risks = n**-0.6 * rng.uniform(0.8, 1.2, size=(20, 8))
    slope, low, high = rate.slope_interval(np.log(n), risks)
    assert low < slope < high
    assert low < -0.6 < high
    assert high - low < 0.1


def test_largest_jump_finds_jumps_and_nothing_else():
    def path(t):
        return t[:, None]

    assert alternatives.largest_jump(lambda X: np.sin(9 * X[:, 0]), path) < 1e-10
    stairs = alternatives.largest_jump(lambda X: np.sin(9 * X[:, 0]) + 0.25 * (X[:, 0] > 0.37), path)
    assert stairs == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize("case", [*alternatives.TASKS, alternatives.LARGE], ids=lambda case: case.title)
def test_targets_are_invariant_and_paths_stay_on_the_space(case):
    found = sa.invariance_discrepancy(case.target, case.space, case.group, case.space.sample(5, 0), n_elements=20)
    assert found < 1e-12 * 100
    case.space.check_points(case.path(np.linspace(0, 1, 11)))


def test_every_group_of_the_catalogue_has_few_generators():
    for _, G in examples.catalogue():
        assert len(G.generators) <= np.log2(float(G.order)) if G.order < 10**300 else True


def test_the_largest_group_has_over_ten_to_the_two_thousand_elements():
    assert max(G.order for _, _, G, _ in group_size._cases(quick=True)) > 10**2000


def test_growth_with_the_group_is_an_exponent_of_the_times():
    exponent, text = group_size._growth("some method", [(6, 9.0), (24, 0.5), (120, 12.5)])
    assert exponent == pytest.approx(2.0)  # 25 times as long with 5 times as many
    assert "0.5 s with 24 elements and 12 s with 120" in text


def test_a_run_writes_figures_numbers_and_a_page(tmp_path):
    log = io.StringIO()
    page = reproduce(tmp_path / "new" / "results", quick=True, only=["weyl"], stream=log)
    folder = page.parent
    assert {p.name for p in folder.iterdir()} == {"report.html", "results.csv", "figures"}
    names = {p.name for p in (folder / "figures").iterdir()}
    assert names == {"weyl.png", "weyl.svg"}
    assert "Weyl's law" in log.getvalue()
    with (folder / "results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["experiment"] for row in rows} == {"weyl"}
    torus = [r for r in rows if json.loads(r["settings"]).get("space") == "Torus(2)" and r["quantity"] == "D_lambda"]
    np.testing.assert_array_equal([float(r["value"]) for r in torus[:4]], [5, 9, 13, 21])


def test_a_changed_task_is_marked_and_described_as_it_was_run(tmp_path):
    changes = Changes(sizes=(100,), penalty=10.0, seed=7, group=sa.groups.cyclic_shifts(10))
    page = reproduce(tmp_path, quick=True, only=["figure-2"], stream=io.StringIO(), changes=changes)
    text = page.read_text(encoding="utf-8")
    assert (
        "Changed for this run:</b> λ = 10 in place of 50; n = 100; seeds from 7 on; the group cyclic_shifts(10)" in text
    )
    assert text.count("(quick run, changed)") == 2 * 4  # at a glance, and in its part
    assert " nan" not in text
    assert "No n of this run determines 118 functions by least squares" in text
    assert "sign-invariant" not in text
    assert "for n = 100: the same order" in text


def test_least_squares_needs_samples_for_the_functions_that_there_are():
    """118 of at most 176 under cyclic shifts: 200 samples are enough for them, and not for 176."""
    changes = Changes(sizes=(200,), group=groups.cyclic_shifts(10))
    fits = task._fits(200, 1, task.Sweep((), (200,), (1,), changes))
    used = {D: sa.invariant_basis(task.SPACE, changes.group, max_invariant_dim=D).dim for D in task.DIMENSIONS}
    assert used[176] == 118
    found = {fit.settings["D"]: fit for fit in fits if fit.method == "least squares" and fit.settings["sigma"] == 0}
    assert {D: fit.settings["functions"] for D, fit in found.items()} == used
    assert {D for D, fit in found.items() if np.isfinite(fit.error)} == {D for D, count in used.items() if count < 160}
    X, _, tests = task.data(200, 1)
    basis = sa.invariant_basis(task.SPACE, changes.group, max_invariant_dim=176)
    coefficients = np.linalg.solve((Z := basis.evaluate(X)).T @ Z, Z.T @ task.target(X, changes.weights))
    error = np.mean((basis.evaluate(tests) @ coefficients - task.target(tests, changes.weights)) ** 2)
    assert found[176].error == pytest.approx(error, rel=1e-8)


def test_a_prediction_is_timed_after_as_many_rows_were_predicted(monkeypatch):
    """Few rows take no compiled loop: a first prediction of many may compile, and must not be timed."""
    from specavg.experiments import _oracles as oracles

    predicted, timed = [], []
    monkeypatch.setattr(
        oracles.SpecAvgRegressor, "predict", lambda self, X: predicted.append(len(X)) or np.zeros(len(X))
    )
    monkeypatch.setattr(oracles, "seconds", lambda call, repeat=3: timed.append(list(predicted)) or call() is None or 1)
    oracles._row(2000)
    assert timed[-1] == predicted[:1] == [20_000]


def test_unknown_experiments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="unknown experiments: other; there are figure-1, figure-2"):
        reproduce(tmp_path, only=["other"])


def test_the_page_is_self_contained_and_says_what_does_not_hold(tmp_path):
    with own_settings():
        figure, axes = new_figure()
        axes.plot([1, 2], [1, 2], label="a")
        axes.legend()
        (tmp_path / "figures").mkdir()
        for name in ("one", "two"):
            figure.savefig(tmp_path / "figures" / f"{name}.svg")
    result = Result(
        "summary with x^2 < 3",
        [Claim("It is so.", "No.", False), Claim("It is.", "Yes.", True), Claim("Is it?", "No.", False)],
        [Figure("one", figure, "caption"), Figure("two", figure, "caption")],
        [Table("t", ["a"], [["1"]])],
        [Record("e", "s", "q", 1.0)],
    )
    section = Section(Experiment("e", "Title", lambda quick, track: result), result, 1.0)
    text = write_report(tmp_path, [section], False, 1.0, {"a": "1"}).read_text(encoding="utf-8")
    assert "does not hold" in text
    assert "Claims and questions: 3. Yes: <b class=yes>1</b>. No: <b class=no>2</b>. It depends" in text
    assert "x<sup>2</sup> &lt; 3" in text
    assert not re.search(r"<(img|script|link)\b", text)
    assert not re.search(r"(src|href)=[\"']?(https?:|//|file:)", text)
    ids = re.findall(r"\bid=[\"']([^\"']+)", text)
    assert len(ids) == len(set(ids))
    references = set(re.findall(r"(?:href=\"#|url\(#)([^\")]+)", text))
    assert references <= set(ids)


@pytest.mark.parametrize(
    "plain, marked",
    [
        ("n^0.45.", "n<sup>0.45</sup>."),
        ("n^(−s/(s+d/2))", "n<sup>−s/(s+d/2)</sup>"),
        ("D_λ", "D<sub>λ</sub>"),
        ("D_(λ,G)", "D<sub>λ,G</sub>"),
        ("slope -0.5, 4e-15", "slope −0.5, 4\u00a0×\u00a010<sup>−15</sup>"),
        ("above 5e+06 values", "above 5\u00a0×\u00a010<sup>6</sup> values"),
        ("S^{d−1}", "S<sup>d−1</sup>"),
    ],
)
def test_mathematics_in_text(plain, marked):
    assert _text(plain) == marked


def test_plain_progress_is_one_line_a_loop():
    out = io.StringIO()
    with progress(out) as track:
        assert list(track(range(3), "counting")) == [0, 1, 2]
    assert re.fullmatch(r"counting +3 steps +[0-9.]+ s\n", out.getvalue())


def test_settings_of_matplotlib_are_left_alone():
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    with own_settings():
        new_figure()
    assert mpl.rcParams["font.size"] == before


def test_experiments_have_distinct_names():
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names) == 11


# --- figures and kernels ----------------------------------------------------------------------------------------------


def test_log_axes_have_plain_text_and_hand_made_ticks_stay(tmp_path):
    with own_settings():
        figure, (wide, narrow) = new_figure(2)
        wide.loglog([1, 1e5], [1e-9, 1])
        narrow.loglog([100, 1000], [0.02, 0.3])
        narrow.set_xticks([100, 300], ["100", "300"])
        save(figure, tmp_path / "drawn")
        plain, alone = new_figure()
        alone.loglog([100, 1000], [0.02, 0.3])
        save(plain, tmp_path / "plain")
    texts = lambda axis: {label.get_text() for label in axis.get_ticklabels()}  # noqa: E731
    assert "10³" in texts(wide.xaxis)
    assert "10⁻⁶" in texts(wide.yaxis)
    assert texts(narrow.xaxis) == {"100", "300"}
    assert {"2·10⁻²", "5·10⁻²", "10⁻¹", "2·10⁻¹"} <= texts(narrow.yaxis)  # one notation in a figure
    assert {"0.02", "0.05", "0.1", "0.2"} <= texts(alone.yaxis)
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "drawn.svg").read_text(encoding="utf-8")


def test_experiments_that_measure_time_come_last_and_are_reported_in_their_place(tmp_path, monkeypatch):
    ran = []

    def experiment(name, timed):
        def run(quick, track):
            ran.append(name)
            return Result("Nothing.", records=[Record(name, "none", "none", 0.0)])

        return Experiment(name, name.title(), run, timed)

    monkeypatch.setattr("specavg.experiments._run.EXPERIMENTS", (experiment("slow", True), experiment("first", False)))
    page = reproduce(tmp_path, stream=io.StringIO()).read_text(encoding="utf-8")
    assert ran == ["first", "slow"]
    assert page.index("1. Slow") < page.index("2. First")
    rows = (tmp_path / "results.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["slow", "first"]


def test_a_direct_product_of_permutations_acts_on_the_coordinates_of_the_task():
    blocks = Changes(sizes=(20,), group=groups.direct_product(groups.symmetric(4), groups.symmetric(6)))
    assert np.array_equal(blocks.weights, [2.5] * 4 + [7.5] * 6)
    with pytest.raises(ValueError, match="permutes them"):
        Changes(group=groups.direct_product(groups.symmetric(4), groups.symmetric(5)))
    with pytest.raises(ValueError, match="permutes them"):
        Changes(group=groups.direct_product(groups.symmetric(9), groups.cyclic(3)))


# --- the sequel ---------------------------------------------------------------------------------------------


def test_sentences_on_gaps_and_draws_are_true():
    from specavg.experiments._sequel import _ranks, _runs_wrong

    inf = float("inf")
    assert "closed forms" in _ranks([inf, inf])
    assert "inf" not in _ranks([inf, inf])
    assert "2 cases with a gap of at least 0.7 (the others have closed forms)" in _ranks([1.0, 0.7, inf])
    assert _ranks([1.0, 0.7]).endswith("at least 0.7")
    assert [_runs_wrong(share) for share in (0.0, 0.4, 1.0)] == [
        "no run was wrong",
        "up to 40 % of the runs of a case were wrong",
        "all runs of a case were wrong",
    ]


def test_the_target_of_the_sequel_is_the_same_function_in_every_basis(monkeypatch):
    """Signs of zonal functions differ between bases: the values of the target must not."""
    from specavg.experiments import _sample_savings as saved

    monkeypatch.setattr(saved, "_TOP", 9)
    X = sa.Sphere(3).sample(20, 0)
    for group in (saved.NONE, saved.FINITE, saved.AXIS):
        basis = sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=90)
        np.testing.assert_allclose(basis.combine(X, saved._truth(basis)[:, None])[:, 0], saved._target(X), atol=1e-12)
        assert [row.invariant_dim for row in basis.table] == [saved._count(group, degree) for degree in range(10)]


def test_the_risk_without_symmetry_is_the_one_that_samples_saved_are_counted_with():
    from specavg.experiments import _sample_savings as saved

    n, risks = 400, []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = sa.Sphere(3).sample(n, rng)
        y = saved._target(X) + saved.NOISE * rng.standard_normal(n)
        risks.append(saved._risk(saved.WAYS[0], X, y))
    exact = saved._risks_by_degree(saved.NONE, n).min()
    assert abs(np.mean(risks) - exact) < 3 * np.std(risks, ddof=1) / 30**0.5
    assert saved._saved(np.array([exact]))[0] == pytest.approx(n, rel=0.02)


def test_random_elements_lose_the_invariants_at_zero_tolerance_and_find_them_at_a_good_one():
    from specavg.experiments import _sequel as sequel
    from specavg.experiments._result import Result

    case = sequel.Case("axis", sa.Sphere(3), sa.groups.point_group("C∞"), 6.0)
    found = sequel._compared(case, 3, Result(""))
    assert (found.r, found.right, found.dims) == (5, 1, [1, 1, 1])
    assert (found.wrong[0.0], found.wrong[sequel.GOOD]) == (pytest.approx(1.0), 0.0)
    ours, lost, good = found.fits.values()
    assert ours[1] == pytest.approx(good[1], rel=1e-9)
    assert lost[1] > 2 * ours[1]
    assert max(ours[2], good[2], found.change, found.our_change) < 1e-12
