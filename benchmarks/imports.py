"""How long ``import specavg`` takes beside ``import sklearn``: fresh processes, alternating."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from benchmarks.timing import best_times, row


def _start(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


def import_time() -> list[dict[str, Any]]:
    for module in ("specavg", "sklearn"):
        _start(module)
    use = "specavg; specavg.SpecAvgRegressor"
    ours, theirs, using = best_times(
        [lambda: _start("specavg"), lambda: _start("sklearn"), lambda: _start(use)], [9, 9, 9]
    )
    return [
        row(
            "import specavg over import sklearn",
            ours / theirs,
            1.3,
            at_most=True,
            seconds=ours,
            baseline_seconds=theirs,
            note=f"whole processes; with an estimator looked up: {using / theirs:.2f}×",
        )
    ]
