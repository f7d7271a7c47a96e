"""Formulas in text: V_λ and n^{1/2} get real indices, and `Torus(3)` in a page is a link to what it names."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from plain_mathematics import homes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.transforms import SphinxTransform

_INDEX = re.compile(
    # A Latin letter that stands alone, or any Greek letter or sign: cΔ_i has an index, max_dim has none.
    r"(?P<below>(?:(?<![A-Za-z0-9])[A-Za-z]|[Α-ωƒℓ∏∑])[̂]?)_(?P<sub>\{[^{}]*\}|[A-Za-z0-9λℓ])(?![A-Za-z0-9_])"
    r"|(?<=\))_(?P<sub2>\{[^{}]*\})"
    r"|(?<=[\w)\]}])\^(?P<sup>\{[^{}]*\}|\([^()]*\)|\d+|[A-Za-zλ])(?![A-Za-z0-9_])"
)
_VERBATIM = (nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.math, nodes.raw, desc_signature)


def setup(app: Any) -> dict[str, Any]:
    app.add_transform(Indices)
    app.add_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Indices(SphinxTransform):
    """Subscripts and superscripts where a single letter, or braces, follow _ and ^."""

    default_priority = 600

    def apply(self, **kwargs: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if _INDEX.search(text) and not any(isinstance(p, _VERBATIM) for p in _parents(text)):
                text.parent.replace(text, list(_pieces(str(text))))


class Links(SphinxTransform):
    """Code that names a public object is a link to it, in the pages written by hand."""

    default_priority = 610

    def apply(self, **kwargs: Any) -> None:
        if not str(self.document.get("source", "")).endswith(".md"):
            return
        for code in list(self.document.findall(nodes.literal)):
            key = re.sub(r"^(specavg|sa)\.|\(.*$", "", code.astext())
            if key in homes() and not any(isinstance(p, nodes.reference) for p in _parents(code)):
                link = pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=homes()[key], refexplicit=True, refwarn=False
                )
                link["refdoc"] = self.env.docname
                link["py:module"] = link["py:class"] = None
                code.replace_self(link)
                link += code


def _parents(node: Any) -> Any:
    while node.parent is not None:
        node = node.parent
        yield node


def _pieces(text: str) -> Any:
    end = 0
    for match in _INDEX.finditer(text):
        yield nodes.Text(text[end : match.start()] + (match["below"] or ""))
        below = match["sub"] or match["sub2"]
        kind, inner = (nodes.subscript, below) if below else (nodes.superscript, match["sup"])
        inner = inner[1:-1] if inner[0] in "{(" else inner
        yield kind("", "", nodes.Text(inner))
        end = match.end()
    yield nodes.Text(text[end:])
