"""Wall time of a call: the least of a few repetitions, as little disturbed as possible by other work."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any


def seconds(call: Callable[[], Any], repeat: int = 3) -> float:
    """The shortest of up to `repeat` calls; no further call is made once a second is spent."""
    best, spent = math.inf, 0.0
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        elapsed = time.perf_counter() - start
        best, spent = min(best, elapsed), spent + elapsed
        if spent > 1.0:
            break
    return best


def duration(value: float) -> str:
    """Seconds for a person."""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
