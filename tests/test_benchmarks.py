"""What is said of speed is what was measured: the table of README.md comes from the stored results."""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
ROWS = [row for rows in RESULTS["comparisons"].values() for row in rows]


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("benchmark_table", ROOT / "benchmarks" / "table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_quotes_the_stored_results(table):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    inside = text.split(table.START)[1].split(table.END)[0].strip()
    assert inside == table.readme_table(RESULTS["comparisons"])


def test_the_table_is_written_again_between_its_marks(table, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{table.START}\nold numbers\n{table.END}\nafter\n", encoding="utf-8")
    table.write_readme(RESULTS["comparisons"], readme)
    assert readme.read_text(encoding="utf-8").splitlines()[0] == "before"
    assert "old numbers" not in readme.read_text(encoding="utf-8")
    assert table.readme_table(RESULTS["comparisons"]) in readme.read_text(encoding="utf-8")


def test_the_documentation_has_a_title_for_every_comparison():
    text = (ROOT / "docs" / "_ext" / "generated_pages.py").read_text(encoding="utf-8")
    titles = text.split("COMPARISONS = {")[1].split("}")[0]
    assert [name for name in RESULTS["comparisons"] if f'"{name}": ' not in titles] == []


def test_the_readme_hides_no_missed_target(table):
    quoted = table.readme_table(RESULTS["comparisons"])
    others = [row for name, rows in RESULTS["comparisons"].items() if name != "accuracy" for row in rows]
    missed = [row for row in others if row["met"] is False]
    assert quoted.count("**missed**") == len(missed)
    assert all(f"| {row['name']} |" in quoted for row in missed)


def test_the_readme_quotes_the_row_that_came_nearest_to_its_target(table):
    rows = [
        {"name": name, "value": value, "target": 2.0, "at_most": at_most, "unit": "×", "met": True}
        for name, value, at_most in (("far", 9.0, False), ("near", 1.9, True), ("half", 1.0, True))
    ]
    assert table.readme_table({"some": rows}).splitlines()[2:] == ["| near | 1.9× | ≤ 2× | 3 of 3 |"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_target_is_met_only_if_the_number_says_so(row):
    if row["met"] is not None:
        assert row["met"] == (row["value"] <= row["target"] if row["at_most"] else row["value"] >= row["target"])


def test_the_first_use_is_measured_once_without_and_once_with_compiled_loops(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    first_use = importlib.import_module("benchmarks.first_use")
    caches = []

    def seconds(script, cache):
        caches.append(cache)
        return 5.0 if len(caches) % 2 else 1.0

    monkeypatch.setattr(first_use, "_cpu_seconds", seconds)
    monkeypatch.setattr(first_use.subprocess, "run", lambda *_, **__: None)  # bytecode
    *rows, floor = first_use.first_use()
    assert [row["met"] for row in rows] == [False, True] * len(first_use.CASES)
    assert floor["met"] is None
    assert caches[0] == caches[1] != caches[2]


def test_the_first_use_is_that_of_the_readme(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    first_use = importlib.import_module("benchmarks.first_use")
    code = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    lines = [line.split("  #")[0].rstrip() for line in code.splitlines() if line]
    script = first_use.SCRIPT.format(case=next(iter(first_use.CASES.values()))).replace(", random_state=0)\n", ")\n")
    ours = [line for line in script.splitlines() if line]
    assert ours == [line.replace("300, random_state=0", "300") for line in lines]


def test_bounds_and_missing_numbers_are_quoted_as_such(table):
    row = {"value": 218_181.8, "unit": "×", "target": 1000, "at_most": False}
    assert table.measured(row) == "218,000×"
    assert table.measured({**row, "lower_bound": True}) == "≥ 218,000×"
    assert table.measured({**row, "value": float("nan")}) == "—"
    assert table.measured({**row, "value": 0.0254}) == "0.0254×"
    assert table.wanted(row) == "≥ 1,000×"
