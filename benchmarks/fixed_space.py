"""Fixed vectors of tensor representations, against emlp 1.0.3 in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, row

HERE = Path(__file__).parent
ENVIRONMENT = HERE / ".emlp"
PYTHON = "EMLP_PYTHON"  # environment variable: an interpreter that has emlp 1.0.3 already
SECONDS = 600  # emlp is given this long for one case

CASES = {
    "S_20 on T(3)": ("symmetric", 20, 3),
    "S_12 on T(4)": ("symmetric", 12, 4),
    "hyperoctahedral(6) on T(4)": ("hyperoctahedral", 6, 4),
    "SO(3) on T(5)": ("rotations", 3, 5),
}
TARGETS = {"rotations": 100}  # times faster than emlp; 1000 elsewhere
FIRST_CALL = {"rotations"}  # over emlp's first call, which compiles; elsewhere over the best of up to three

SCRIPT = """
import json, resource, sys, time
import numpy as np
kind, d, order = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
import jax
jax.config.update("jax_enable_x64", True)
from emlp.groups import Group
from emlp.reps import T

class Two(Group):
    def __init__(self):
        cycle, swap = np.eye(d)[np.roll(np.arange(d), 1)], np.eye(d)
        swap[[0, 1]] = swap[[1, 0]]
        if kind == "hyperoctahedral":
            cycle = cycle.copy(); cycle[0] *= -1
        self.d = d
        if kind == "rotations":
            self.lie_algebra = np.zeros((d - 1, d, d))
            for i in range(d - 1):
                self.lie_algebra[i, i, i + 1], self.lie_algebra[i, i + 1, i] = -1, 1
        else:
            self.discrete_generators = np.stack([cycle, swap])
        super().__init__()

rep = T(order)(Two())
times, start = [], time.perf_counter()
while not times or (len(times) < 3 and time.perf_counter() - start < 60):  # the first run compiles
    if hasattr(rep, "solcache"):
        rep.solcache.clear()
    begin = time.perf_counter()
    size = int(np.asarray(rep.equivariant_basis()).shape[-1])
    times.append(time.perf_counter() - begin)
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
answer = {"seconds": min(times), "first": times[0], "dim": size, "megabytes": megabytes, "jax": jax.__version__}
print(json.dumps(answer))
"""


def generators(kind: str, d: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Image and signs of a long cycle and a transposition; B_d has a sign in the cycle."""
    cycle, swap, signs = np.roll(np.arange(d), 1), np.arange(d), np.ones(d, dtype=int)
    swap[[0, 1]] = swap[[1, 0]]
    first = signs.copy()
    if kind == "hyperoctahedral":
        first[0] = -1
    return [(cycle, first), (swap, signs)]


def tensor_power(image: np.ndarray, signs: np.ndarray, order: int) -> Any:
    """The signed permutation on tensors of an order: (g⊗…⊗g)."""
    d = len(image)
    place, sign = np.zeros(1, dtype=np.int64), np.ones(1, dtype=int)
    for _ in range(order):
        place = (place[:, None] * d + image[None, :]).ravel()
        sign = (sign[:, None] * signs[None, :]).ravel()
    return sa.isometries.signed_permutation(place, sign)


def tensor_fields(d: int, order: int) -> list[np.ndarray]:
    """Rotations of neighbouring coordinates on tensors of an order: Σ 1 ⊗ … ⊗ A ⊗ … ⊗ 1."""
    found = []
    for i in range(d - 1):
        A, total = np.zeros((d, d)), np.zeros((1, 1))
        A[i, i + 1], A[i + 1, i] = -1.0, 1.0
        for _ in range(order):
            total = np.kron(total, np.eye(d)) + np.kron(np.eye(len(total)), A)
        found.append(total)
    return found


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


def emlp() -> list[dict[str, Any]]:
    """Each case: ours, the best of many; emlp's, the best of up to three within a minute, never longer than 600 s."""
    python = ensure_emlp()
    rows = []
    for name, (kind, d, order) in CASES.items():
        target = TARGETS.get(kind, 1000)
        matrices: list[Any] = (
            tensor_fields(d, order)
            if kind == "rotations"
            else [tensor_power(image, signs, order) for image, signs in generators(kind, d)]
        )
        found = sa.invariants.fixed_space(matrices)
        ours = best_times([lambda m=matrices: sa.invariants.fixed_space(m)], [25])[0]
        title = f"fixed_space, {name} ({d**order} dimensions), over emlp 1.0.3"
        theirs = python if isinstance(python, str) else _run(python, kind, d, order)
        if isinstance(theirs, str):
            rows.append({**row(title, np.nan, target, seconds=ours, note=f"dim {found.dim}; {theirs}"), "met": None})
        elif "dim" not in theirs:  # a bound, not a measurement of emlp
            note = f"dim {found.dim}; a lower bound: emlp did not finish in {SECONDS} s"
            rows.append(row(title, SECONDS / ours, target, seconds=ours, note=note, lower_bound=True))
        else:
            agree = "emlp finds as many" if theirs["dim"] == found.dim else f"emlp finds {theirs['dim']}"
            note = f"dim {found.dim}; {agree}, with {theirs['megabytes']:.0f} MB, jax {theirs['jax']}"
            seconds = theirs["seconds"]
            if kind in FIRST_CALL:  # emlp keeps the answer: nobody waits for a second call
                title += ", first call"
                note += f"; later calls, all compiled, take {1e3 * seconds:.0f} ms, {seconds / ours:.0f} times ours"
                seconds = theirs["first"]
            rows.append(row(title, seconds / ours, target, seconds=ours, baseline_seconds=seconds, note=note))
    return rows


def _run(python: Path, kind: str, d: int, order: int) -> dict[str, Any] | str:
    """What emlp says of one case: its time and dimension, nothing if time is up, or how it failed."""
    try:
        arguments = [str(python), "-c", SCRIPT, kind, str(d), str(order)]
        answer = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {}
    if answer.returncode:
        reason = (answer.stderr.strip().splitlines() or ["no message"])[-1][-100:]
        return f"emlp failed (exit {answer.returncode}): {reason}"
    return json.loads(answer.stdout.strip().splitlines()[-1])
