"""Time several things fairly: interleaved in one process, the best of several runs of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["best_times", "dgemm_peak", "exponent", "row", "spread"]


def best_times(
    tasks: Sequence[Callable[[], Any]], repeats: Sequence[int], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of each task, its best of `repeats`; runs alternate, so that a busy moment hits all of them."""
    best = [np.inf] * len(tasks)
    for i in range(max(repeats)):
        for k, task in enumerate(tasks):
            if i < repeats[k]:
                start = clock()
                task()
                best[k] = min(best[k], clock() - start)
    return best


def dgemm_peak(size: int = 1500, repeats: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Floating-point operations a second of a large matrix product, all threads, measured now."""
    A = np.random.default_rng(0).normal(size=(size, size))
    seconds = best_times([lambda: A @ A], [repeats], clock)[0]
    return 2 * size**3 / seconds


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log sizes."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def spread(values: Sequence[float]) -> float:
    """The largest over the smallest."""
    return float(max(values) / min(values))


def row(
    name: str,
    value: float,
    target: float | None = None,
    *,
    at_most: bool = False,
    unit: str = "×",
    note: str = "",
    **numbers: Any,
) -> dict[str, Any]:
    """One line of the table of results."""
    met = None if target is None else bool(value <= target if at_most else value >= target)
    return {
        "name": name,
        "value": float(value),
        "target": target,
        "at_most": at_most,
        "unit": unit,
        "met": met,
        "note": note,
        **numbers,
    }
