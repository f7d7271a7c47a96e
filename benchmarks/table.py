"""The results as a table, for the terminal and for README.md: numbers are never written by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

__all__ = ["measured", "readme_table", "table", "wanted", "write_readme"]

START, END = "<!-- from benchmarks/results.json, by `python -m benchmarks --table` -->", "<!-- end of the table -->"


def measured(row: dict[str, Any]) -> str:
    """A result as it is quoted: three digits, and a bound said to be one."""
    value = row["value"]
    if math.isnan(value):
        return "—"
    digits = f"{float(f'{value:.3g}'):,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{'≥ ' if row.get('lower_bound') else ''}{digits}{row['unit']}"


def wanted(row: dict[str, Any]) -> str:
    """The target as it is quoted."""
    return "" if row["target"] is None else f"{'≤' if row['at_most'] else '≥'} {row['target']:,g}{row['unit']}"


def table(comparisons: dict[str, list[dict[str, Any]]]) -> str:
    """Every row, with what was asked for and what there is to say."""
    lines = ["| comparison | measured | target | |", "|---|---|---|---|"]
    for row in (row for rows in comparisons.values() for row in rows):
        verdict = {True: "met", False: "missed", None: ""}[row["met"]]
        remark = "; ".join(filter(None, [verdict, row["note"]]))
        lines.append(f"| {row['name']} | {measured(row)} | {wanted(row)} | {remark} |")
    return "\n".join(lines)


ACCURACY = ("<!-- accuracy, from benchmarks/results.json -->", "<!-- end of accuracy -->")


def accuracy_table(rows: list[dict[str, Any]]) -> str:
    """Errors of default models over those of the tuned averaged kernel."""
    lines = [
        "| accuracy at default settings | error over that of the averaged kernel | worst | in 90 % intervals | draws |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["name"].split(": ", 1)[1]
        ratio = f"{row['value']:.2f} ± {row['standard_error']:.2f}"
        covered = f"{row['covered']:.0f} %" if "covered" in row else ""
        covered += " of observations" if row.get("interval") == "observation" else ""
        lines.append(f"| {name} | {ratio} | {row['worst']:.2f} | {covered} | {row['splits']} |")
    return "\n".join(lines)


def readme_table(comparisons: dict[str, list[dict[str, Any]]]) -> str:
    """Of each comparison the row that came nearest to missing its target, and every row that missed it."""
    lines = ["| measured on 2 cores | result | target | targets met |", "|---|---|---|---|"]
    for rows in (rows for name, rows in comparisons.items() if name != "accuracy"):
        judged = [row for row in rows if row["target"] is not None]
        missed = [row for row in judged if not row["met"]]
        nearest = [max((row for row in judged if row["met"]), key=_part_of_the_target, default=None)]
        met = f"{len(judged) - len(missed)} of {len(judged)}"
        for row in (*filter(None, nearest), *missed):
            name = row["name"].replace("|", chr(92) + "|")
            lines.append(f"| {name} | {measured(row)} | {wanted(row)} | {met if row['met'] else '**missed**'} |")
    return "\n".join(lines)


def _part_of_the_target(row: dict[str, Any]) -> float:
    """How much of what is allowed was used: 1 is just met."""
    if not row["target"]:  # nothing is a part of zero
        return 0.0
    used = row["value"] / row["target"]
    return used if row["at_most"] else 1 / used


def write_readme(comparisons: dict[str, list[dict[str, Any]]], readme: Path) -> None:
    """Put the tables between their marks."""
    text = readme.read_text(encoding="utf-8")
    if START in text:
        inside = re.escape(START) + r".*?" + re.escape(END)
        text = re.sub(inside, lambda _: f"{START}\n{readme_table(comparisons)}\n{END}", text, flags=re.DOTALL)
        between = re.escape(ACCURACY[0]) + r".*?" + re.escape(ACCURACY[1])
        accurate = f"{ACCURACY[0]}\n{accuracy_table(comparisons.get('accuracy', []))}\n{ACCURACY[1]}"
        text = re.sub(between, lambda _: accurate, text, flags=re.DOTALL)
        readme.write_text(text, encoding="utf-8")
