"""Run tests with the oldest supported versions of the dependencies and with the newest, for each Python that is there.

    python tools/versions.py --below FOLDER [--only oldest-3.11 newest-3.13] [TEST ...]

Each combination gets an environment of its own below FOLDER, which is kept. What was found goes into
docs/tested_versions.json, from which the page of supported versions is written.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOUND = ROOT / "docs" / "tested_versions.json"
PYTHONS = ("3.11", "3.12", "3.13")
OLDEST = "3.11"  # the oldest versions have wheels for the oldest Python only
CORE = ("numpy", "scipy", "scikit-learn", "sympy", "numba")
# What differs between versions: arrays, linear algebra, validation, permutation groups, compilation, tables, Dask.
TESTS = (
    "test_invariant_basis", "test_fixed_space", "test_s2_point_groups", "test_high_degrees", "test_groups",
    "test_canonical",
    "test_group_catalogue", "test_rotations", "test_stiefel", "test_kernel_ridge", "test_sklearn_tools", "test_specavg",
    "test_features", "test_density", "test_io", "test_io_fuzz", "test_dask", "test_streaming", "test_jit", "test_loops",
    "test_gradients", "test_equivariant_kernel_ridge", "test_nufft", "test_stress", "test_cli",
)  # fmt: skip


def lower_bounds(pyproject: Path) -> list[str]:
    """The oldest supported versions, as constraints: numpy>=1.26 becomes numpy==1.26.*."""
    project = tomllib.loads(pyproject.read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [
        *project["dependencies"],
        *(line for name in ("plot", "dask", "parquet", "nufft", "crystal", "cli") for line in extras[name]),
    ]
    bounds = [re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line) for line in asked]
    return sorted({f"{m[1]}=={m[2]}{'.*' if m[2].count('.') < 2 else ''}" for m in bounds if m})


def python_of(version: str) -> str | None:
    """A Python of this version that runs: on the path, or one of pyenv, which may not be switched on."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}")))]
    runs = (p for p in found if p and not subprocess.run([p, "-c", "pass"], capture_output=True).returncode)
    return next(runs, None)


def environment(folder: Path, python: str, oldest: bool) -> Path:
    """The interpreter of an environment with this package, made where it is not there yet."""
    interpreter = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        constraints = folder / "constraints.txt"
        constraints.write_text("\n".join(lower_bounds(ROOT / "pyproject.toml")) if oldest else "")
        install = [interpreter, "-m", "pip", "install", "--quiet", "--progress-bar", "off", "-c", constraints]
        subprocess.run([*install, "--editable", f"{ROOT}[test]"], check=True)
        (folder / ".installed").touch()
    return interpreter


def tested(interpreter: Path, tests: list[str]) -> dict[str, str]:
    """The versions and the last line of the tests."""
    versions = "import platform, importlib.metadata as m; print(platform.python_version(), *map(m.version, {!r}))"
    numbers = subprocess.run(
        [interpreter, "-c", versions.format(CORE)], check=True, capture_output=True, text=True
    ).stdout.split()
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    cache = str(interpreter.parent.parent / "numba_cache")  # compiled code of another version is of no use
    settings = os.environ | alone | {"MPLBACKEND": "Agg", "NUMBA_CACHE_DIR": cache}
    command = [interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *tests]
    run = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)
    print(run.stdout[-6000:], run.stderr[-2000:], sep="\n")
    return dict(zip(("Python", *CORE), numbers, strict=True)) | {
        "tests": run.stdout.strip().splitlines()[-1].strip("= ")
    }


def main() -> None:
    """Make the environments, run the tests, and write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--below", type=Path, required=True, help="folder of the environments")
    parser.add_argument("--only", nargs="*", help="combinations, such as oldest-3.11")
    parser.add_argument("--install", action="store_true", help="make the environments, run nothing")
    parser.add_argument("tests", nargs="*", default=[f"tests/{name}.py" for name in TESTS])
    options = parser.parse_args()
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    failed = False
    for name in options.only or [f"oldest-{OLDEST}", *(f"newest-{version}" for version in PYTHONS)]:
        kind, version = name.split("-")
        python = python_of(version)
        if python is None:
            print(f"{name}: no python{version} on this machine")
            continue
        interpreter = environment(options.below.resolve() / name, python, kind == "oldest")
        if options.install:
            continue
        found[name] = tested(interpreter, options.tests)
        failed |= "failed" in found[name]["tests"] or "error" in found[name]["tests"]
        FOUND.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
