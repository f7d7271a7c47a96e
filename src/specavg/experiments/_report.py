"""The report: one self-contained page, figures and all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from specavg.experiments._result import Claim, Experiment, Result, Table


@dataclass(frozen=True)
class Section:
    """One experiment, what it found, and how long it took."""

    experiment: Experiment
    result: Result
    seconds: float


def write_report(folder: Path, sections: list[Section], quick: bool, seconds: float, versions: dict[str, str]) -> Path:
    """Write ``report.html`` with every figure inside it.

    Returns
    -------
    Path
        The file.
    """
    claims = [(s.experiment, claim) for s in sections for claim in s.result.claims]
    count = {state: sum(claim.holds is state for _, claim in claims) for state in (True, False, None)}
    parts = {
        "style": Path(__file__).with_name("report.css").read_text(encoding="utf-8"),
        "counts": f"{_QUICK * quick}Claims and questions: {len(claims)}. Yes: <b class=yes>{count[True]}</b>. No: "
        f"<b class=no>{count[False]}</b>. It depends on what the paper leaves open, or on the case: "
        f"<b class=open>{count[None]}</b>.",
        "took": _minutes(seconds),
        "glance": "".join(
            f"<tr><td><a href='#{experiment.name}'>{escape(experiment.title)}</a></td>"
            f"<td>{_text(claim.text)}</td><td>{_badge(claim, experiment, quick)}</td></tr>"
            for experiment, claim in claims
        ),
        "sections": "\n".join(_section(folder, i, s, quick) for i, s in enumerate(sections, start=1)),
        "versions": escape(", ".join(f"{name} {version}" for name, version in versions.items())),
    }
    page = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    for name, part in parts.items():
        page = page.replace(f"{{{name}}}", part, 1)
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


_QUICK = "A quick run: smaller sizes and fewer seeds than the full one, which can reverse a verdict. "


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _badge(claim: Claim, experiment: Experiment, quick: bool) -> str:
    name, word = {True: ("yes", "holds"), False: ("no", "does not hold"), None: ("open", "depends")}[claim.holds]
    if claim.text.endswith("?"):
        word = {True: "yes", False: "no", None: "depends"}[claim.holds]
    marks = ["quick run"] * quick + ["changed"] * bool(experiment.changed)  # both can reverse a verdict
    mark = f" <span class=quiet>({', '.join(marks)})</span>" if marks else ""
    return f"<span class='badge {name}'>{word}</span>{mark}"


def _section(folder: Path, number: int, section: Section, quick: bool) -> str:
    name, result = section.experiment.name, section.result
    parts = [
        f"<section id='{name}'><h2>{number}. {escape(section.experiment.title)}</h2>",
        f"<p><b>What was run.</b> {_text(result.summary)} <span class=quiet>(This took "
        f"{_minutes(section.seconds)}.)</span></p>",
        _changed(section.experiment),
        "<ul class=claims>",
        *(
            f"<li>{_badge(c, section.experiment, quick)} <b>{_text(c.text)}</b><br>"
            f"<span class=verdict>{_text(c.verdict)}</span></li>"
            for c in result.claims
        ),
        "</ul>",
    ]
    for figure in result.figures:
        drawing = _inline_svg(folder / "figures" / f"{figure.name}.svg", figure.name, figure.caption)
        parts.append(f"<figure>{drawing}<figcaption>{_text(figure.caption)}</figcaption></figure>")
    parts += [_table(table) for table in result.tables]
    parts += [f"<p class=note>{_text(note)}</p>" for note in result.notes]
    parts.append("</section>")
    return "\n".join(parts)


def _changed(experiment: Experiment) -> str:
    if not experiment.changed:
        return ""
    return (
        f"<p><b class=open>Changed for this run:</b> {_text(experiment.changed)}. The verdicts are about the changed "
        "task, and not about the paper's.</p>"
    )


def _inline_svg(path: Path, name: str, caption: str) -> str:
    """The drawing itself, with ids that no other drawing of the page uses."""
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(\bid=")', rf"\1{name}-", svg)
    svg = re.sub(r'(href="#)', rf"\1{name}-", svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    # Size is left to the page; the view box keeps the proportions.
    width = re.search(r'width="([0-9.]+)pt"', svg)
    points = float(width[1]) if width else 600.0
    svg = re.sub(r'\s(width|height)="[0-9.]+pt"', "", svg, count=2)
    label = escape(caption, quote=True)
    return svg.replace("<svg", f"<svg role='img' aria-label='{label}' style='max-width:{points * 1.33:.0f}px'", 1)


def _table(table: Table) -> str:
    head = "".join(f"<th>{_text(c)}</th>" for c in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{_text(c)}</td>" for c in row) + "</tr>" for row in table.rows)
    return (
        f"<details open><summary>{_text(table.caption)}</summary><div "
        f"class=scroll><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


_EXPONENT = re.compile(r"\^(\([^()]*(?:\([^()]*\)[^()]*)*\)|\{[^{}]*\}|[−-]?[0-9]+(?:\.[0-9]+)?|[A-Za-z])")
_SCIENTIFIC = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)e([+-]?)0*([0-9]+)(?!\w)")
_MINUS = re.compile(r"(?<![\w.)])-(?=[0-9])")
_INDEX = re.compile(r"(?<![a-z]{2})_(\([^()]*\)|\{[^{}]*\}|[A-Za-z0-9λ]+(?:,G)?)")


def _text(text: str) -> str:
    """Escaped text with x^2, D_λ and 1e-9 set with exponents and indices."""
    powers = _SCIENTIFIC.sub(lambda m: f"{m[1]}\u00a0×\u00a010^{{{m[2].strip('+')}{m[3]}}}", escape(text))
    safe = _MINUS.sub("−", powers)

    def inner(match: re.Match[str]) -> str:
        return match[1][1:-1] if match[1][0] in "({" else match[1]

    safe = _EXPONENT.sub(lambda m: f"<sup>{inner(m)}</sup>", safe)
    return _INDEX.sub(lambda m: f"<sub>{inner(m)}</sub>", safe)
