"""Docstrings write |G| and (n, *shape) as mathematics; reStructuredText would read bars and stars as markup.

And `name` in them is a link where it is a public name of the package, whatever module it is used in; code elsewhere.
Short formulas such as :math:`f(gx) = f(x)` are set in italics here, so that no script has to be fetched to read them.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

_LITERAL = re.compile(r"(``.*?``|`[^`]*`)")
_FIELD = re.compile(r"\s*[\w, *.]+( : |$)")  # "coef_ : ndarray ...": numpydoc escapes the name itself
_TRAILING_UNDERSCORE = re.compile(r"(?<=\w)_(?=[^\w`]|$)")
_LONE_STAR = re.compile(r"(?<![\w*\\])\*(?=\w)(?![^*]*\w\*(?!\w))")


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", escape, priority=100)  # before numpydoc
    app.add_role("name", name_role)
    app.add_role("math", math_role, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put a backslash before bars, lone stars and trailing underscores, outside of examples and literals."""
    example = False
    for i, line in enumerate(lines):
        if line.strip() == "Examples":
            example = True
        elif i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1].strip()):
            example = False
        if not example and ">>>" not in line:
            field = _FIELD.match(line)
            start = field.end() if field else 0
            parts = _LITERAL.split(line[start:])
            parts[::2] = map(_escaped, parts[::2])
            lines[i] = line[:start] + "".join(parts)


def _escaped(text: str) -> str:
    return _TRAILING_UNDERSCORE.sub(r"\\_", _LONE_STAR.sub(r"\\*", text.replace("|", r"\|")))


def math_role(role: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()):
    """Plain formulas as emphasised text; with TeX commands as usual, by MathJax."""
    source = rawtext.partition("`")[2].rpartition("`")[0]  # with its backslashes
    node = nodes.math(rawtext, source) if re.search(r"[\\\\^_{]", source) else nodes.emphasis(rawtext, source)
    return [node], []


@cache
def homes() -> dict[str, str]:
    """Where each public name lives: Torus -> specavg.spaces.Torus."""
    import generated_pages

    import specavg

    found = {"config": "specavg.config"}
    for module in generated_pages._modules(specavg):
        for name in getattr(importlib.import_module(f"specavg.{module}"), "__all__", []):
            found.setdefault(name, f"specavg.{module}.{name}")
            found[f"{module}.{name}"] = f"specavg.{module}.{name}"
    return found


def name_role(role: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()):
    """What single backticks mean: a link to a public name, or code."""
    key = re.sub(r"^(specavg|sa)\.|\(.*$", "", text)
    code = nodes.literal(rawtext, text)
    if key not in homes():
        return [code], []
    link = pending_xref(
        rawtext, code, refdomain="py", reftype="obj", reftarget=homes()[key], refexplicit=True, refwarn=False
    )
    link["refdoc"] = inliner.document.settings.env.current_document.docname
    link["py:module"] = link["py:class"] = None
    return [link], []
