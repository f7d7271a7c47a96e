"""The cache of compiled code: a change of any source of the loops compiles anew, and nothing else does."""

from __future__ import annotations

import ast
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import specavg.functions.loops

FOLDER = Path(specavg.functions.loops.__file__).parent

HELPER = """
from small._jit import SAFE, helper
@helper(fastmath=SAFE)
def factor(x):
    return {factor} * x
"""
OUTER = """
from small._helper import factor
from small._jit import loop
@loop
def scaled(x):
    return factor(x) + 1.0
"""
RUN = """
from small._outer import scaled
value = scaled(10.0)
print(value, sum(scaled.stats.cache_hits.values()), scaled.stats.cache_path)
"""


def small_package(folder: Path) -> None:
    """A package of two loops that is compiled as ours is."""
    package = folder / "small"
    package.mkdir()
    shutil.copy(FOLDER / "_jit.py", package)
    (package / "__init__.py").touch()
    (package / "_helper.py").write_text(HELPER.format(factor=2.0))
    (package / "_outer.py").write_text(OUTER)


def run(folder: Path, cache: str | None) -> tuple[float, int, str]:
    """What the kernel returns in a new process, whether it came from the cache, and where that is."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(folder), "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "home")}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    answer = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
    value, hits, path = answer.stdout.split(maxsplit=2)
    return float(value), int(hits), path.strip()


@pytest.mark.parametrize("given", [False, True], ids=["beside the source", "in a folder of the user's choice"])
def test_a_change_of_a_helper_in_another_file_is_noticed(tmp_path, given):
    small_package(tmp_path)
    cache = str(tmp_path / "cache") if given else None
    assert run(tmp_path, cache)[:2] == (21.0, 0)
    assert run(tmp_path, cache)[:2] == (21.0, 1)
    (tmp_path / "small" / "_helper.py").write_text(HELPER.format(factor=3.0))
    assert run(tmp_path, cache)[:2] == (31.0, 0)
    assert run(tmp_path, cache)[:2] == (31.0, 1)


def test_a_package_in_a_folder_that_cannot_be_written_is_cached_elsewhere(tmp_path):
    small_package(tmp_path)
    package = tmp_path / "small"
    (package / "__pycache__").touch()  # a file where the folder would be: root may write to any folder
    package.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        first, second = run(tmp_path, None), run(tmp_path, None)
    finally:
        package.chmod(stat.S_IRWXU)
    assert (first[:2], second[:2]) == ((21.0, 0), (21.0, 1))
    assert str(tmp_path / "home") in second[2]


def test_everything_compiled_goes_through_the_one_decorator():
    for file in FOLDER.glob("*.py"):
        imported = {
            name.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in node.names
        }
        assert ("numba" in imported) == (file.name == "_jit.py"), file.name


def test_the_digest_covers_every_file_of_the_package_that_loops_import():
    from specavg.functions.loops import _jit

    covered = {file.name for file in _jit.compiled_files()}
    for file in FOLDER.glob("*.py"):
        imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
        modules = {node.module for node in imports if (node.module or "").startswith("specavg")}
        assert {f"{(module or '').rpartition('.')[2]}.py" for module in modules} <= covered, file.name
    assert "_factor_table.py" in covered


def test_loops_are_cached_under_the_digest_and_helpers_only_inside_them():
    from specavg.functions.loops import _jit, _tree, _wigner

    for function in (_tree.tree_sums, _wigner.wigner_sums):
        assert function.py_func.__qualname__.endswith(_jit.digest)
        assert function.stats.cache_path is not None
    # A helper on its own would be one more file that two processes may write at the same time.
    assert _tree.fill.stats.cache_path is None


def test_loops_compile_where_no_folder_can_be_written(monkeypatch):
    from numba.core import caching

    from specavg.functions.loops import _jit

    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])

    def doubled(x):
        return 2 * x

    assert _jit.loop(doubled)(21) == 42
