"""Check that no part of the package imports what stands above or beside it.

    python tools/check_layers.py [PACKAGE_FOLDER]

Every import counts, also those inside functions and ``importlib.import_module("...")``; what may import what
is the table `MAY_IMPORT` below. Standard library only; the package itself is read, never imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# ----------------------------------------------------------------------------------------------------
# The rule. A part is a module or folder directly in the package; one file of it may have a row of its own.
#   PRIVATE  any underscore module directly in the package (_config, _checks, ...): helpers under everything
#   FRONT    the package itself, as in `import specavg` or `from specavg import Torus`: it leads everywhere

PRIVATE = "_*"
FRONT = "the package itself"

FLOOR = {PRIVATE, "isometries"}
BELOW_INVARIANTS = FLOOR | {"functions", "spaces", "groups"}
BELOW_ESTIMATORS = BELOW_INVARIANTS | {"invariants", "data", "regression", "persistence"}
BELOW_EXPERIMENTS = BELOW_ESTIMATORS | {"estimators", "baselines", "discovery", "molecules"}
BESIDE = {"testing", "theory", "plot", "io", "datasets", "textures", "crystals"}

MAY_IMPORT: dict[str, set[str]] = {
    PRIVATE: {PRIVATE},
    "isometries": {PRIVATE},
    "functions": {PRIVATE},  # plain arrays only
    "spaces": FLOOR | {"functions"},
    "groups": FLOOR,
    "invariants": BELOW_INVARIANTS,
    "regression": {PRIVATE, "functions"},  # plain linear algebra: no space, no group, no basis
    "data": BELOW_INVARIANTS | {"invariants", "regression"},
    "persistence": BELOW_INVARIANTS | {"invariants"},
    "estimators": BELOW_ESTIMATORS,
    "baselines": BELOW_ESTIMATORS | {"estimators"},
    "discovery": BELOW_ESTIMATORS | {"estimators"},
    "molecules": BELOW_ESTIMATORS | {"estimators"},
    **dict.fromkeys(BESIDE, BELOW_EXPERIMENTS),
    "plot": BELOW_EXPERIMENTS | {"textures", "theory"},  # the numbers that pictures show
    "experiments": BELOW_EXPERIMENTS | BESIDE | {FRONT},
    "cli": BELOW_EXPERIMENTS | BESIDE | {FRONT, "experiments"},
    "__main__": {"cli"},
    "__init__": BELOW_EXPERIMENTS | BESIDE | {FRONT, "experiments"},  # the lazy front door
}

# In addition, for annotations only: imports under `if TYPE_CHECKING:`.
MAY_IMPORT_TYPES: dict[str, set[str]] = {
    "regression": {"invariants"},
}
# ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Import:
    """One imported module, by its full dotted name."""

    module: str
    line: int
    types_only: bool


@dataclass(frozen=True)
class Violation:
    """One import that breaks the rule."""

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def violations(package: Path) -> list[Violation]:
    """Every import inside the folder `package` that the table does not allow."""
    return [v for file in sorted(package.rglob("*.py")) for v in _violations_of(file, package)]


def _violations_of(file: Path, package: Path) -> Iterator[Violation]:
    parts = (package.name, *file.relative_to(package).with_suffix("").parts)
    row = _row(parts)
    if row is None:
        yield Violation(file, 1, f"'{parts[1]}' has no row in MAY_IMPORT: say there where it stands")
        return
    own = _part(parts, package)
    allowed = MAY_IMPORT[row]
    allowed_types = allowed | MAY_IMPORT_TYPES.get(row, set())
    within = parts[:-1]  # the package that relative imports start from, also for an __init__
    tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    for imported in _imports(tree, within, package.name):
        target = _part(tuple(imported.module.split(".")), package)
        if target == own and target != FRONT:
            continue
        if target not in (allowed_types if imported.types_only else allowed):
            may = ", ".join(sorted(allowed)) or "nothing"
            message = f"{row} may not import {target} (here: {imported.module}); it may import {may}"
            if target in MAY_IMPORT_TYPES.get(row, ()):
                message += f"; {target} under TYPE_CHECKING only"
            yield Violation(file, imported.line, message)


def _row(parts: tuple[str, ...]) -> str | None:
    """The row of the table that a file falls under."""
    below = parts[1:]
    for length in range(len(below), 0, -1):
        name = "/".join(below[:length])
        if name in MAY_IMPORT:
            return name
    return PRIVATE if _is_private(below[0]) else None


def _part(parts: tuple[str, ...], package: Path) -> str:
    """The part of the package that a dotted name leads to."""
    if len(parts) == 1:
        return FRONT
    name = parts[1]
    if name in MAY_IMPORT and (name not in ("__init__", "__main__")):
        return name
    if _is_private(name):
        return PRIVATE
    is_module = (package / name).is_dir() or (package / f"{name}.py").is_file()
    return name if is_module else FRONT  # `from specavg import Torus` names no module


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _imports(tree: ast.AST, within: tuple[str, ...], package: str) -> Iterator[Import]:
    """Every import of something in `package`, wherever it is written."""
    for node, types_only in _walk(tree, types_only=False):
        for module in _modules(node, within):
            if module.split(".")[0] == package:
                yield Import(module, node.lineno, types_only)  # type: ignore[attr-defined]


def _walk(node: ast.AST, types_only: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes below `node`, and whether only a type checker gets there."""
    yield node, types_only
    if isinstance(node, ast.If) and (checked := _type_checking_branch(node.test)) is not None:
        for child in node.body:
            yield from _walk(child, types_only or checked)
        for child in node.orelse:
            yield from _walk(child, types_only or not checked)
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, types_only)


def _type_checking_branch(test: ast.expr) -> bool | None:
    """True for `TYPE_CHECKING`, False for `not TYPE_CHECKING`, None for any other condition."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _type_checking_branch(test.operand)
        return None if inner is None else not inner
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return True if name == "TYPE_CHECKING" else None


def _modules(node: ast.AST, within: tuple[str, ...]) -> list[str]:
    """The dotted names that one statement or call imports; `from a import b` counts as a.b."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        origin = _absolute("." * node.level + (node.module or ""), within)
        return [origin if alias.name == "*" else f"{origin}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and node.args:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0]
        if name in ("import_module", "__import__") and isinstance(first, ast.Constant) and isinstance(first.value, str):
            return [_absolute(first.value, within)]
    return []


def _absolute(module: str, within: tuple[str, ...]) -> str:
    """`module` without leading dots, which count up from the package `within`."""
    name = module.lstrip(".")
    level = len(module) - len(name)
    if level == 0:
        return name
    start = within[: len(within) - (level - 1)]
    return ".".join((*start, name) if name else start)


def main(arguments: list[str]) -> int:
    """Print every violation; the exit status is 1 if there is one."""
    default = Path(__file__).resolve().parents[1] / "src" / "specavg"
    package = Path(arguments[0]) if arguments else default
    if not any(package.glob("*.py")):
        print(f"{package} holds no Python files: nothing was checked", file=sys.stderr)
        return 2
    found = violations(package.resolve())
    here = Path.cwd()
    for v in found:
        shown = v.file.relative_to(here) if v.file.is_relative_to(here) else v.file
        print(Violation(shown, v.line, v.message))
    print(f"layers: {len(found)} imports break the rule" if found else "layers: every import goes downwards")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
