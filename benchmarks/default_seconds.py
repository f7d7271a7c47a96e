"""Seconds to a default model: every case of the registry of tests, the basis included."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import row

__all__ = ["default_seconds"]


def _cpu_seconds(space: Any, group: Any, n: int) -> tuple[float, Any]:
    """CPU seconds of one fit; loops are compiled before, and no basis is kept."""
    from specavg.invariants._basis import built_basis

    X = space.sample(n, random_state=0)
    y = np.cos(X).sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=n)
    sa.InvariantKernelRidge(space, group).fit(X[:40], y[:40])
    built_basis.cache_clear()
    start = time.process_time()
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    return time.process_time() - start, model


def default_seconds() -> list[dict[str, Any]]:
    """The slowest case with 200 and with 1,000 points, and 3,000 functions of 1,000 points."""
    from tests.cases import CASES

    warnings.simplefilter("ignore")
    rows = []
    for n in (200, 1000):
        taken = {}
        for case in CASES:
            seconds, model = _cpu_seconds(case.space, case.group, n)
            taken[f"{case.space!r} under {case.group!r}, {model.basis_.dim} functions"] = seconds
        slowest = max(taken, key=lambda name: taken[name])
        rows.append(
            row(
                f"CPU seconds to a default model of {n:,} points, the slowest of {len(taken)} cases of the registry",
                taken[slowest],
                2.0,
                at_most=True,
                unit=" s",
                note=f"{slowest}; the median is {np.median(list(taken.values())):.2g} s",
                each=taken,
            )
        )
    seconds, model = _cpu_seconds(sa.Torus(2), sa.groups.trivial(2), 1000)
    name = f"CPU seconds to a default model of 1,000 points, {model.basis_.dim:,} functions on T²"
    rows.append(row(name, seconds, 10.0, at_most=True, unit=" s"))
    return rows
