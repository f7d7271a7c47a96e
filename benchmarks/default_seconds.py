"""Seconds to a default model: every case of the registry of tests, the basis included."""

from __future__ import annotations

import functools
import gc
import pickle
import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import specavg as sa
from benchmarks.timing import row
from specavg.functions._few_rows import FEW_ROWS

__all__ = ["default_seconds"]

TARGET = 2.0  # CPU seconds of one thread


def _noisy(space: Any, group: Any, X: Any) -> Any:
    """A smooth function, mostly without the symmetry, and noise of a tenth."""
    return np.cos(X).sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=len(X))


def _smooth(space: Any, group: Any, X: Any) -> Any:
    """A smooth invariant function without noise, which no basis holds; the noisy one where all is constant."""
    with suppress(ValueError):  # no invariant function within reach
        first = sa.invariant_basis(space, group, max_invariant_dim=5).evaluate(X)[:, 1:4]
        if first.shape[1]:
            return np.exp(0.5 * first.sum(axis=1))
    return _noisy(space, group, X)


def _cpu_seconds(space: Any, group: Any, n: int, target: Any = _noisy) -> tuple[float, Any]:
    """CPU seconds of one fit; loops are compiled before, and nothing else that was found before is kept."""
    X = space.sample(max(n, FEW_ROWS + 8), random_state=0)
    y = target(space, group, X)
    if n > FEW_ROWS:  # up to there nothing is compiled
        sa.InvariantKernelRidge(space, group).fit(X[: FEW_ROWS + 8], y[: FEW_ROWS + 8])
    _forget()
    space, group = pickle.loads(pickle.dumps((space, group)))  # without what they remember
    start = time.process_time()
    model = sa.InvariantKernelRidge(space, group).fit(X[:n], y[:n])
    return time.process_time() - start, model


def _forget() -> None:
    """Empty every cache of the package that holds bases, tables or structures."""
    for found in gc.get_objects():
        if isinstance(found, functools._lru_cache_wrapper) and str(found.__module__).startswith("specavg"):
            found.cache_clear()


def default_seconds() -> list[dict[str, Any]]:
    """The slowest case with 200 and with 1,000 points, how many take longer than wanted, and 3,000 functions."""
    from tests.cases import CASES

    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):  # threads that wait for each other would count twice
        return _of_one_thread(CASES)


def _of_one_thread(cases: Any) -> list[dict[str, Any]]:
    _cpu_seconds(sa.Torus(1), sa.groups.trivial(1), 100)  # imports
    rows = []
    for n, target, kind in ((200, _noisy, ""), (1000, _noisy, ""), (1000, _smooth, " of smooth targets without noise")):
        taken = {}
        for case in cases:
            seconds, model = _cpu_seconds(case.space, case.group, n, target)
            taken[f"{case.space!r} under {case.group!r}, {model.basis_.dim} functions"] = seconds
        slowest = max(taken, key=lambda name: taken[name])
        late = sum(seconds > TARGET for seconds in taken.values())
        points = f"{n:,} points{kind}"
        rows.append(
            row(
                f"CPU seconds to a default model of {points}, the slowest of {len(taken)} cases of the registry",
                taken[slowest],
                TARGET,
                at_most=True,
                unit=" s",
                note=f"{slowest}; {late} of {len(taken)} take more than {TARGET:g} s, the median is "
                f"{np.median(list(taken.values())):.2g} s",
                each=taken,
            )
        )
        rows.append(
            row(
                f"cases of the registry whose default model of {points} takes more than {TARGET:g} CPU seconds",
                float(late),
                0.0,
                at_most=True,
                unit="",
            )
        )
    seconds, model = _cpu_seconds(sa.Torus(2), sa.groups.trivial(2), 1000)
    name = f"CPU seconds to a default model of 1,000 points, {model.basis_.dim:,} functions on T²"
    rows.append(row(name, seconds, 10.0, at_most=True, unit=" s"))
    return rows
