"""Fixed vectors of tensor representations, against emlp 1.0.3 in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, row

HERE = Path(__file__).parent
ENVIRONMENT = HERE / ".emlp"
SECONDS = 900  # emlp is given this long for one case

CASES = {
    "S_20 on T(3)": ("symmetric", 20, 3),
    "S_12 on T(4)": ("symmetric", 12, 4),
    "hyperoctahedral(6) on T(4)": ("hyperoctahedral", 6, 4),
}

SCRIPT = """
import json, sys, time
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
        self.discrete_generators = np.stack([cycle, swap])
        super().__init__()

rep = T(order)(Two())
best, size = float("inf"), 0
for _ in range(2):
    if hasattr(rep, "solcache"):
        rep.solcache.clear()
    start = time.perf_counter()
    size = int(np.asarray(rep.equivariant_basis()).shape[-1])
    best = min(best, time.perf_counter() - start)
    if best > 60:
        break
print(json.dumps({"seconds": best, "dim": size}))
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


def ensure_emlp() -> Path | str:
    """The interpreter of an environment with emlp, made on demand; or why there is none."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        print("making an environment for emlp 1.0.3 …", flush=True)
        try:
            subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True, capture_output=True)
            install = [python, "-m", "pip", "install", "--quiet", "emlp==1.0.3", "six"]
            subprocess.run(install, check=True, capture_output=True, timeout=1200)
        except (subprocess.SubprocessError, OSError) as error:
            return f"emlp 1.0.3 could not be installed ({type(error).__name__})"
    probe = subprocess.run([python, "-c", "import emlp.reps"], capture_output=True, text=True, check=False)
    if probe.returncode:
        return "emlp 1.0.3 is installed but cannot be imported: " + probe.stderr.strip().splitlines()[-1]
    return python


def emlp() -> list[dict[str, Any]]:
    python = ensure_emlp()
    rows = []
    for name, (kind, d, order) in CASES.items():
        matrices = [tensor_power(image, signs, order) for image, signs in generators(kind, d)]
        found = sa.invariants.fixed_space(matrices)
        ours = best_times([lambda m=matrices: sa.invariants.fixed_space(m)], [7])[0]
        title = f"fixed_space, {name} ({d**order} dimensions), over emlp 1.0.3"
        if isinstance(python, str):
            rows.append({**row(title, np.nan, 1000, seconds=ours, note=python), "met": None})
            continue
        try:
            arguments = [str(python), "-c", SCRIPT, kind, str(d), str(order)]
            answer = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS, check=True)
            theirs = json.loads(answer.stdout.strip().splitlines()[-1])
        except subprocess.TimeoutExpired:
            note = f"emlp did not finish in {SECONDS} s; dim {found.dim}"
            rows.append(row(title, SECONDS / ours, 1000, seconds=ours, note=note, lower_bound=True))
            continue
        except subprocess.CalledProcessError as error:
            reason = (error.stderr.strip().splitlines() or ["killed"])[-1][:100]
            rows.append({**row(title, np.nan, 1000, seconds=ours, note=f"emlp failed: {reason}"), "met": None})
            continue
        agree = "same dimension" if theirs["dim"] == found.dim else f"emlp finds {theirs['dim']}"
        rows.append(
            row(
                title,
                theirs["seconds"] / ours,
                1000,
                seconds=ours,
                baseline_seconds=theirs["seconds"],
                note=f"dim {found.dim}; {agree}",
            )
        )
    return rows
