"""Oracle calls and time against n, beside the theorem's bounds.

S² with the {order} octahedral rotations ({generators} generators), s = {s}, so that D = n^{exponent}. Oracle calls:
values φ(x_i), and inner products ⟨φ_l, φ_k∘g⟩, as Algorithm 1 asks for them and as they were made here. Predictions:
microseconds per point, in a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg import groups, theory
from specavg.estimators import SpecAvgRegressor
from specavg.experiments._figure_style import PALETTE, REFERENCE, new_figure
from specavg.experiments._result import Experiment, Result, Track
from specavg.experiments._timing import seconds
from specavg.invariants import invariant_basis
from specavg.invariants._basis import built_basis
from specavg.spaces import Sphere

NAME = "oracles"
SPACE, GROUP, S = Sphere(3), groups.point_group("O"), 1.2


def run(quick: bool, track: Track) -> Result:
    """Counts and times on S² with the octahedral rotations."""
    sizes = np.unique(np.round(np.geomspace(2_000, 60_000 if quick else 1_000_000, 7 if quick else 12)).astype(int))
    counts = {"order": GROUP.finite_order, "generators": len(GROUP.generators)}
    result = Result.of(__doc__, **counts, s=S, exponent=f"{1 / (1 + theory.exponent(2, S)):.3f}")
    rows = [_row(int(n)) for n in track(sizes, "oracle calls and time against n")]
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    for row in rows:
        for key, value in row.items():
            if key != "n":
                settings = {"space": repr(SPACE), "group": repr(GROUP), "s": S}
                result.record(NAME, "Spec-Avg", key, float(value), row["n"], 1, settings)
    ratio = columns["calls of Algorithm 1"] / columns["bound on calls"]
    slopes = {key: float(np.polyfit(np.log(columns["n"]), np.log(columns[key]), 1)[0]) for key in columns if key != "n"}
    result.claim(
        "Algorithm 1 makes O(log|G| n^(2/(1+α)) + n^((2+α)/(1+α))) oracle calls.",
        f"As written, it makes {ratio.min():.2f} to {ratio.max():.2f} times as many calls as this expression with "
        "constant one. This library evaluates invariant functions only, and makes "
        f"{100 * columns['calls made'][-1] / columns['calls of Algorithm 1'][-1]:.1f} % of these calls at n = "
        f"{sizes[-1]:,}.",
        bool((ratio <= 1).all()),
    )
    result.claim(
        "A fit takes the time O(log³|G| n^(3/(1+α)) + n^((2+α)/(1+α))).",
        f"The time of a fit grows as n^{slopes['fit seconds']:.2f}, the bound as n^{slopes['bound on time']:.2f} "
        f"over the same range. The longest fit took {columns['fit seconds'][-1]:.2g} s; its overhead has a part in "
        "that, so that the exponent is seen to be small enough, and not what it is.",
        slopes["fit seconds"] <= slopes["bound on time"] + 0.1,
    )
    result.claim(
        "A prediction takes the time O(n^(1/(1+α))).",
        f"The time of a prediction {_growth(slopes['prediction µs'])}, the bound grows as "
        f"n^{slopes['bound on prediction']:.2f}.",
        slopes["prediction µs"] <= slopes["bound on prediction"] + 0.1,
    )
    result.figure(NAME, _figure(columns), _figure.__doc__)
    picks = sorted({0, len(rows) // 2, len(rows) - 1})
    header = list(rows[0])
    result.table("Counts and times", header, [[_text(rows[i][key]) for key in header] for i in picks])
    return result


def _row(n: int) -> dict[str, Any]:
    X = SPACE.sample(n, 1)
    y = X[:, 0] ** 4 + X[:, 1] ** 4 + X[:, 2] ** 4
    model = SpecAvgRegressor(SPACE, GROUP, smoothness=S)

    def cold() -> None:
        built_basis.cache_clear()
        model.fit(X, y)

    cold()  # loops are compiled once per machine, not once per fit
    cold_seconds = seconds(cold, repeat=3)
    warm_seconds = seconds(lambda: model.fit(X, y), repeat=5)
    calls = model.oracle_calls_
    tests = SPACE.sample(20_000, 2)
    model.predict(tests)  # few rows take no loop: as many as are timed compile what they need
    basis = invariant_basis(SPACE, GROUP, max_dim=model.D_)
    bound = theory.bounds(n, SPACE.dim, S, GROUP.finite_order)
    return {
        "n": n,
        "D": model.D_,
        "functions": basis.total_dim,
        "invariant functions": basis.dim,
        "calls of Algorithm 1": calls.paper_evaluations + calls.paper_inner_products,
        "calls made": calls.evaluations + calls.inner_products,
        "bound on calls": bound.oracle_calls,
        "fit seconds": cold_seconds,
        "fit seconds, basis kept": warm_seconds,
        "bound on time": bound.time,
        "prediction µs": 1e6 * seconds(lambda: model.predict(tests), repeat=5) / len(tests),
        "bound on prediction": bound.prediction_time,
    }


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _growth(slope: float) -> str:
    return f"grows as n^{slope:.2f}" if slope > 0 else f"does not grow (n^{slope:.2f})"


def _figure(columns: dict[str, Any]) -> Any:
    """Dashed: the theorem's expressions.

    In the two panels of times they are scaled to the first measured point (a bound has no seconds).
    """
    figure, (calls, fit, predict) = new_figure(3, width=10.8, height=3.7)
    n = columns["n"]
    calls.plot(n, columns["calls of Algorithm 1"], "o-", color=PALETTE[0], label="Algorithm 1, as written")
    calls.plot(n, columns["calls made"], "s-", color=PALETTE[1], label="made here")
    calls.plot(n, columns["bound on calls"], "--", color=REFERENCE, label="theorem, constant 1")
    fit.plot(n, columns["fit seconds"], "s-", color=PALETTE[1], label="fit, basis computed")
    fit.plot(n, columns["fit seconds, basis kept"], "o-", color=PALETTE[4], label="fit, basis kept")
    bound = columns["bound on time"]
    fit.plot(n, bound / bound[0] * columns["fit seconds"][0], "--", color=REFERENCE, label="theorem, scaled")
    predict.plot(n, columns["prediction µs"], "s-", color=PALETTE[1], label="measured")
    bound = columns["bound on prediction"]
    predict.plot(n, bound / bound[0] * columns["prediction µs"][0], "--", color=REFERENCE, label="theorem, scaled")
    for ax, title, label in (
        (calls, "Oracle calls", "calls"),
        (fit, "Time to fit", "seconds"),
        (predict, "Time to predict", "µs per point"),
    ):
        ax.set(xscale="log", yscale="log", xlabel="number of samples n", ylabel=label, title=title)
        ax.legend()
    return figure


EXPERIMENT = Experiment(NAME, "Oracle calls and time against n", run, timed=True)
