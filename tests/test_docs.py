"""The pages: their examples run, and their links to names and files exist."""

import doctest
import json
import re
from pathlib import Path

import numpy as np
import pytest

import specavg as sa

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if ">>>" in p.read_text(encoding="utf-8")], ids=lambda p: p.name)
def test_examples_of_the_page_run(page):
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    results = doctest.DocTestRunner().run(examples)
    assert (results.failed, results.attempted > 0) == (0, True)


def blocks(text):
    """Blocks of Python without prompts, whose names the reader has."""
    return [code for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) if ">>>" not in code]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # thirty points are few
def test_blocks_without_prompts_run_on_the_readers_data(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    X = space.sample(30, random_state=0)
    R = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]) + 0.1 * np.random.default_rng(0).standard_normal((30, 3, 3))
    bond = np.linalg.norm(R[:, 1] - R[:, 2], axis=1)
    pull = (R[:, 1] - R[:, 2]) / bond[:, None]
    readers = {"sa": sa, "space": space, "group": group, "X": X, "Z": X, "y": (X**4).sum(axis=1), "Y": X**3}
    readers |= {"G": 4 * (X**3 - (X**4).sum(axis=1, keepdims=True) * X), "symbols": ["O", "H", "H"]}
    readers |= {"R": R, "E": bond, "F": np.stack([0 * pull, -pull, pull], axis=1)}
    readers["model"] = sa.InvariantKernelRidge(space, group).fit(X, readers["y"])
    readme = blocks((DOCS.parent / "README.md").read_text(encoding="utf-8"))[1:]  # the first is run by test_benchmarks
    ran = 0
    for code in [*readme, *(code for page in PAGES for code in blocks(page.read_text(encoding="utf-8")))]:
        exec(code, dict(readers))
        ran += 1
    assert ran >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_the_page_names_exist(page):
    for target in re.findall(r"\]\(([\w./]+\.(?:md|rst))\)", page.read_text(encoding="utf-8")):
        if target.startswith("auto_examples/"):  # made from examples/ at build time
            target = (
                target.replace("auto_examples/", "examples/").replace(".rst", ".py").replace("index.py", "README.rst")
            )
        assert target.startswith("generated/") or (DOCS / target).exists()


_FILES = re.findall(r"```toml\n# --space (\S+)\n(.*?)```", (DOCS / "command_line.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("space, text", _FILES, ids=[space for space, _ in _FILES])
def test_group_files_of_the_documentation_are_read(space, text, tmp_path):
    from specavg.cli._spaces_and_groups import fitting_group, space_of
    from specavg.persistence._values import describe

    (tmp_path / "group.toml").write_text(text)
    group = fitting_group(str(tmp_path / "group.toml"), space_of(space))
    (tmp_path / "again.json").write_text(json.dumps(describe(group)))
    assert fitting_group(str(tmp_path / "again.json"), space_of(space)) == group


def test_the_documentation_has_a_group_file_of_each_kind():
    from specavg.isometries import Isometry
    from specavg.isometries.fields import Field
    from specavg.persistence._kinds import kinds_of

    page = (DOCS / "command_line.md").read_text()
    written = set(re.findall(r'kind = "(\w+)"', page))
    assert written >= {*kinds_of(Isometry), *kinds_of(Field)}
