"""Pages written from the package itself: the API, always complete, and the benchmarks as last measured."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import re
import time
import tomllib
from pathlib import Path
from typing import Any

COMPARISONS = {
    "numpy": "Algorithm 1 on a torus",
    "kernel-ridge": "Algorithm 1 beside kernel ridge regression",
    "octahedral": "Algorithm 1 on the sphere S²",
    "toeplitz": "Ridge regression on a torus",
    "emlp": "Fixed vectors of tensors",
    "symmetric": "All permutations, in up to a thousand dimensions",
    "memory": "Ten million points",
    "emlp-rotations": "Fixed vectors of rotations",
    "random-elements": "Invariants by random elements",
    "molecules": "Potentials of molecules: methane",
    "ethanol": "Potentials of molecules: ethanol",
    "acetaldehyde": "Potentials of molecules: many energies",
    "accuracy": "Accuracy at default settings",
    "coverage": "Intervals at default settings",
    "default-seconds": "Seconds to a default model",
    "large-sphere": "Many rows on the sphere S²",
    "large-rotations": "Many rows of orientations",
    "large-torus": "Many rows on a torus",
    "large-cell": "Many rows in a crystal cell",
    "large-density": "A density of many orientations",
    "discovery": "Discovery of symmetries",
    "gradients": "What gradients cost",
    "gradients-as-data": "What gradients save",
    "invariant-tensors": "Invariant tensors",
    "fit-of-vectors": "What a fit of vectors costs",
    "vectors": "Accuracy of vectors and tensors",
    "growth": "Growth of the sums",
    "growth-of-the-fit": "Growth of the fit",
    "loops": "The compiled loops beside the peak of the machine",
    "import": "Importing",
    "first-use": "The first fit of a process",
}
TITLES = {
    "isometries": "Isometries: the maps themselves",
    "isometries.fields": "Fields: infinitesimal isometries",
    "spaces": "Spaces: where the data live",
    "groups": "Groups: who acts",
    "invariants": "Invariants: what survives",
    "estimators": "Estimators: what users fit",
    "discovery": "Discovery: which symmetry the data have",
    "molecules": "Potentials of molecules",
    "baselines": "Baselines: what users would pick instead",
    "plot": "Pictures",
    "io": "Saved models",
    "datasets": "Data sets",
    "testing": "Laws, for people who extend or check",
    "crystals": "Crystals in one call",
    "textures": "Numbers of textures",
    "theory": "The paper's quantities",
    "experiments": "The paper's claims, run",
}


def setup(app: Any) -> dict[str, Any]:
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    for name, text in api().items():
        write(folder / f"{name}.rst", text)
    write(folder / "benchmarks.md", benchmarks(Path(app.srcdir).parent / "benchmarks" / "results.json"))
    write(folder / "versions.md", versions(Path(app.srcdir).parent / "pyproject.toml"))
    measure = os.environ.get("SPECAVG_DOCS_MEASURE", "1") == "1"
    if measure or not (folder / "costs.md").exists():
        write(folder / "costs.md", costs())
    if measure or not (folder / "start.png").exists():
        picture(folder / "start.png")
    app.config.exclude_patterns += [f"generated/{name}.md" for name in ("benchmarks", "versions", "costs")]
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(path: Path, text: str) -> None:
    """Only what has changed, so that a second build has little to do."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


# --- API ---------------------------------------------------------------------------------------------


def api() -> dict[str, str]:
    """One page per public module with every name in its `__all__`, and a page that leads to them."""
    import specavg

    found = _modules(specavg)
    modules = [name for name in TITLES if name in found] + sorted(set(found) - set(TITLES))
    pages = {}
    for name in modules:
        module = importlib.import_module(f"specavg.{name}")
        public = [n for n in getattr(module, "__all__", []) if callable(getattr(module, n))]
        if public:
            pages[name] = page(f"specavg.{name}", TITLES.get(name, name.capitalize()), inspect.getdoc(module), public)
    top = [n for n in specavg.__all__ if n != "__version__" and n not in modules and callable(_get(specavg, n))]
    homes = {id(getattr(importlib.import_module(f"specavg.{m}"), n)) for m in modules for n in _all(m)}
    alone = [n for n in top if id(getattr(specavg, n)) not in homes]
    pages["settings"] = page("specavg", "Settings", "What holds for the whole process.", alone)
    pages["api"] = index(pages, top)
    return pages


def index(pages: dict[str, str], top: list[str]) -> str:
    return "\n".join(
        [
            *("API", "===", ""),
            "Everything public, with examples that run as tests. ``import specavg as sa`` loads nothing heavy: each",
            "part is imported when it is first used.",
            "",
            *(".. toctree::", "   :maxdepth: 1", ""),
            *(f"   {name}" for name in pages),
            "",
            *("At the top", "----------", ""),
            "What is used often has a shorter name too: " + ", ".join(f"``sa.{n}``" for n in top) + ".",
            "",
        ]
    )


def page(module: str, title: str, intro: str | None, names: list[str]) -> str:
    return "\n".join(
        [
            *(title, "=" * len(title), "", f".. currentmodule:: {module}", ""),
            *(f"``{module}``", "", (intro or "").partition("\n")[2].strip(), ""),
            *(".. autosummary::", "   :toctree: api/", "   :nosignatures:", "", *(f"   {n}" for n in names), ""),
        ]
    )


def _modules(package: Any) -> list[str]:
    """The public modules, one inside another by its dotted name."""
    top = [n for n in package.__all__ if n != "__version__" and inspect.ismodule(_get(package, n))]
    return [*top, *(name for name in TITLES if "." in name)]


def _all(module: str) -> list[str]:
    return list(getattr(importlib.import_module(f"specavg.{module}"), "__all__", []))


def _get(package: Any, name: str) -> Any:
    try:
        return getattr(package, name)
    except ModuleNotFoundError as error:
        if error.name == f"{package.__name__}.{name}":  # announced, and not there yet
            return None
        raise


# --- what it costs -----------------------------------------------------------------------------------


def costs() -> str:
    """Spaces × groups: which solver answered, how many functions, how long; measured now."""
    import numpy as np

    import specavg as sa

    g, iso, spaces = sa.groups, sa.isometries, sa.spaces
    frames = {n: [iso.left_right(np.eye(n), B) for B in ([[0, 1], [1, 0]], [[-1, 0], [0, 1]])] for n in (4, 10)}
    hexagonal = np.array([[1.0, 0, 0], [-0.5, np.sqrt(0.75), 0], [0, 0, 1.63]])
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])  # the same axis in no special place
    cases = [
        ("Torus(10)", "sign_flips(10)", sa.Torus(10), g.sign_flips(10), {"max_invariant_dim": 738}),
        ("Torus(1000)", "symmetric(1000)", sa.Torus(1000), g.symmetric(1000), {"max_invariant_dim": 60}),
        ("Torus(20)", "cyclic_shifts(20)", sa.Torus(20), g.cyclic_shifts(20), {"max_eigenvalue": 3 * np.pi**2}),
        ("Torus(lattice), cubic", "space_group(225)", sa.Torus(lattice=np.eye(3)), g.space_group(225),
         {"max_invariant_dim": 100}),
        ("Sphere(3)", 'point_group("Oh")', sa.Sphere(3), g.point_group("Oh"), {"max_invariant_dim": 60}),
        ("Sphere(3)", "a quarter turn, tilted", sa.Sphere(3), g.Group([tilt @ turn @ tilt.T]),
         {"max_invariant_dim": 250}),
        ("Sphere(10000)", "symmetric(10000)", sa.Sphere(10_000), g.symmetric(10_000), {"max_invariant_dim": 30}),
        ("Rotations()", 'crystal_symmetry("O", "D2")', spaces.Rotations(), g.crystal_symmetry("O", "D2"),
         {"max_invariant_dim": 100}),
        ("Torus(lattice), hexagonal", "space_group(194)", sa.Torus(lattice=hexagonal), g.space_group(194),
         {"max_invariant_dim": 100}),
        ("Stiefel(4, 2)", "signed exchanges of columns", spaces.Stiefel(4, 2), g.Group(frames[4]),
         {"max_invariant_dim": 60}),
        ("Stiefel(10, 2)", "signed exchanges of columns", spaces.Stiefel(10, 2), g.Group(frames[10]),
         {"max_eigenvalue": 33.0}),
        ("Power(Sphere(3), 100)", "symmetric(100)", sa.Power(sa.Sphere(3), 100), g.symmetric(100),
         {"max_invariant_dim": 60}),
    ]  # fmt: skip
    lines = [
        "| space | group | \\|G\\| | invariant functions | of all | solver | exact | CPU seconds |",
        "|" + "---|" * 8,
    ]
    for space_name, group_name, space, group, cutoff in cases:
        sa.invariant_basis(space, group, max_invariant_dim=3).evaluate(space.sample(2, 0))  # compiles what it needs
        start = time.process_time()
        basis = sa.invariant_basis(space, group, **cutoff)
        seconds = time.process_time() - start
        solvers = sorted({row.solver for row in basis.table})
        exact = "yes" if basis.residual == 0 else f"residual {basis.residual:.0e}"
        lines.append(
            f"| `{space_name}` | {f'`{group_name}`' if '(' in group_name else group_name} | {_big(group.order)} "
            f"| {basis.dim} | {_big(basis.total_dim)} | {', '.join(solvers)} | {exact} | {seconds:.2g} |"
        )
    return "\n".join(lines) + "\n"


def _big(n: int) -> str:
    return f"{n:,}" if n < 10**9 else f"about 10^{int((n.bit_length() - 1) * math.log10(2))}"


# --- the picture of the first page -----------------------------------------------------------------


def picture(path: Path) -> None:
    """What the first page says in numbers, as two globes."""
    import matplotlib.pyplot as plt
    import numpy as np

    import specavg as sa

    def stiffness(X: Any) -> Any:
        return 1 / (0.4 + (X**4).sum(axis=1))

    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    X, Z = space.sample(50, random_state=0), space.sample(2000, random_state=1)
    figure = plt.figure(figsize=(8.4, 3.9), layout="constrained")
    for i, (name, who) in enumerate((("with the 48 symmetries of the cube", group), ("without", None))):
        model = sa.InvariantKernelRidge(space, who).fit(X, stiffness(X))
        error = np.sqrt(np.mean((model.predict(Z) - stiffness(Z)) ** 2))
        ax = figure.add_subplot(1, 2, i + 1, projection="3d")
        sa.plot.sphere(model, data=X, symmetry=who is not None, ax=ax, colorbar=False)
        ax.set_title(f"{name}: error {error:.0e}", y=1.04, fontsize="medium")
    figure.savefig(path, dpi=130)
    plt.close(figure)


# --- versions ----------------------------------------------------------------------------------------


def versions(pyproject: Path) -> str:
    """Python and dependencies, as pyproject.toml has them."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lines = ["| needs | version |", "|---|---|", f"| Python | {project['requires-python']} |"]
    lines += [f"| {name} | {bound} |" for name, bound in map(_requirement, project["dependencies"])]
    lines += ["", "| extra | adds |", "|---|---|"]
    for extra, needs in project["optional-dependencies"].items():
        if extra not in ("docs", "test", "dev"):
            lines.append(f"| `{extra}` | {', '.join(' '.join(_requirement(n)) for n in needs)} |")
    return "\n".join([*lines, *_tested(pyproject.parent / "docs" / "tested_versions.json")]) + "\n"


def _tested(results: Path) -> list[str]:
    """What `make versions` found, as a table."""
    if not results.exists():
        return []
    rows = list(json.loads(results.read_text(encoding="utf-8")).values())
    lines = ["", "Tested together (`make versions`):", "", f"| {' | '.join(rows[0])} |", "|---" * len(rows[0]) + "|"]
    return lines + [f"| {' | '.join(row.values())} |" for row in rows]


def _requirement(text: str) -> tuple[str, str]:
    name, bound = re.fullmatch(r"([\w.\-]+(?:\[[^\]]*\])?)\s*(.*)", text).groups()
    return name, bound.replace(">=", "≥ ")


# --- benchmarks --------------------------------------------------------------------------------------


def benchmarks(results: Path) -> str:
    if not results.exists():
        return "No results are stored in this checkout: ``make benchmark`` measures them on this machine.\n"
    try:
        return tables(json.loads(results.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{results} is not what docs/_ext/generated_pages.py can read: {error}") from error


def tables(results: Any) -> str:
    """The comparisons as one table each; anything else by its own keys."""
    lines: list[str] = []
    comparisons = results.pop("comparisons", {}) if isinstance(results, dict) else {}
    for name, rows in comparisons.items():
        lines += [f"## {COMPARISONS.get(name, name.capitalize())}", ""]
        lines += ["| comparison | result | target | seconds | of the other | note |", "|---|---|---|---|---|---|"]
        lines += [_comparison(row) for row in rows]
        lines.append("")
    _tables({"The machine" if name == "machine" else name: rows for name, rows in results.items()}, 0, lines)
    return "\n".join(lines) + "\n"


def _comparison(row: dict[str, Any]) -> str:
    target = row.get("target")
    wanted = "" if target is None else f"{'≤' if row.get('at_most') else '≥'} {target:g}{row.get('unit', '')}"
    if target is not None and row.get("met") is not None:
        wanted += " (met)" if row["met"] else " (**not met**)"
    value = row["value"]
    result = f"{value:.4g}" if not isinstance(value, float) or abs(value) < 1e4 else f"{value:,.0f}"
    if value != value:
        result = "—"
    elif row.get("lower_bound"):
        result = f"≥ {result}"
    seconds = (row.get("seconds"), row.get("baseline_seconds"))
    cells = [row["name"], f"{result}{row.get('unit', '')}", wanted]
    cells += ["" if t is None else f"{t:.3g}" for t in seconds]
    return "| " + " | ".join(_cell(c) for c in (*cells, row.get("note", ""))) + " |"


def _tables(node: Any, depth: int, lines: list[str]) -> None:
    if isinstance(node, list) and node and all(isinstance(row, dict) for row in node):
        columns = list(dict.fromkeys(key for row in node for key in row))
        lines += ["| " + " | ".join(c.replace("_", " ") for c in columns) + " |", "|" + "---|" * len(columns)]
        lines += ["| " + " | ".join(_cell(row.get(c, "")) for c in columns) + " |" for row in node]
        lines.append("")
    elif isinstance(node, dict):
        flat = {k: v for k, v in node.items() if not isinstance(v, dict | list)}
        if flat:
            lines += ["| | |", "|---|---|", *(f"| {k.replace('_', ' ')} | {_cell(v)} |" for k, v in flat.items()), ""]
        for key, value in node.items():
            if isinstance(value, dict | list) and value:
                lines += [f"{'#' * min(depth + 2, 5)} {str(key).replace('_', ' ')}", ""]
                _tables(value, depth + 1, lines)
    else:
        lines += [_cell(node), ""]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | dict):
        return json.dumps(value)
    return str(value).replace("|", "\\|").replace("\n", " ")
