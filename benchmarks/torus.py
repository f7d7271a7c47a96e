"""Fits on T^10 under sign flips: against plain NumPy, against kernel ridge, and in pieces that fit in memory."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, exponent, row

SPACE, GROUP = sa.Torus(10), sa.groups.sign_flips(10)


def data(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = SPACE.sample(n, random_state=seed)
    return X, (X**2) @ np.arange(1, 11) / 10 + 0.1 * np.random.default_rng(seed).normal(size=n)


def plain_numpy(X: np.ndarray, y: np.ndarray, tree: Any, rows: int) -> np.ndarray:
    """Mean of y φ, each function its parent times one cosine, in chunks that stay in cache."""
    parent, coordinate = tree.parent.tolist(), tree.coordinate.tolist()
    values = np.empty((len(parent), rows))
    total = np.zeros(len(parent))
    for start in range(0, len(X), rows):
        cosines = np.cos(np.pi * X[start : start + rows].T)
        cosines *= np.sqrt(2.0)
        part = values[:, : cosines.shape[1]]
        part[0] = 1.0
        for k in range(1, len(parent)):
            np.multiply(part[parent[k]], cosines[coordinate[k]], out=part[k])
        total += part @ y[start : start + rows]
    return total / len(X)


def fit_against_numpy() -> list[dict[str, Any]]:
    X, y = data(10**6)
    model = sa.SpecAvgRegressor(SPACE, GROUP, max_invariant_dim=176).fit(X[:1000], y[:1000])
    functions = model.basis_.functions
    tree = functions.tree
    sizes = (1024, 2048, 4096)
    tried = [best_times([lambda s=s: plain_numpy(X[:200_000], y[:200_000], tree, s)], [2])[0] for s in sizes]
    rows = sizes[int(np.argmin(tried))]
    coefficients = plain_numpy(X, y, tree, rows)[functions.wanted]
    assert np.abs(model.fit(X, y).coef_ - coefficients).max() < 1e-12
    sums = y[:, None]
    ours, sums_alone, plain, predict = best_times(
        [
            lambda: model.fit(X, y),
            lambda: functions.correlate(X, sums),
            lambda: plain_numpy(X, y, tree, rows),
            lambda: model.predict(X),
        ],
        [9, 9, 4, 5],
    )
    return [
        row(
            "Spec-Avg fit, T^10, 176 functions, n = 10^6, over plain NumPy",
            plain / ours,
            8,
            seconds=ours,
            baseline_seconds=plain,
            note=f"chunks of {rows} rows; the sums alone: {plain / sums_alone:.0f}×",
        ),
        row("predict, same model, over plain NumPy's sums", plain / predict, seconds=predict),
    ]


def fit_against_kernel_ridge() -> list[dict[str, Any]]:
    from sklearn.kernel_ridge import KernelRidge

    X, y = data(8000)

    def von_mises() -> Any:
        # cos(a − b) by two products: exp Σ cos π(x − z) as one matrix product and one exponential.
        waves = np.concatenate([np.cos(np.pi * X), np.sin(np.pi * X)], axis=1)
        return KernelRidge(alpha=50.0, kernel="precomputed").fit(np.exp(waves @ waves.T), y)

    model = sa.SpecAvgRegressor(SPACE, GROUP, max_invariant_dim=176).fit(X, y)
    ours, theirs = best_times([lambda: model.fit(X, y), von_mises], [20, 2])
    return [
        row(
            "Spec-Avg fit, T^10, 176 functions, n = 8000, over scikit-learn KernelRidge (von Mises)",
            theirs / ours,
            500,
            seconds=ours,
            baseline_seconds=theirs,
            note="both with kernel or features",
        )
    ]


def resident() -> float:
    """Megabytes in use now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def memory_and_time_in_n() -> list[dict[str, Any]]:
    def chunks(n: int, size: int = 250_000) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, n, size):
            yield pool[(start // size) % len(pool)]

    pool = [data(250_000, seed) for seed in range(4)]  # reused: drawing points is not what is timed
    model = sa.SpecAvgRegressor(SPACE, GROUP, max_invariant_dim=176)
    model.fit(iter([(X[:1000], y[:1000]) for X, y in pool]))  # compiles
    before = resident()
    seconds = {}
    for n in (10**5, 10**6, 10**7):
        seconds[n] = best_times([lambda n=n: model.fit(chunks(n))], [3 if n < 10**7 else 2])[0]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    return [
        row(
            "n = 10^7 in chunks, T^10, 176 functions: peak memory above the input",
            grown,
            500,
            at_most=True,
            unit=" MB",
        ),
        row(
            "time of n = 10^7 over n = 10^6, same",
            seconds[10**7] / seconds[10**6],
            11,
            at_most=True,
            seconds=seconds[10**7],
        ),
        row(
            "growth in n of the fit (theory: 1)",
            exponent(list(seconds), list(seconds.values())),
            unit="",
            note=f"exponent from 10^5 to 10^7; from 10^6 {np.log10(seconds[10**7] / seconds[10**6]):.2f}",
        ),
    ]


def growth() -> list[dict[str, Any]]:
    """Exponents in D (at fixed n) and in d (at fixed degree), beside the theorem's."""
    X, y = data(200_000)
    sums = y[:, None]
    dims, seconds = [], []
    for bound in (396, 738, 1_300, 4_000, 12_000):
        basis = sa.invariant_basis(SPACE, GROUP, max_invariant_dim=bound)
        if basis.dim in dims:
            continue
        basis.functions.correlate(X[:1000], sums[:1000])
        dims.append(basis.dim)
        seconds.append(best_times([lambda b=basis: b.functions.correlate(X, sums)], [3])[0])
    in_D = exponent(dims, seconds)
    widths, across = [20, 40, 80, 160], []
    for d in widths:
        space, group = sa.Torus(d), sa.groups.sign_flips(d)
        basis = sa.invariant_basis(space, group, max_eigenvalue=1.0 * np.pi**2)
        points = space.sample(50_000, random_state=0)
        basis.functions.correlate(points[:1000], sums[:1000])
        across.append(best_times([lambda b=basis, p=points: b.functions.correlate(p, sums[:50_000])], [5])[0])
    return [
        row(
            "growth in D of Σ y φ on T^10 (theory: 1)", in_D, unit="", note=f"exponent, D from {dims[0]} to {dims[-1]}"
        ),
        row(
            "growth in d of Σ y φ on T^d, |k|² ≤ 1, D = d + 1 (theory: 1)",
            exponent(widths, across),
            unit="",
            note="exponent, d from 20 to 160",
        ),
    ]
