"""Fits on spheres: S² against SciPy's harmonics, and S_d on S^{d−1} from 10^6 to 10^2567 elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, row, spread

DEGREE = 30


def scipy_harmonics(X: np.ndarray, y: np.ndarray, degree: int, rows: int) -> np.ndarray:
    """Σ y Y for all harmonics up to a degree: SciPy's table, then one matrix-vector product a chunk."""
    from scipy.special import sph_harm_y_all

    total: Any = 0.0
    for start in range(0, len(X), rows):
        x = X[start : start + rows]
        table = sph_harm_y_all(degree, degree, np.arccos(np.clip(x[:, 2], -1, 1)), np.arctan2(x[:, 1], x[:, 0]))
        total = total + table.reshape(-1, len(x)) @ y[start : start + rows]
    return total / len(X)


def octahedral() -> list[dict[str, Any]]:
    space, group = sa.Sphere(3), sa.groups.point_group("O")
    X = space.sample(10**6, random_state=0)
    y = np.random.default_rng(0).normal(size=len(X)) + X[:, 2] ** 2
    model = sa.SpecAvgRegressor(space, group, max_eigenvalue=DEGREE * (DEGREE + 1.0)).fit(X[:1000], y[:1000])
    functions = model.basis_.functions
    everything = sa.invariant_basis(space, max_eigenvalue=DEGREE * (DEGREE + 1.0)).functions
    everything.correlate(X[:1000], y[:1000, None])
    rows = 20_000
    small = scipy_harmonics(X[:2000], y[:2000], DEGREE, rows).reshape(DEGREE + 1, -1)
    check = everything.correlate(X[:2000], y[:2000, None])[:, 0] / 2000
    assert abs(check[4] - small[2, 0].real * np.sqrt(4 * np.pi)) < 1e-12  # degree 2, order 0
    ours, sums_alone, whole, theirs = best_times(
        [
            lambda: model.fit(X, y),
            lambda: functions.correlate(X, y[:, None]),
            lambda: everything.correlate(X, y[:, None]),
            lambda: scipy_harmonics(X, y, DEGREE, rows),
        ],
        [5, 5, 3, 1],
    )
    return [
        row(
            "Spec-Avg fit, S², octahedral, degree 30, n = 10^6, over SciPy harmonics + GEMV",
            theirs / ours,
            50,
            seconds=ours,
            baseline_seconds=theirs,
            note=f"without canonical points {theirs / sums_alone:.0f}×; all 961 harmonics {theirs / whole:.0f}×",
        ),
    ]


def symmetric_group() -> list[dict[str, Any]]:
    n, sizes, seconds = 4000, (10, 30, 100, 300, 1000), {}
    tasks = []
    for d in sizes:
        space, group = sa.Sphere(d), sa.groups.symmetric(d)
        X = space.sample(n, random_state=0)
        y = (X**3).sum(axis=1)
        model = sa.SpecAvgRegressor(space, group, max_eigenvalue=4.0 * (d + 2)).fit(X, y)
        tasks.append(lambda m=model, X=X, y=y: m.fit(X, y))
    for d, best in zip(sizes, best_times(tasks, [7] * len(tasks)), strict=True):
        seconds[d] = best / d
    averaged = {}
    for d in (3, 4, 5, 6, 7):  # |G| = d!, every element of which the averaged kernel visits
        space, group = sa.Sphere(d), sa.groups.symmetric(d)
        X = space.sample(300, random_state=0)
        y = (X**3).sum(axis=1)
        kernel = sa.baselines.SpectralKernel(space, spectrum="heat", length_scale=0.5, max_eigenvalue=4.0 * (d + 2))
        ridge = sa.baselines.GroupAveragedKernelRidge(kernel=kernel, group=group, alpha=1e-3)
        averaged[d] = best_times([lambda r=ridge, X=X, y=y: r.fit(X, y)], [1])[0] / d
        if averaged[d] * d > 30:
            break
    flat = [seconds[d] for d in sizes if d >= 100]
    return [
        row(
            "S_d on S^{d−1}, degree ≤ 4, n = 4000: time per coordinate, d = 1000 over d = 100",
            seconds[1000] / seconds[100],
            1.5,
            at_most=True,
            note=f"|G| up to 10^2567; spread {spread(flat):.2f}; ms a coordinate: "
            + ", ".join(f"{1e3 * s:.2g} (d = {d})" for d, s in seconds.items())
            + "; kernel ridge averaged over the group, n = 300: "
            + ", ".join(f"{1e3 * s:.2g} (d = {d})" for d, s in averaged.items()),
            seconds_per_coordinate={str(d): s for d, s in seconds.items()},
            group_averaged_kernel_ridge_seconds_per_coordinate={str(d): s for d, s in averaged.items()},
        )
    ]
