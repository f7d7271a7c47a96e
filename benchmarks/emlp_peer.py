"""emlp 1.0.3 in an environment of its own, and calls of ours in fresh processes to stand beside it.

A time is that of the clock or of the processor, whichever is less: a busy machine slows the first, and several threads
add up in the second.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import row

__all__ = ["SECONDS", "emlp_answer", "ensure_emlp", "first_and_later", "first_call"]

HERE = Path(__file__).parent
ENVIRONMENT = HERE / ".emlp"
PYTHON = "EMLP_PYTHON"  # environment variable: an interpreter that has emlp 1.0.3 already
SECONDS = 600  # emlp is given this long for one case

SCRIPT = """
import json, resource, sys, time
import numpy as np
import jax
jax.config.update("jax_enable_x64", True)
from emlp.groups import Group
from emlp.reps import T

given = json.load(sys.stdin)

class Given(Group):
    def __init__(self):
        if given["generators"]:
            self.discrete_generators = np.array(given["generators"])
            self.d = self.discrete_generators.shape[1]
        if given["fields"]:
            self.lie_algebra = np.array(given["fields"])
            self.d = self.lie_algebra.shape[1]
        super().__init__()

rep = T(given["order"])(Given())
times, start = [], time.perf_counter()
while not times or (len(times) < 5 and time.perf_counter() - start < 60):  # the first run compiles
    if hasattr(rep, "solcache"):
        rep.solcache.clear()
    begin = time.perf_counter(), time.process_time()
    size = int(np.asarray(rep.equivariant_basis()).shape[-1])
    times.append(min(time.perf_counter() - begin[0], time.process_time() - begin[1]))
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
answer = {"seconds": min(times), "first": times[0], "dim": size, "megabytes": megabytes, "jax": jax.__version__}
print(json.dumps(answer))
"""

OURS = """
import time
import numpy as np, scipy.linalg, scipy.sparse.csgraph
import specavg as sa
{setup}
begin = time.perf_counter(), time.process_time()
found = {call}
print(min(time.perf_counter() - begin[0], time.process_time() - begin[1]))
"""


def ensure_emlp() -> Path | str:
    """The interpreter of an environment with emlp, made on demand; or why there is none."""
    given = os.environ.get(PYTHON)
    python = Path(given) if given else ENVIRONMENT / "bin" / "python"
    problem = _import_problem(python)
    if problem and not given:
        print("making an environment for emlp 1.0.3 …", flush=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True, capture_output=True)
            install = [python, "-m", "pip", "install", "--quiet", "emlp==1.0.3", "six"]
            subprocess.run(install, check=True, capture_output=True, timeout=1200)
        except (subprocess.SubprocessError, OSError) as error:
            return f"emlp 1.0.3 could not be installed ({type(error).__name__})"
        problem = _import_problem(python)
    return problem or python


def _import_problem(python: Path) -> str:
    """Why this interpreter cannot run emlp 1.0.3; nothing where it can."""
    if not python.exists():
        return f"there is no interpreter for emlp 1.0.3 ({PYTHON} names none that exists)"
    code = "import emlp.reps, importlib.metadata as m; assert m.version('emlp') == '1.0.3', m.version('emlp')"
    probe = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    if probe.returncode:
        return "emlp 1.0.3 cannot be imported: " + probe.stderr.strip().splitlines()[-1][:100]
    return ""


def emlp_answer(
    python: Path | str, generators: Sequence[np.ndarray], fields: Sequence[np.ndarray], order: int
) -> dict[str, Any] | str:
    """What emlp says of the tensors of an order: times and dimension, nothing if time is up, or how it failed.

    "first" is its first call in a fresh process, after all imports: it compiles, and keeps its answer. "seconds" is the
    best of up to five calls within a minute, its store of answers cleared before each.
    """
    if isinstance(python, str):
        return python
    given = {"generators": [g.tolist() for g in generators], "fields": [A.tolist() for A in fields], "order": order}
    try:
        answer = subprocess.run(
            [str(python), "-c", SCRIPT],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {}
    if answer.returncode:
        reason = (answer.stderr.strip().splitlines() or ["no message"])[-1][-100:]
        return f"emlp failed (exit {answer.returncode}): {reason}"
    return json.loads(answer.stdout.strip().splitlines()[-1])


def first_call(setup: str, call: str, repeats: int = 5) -> float:
    """Seconds of the first call in a fresh process after all imports, the best of some processes."""
    code = OURS.format(setup=setup, call=call)
    runs = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE.parent)
        for _ in range(repeats)
    )
    return min(float(run.stdout.strip().splitlines()[-1]) for run in runs)


def first_and_later(
    title: str, dim: int, ours: tuple[float, float], theirs: dict[str, Any] | str, target: float, note: str = ""
) -> list[dict[str, Any]]:
    """Two rows: the first call of a fresh process over emlp's first call, and later calls over its later calls.

    The same dimension is asserted, not noted.
    """
    names = [f"{title}, first call", f"{title}, later calls"]
    if isinstance(theirs, str) or "dim" not in theirs:
        why = theirs if isinstance(theirs, str) else f"emlp did not finish in {SECONDS} s"
        found = [
            row(name, np.nan, target, seconds=own, note=f"dim {dim}; {why}")
            for name, own in zip(names, ours, strict=True)
        ]
        return [{**line, "met": None} for line in found]
    assert theirs["dim"] == dim, f"{title}: emlp finds {theirs['dim']} tensors, we find {dim}"
    known = f"dim {dim}, as emlp finds{note}"
    said = [
        f"{known}; both in a fresh process, imports excluded: emlp compiles, and keeps its answer",
        f"{known}; emlp is compiled by then, its store of answers cleared before each call",
    ]
    seconds = [theirs["first"], theirs["seconds"]]
    return [
        row(name, other / own, target, seconds=own, baseline_seconds=other, note=text)
        for name, other, own, text in zip(names, seconds, ours, said, strict=True)
    ]
