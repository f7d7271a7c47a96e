"""How near each compiled loop comes to what the machine can do, and how its time grows."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, dgemm_peak, exponent, row

CASES: dict[str, tuple[Any, Any, dict[str, float], int]] = {
    "cosine tree, T^10": (sa.Torus(10), sa.groups.sign_flips(10), {"max_invariant_dim": 738}, 300_000),
    "wave tree, T^4": (sa.Torus(4), sa.groups.trivial(4), {"max_dim": 1000}, 200_000),
    "Gegenbauer tree, S^9": (sa.Sphere(10), sa.groups.trivial(10), {"max_eigenvalue": 4.0 * 12}, 200_000),
    "monomial tree, S^9, cyclic shifts": (
        sa.Sphere(10),
        sa.groups.cyclic_shifts(10),
        {"max_eigenvalue": 4.0 * 12},
        200_000,
    ),
    "recurrences, S², degree 30": (sa.Sphere(3), sa.groups.trivial(3), {"max_eigenvalue": 30.0 * 31}, 200_000),
    "Wigner functions, degree 10": (sa.Rotations(), sa.groups.trivial(3), {"max_eigenvalue": 10.0 * 11}, 50_000),
    "symmetric functions, T^10, S_10": (sa.Torus(10), sa.groups.symmetric(10), {"max_invariant_dim": 300}, 100_000),
    "symmetric functions, T^100, S_100": (sa.Torus(100), sa.groups.symmetric(100), {"max_invariant_dim": 100}, 50_000),
}


def fractions_of_peak() -> list[dict[str, Any]]:
    """Two operations for each function evaluated and each point, as in the matrix product that is not done.

    Where the projection comes after the sum, functions before it count: those are what is evaluated. Both in CPU
    seconds of all threads, which other processes change less than the time on the clock.
    """
    peak = dgemm_peak(clock=process_time)
    rows = []
    for name, (space, group, cutoff, n) in CASES.items():
        functions = sa.invariant_basis(space, group, **cutoff).functions
        X = space.check_points(space.sample(n, random_state=0))
        Y, C = np.ones((n, 1)), np.ones((functions.dim, 1))
        part = X[: n // 10]
        tasks = [lambda: functions.correlate(X, Y), lambda: functions.combine(X, C), lambda: functions.evaluate(part)]  # noqa: B023
        for task in tasks:
            task()
        sums, combination, values = best_times(tasks, [4, 4, 4], process_time)
        evaluated = getattr(functions, "_source", functions).dim
        flops = 2.0 * evaluated * n
        rows.append(
            row(
                f"fraction of dgemm peak, sums: {name}, {evaluated} functions",
                flops / sums / peak,
                unit="",
                note=f"predictions {flops / combination / peak:.2g}, features {flops / 10 / values / peak:.2g}",
                nanoseconds_a_value={
                    "sums": 1e9 * sums / evaluated / n,
                    "predictions": 1e9 * combination / evaluated / n,
                    "features": 1e10 * values / evaluated / n,
                },
                peak_flops=peak,
            )
        )
    return rows


def growth_of_the_fit() -> list[dict[str, Any]]:
    """Algorithm 1 with the theorem's D = n^(1/(1 + α)), α = 2 (the default s = d): time n^((2 + α)/(1 + α))."""
    space = sa.Torus(3)
    sizes, seconds, dims = (10**5, 3 * 10**5, 10**6, 3 * 10**6), [], []
    X = space.sample(max(sizes), random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)
    model = sa.SpecAvgRegressor(space)
    for n in sizes:
        model.fit(X[:n], y[:n])
        seconds.append(best_times([lambda n=n: model.fit(X[:n], y[:n])], [3])[0])
        dims.append(model.basis_.dim)
    return [
        row(
            "growth in n of a fit with D = n^(1/3) chosen, T³ (theorem: 4/3 at most)",
            exponent(sizes, seconds),
            unit="",
            note=f"exponent, n from 10^5 to 3·10^6, D from {dims[0]} to {dims[-1]}",
        )
    ]
