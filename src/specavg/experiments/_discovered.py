"""Discovery: the sequel's random elements on held-out data beside the evidence of all subgroups.

Algorithm 3 of the sequel draws random elements of a group, compares the fit with each of them on held-out data with the
fit without, and returns what the accepted ones generate; it assumes isotropic targets and a symmetry of bounded index.
Here: the octahedral group with inversion, targets of degree {degree} with independent normal coefficients, signal to
noise {ratio}. The symmetry that a function has may be larger than the one it was drawn with, if functions of this
degree do not tell them apart; that one is right.
"""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from specavg import groups
from specavg.discovery import Discovery, discover_symmetry
from specavg.discovery._subgroups import Lattice, lattice
from specavg.experiments._figure_style import PALETTE, new_figure
from specavg.experiments._result import Experiment, Result, Track
from specavg.spaces import Sphere

NAME = "discovery"
DEGREE = 8  # degree of the targets
RATIO = 10.0  # variance of the signal over variance of the noise
INDEX = 8  # the sequel's algorithm is made for subgroups of bounded index
PARTS = ("all classes", f"index at most {INDEX}")  # of the subgroups whose functions are searched for
METHODS = {"all subgroups": "subgroups", "random elements": "sampling"}


def run(quick: bool, track: Track) -> Result:
    """Random functions with the symmetry of each class of subgroups of Oh, and which of two methods finds it."""
    result = Result.of(__doc__, degree=DEGREE, ratio=f"{RATIO:g}")
    space, group = Sphere(3), groups.point_group("Oh")
    subgroups = lattice(space, group)
    eigenspaces = tuple(islice(space.eigenspaces(), 1, DEGREE + 1))
    fixed, functions = subgroups.fixed(eigenspaces), space.functions(eigenspaces)
    dims = np.array([s.Q.shape[1] for s in fixed])
    symmetry = np.argmax(np.where(subgroups.inside & (dims[:, None] == dims), subgroups.orders, 0), axis=1)
    firsts = np.flatnonzero(np.diff(subgroups.class_of, prepend=-1))[:: 8 if quick else 1]
    sizes = (200, 500) if quick else (100, 200, 500, 1000, 2000)
    rates: dict[tuple[str, str, str], list[float]] = {}
    seconds: dict[tuple[str, int], float] = {}
    for n in track(sizes, "discovery"):
        answers: dict[str, list[tuple[bool, bool, bool]]] = {name: [] for name in METHODS}
        taken = dict.fromkeys(METHODS, 0.0)
        for i in firsts:
            rng = np.random.default_rng([n, int(i)])
            X = space.sample(n, rng)
            coef = fixed[i].Q @ rng.normal(size=dims[i])
            y = functions.evaluate(X) @ coef / np.linalg.norm(coef) + RATIO**-0.5 * rng.normal(size=n)
            right = int(symmetry[i])
            for name, method in METHODS.items():
                start = time.process_time()
                found = discover_symmetry(X, y, space, group, method=method, random_state=0)
                taken[name] += time.process_time() - start
                answers[name].append(
                    (group.finite_order / subgroups.orders[right] <= INDEX, *_judged(found, subgroups, right))
                )
        for name, judged in answers.items():
            table = np.array(judged)
            seconds[name, n] = taken[name] / len(firsts)
            for part, rows in zip(PARTS, (table, table[table[:, 0]]), strict=True):
                for what, column in (("right", 1), ("too large", 2)):
                    rates.setdefault((name, part, what), []).append(float(rows[:, column].mean()))
                    result.record(NAME, f"{name}, {part}", what, rates[name, part, what][-1], n=n)
    _shown(result, sizes, rates, seconds, len(firsts))
    return result


def _judged(found: Discovery, subgroups: Lattice, right: int) -> tuple[bool, bool]:
    """Whether the group found is the right one, and whether it has a symmetry that the function does not have."""
    true = subgroups.group(right)
    together = groups.Group([*true.generators, *found.group.generators], size=true.size).order
    return found.group.order == together == true.order, together > true.order


def _shown(
    result: Result,
    sizes: tuple[int, ...],
    rates: dict[tuple[str, str, str], list[float]],
    seconds: dict[tuple[str, int], float],
    classes: int,
) -> None:
    shown = [(part, what) for part in PARTS for what in ("right", "too large")]
    rows = [
        [str(n), name, *(f"{100 * rates[name, *key][k]:.0f} %" for key in shown), f"{1e3 * seconds[name, n]:.0f} ms"]
        for k, n in enumerate(sizes)
        for name in METHODS
    ]
    columns = ["n", "method", *(f"{part}: {what}" for part, what in shown), "time of a search"]
    result.table(f"One function for each of {classes} classes of subgroups.", columns, rows)
    figure, ax = new_figure(1, width=5.2, height=3.6)
    for color, name in zip(PALETTE, METHODS, strict=False):
        for part, style in zip(PARTS, ("o-", "s--"), strict=True):
            values: NDArray[np.float64] = 100 * np.array(rates[name, part, "right"])
            ax.plot(sizes, values, style, color=color, label=f"{name}, {part}")
    ax.set(xscale="log", xlabel="number of samples n", ylabel="right group found (%)", ylim=(0, 103))
    ax.legend()
    result.figure(
        NAME,
        figure,
        "How often each method finds exactly the symmetry of a function on S², among the subgroups of Oh.",
    )
    ours, theirs = (np.array(rates[name, PARTS[1], "right"]) for name in METHODS)
    result.claim(
        "Random elements that do not lose on held-out data generate the symmetry.",
        f"Where its assumptions hold (index at most {INDEX}), it finds the right group in {100 * theirs[-1]:.0f} "
        f"% of the cases at n = {sizes[-1]}"
        + (": one element that is accepted by mistake makes the group too large. " if theirs[-1] < 1 else ". ")
        + f"There are {classes} functions, one for each class of subgroups. "
        f"Weighing the evidence for all subgroups, as this library does, finds it in {100 * ours[-1]:.0f} %.",
        None,
    )


EXPERIMENT = Experiment(NAME, "Which symmetry do the data have?", run, timed=True)
