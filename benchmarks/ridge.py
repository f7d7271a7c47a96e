"""Ridge regression on T² with 10^4 frequencies: Toeplitz, against forming the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, dgemm_peak, row


def toeplitz() -> list[dict[str, Any]]:
    from scipy.linalg.blas import dsyrk

    space, group, n = sa.Torus(2), sa.groups.hyperoctahedral(2), 10**6
    X = space.sample(n, random_state=0)
    rng = np.random.default_rng(0)
    y = np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.1 * rng.normal(size=n)
    given = sa.InvariantKernelRidge(
        space, group, spectrum="matern", smoothness=2.0, length_scale=0.3, alpha=1.0, max_dim=10**4
    )
    chosen = sa.InvariantKernelRidge(space, group, max_dim=10**4)
    for model in (given, chosen):  # compiles, and finds the basis
        model.fit(X[:40_000], y[:40_000])
    functions = given.basis_.functions

    def gram() -> np.ndarray:
        total = np.zeros((functions.dim, functions.dim), order="F")
        for rows in functions.chunks(n):
            total = dsyrk(1.0, functions.values(X[rows]).T, beta=1.0, c=total, overwrite_c=1)
        return total

    ours, automatic, theirs = best_times([lambda: given.fit(X, y), lambda: chosen.fit(X, y), gram], [4, 2, 1])
    given.fit(X, y)
    steps = getattr(given, "n_iterations_", None)
    Z = space.sample(1000, random_state=1)
    error = float(np.abs(given.predict(Z) - np.exp(np.cos(np.pi * Z).sum(axis=1))).max())
    flops = float(n) * functions.dim**2
    return [
        row(
            f"ridge fit, T², hyperoctahedral(2), {functions.dim} functions, n = 10^6, over dsyrk of the Gram matrix",
            theirs / ours,
            30,
            seconds=ours,
            baseline_seconds=theirs,
            note=f"solver {given.solver_}, {steps} steps; spectrum and alpha given; largest error {error:.1e}",
        ),
        row(
            "the same with spectrum and alpha chosen from the data",
            theirs / automatic,
            seconds=automatic,
            note=f"solver {chosen.solver_}, {len(chosen.trials_)} trials",
        ),
        row("fraction of dgemm peak: dsyrk with compiled features", flops / theirs / dgemm_peak(), unit=""),
    ]
