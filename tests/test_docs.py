"""The pages: their examples run, and their links to names and files exist."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if ">>>" in p.read_text(encoding="utf-8")], ids=lambda p: p.name)
def test_examples_of_the_page_run(page):
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    results = doctest.DocTestRunner().run(examples)
    assert (results.failed, results.attempted > 0) == (0, True)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_the_page_names_exist(page):
    for target in re.findall(r"\]\(([\w./]+\.(?:md|rst))\)", page.read_text(encoding="utf-8")):
        if target.startswith("auto_examples/"):  # made from examples/ at build time
            target = (
                target.replace("auto_examples/", "examples/").replace(".rst", ".py").replace("index.py", "README.rst")
            )
        assert target.startswith("generated/") or (DOCS / target).exists()
