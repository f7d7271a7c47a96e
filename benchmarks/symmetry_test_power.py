"""False positives and power of `sa.symmetry_test`: true, nearly true and broken symmetries.

    python benchmarks/symmetry_test_power.py [--repetitions 500] [--out symmetry_test_power.csv]

Each line is one situation: how often the test rejects at 5 %, overall and for the generator that is broken (or the
first one), and how often the other generators are rejected. With R repetitions a true rate of 5 % is measured with a
standard error of sqrt(0.0475/R).
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass

import numpy as np

import specavg as sa
from specavg import groups

LEVEL = 0.05


@dataclass(frozen=True)
class Situation:
    name: str
    space: sa.spaces.Space
    group: groups.Group
    invariant: object  # X -> values of an invariant function
    breaking: object  # X -> values of a function that breaks one generator, of variance one
    broken: int  # which generator
    size: float  # standard deviation of the breaking part
    noise: str
    sigma: float
    n: int
    n_permutations: int = 0


NOISE = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t3": lambda rng, n: rng.standard_t(3, size=n) / np.sqrt(3),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "none": lambda rng, n: np.zeros(n),
}


def situations():
    torus = (sa.Torus(3), groups.sign_flips(3))
    smooth = lambda X: np.exp(np.cos(np.pi * X).sum(axis=1)) / 3  # noqa: E731
    kinked = lambda X: (X**2) @ np.arange(1, 4) / 3  # the paper's target, not smooth at ±1  # noqa: E731
    odd = lambda X: np.sqrt(2) * np.sin(np.pi * X[:, 1])  # noqa: E731
    sphere = (sa.Sphere(3), groups.point_group("D4h"))
    octic = lambda X: X[:, 2] ** 2 + X[:, 0] ** 4 + X[:, 1] ** 4  # noqa: E731
    tilt = lambda X: np.sqrt(15) * X[:, 0] * X[:, 2]  # noqa: E731
    for noise in ("normal", "t3", "exponential"):
        yield Situation("true", *torus, smooth, odd, 1, 0.0, noise, 0.2, 400)
    yield Situation("true, permutations", *torus, smooth, odd, 1, 0.0, "t3", 0.2, 400, 199)
    yield Situation("true, kinked, noise", *torus, kinked, odd, 1, 0.0, "normal", 0.2, 400)
    yield Situation("true, kinked, no noise", *torus, kinked, odd, 1, 0.0, "none", 0.0, 400)
    yield Situation("true", *torus, smooth, odd, 1, 0.0, "normal", 0.2, 2000)
    for size in (0.02, 0.05, 0.1):
        for n in (400, 2000):
            yield Situation("nearly true", *torus, smooth, odd, 1, size, "normal", 0.2, n)
    yield Situation("broken", *torus, smooth, odd, 1, 0.5, "normal", 0.2, 400)
    yield Situation("true", *sphere, octic, tilt, 0, 0.0, "normal", 0.2, 500)
    yield Situation("nearly true", *sphere, octic, tilt, 0, 0.05, "normal", 0.2, 500)
    yield Situation("broken", *sphere, octic, tilt, 0, 0.3, "normal", 0.2, 500)


def rejections(case: Situation, repetitions: int) -> tuple[float, np.ndarray, float]:
    """Rates of rejection overall and per generator, and the mean share outside."""
    overall, parts, outside = 0, np.zeros(len(case.group.generators)), 0.0
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, case.n])
        X = case.space.sample(case.n, random_state=rng)
        y = case.invariant(X) + case.size * case.breaking(X) + case.sigma * NOISE[case.noise](rng, case.n)
        found = sa.symmetry_test(X, y, case.space, case.group, n_permutations=case.n_permutations, random_state=seed)
        overall += found.p_value < LEVEL
        parts += [g.p_value < LEVEL for g in found.generators]
        outside += found.outside
    return overall / repetitions, parts / repetitions, outside / repetitions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--out", default="symmetry_test_power.csv")
    options = parser.parse_args()
    header = ["space", "symmetry", "size", "noise", "sigma", "n", "overall", "broken generator", "others", "outside"]
    with open(options.out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        print(" ".join(f"{name:>12}" for name in header))
        for case in situations():
            start = time.process_time()
            overall, parts, outside = rejections(case, options.repetitions)
            others = np.delete(parts, case.broken)
            row = [repr(case.space), case.name, case.size, case.noise, case.sigma, case.n]
            row += [f"{overall:.3f}", f"{parts[case.broken]:.3f}", f"{others.mean():.3f}", f"{outside:.4f}"]
            writer.writerow(row)
            file.flush()
            print(" ".join(f"{cell!s:>12}" for cell in row), f"  {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
