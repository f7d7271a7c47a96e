"""How far a call walks through the package: files, functions and changes of folder.

    python tools/walk.py             print the table
    python tools/walk.py --write     put it into docs/design.md
    python tools/walk.py --check     fail if docs/design.md has another table

Each call runs in a process of its own, with nothing cached. Counted are the functions of the package that run
(generator expressions and lambdas too), and their files. What runs while a module is imported is left out.
For the changes of folder the files are put in the order in which the call first enters them; a change is a file
that lies in another folder of the package than the file before it. Files directly in the package are a folder as well.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- walk: begin -->\n", "<!-- walk: end -->\n"

# Measured by this script on the sources of version 0.1.0. An earlier count had 14, 16, 22 and 10 changes of folder.
VERSION_0_1_0 = {
    "invariant_basis": (26, 120, 14),
    "SpecAvgRegressor.fit": (35, 189, 15),
    "InvariantKernelRidge.fit": (40, 261, 21),
    "predict": (19, 46, 10),
}


def call(name: str) -> Callable[[], Any]:
    """The call to trace: twelve points on Torus(2) under the symmetries of the square."""
    import numpy as np

    import specavg as sa

    space, group = sa.Torus(2), sa.groups.hyperoctahedral(2)
    X = space.sample(12, random_state=0)
    y = np.cos(np.pi * X).sum(axis=1)
    if name == "invariant_basis":
        return lambda: sa.invariant_basis(space, group, max_invariant_dim=12)
    if name == "SpecAvgRegressor.fit":
        mean = sa.SpecAvgRegressor(space, group)
        return lambda: mean.fit(X, y)
    ridge = sa.InvariantKernelRidge(space, group)
    if name == "InvariantKernelRidge.fit":
        return lambda: ridge.fit(X, y)
    ridge.fit(X, y)
    return lambda: ridge.predict(X)


def traced(name: str) -> tuple[int, int, int]:
    """Files, functions and changes of folder of one call, in this process."""
    import specavg

    package = f"{Path(specavg.__file__).parent}{os.sep}"
    run = call(name)
    entered: dict[tuple[str, str], None] = {}  # (file, function), in order

    def enter(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and not importing(frame):
            entered.setdefault((code.co_filename.removeprefix(package), code.co_qualname))

    def importing(frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code is not here:
            if frame.f_code.co_name == "<module>":
                return True
            frame = frame.f_back
        return False

    here = sys._getframe().f_code  # pyright: ignore[reportPrivateUsage]
    sys.setprofile(enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    files = list(dict.fromkeys(file for file, _ in entered))
    folders = [Path(file).parts[0] if os.sep in file else "" for file in files]
    return len(files), len(entered), sum(a != b for a, b in itertools.pairwise(folders))


def walk(name: str, sources: Path = ROOT / "src") -> tuple[int, int, int]:
    """The same in a process of its own, with the package in the folder `sources`."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", __file__, "--trace", name]
    files, functions, changes = json.loads(subprocess.check_output(command, env=environment))
    return files, functions, changes


def table() -> str:
    """The Markdown table: version 0.1.0 and now."""
    lines = [
        "| call | files, 0.1.0 | now | functions, 0.1.0 | now | changes of folder, 0.1.0 | now |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, before in VERSION_0_1_0.items():
        numbers = [f"{b} | {n}" for b, n in zip(before, walk(name), strict=True)]
        lines.append(f"| `{name}` | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Print, write or check the table; the exit status is 1 if the page has another one."""
    if arguments[:1] == ["--trace"]:
        print(json.dumps(traced(arguments[1])))
        return 0
    found = table()
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    written, _, tail = rest.partition(END)
    if arguments == ["--write"]:
        PAGE.write_text(f"{head}{BEGIN}{found}{END}{tail}", encoding="utf-8")
    elif arguments == ["--check"] and written != found:
        print(f"{PAGE.name} has another walk than the package: run python tools/walk.py --write\n{found}")
        return 1
    print(found, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
