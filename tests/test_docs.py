"""The pages: their examples run, and their links to names and files exist."""

import doctest
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
