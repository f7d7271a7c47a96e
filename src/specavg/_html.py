"""Tables that people read: as text in a terminal, as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any, TypeVar, final

T = TypeVar("T")
_SHOWN = 24  # rows: what fits on a screen; of longer tables the first and the last are shown
_LAST = 4  # rows shown from the end of a longer table, where the largest eigenvalues are


@final
class Records(tuple[T, ...]):
    """A tuple of records of one dataclass, which prints as a table with one line for each.

    Examples
    --------
    >>> import specavg as sa
    >>> sa.invariant_basis(sa.Torus(10), sa.groups.symmetric(10), max_eigenvalue=20).table
    eigenvalue  dim  invariant_dim  solver       residual  gap
             0    1              1  closed form         0  inf
        9.8696   20              2  closed form         0  inf
       19.7392  180              3  closed form         0  inf
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "()"
        heads, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        numeric = [isinstance(getattr(self[0], name), int | float) for name in heads]

        def line(cells: Sequence[str]) -> str:
            padded = (f"{c:>{w}}" if n else f"{c:<{w}}" for c, w, n in zip(cells, widths, numeric, strict=True))
            return "  ".join(padded).rstrip()

        return "\n".join([line(heads), *map(line, rows)])

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        return self.as_html()

    def as_html(self) -> str:
        """The table for a notebook."""
        return table_html(*self._cells()) if self else "()"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        first: Any = self[0]
        heads = [field.name for field in fields(first)]
        shown: list[Any] = list(self)
        if len(shown) > _SHOWN:
            shown = [*shown[: _SHOWN - _LAST], None, *shown[-_LAST:]]
        return heads, [["…"] * len(heads) if row is None else [_text(getattr(row, h)) for h in heads] for row in shown]


def table_html(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a heading line."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(_text(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts_html(title: str, facts: Iterable[tuple[str, object]]) -> str:
    """A title and a table of names and values."""
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(_text(value))}</td></tr>" for name, value in facts)
    return f"<div><strong>{escape(title)}</strong><table><tbody>{body}</tbody></table></div>"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2e}" if 0 < abs(value) < 1e-4 else f"{value:.6g}"
    return str(value)
