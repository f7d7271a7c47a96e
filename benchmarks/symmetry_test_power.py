"""False alarms and power of `sa.symmetry_test`: true, nearly true and broken symmetries.

    python benchmarks/symmetry_test_power.py [--runs 400] [--rows 0:40] [--out benchmarks/symmetry_test_power.csv]

Each line is one situation: how often the test rejects at 5 %, overall and for the generator that is broken (or the
first one), how often it blames the other generators, and the mean share of the explained variance that it finds outside
the invariant functions. `low` and `high` are the exact binomial 95 % interval of the overall rate.

Points are uniform, or crowded: a bell of width 0.35 around 0.2 in each coordinate of the torus, directions of
normal vectors around (0.6, 0.2, 0.5) on the sphere. The breaking part is √2 sin πx₂ on the torus, which breaks the
second generator only, and √15 xz on the sphere, which breaks all three. Where the symmetry is not true, half as many
runs are made.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import specavg as sa
from specavg import groups

LEVEL = 0.05


@dataclass(frozen=True)
class Problem:
    """A symmetric function, and one of variance one on uniform points that breaks a generator."""

    space: sa.spaces.Space
    group: groups.Group
    functions: dict[str, Callable]
    breaking: Callable
    broken: int  # which generator


@dataclass(frozen=True)
class Situation:
    problem: Problem
    function: str
    points: str
    size: float  # standard deviation of the breaking part
    noise: str
    sigma: float
    n: int

    @property
    def symmetry(self) -> str:
        return "true" if self.size == 0 else "nearly true" if self.size <= 0.1 else "broken"


def smooth(X):
    return np.exp(np.cos(np.pi * X).sum(axis=1)) / 3


def kinked(X):
    """The paper's target: not smooth at ±1."""
    return (X**2) @ np.arange(1, X.shape[1] + 1) / X.shape[1]


def odd(X):
    return np.sqrt(2) * np.sin(np.pi * X[:, 1])


TORUS = Problem(sa.Torus(3), groups.sign_flips(3), {"smooth": smooth, "kinked": kinked}, odd, 1)
LARGE_TORUS = Problem(sa.Torus(10), groups.sign_flips(10), {"kinked": kinked}, odd, 1)
SPHERE = Problem(
    sa.Sphere(3),
    groups.point_group("D4h"),
    {
        "smooth": lambda X: X[:, 2] ** 2 + X[:, 0] ** 4 + X[:, 1] ** 4,
        "kinked": lambda X: np.abs(X[:, 2]) + np.sqrt(np.abs(X[:, 0] * X[:, 1])),
    },
    lambda X: np.sqrt(15) * X[:, 0] * X[:, 2],
    0,
)

NOISE = {
    "normal": lambda rng, X: rng.normal(size=len(X)),
    "t3": lambda rng, X: rng.standard_t(3, size=len(X)) / np.sqrt(3),
    "exponential": lambda rng, X: rng.exponential(size=len(X)) - 1,
    "uneven": lambda rng, X: np.sqrt(2) * np.sin(np.pi * X[:, 0] / 2) * rng.normal(size=len(X)),
    "none": lambda rng, X: np.zeros(len(X)),
}


def situations() -> Iterator[Situation]:
    """True symmetries, with noise and none, on even and crowded points; then power. Small samples first."""
    for n in (200, 400):
        for problem in (TORUS, SPHERE):
            yield Situation(problem, "smooth", "uniform", 0.0, "normal", 0.2, n)
            yield Situation(problem, "kinked", "uniform", 0.0, "none", 0.0, n)
            yield Situation(problem, "kinked", "crowded", 0.0, "normal", 0.2, n)
            yield Situation(problem, "kinked", "crowded", 0.0, "none", 0.0, n)
    for noise in ("t3", "exponential", "uneven"):
        yield Situation(TORUS, "smooth", "uniform", 0.0, noise, 0.2, 400)
    for n in (200, 400):
        for problem, sizes in ((TORUS, (0.05, 0.1, 0.5)), (SPHERE, (0.05, 0.1, 0.3))):
            for size in sizes:
                yield Situation(problem, "smooth", "uniform", size, "normal", 0.2, n)
            yield Situation(problem, "kinked", "crowded", 0.05, "none", 0.0, n)
    for points, noise, sigma in (("uniform", "normal", 0.3), ("crowded", "normal", 0.3), ("crowded", "none", 0.0)):
        yield Situation(LARGE_TORUS, "kinked", points, 0.0, noise, sigma, 1000)
    yield Situation(LARGE_TORUS, "kinked", "uniform", 0.1, "normal", 0.3, 1000)
    for n in (1000, 2000, 5000):
        for problem in (TORUS, SPHERE):
            yield Situation(problem, "smooth", "uniform", 0.0, "normal", 0.2, n)
            yield Situation(problem, "kinked", "crowded", 0.0, "none", 0.0, n)
            if n == 1000:
                yield Situation(problem, "smooth", "uniform", 0.05, "normal", 0.2, n)


def points(case: Situation, rng: np.random.Generator) -> np.ndarray:
    space = case.problem.space
    if case.points == "uniform":
        return space.sample(case.n, random_state=rng)
    if isinstance(space, sa.Sphere):
        X = rng.normal([0.6, 0.2, 0.5], 0.5, size=(case.n, 3))
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    return (rng.normal(0.2, 0.35, size=(case.n, space.dim)) + 1) % 2 - 1


def rejections(case: Situation, runs: int, first_seed: int = 0) -> tuple[int, np.ndarray, float]:
    """Rejections overall and per generator, and the mean share outside."""
    problem = case.problem
    overall, parts, outside = 0, np.zeros(len(problem.group.generators)), 0.0
    for seed in range(first_seed, first_seed + runs):
        rng = np.random.default_rng([seed, case.n])
        X = points(case, rng)
        y = problem.functions[case.function](X) + case.size * problem.breaking(X)
        y += case.sigma * NOISE[case.noise](rng, X)
        found = sa.symmetry_test(X, y, problem.space, problem.group)
        overall += found.p_value < LEVEL
        parts += [g.p_value < LEVEL for g in found.generators]
        outside += found.outside / runs
    return overall, parts / runs, outside


def interval(count: int, runs: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a rate."""
    from scipy.stats import binomtest

    found = binomtest(count, runs).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--out", default="benchmarks/symmetry_test_power.csv")
    parser.add_argument("--rows", default=":", help="which situations, as a slice; others in the file are kept")
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    first, last = (int(end) if end else None for end in options.rows.split(":"))
    header = ["space", "symmetry", "function", "points", "breaking", "noise", "sigma", "n", "runs"]
    header += ["overall", "low", "high", "generator", "others", "outside"]
    new = options.rows == ":" or not os.path.exists(options.out)
    with open(options.out, "w" if new else "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(header)
        print(" ".join(f"{name:>11}" for name in header))
        for case in list(situations())[first:last]:
            start = time.process_time()
            runs = options.runs if case.size == 0 else options.runs // 2
            overall, parts, outside = rejections(case, runs, options.first_seed)
            others = np.delete(parts, case.problem.broken)
            row = [repr(case.problem.space), case.symmetry, case.function, case.points, case.size]
            row += [case.noise, case.sigma, case.n, runs, f"{overall / runs:.3f}"]
            row += [f"{end:.3f}" for end in interval(overall, runs)]
            row += [f"{parts[case.problem.broken]:.3f}", f"{others.mean():.3f}", f"{outside:.4f}"]
            writer.writerow(row)
            file.flush()
            print(" ".join(f"{cell!s:>11}" for cell in row), f"  {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
