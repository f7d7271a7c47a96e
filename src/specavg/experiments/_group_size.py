"""Time against |G|: Spec-Avg is flat, sums over the group are not.

Seconds to fit n = {n} points, the basis included. Left: one data set on T^10 (1161 functions up to the cutoff) and
larger and larger groups on it. Middle: all permutations of d coordinates on the sphere, d up to 1000. Right: all sign
flips of d coordinates on the torus. The sum over the group refuses above {terms} kernel values, augmentation (with
kernel ridge regression) above {rows} rows.

Times are wall times of one machine: compare them with each other. The middle and right panels read n·d numbers, so that
the time of every method grows with d; |G| grows far more.

The group-averaged kernel under sign flips factorises over coordinates and needs no sum: it stays cheap there. Under
permutations the average is a permanent, for which no fast formula is known.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log10
from typing import Any

import numpy as np

from specavg import baselines, groups
from specavg._messages import size_text
from specavg.estimators import SpecAvgRegressor
from specavg.experiments._figure_style import PALETTE, new_figure
from specavg.experiments._result import Experiment, Result, Track
from specavg.experiments._timing import seconds
from specavg.groups import Group
from specavg.invariants._basis import built_basis
from specavg.spaces import Space, Sphere, Torus

NAME = "group-size"
N = 200
MAX_TERMS = 1.5e8  # kernel values that a group average may take: about 3 s
MAX_ROWS = 5_000  # rows of augmented data: kernel ridge regression is cubic in them
PROPORTIONAL = 0.8  # the least exponent of |G| in a time that is called proportional to |G| or worse: times are noisy

Case = tuple[str, Space, Group, float]  # (family, space, group, largest eigenvalue)


def _cases(quick: bool) -> list[Case]:
    fixed = [groups.trivial(10), groups.cyclic_shifts(10), groups.dihedral_shifts(10), groups.sign_flips(10),
             groups.alternating(10), groups.symmetric(10), groups.hyperoctahedral(10)]  # fmt: skip
    cases: list[Case] = [("the same data, larger groups", Torus(10), G, 3 * np.pi**2) for G in fixed]
    for d in (3, 4, 5, 6, 7, 8, 10, 20, 50, 100, 200, 500, 1000):
        # Degrees 0 to 3: 1 + 1 + 1 + 2 functions, whatever d is.
        cases.append(("permutations, Sphere(d)", Sphere(d), groups.symmetric(d), 3.0 * (d + 1)))
    for d in (2, 4, 6, 8, 10, 12, 14, 20, 50, 100, 200) + (() if quick else (500, 1000)):
        cases.append(("sign flips, Torus(d)", Torus(d), groups.sign_flips(d), np.pi**2))
    return cases


def run(quick: bool, track: Track) -> Result:
    """Fit times of three methods on three families of groups."""
    result = Result.of(__doc__, n=N, terms=f"{MAX_TERMS:.2g}", rows=MAX_ROWS)
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    refused: dict[str, dict[str, int]] = {}
    for family, space, group, top in track(_cases(quick), "time against |G|"):
        X = space.sample(N, 1)
        y = (X**2).sum(axis=1) + X.sum(axis=1) ** 2
        for method, call in _methods(space, group, top, X, y).items():
            try:
                if method == "Spec-Avg":
                    call()  # loops are compiled once per machine, not once per fit
                elapsed = seconds(call)
            except baselines.CostError:
                refused.setdefault(family, {}).setdefault(method, group.finite_order)
                continue
            found.setdefault(family, {}).setdefault(method, []).append((group.finite_order, elapsed))
            names = {"family": family, "space": repr(space), "group": repr(group)}
            settings = {**names, "log10_order": log10(group.finite_order)}
            result.record(NAME, method, "fit seconds", elapsed, N, 1, settings)
    result.figure(NAME, _figure(found, refused), _figure.__doc__)
    _add_claims(result, found)
    _add_table(result, found, refused)
    return result


def _methods(space: Space, group: Group, top: float, X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    kernel = baselines.SpectralKernel(space, spectrum="matern", smoothness=space.dim, max_eigenvalue=top)
    if isinstance(space, Torus):
        kernel = baselines.VonMisesKernel(eta=min(1.0, 10 / space.dim))
    averaged = baselines.GroupAveragedKernelRidge(kernel, group, max_terms=MAX_TERMS)
    augmented = baselines.Augmented(baselines.KernelRidge(kernel), space, group, max_rows=MAX_ROWS)

    def spec_avg() -> None:
        built_basis.cache_clear()  # the basis is part of the time
        SpecAvgRegressor(space, group, max_eigenvalue=top).fit(X, y)

    return {
        "Spec-Avg": spec_avg,
        "group-averaged KRR": lambda: averaged.fit(X, y),
        "augmentation + KRR": lambda: augmented.fit(X, y),
    }


def _add_claims(result: Result, found: dict[str, Any]) -> None:
    orders, flat = zip(*found["the same data, larger groups"]["Spec-Avg"], strict=True)
    result.claim(
        "The time does not grow with |G| (at most polylogarithmically).",
        f"On the same data, from |G| = {orders[0]} to {size_text(orders[-1])}, Spec-Avg takes {flat[0]:.2g} s "
        f"with the smallest group, {flat[-1]:.2g} s with the largest and {max(flat):.2g} s at most: the time "
        f"{'does not grow' if flat[-1] <= 2 * flat[0] else 'grows'}.",
        flat[-1] <= 2 * flat[0],
    )
    order, elapsed = found["permutations, Sphere(d)"]["Spec-Avg"][-1]
    result.claim(
        "Groups far too large to list are handled from their generators.",
        f"The largest group shown has {size_text(order)} elements and two generators; its fit takes {elapsed:.2g} s.",
        log10(order) > 2000,
    )
    growths = [_growth(m, found["permutations, Sphere(d)"][m]) for m in ("group-averaged KRR", "augmentation + KRR")]
    result.claim(
        "Group averaging takes Ω(n²|G|), augmentation Ω(n|G|).",
        f"Under permutations, {'; '.join(text for _, text in growths)}. An exponent of 1 is proportional to |G|. "
        "Larger groups pass the limits of this run and were not timed.",
        all(exponent >= PROPORTIONAL for exponent, _ in growths),
    )


def _growth(method: str, points: list[tuple[int, float]]) -> tuple[float, str]:
    """The exponent of |G| in the time between the two largest groups that a method took, and a sentence."""
    (few, short), (many, long) = points[-2:]
    exponent = log10(long / short) / log10(many / few)
    return exponent, (
        f"{method} takes {short:.2g} s with {size_text(few)} elements and {long:.2g} s with {size_text(many)}, "
        f"which is an exponent of {exponent:.2g}"
    )


def _figure(found: dict[str, Any], refused: dict[str, Any]) -> Any:
    """A cross marks the first group at which a method refuses.

    Spec-Avg never refuses; its largest group has 1000! ≈ 10^2567 elements.
    """
    figure, axes = new_figure(3, width=11.0, height=3.9)
    colours = {"Spec-Avg": PALETTE[1], "group-averaged KRR": PALETTE[0], "augmentation + KRR": PALETTE[4]}
    for ax, (family, methods) in zip(axes, found.items(), strict=True):
        for method, points in methods.items():
            x = [max(0.15, log10(order)) for order, _ in points]
            ax.plot(x, [t for _, t in points], "o-", color=colours[method], label=method)
            if method in refused.get(family, {}):
                last = points[-1][1] if points else 1.0
                ax.plot(log10(refused[family][method]), last, "x", ms=8, mew=2, color=colours[method])
        ax.set(xscale="log", yscale="log", xlabel="log₁₀ |G|", title=family)
    axes[0].set_ylabel("seconds to fit")
    axes[1].legend(loc="upper right")
    return figure


def _add_table(result: Result, found: dict[str, Any], refused: dict[str, Any]) -> None:
    rows = []
    for family, methods in found.items():
        for method, points in methods.items():
            stop = refused.get(family, {}).get(method)
            times = [f"{t:.2g} s (|G| = {size_text(order)})" for order, t in (points[0], points[-1])]
            rows.append([family, method, *times, "—" if stop is None else size_text(stop)])
    columns = ["family", "method", "smallest group", "largest group fitted", "refuses from |G| ="]
    result.table("Time to fit", columns, rows)


EXPERIMENT = Experiment(NAME, "Time against the size of the group", run, timed=True)
