"""How many lines of code the package has: lines that hold a token of code.

    python tools/count_lines.py [FOLDER ...]      by default src

Blank lines, comments and docstrings are not counted. A string that is no docstring is code, on each of its lines.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str) -> int:
    """The lines of code in the source `text`.

    Examples
    --------
    >>> code_lines('"A docstring."  # and a comment\\n\\nx = (1 +  # one\\n     2)\\n')
    2
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(text))


def _docstring_lines(text: str) -> set[int]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            found.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def main(arguments: list[str]) -> int:
    """Print the lines of code of each folder in the package, and their sum."""
    for folder in [Path(a) for a in arguments] or [ROOT / "src"]:
        counts: Counter[str] = Counter()
        files = sorted(folder.rglob("*.py"))
        if not files:
            print(f"{folder} holds no Python files: nothing was counted", file=sys.stderr)
            return 2
        for file in files:
            below = file.relative_to(folder).parts
            counts["/".join(below[:2]) if len(below) > 2 else below[0]] += code_lines(file.read_text(encoding="utf-8"))
        for name, count in sorted(counts.items()):
            print(f"{count:7,}  {name}")
        print(f"{sum(counts.values()):7,}  {folder}, {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
