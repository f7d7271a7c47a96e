"""The tools: what they print is what the pages say."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_design_page_has_the_walk_of_this_package():
    found = subprocess.run(
        [sys.executable, ROOT / "tools" / "walk.py", "--check"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    "source, count",
    [
        ("", 0),
        ("# a comment\n\n", 0),
        ('"""A docstring\nof two lines."""\nx = 1  # one\n', 1),
        ('def f():\n    "A docstring."\n    return (1 +\n            # two\n            2)\n', 3),
        ('x = """a string\nof two lines"""\n', 2),
    ],
)
def test_lines_of_code_are_those_without_comments_and_docstrings(source, count):
    assert tool("count_lines").code_lines(source) == count


def test_no_private_file_name_occurs_twice():
    names = [path.name for path in (ROOT / "src").rglob("_[!_]*.py")]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice


@pytest.mark.parametrize("folder", ["functions", "invariants/solvers"])
def test_the_index_of_a_large_folder_names_every_file(folder):
    home = ROOT / "src" / "specavg" / folder
    index = (home / "__init__.py").read_text(encoding="utf-8")
    named = {word for word in index.split("`")[1::2] if word.startswith("_")}
    assert named == {path.stem for path in home.glob("_[!_]*.py")}
