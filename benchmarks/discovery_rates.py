"""How often `sa.discover_symmetry` finds the right group: every class of subgroups of some groups.

    python benchmarks/discovery_rates.py [--draws 20] [--rows 0:4] [--out benchmarks/discovery_rates.csv]

For each class of subgroups H of a group, random functions that H leaves alone are drawn: normal coefficients of all
invariant eigenfunctions up to some eigenspace, scaled to variance one. The noise has the variance 1/10 or 1/100. The
*right* answer is the symmetry of the function: the largest subgroup with the same invariant functions, which is larger
than H where functions so coarse cannot tell them apart (O and Oh up to degree 8). `too_large` counts answers with
a symmetry that the function does not have, `too_small` answers that lie inside the right one.

Points are uniform, or crowded around a point; noise is the same everywhere, or up to forty times as large in one place
as in another, or Student's with three degrees of freedom. Seconds are those of one search, the subgroups being known.

Three more columns: `error_ratio` is the error of `.model` over that of the regressor given the right group (root mean
squares on new points, median over the first draws of each class; 1 where the group found is the right one);
`refit_ratio` is the time of fitting a regressor for every subgroup, taken from one of them, over that of the search;
`sampling_right` and `sampling_too_large` are the rates of ``method="sampling"``, the sequel's algorithm, on the first
draws of ten classes.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from itertools import islice

import numpy as np

import specavg as sa
from specavg import groups
from specavg.discovery._subgroup_lattice import lattice


@dataclass(frozen=True)
class Situation:
    name: str
    space: sa.spaces.Space
    group: groups.Group
    eigenspaces: int  # after the constant, in which the function lies
    n: int
    ratio: float = 10.0  # variance of the signal over variance of the noise
    points: str = "uniform"
    noise: str = "normal"
    classes: int = 0  # how many classes to draw, all if 0


SAMPLED = 10  # classes on which random elements are tried
S2, OH = sa.Sphere(3), groups.point_group("Oh")
SITUATIONS = [
    Situation("Oh", S2, OH, 8, 500),
    Situation("Oh", S2, OH, 8, 500, ratio=100.0),
    Situation("Oh", S2, OH, 8, 500, noise="uneven"),
    Situation("Oh", S2, OH, 8, 500, noise="Student"),
    Situation("Oh", S2, OH, 8, 500, points="crowded"),
    Situation("Oh", S2, OH, 8, 500, points="crowded", noise="uneven"),
    Situation("Oh", S2, OH, 8, 200),
    Situation("Oh", S2, OH, 8, 2000),
    Situation("S5", sa.Torus(5), groups.symmetric(5), 3, 1000),
    Situation("hyperoctahedral(4)", sa.Torus(4), groups.hyperoctahedral(4), 3, 1000, classes=40),
    Situation("space group 200", sa.Torus(3), groups.space_group(200), 5, 1000),
]


def points_of(situation, rng):
    n = situation.n
    if situation.points == "uniform":
        return situation.space.sample(n, random_state=rng)
    X = situation.space.sample(6 * n, random_state=rng)
    weights = np.exp(1.5 * X[:, 2] + X[:, 0])
    return X[rng.choice(len(X), n, replace=False, p=weights / weights.sum())]


def noise_of(situation, X, rng):
    sigma = situation.ratio**-0.5
    if situation.noise == "Student":
        return sigma * rng.standard_t(3, size=len(X)) / np.sqrt(3)
    noise = sigma * rng.normal(size=len(X))
    if situation.noise == "normal":
        return noise
    size = np.exp(2 * X[:, 2] - X[:, 0])
    return noise * size / np.sqrt(np.mean(size**2))


def run(situation, draws, seed):
    """Rates of right, too large and too small answers, and what they cost."""
    subgroups = lattice(situation.space, situation.group)
    eigenspaces = tuple(islice(situation.space.eigenspaces(), 1, situation.eigenspaces + 1))
    fixed = subgroups.fixed(eigenspaces)
    dims = np.array([s.Q.shape[1] for s in fixed])
    closures = np.argmax(np.where(subgroups.inside & (dims[:, None] == dims), subgroups.orders, 0), axis=1)
    functions = situation.space.functions(eigenspaces)
    rng = np.random.default_rng(seed)
    counts, seconds, ratios, sampled, refit = np.zeros(3, dtype=int), [], [], [], None
    firsts = np.flatnonzero(np.diff(subgroups.class_of, prepend=-1))
    if situation.classes:
        firsts = rng.choice(firsts, situation.classes, replace=False)
    for i in firsts:
        if dims[i] == 0:
            continue
        for draw in range(draws):
            X = points_of(situation, rng)
            coef = fixed[i].Q @ rng.normal(size=dims[i])
            y = functions.evaluate(X) @ coef / np.linalg.norm(coef) + noise_of(situation, X, rng)
            start = time.perf_counter()
            found = sa.discover_symmetry(X, y, situation.space, situation.group)
            seconds.append(time.perf_counter() - start)
            accepted = np.array([row.accepted for row in found.table])
            answer = int(np.argmax(np.where(accepted, subgroups.orders, 0)))
            right = subgroups.group(int(closures[i]))
            if draw == 0:
                fresh = situation.space.sample(1000, random_state=rng)
                truth = functions.evaluate(fresh) @ coef / np.linalg.norm(coef)
<<<<<<< HEAD
                ratios.append(1.0 if answer == closures[i] else error_ratio(found, right, X, y, fresh, truth))
                if len(sampled) < SAMPLED:
                    sampled.append(by_sampling(situation, right, X, y))
                if refit is None:
                    refit = refit_seconds(situation.space, right, X, y)
=======
                right = subgroups.group(int(closures[i]))
                further.append(
                    compared(found, situation.group, right, X, y, fresh, truth, len(subgroups.orders), seconds[-1])
                )
            accepted = np.array([row.accepted for row in found.table])
            answer = int(np.argmax(np.where(accepted, subgroups.orders, 0)))
>>>>>>> house
            counts += (
                answer == closures[i],
                not subgroups.inside[answer, closures[i]],
                bool(subgroups.inside[answer, closures[i]]) and answer != closures[i],
            )
    usual = float(np.median(seconds[len(seconds) // 10 :]))
    right, too_large = np.mean(sampled, axis=0)
    return {
        "classes": len(firsts),
        "draws": len(seconds),
        **dict(zip(("right", "too_large", "too_small"), (counts / len(seconds)).round(4).tolist(), strict=True)),
        "seconds": round(usual, 4),
        "error_ratio": round(float(np.median(ratios)), 3),
        "refit_ratio": round(len(subgroups.orders) * refit / usual),
        "sampling_right": round(float(right), 3),
        "sampling_too_large": round(float(too_large), 3),
    }


def error_ratio(found, right, X, y, fresh, truth):
    """The error of the model found over that of the model given the right group."""
    given = sa.InvariantKernelRidge(found.samples.space, right).fit(X, y)
    errors = [np.sqrt(np.mean((model.predict(fresh) - truth) ** 2)) for model in (found.model, given)]
<<<<<<< HEAD
    return errors[0] / errors[1]


def refit_seconds(space, group, X, y):
    sa.InvariantKernelRidge(space, group).fit(X, y)  # compiles
    start = time.perf_counter()
    sa.InvariantKernelRidge(space, group).fit(X, y)
    return time.perf_counter() - start


def by_sampling(situation, right, X, y):
    """Whether random elements find the right group, and whether they find one that is too large."""
    found = sa.discover_symmetry(X, y, situation.space, situation.group, method="sampling", random_state=0).group
    together = groups.Group([*right.generators, *found.generators], size=right.size).order
    return found.order == together == right.order, together > right.order
=======
    drawn = sa.discover_symmetry(X, y, space, whole, method="sampling", random_state=0).group
    order = drawn.order
    inside = all(
        np.abs(given.predict(space.act(g, fresh)) - given.predict(fresh)).max() < 1e-8 for g in drawn.generators
    )
    return errors[0] / errors[1], subgroups * refit / seconds, inside and order == right.order, not inside
>>>>>>> house


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", default=":")
    parser.add_argument("--out", default=None)
    options = parser.parse_args()
    rows = slice(*(int(part) if part else None for part in options.rows.split(":")))
    lines = []
    for situation in SITUATIONS[rows]:
        lines.append(
            {
                "group": situation.name,
                "n": situation.n,
                "signal_to_noise": situation.ratio,
                "points": situation.points,
                "noise": situation.noise,
                **run(situation, options.draws, seed=20260117),
            }
        )
        print(lines[-1], flush=True)
    if options.out:
        with open(options.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
