"""How often `sa.discover_symmetry` finds the right group: every class of subgroups of some groups, and blocks of S_d.

    python benchmarks/discovery_rates.py [--draws 20] [--rows 0:4] [--out benchmarks/discovery_rates.csv]

For each class of subgroups H of a group, random functions that H leaves alone are drawn: normal coefficients of all
invariant eigenfunctions up to some eigenspace, scaled to variance one. The noise has the variance 1/10 or 1/100. The
*right* answer is the symmetry of the function: the largest subgroup with the same invariant functions, which is larger
than H where functions so coarse cannot tell them apart (O and Oh up to degree 8). `too_large` counts answers with
a symmetry that the function does not have, `too_small` answers that lie inside the right one.

Points are uniform, or crowded around a point; noise is the same everywhere, or up to forty times as large in one place
as in another, or Student's with three degrees of freedom. Blocks are of random sizes; functions of their
coordinates have random coefficients, the same in a block. An axis of rotation is right if it is within 0.1 of the
true one; functions without an axis are random up to degree 4. Shifts are those of a sum of four waves
with normal coefficients.

Times are those of the processor. `seconds` is one search, the subgroups being known. `error_ratio` is the error of
`.model` over that of the regressor given the right group (root mean squares on new points; median over the first draws
of each class, and the worst; 1 where the group found is the right one). `refit_ratio` is the time of
fitting `InvariantKernelRidge` with every subgroup over that of the search, `least_squares_ratio` that of least squares
with a number of functions that somebody knows: no choice, and no noise measured. `sampling_right` is the rate of
``method="sampling"``, the sequel's algorithm, with the best of the thresholds 0.05, 0.01 and 0.001, on one draw of each
of the first forty classes; `large_*` are the same on the classes of index 8 at most, which are what it is made for.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
from scipy.special import eval_legendre

import specavg as sa
from specavg import groups
from specavg.discovery._samples import Samples
from specavg.discovery._subgroups import lattice

SEED = 20260117
STORED = Path(__file__).with_suffix(".csv")
SAMPLED = 40  # classes on which models are fitted and random elements are tried
THRESHOLDS = (0.05, 0.01, 0.001)


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


S2, OH = sa.Sphere(3), groups.point_group("Oh")
LARGE_INDEX = 8  # the sequel's algorithm is for subgroups of bounded index
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
    Situation("space group 200", sa.Torus(3), groups.space_group(200), 5, 1000),
    Situation("hyperoctahedral(4)", sa.Torus(4), groups.hyperoctahedral(4), 3, 1000),
    Situation("hyperoctahedral(4)", sa.Torus(4), groups.hyperoctahedral(4), 3, 4000, classes=40),
    Situation("S6", sa.Torus(6), groups.symmetric(6), 2, 1000),
]
BLOCKS = [  # (space, n)
    (sa.Torus(20), 2000),
    (sa.Sphere(20), 2000),
    (sa.Torus(100), 4000),
    (sa.Sphere(100), 4000),
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
    counts, seconds, ratios, sampled = np.zeros(3, dtype=int), [], [], []
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
            start = time.process_time()
            found = sa.discover_symmetry(X, y, situation.space, situation.group)
            seconds.append(time.process_time() - start)
            accepted = np.array([row.accepted for row in found.table])
            answer = int(np.argmax(np.where(accepted, subgroups.orders, 0)))
            right = subgroups.group(int(closures[i]))
            if draw == 0 and len(sampled) < SAMPLED:
                fresh = situation.space.sample(1000, random_state=rng)
                truth = functions.evaluate(fresh) @ coef / np.linalg.norm(coef)
                ratios.append(1.0 if answer == closures[i] else error_ratio(found, right, X, y, fresh, truth))
                index = situation.group.order / right.order
                sampled.append((index, answer == closures[i], *by_sampling(situation, right, X, y)))
            counts += (
                answer == closures[i],
                not subgroups.inside[answer, closures[i]],
                bool(subgroups.inside[answer, closures[i]]) and answer != closures[i],
            )
    usual = float(np.median(seconds[len(seconds) // 10 :]))
    return {
        "classes": len(firsts),
        "draws": len(seconds),
        **dict(zip(("right", "too_large", "too_small"), (counts / len(seconds)).round(4).tolist(), strict=True)),
        "seconds": round(usual, 4),
        "error_ratio": round(float(np.median(ratios)), 3),
        "worst_error_ratio": round(float(np.max(ratios)), 3),
        **refit_ratios(situation, subgroups, X, y, usual),
        **sampling_rates(sampled),
    }


def error_ratio(found, right, X, y, fresh, truth):
    """The error of the model found over that of the model given the right group."""
    given = sa.InvariantKernelRidge(found.samples.space, right).fit(X, y)
    errors = [np.sqrt(np.mean((model.predict(fresh) - truth) ** 2)) for model in (found.model, given)]
    return errors[0] / errors[1]


def refit_ratios(situation, subgroups, X, y, usual):
    """The time of a fit for every subgroup over that of the search, from three of them: small, middle and large."""
    space, count = situation.space, len(subgroups.orders)
    some = [subgroups.group(i) for i in (0, count // 2, count - 1)]
    top = 0.0
    for V in found_band(space, len(X)):
        top = V.eigenvalue
    fits = {
        "refit_ratio": lambda group: sa.InvariantKernelRidge(space, group),
        "least_squares_ratio": lambda group: sa.SpecAvgRegressor(space, group, max_eigenvalue=top),
    }
    ratios = {}
    for name, made in fits.items():
        made(some[1]).fit(X, y)  # compiles
        start = time.process_time()
        for group in some:
            made(group).fit(X, y)
        ratios[name] = round((time.process_time() - start) / len(some) * count / usual)
    return ratios


def found_band(space, n):
    return Samples.of(space.sample(n, random_state=0), np.zeros(n), space).compared.eigenspaces


def by_sampling(situation, right, X, y):
    """For each threshold, whether random elements find the right group, and whether one that is too large."""
    found = sa.discover_symmetry(X, y, situation.space, situation.group, method="sampling", random_state=0)
    answers = []
    for threshold in THRESHOLDS:
        kept = [row.element for row in found.table if row.p_value >= threshold]
        order = groups.Group(kept, size=right.size).order
        together = groups.Group([*right.generators, *kept], size=right.size).order
        answers += [order == together == right.order, together > right.order]
    return answers


def sampling_rates(sampled):
    """With the threshold that is right most often, on all classes and on those of small index."""
    rates = {}
    rows = np.array(sampled, dtype=float)
    for name, part in (("sampling", rows), ("large_sampling", rows[rows[:, 0] <= LARGE_INDEX])):
        best = int(np.argmax(part[:, 2::2].mean(axis=0)))
        rates[f"{name}_right"] = round(float(part[:, 2 + 2 * best].mean()), 3)
        rates[f"{name}_too_large"] = round(float(part[:, 3 + 2 * best].mean()), 3)
        rates[f"{name}_ours_right"] = round(float(part[:, 1].mean()), 3)
    return rates


def rates(answers, seconds):
    """From answers (right, too large): what is neither is too small."""
    right, too_large = np.mean(answers, axis=0).round(4).tolist()
    return {
        "draws": len(answers),
        "right": right,
        "too_large": too_large,
        "too_small": round(1 - right - too_large, 4),
        "seconds": round(float(np.median(seconds)), 3),
    }


def blocks(space, n, draws, seed):
    """Random blocks of interchangeable coordinates under the symmetric group."""
    d = space.sample(1, random_state=0).shape[1]
    answers, seconds = [], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        cuts = np.sort(rng.choice(np.arange(1, d), 2, replace=False))
        block_of = rng.permutation(np.repeat(np.arange(3), np.diff([0, *cuts, d])))
        X = space.sample(n, random_state=rng)
        angles = np.pi * X
        parts = [np.cos(angles), np.sin(angles), np.cos(2 * angles)] if isinstance(space, sa.Torus) else [X, X**2, X**3]
        parts = np.stack([(part - part.mean()) / part.std() for part in parts], axis=2)  # (n, d, 3)
        f = np.einsum("nia,ia->n", parts, rng.normal(size=(3, 3))[block_of])
        y = f / f.std() + 10**-0.5 * rng.normal(size=n)
        start = time.process_time()
        found = sa.discover_symmetry(X, y, space, groups.symmetric(d))
        seconds.append(time.process_time() - start)
        same = np.array([block_of[i] == block_of[j] for i in range(d) for j in range(i + 1, d)])
        accepted = np.array([row.accepted for row in found.table])
        answers.append((np.array_equal(same, accepted), (accepted & ~same).any()))
    return rates(answers, seconds)


def axes(n, noise, zonal, draws, seed):
    """Functions on S² with a random axis of rotation, or with none; the group given is SO(3)."""
    eigenspaces = tuple(islice(S2.eigenspaces(), 1, 5))
    functions, rotations = S2.functions(eigenspaces), groups.special_orthogonal(3)
    answers, seconds = [], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        situation = Situation("SO(3)", S2, rotations, 4, n, noise=noise)
        X = points_of(situation, rng)
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        if zonal:
            f = sum(rng.normal() * np.sqrt(2 * k + 1) * eval_legendre(k, X @ axis) for k in range(1, 5))
        else:
            f = functions.evaluate(X) @ rng.normal(size=sum(V.dim for V in eigenspaces))
        y = f / f.std() + noise_of(situation, X, rng)
        start = time.process_time()
        found = sa.discover_symmetry(X, y, S2, rotations)
        seconds.append(time.process_time() - start)
        moved = [float(np.abs(field.matrix @ axis).max()) for field in found.fields]
        if zonal:
            answers.append((len(moved) == 1 and moved[0] < 0.1, len(moved) > 1 or any(m >= 0.1 for m in moved)))
        else:
            answers.append((not moved, bool(moved)))
    return rates(answers, seconds)


def shifts(n, shifted, draws, seed):
    """Sums of four waves on a torus that one direction of shifts leaves alone, or none; given are all shifts."""
    space, group = sa.Torus(3), groups.shifts([1, 0, 0], [0, 1, 0], [0, 0, 1])
    every = np.array(list(product(range(-1, 2), repeat=3)))
    answers, seconds = [], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        v = every[rng.choice(13)]  # the first thirteen are the others' negatives, and not zero
        pool = every[every @ v == 0] if shifted else every
        waves = pool[rng.choice(len(pool), 4, replace=False)]
        while np.linalg.matrix_rank(waves) < 3 - shifted:
            waves = pool[rng.choice(len(pool), 4, replace=False)]
        X = space.sample(n, random_state=rng)
        angles = np.pi * X @ waves.T
        f = np.cos(angles) @ rng.normal(size=4) + np.sin(angles) @ rng.normal(size=4)
        y = f / f.std() + 10**-0.5 * rng.normal(size=n)
        start = time.process_time()
        found = sa.discover_symmetry(X, y, space, group)
        seconds.append(time.process_time() - start)
        moved = [bool((waves @ np.array([float(a) for a in field.velocity])).any()) for field in found.fields]
        answers.append((len(moved) == shifted and not any(moved), len(moved) > shifted or any(moved)))
    return rates(answers, seconds)


def everything(draws):
    """Every row: what is measured, and a function that measures it."""
    for situation in SITUATIONS:
        named = {
            "group": situation.name,
            "space": repr(situation.space),
            "n": situation.n,
            "signal_to_noise": situation.ratio,
            "points": situation.points,
            "noise": situation.noise,
        }
        few = draws if situation is SITUATIONS[0] else max(1, draws // 4)
        few = 1 if situation.group.order > 200 else few  # many classes
        yield named, lambda situation=situation, few=few: run(situation, few, SEED)
    plain = {"signal_to_noise": 10.0, "points": "uniform", "noise": "normal"}
    for space, n in BLOCKS:
        named = {"group": f"blocks of S{space.n_features}", "space": repr(space), "n": n, **plain}
        yield named, lambda space=space, n=n: blocks(space, n, max(2, draws // 2 if n < 4000 else draws // 4), SEED)
    for zonal in (True, False):
        for noise in ("normal", "uneven"):
            name = "an axis in SO(3)" if zonal else "no axis in SO(3)"
            named = {"group": name, "space": repr(S2), "n": 500, **plain, "noise": noise}
            yield named, lambda zonal=zonal, noise=noise: axes(500, noise, zonal, 5 * draws, SEED)

    for shifted in (True, False):
        name = "a direction of shifts" if shifted else "no direction of shifts"
        named = {"group": name, "space": "Torus(3)", "n": 500, **plain}
        yield named, lambda shifted=shifted: shifts(500, shifted, 5 * draws, SEED)


def table_rows():
    """The rows of the table of all benchmarks, from what is stored: a run takes ten minutes."""
    from benchmarks.timing import row

    with open(STORED, newline="", encoding="utf-8") as file:
        stored = list(csv.DictReader(file))
    rows = []
    for line in stored:
        target = line is stored[0]  # Oh, uniform points and even noise
        what = f"discovery: {line['group']} on {line['space']}, n = {line['n']}"
        what += f", {line['points']} points, {line['noise']} noise"
        note = f"{line['draws']} draws, {line['seconds']} s each, signal to noise {float(line['signal_to_noise']):g}"
        rows.append(row(f"{what}: right", 100 * float(line["right"]), 95.0 if target else None, unit=" %", note=note))
        wrong = 100 * float(line["too_large"])
        rows.append(row(f"{what}: too large", wrong, 5.0 if target else None, at_most=True, unit=" %"))
    first = stored[0]
    rows.append(row("discovery: time of refits over a search, Oh, n = 500", float(first["refit_ratio"]), 50.0))
    median = float(np.median([float(line["error_ratio"]) for line in stored if line["error_ratio"]]))
    rows.append(row("discovery: error of .model over that with the true group", median, 1.05, at_most=True))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", default=":", help="which rows to measure, as in 0:4; the others stay as stored")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    chosen = slice(*(int(part) if part else None for part in options.rows.split(":")))
    keys = ("group", "space", "n", "signal_to_noise", "points", "noise")
    stored = {}
    if options.out is not None and options.out.exists():
        with options.out.open(newline="", encoding="utf-8") as file:
            stored = {tuple(line[k] for k in keys): line for line in csv.DictReader(file)}
    wanted, rows = [], list(everything(options.draws))
    for number, (named, measure) in enumerate(rows):
        key = tuple(str(named[k]) for k in keys)
        wanted.append(key)
        if number in range(len(rows))[chosen]:
            stored[key] = {**named, **measure()}
            print(stored[key], flush=True)
    if options.out is not None:
        write(options.out, [stored[key] for key in wanted if key in stored])


def write(path, lines):
    names = list(dict.fromkeys(name for line in lines for name in line))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=names, restval="")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
