"""Run the comparisons, each in a process of its own.

``python -m benchmarks`` runs all, ``python -m benchmarks emlp memory`` these and keeps the others' stored results,
``python -m benchmarks --table`` only writes the figure and the table of README.md again.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.table import measured, table, wanted, write_readme

HERE = Path(__file__).parent

COMPARISONS = {
    "numpy": "torus:fit_against_numpy",
    "kernel-ridge": "torus:fit_against_kernel_ridge",
    "octahedral": "sphere:octahedral",
    "toeplitz": "ridge:toeplitz",
    "emlp": "fixed_space:emlp",
    "emlp-rotations": "fixed_space:emlp_rotations",
    "random-elements": "random_elements:random_elements",
    "symmetric": "sphere:symmetric_group",
    "memory": "torus:memory_and_time_in_n",
    "molecules": "molecules:methane",
    "accuracy": "accuracy:accuracy",
    "coverage": "accuracy:coverage",
    "default-seconds": "default_seconds:default_seconds",
    "ethanol": "molecules:ethanol",
    "acetaldehyde": "molecules:acetaldehyde",
    "large-sphere": "large:sphere",
    "large-rotations": "large:rotations",
    "large-torus": "large:torus",
    "large-cell": "large:cell",
    "large-density": "large:orientations",
    "discovery": "discovery_rates:table_rows",
    "growth": "torus:growth",
    "growth-of-the-fit": "loops:growth_of_the_fit",
    "loops": "loops:fractions_of_peak",
    "gradients": "gradients:cost_of_gradients",
    "gradients-as-data": "gradients:what_gradients_save",
    "invariant-tensors": "equivariant:invariant_tensors",
    "fit-of-vectors": "equivariant:cost_of_a_fit",
    "vectors": "equivariant_accuracy:accuracy_of_vectors",
    "import": "imports:import_time",
    "first-use": "first_use:first_use",
}


def main(arguments: list[str]) -> int:
    """Run what is asked for (everything by default), print the table, write results.json and results.png."""
    if arguments[:1] == ["--one"]:
        print("RESULT " + json.dumps(_one(arguments[1])))
        return 0
    path = HERE / "results.json"
    if arguments == ["--table"]:
        _publish(json.loads(path.read_text())["comparisons"])
        return 0
    unknown = sorted(set(arguments) - set(COMPARISONS))
    if unknown:
        print(f"no comparison called {', '.join(unknown)}; there are: {', '.join(COMPARISONS)}", file=sys.stderr)
        return 2
    stored: dict[str, Any] = json.loads(path.read_text())["comparisons"] if path.exists() else {}
    failed = []
    for name in arguments or COMPARISONS:
        print(f"{name} …", flush=True)
        answer = subprocess.run(
            [sys.executable, "-m", "benchmarks", "--one", name], cwd=HERE.parent, capture_output=True, text=True
        )
        lines = [line for line in answer.stdout.splitlines() if line.startswith("RESULT ")]
        if answer.returncode or not lines:
            print(answer.stdout + answer.stderr, file=sys.stderr)
            failed.append(name)
            continue
        stored[name] = json.loads(lines[-1].removeprefix("RESULT "))
        for row in stored[name]:
            print("  " + _line(row), flush=True)
        _write(path, stored)  # at once: a run that is stopped keeps what it has measured
    _publish(_write(path, stored))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _write(path: Path, stored: dict[str, Any]) -> dict[str, Any]:
    """The results so far, in the order of the comparisons."""
    ordered = {name: stored[name] for name in COMPARISONS if name in stored}
    path.write_text(json.dumps({"machine": _machine(), "comparisons": ordered}, indent=1, ensure_ascii=False) + "\n")
    return ordered


def _one(name: str) -> list[dict[str, Any]]:
    module, function = COMPARISONS[name].split(":")
    return getattr(importlib.import_module(f"benchmarks.{module}"), function)()


def _publish(comparisons: dict[str, Any]) -> None:
    """The table on the terminal and in README.md, and the figure."""
    from benchmarks.figure import draw

    draw([row for rows in comparisons.values() for row in rows], HERE / "results.png")
    write_readme(comparisons, HERE.parent / "README.md")
    print("\n" + table(comparisons))


def _line(row: dict[str, Any]) -> str:
    target = f" (target {wanted(row)})" if wanted(row) else ""
    verdict = {True: " met", False: " MISSED", None: ""}[row["met"]]
    note = f" [{row['note']}]" if row["note"] else ""
    return f"{row['name']}: {measured(row)}{target}{verdict}{note}"


def _machine() -> dict[str, Any]:
    import numpy
    import scipy

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "load": load,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
