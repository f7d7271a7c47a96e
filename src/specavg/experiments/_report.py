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
    claims = [(s, claim) for s in sections for claim in s.result.claims]
    count = {state: sum(claim.holds is state for _, claim in claims) for state in (True, False, None)}
    how = "A quick run: smaller sizes and fewer seeds than the full one, which can reverse a verdict. " if quick else ""
    body = [
        "<header><h1>Exact invariances, reproduced</h1>",
        "<p class=lead>The experiments and claims of <em>Learning with Exact Invariances in Polynomial "
        "Time</em> (Soleymani, Tahmasebi, Jegelka, Jaillet; ICML 2025), run with <code>specavg</code>, and "
        "the alternatives it argues against. Every verdict below is computed from the numbers of this "
        "run.</p>",
        f"<p>{how}{len(claims)} claims and questions: <b class=yes>{count[True]} hold or are answered yes</b>, "
        f"<b class=no>{count[False]} not</b>, <b class=open>{count[None]} depend</b> on what the paper leaves open "
        f"or on the case. Took {_minutes(seconds)}; every number is in <code>results.csv</code>.</p>",
        f"<p class=note>{_text(_WORDS)}</p></header>",
        _summary(sections, quick),
    ]
    body += [_section(folder, i, s, quick) for i, s in enumerate(sections, start=1)]
    body.append(_left_out())
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    body.append(f"<footer>{escape(listed)}.</footer>")
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    page = _PAGE.replace("{style}", style).replace("{body}", "\n".join(body))
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


_WORDS = (
    "Words: Spec-Avg is the paper's Algorithm 1, with D functions. KRR is kernel ridge regression, with the penalty λ. "
    "G is the group and |G| the number of its elements. The invariance discrepancy ID(f) is the largest |f(gx) − f(x)| "
    "over elements g and test points x; it is 0 for an exactly invariant function."
)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _badge(claim: Claim, experiment: Experiment, quick: bool) -> str:
    name, word = {True: ("yes", "holds"), False: ("no", "does not hold"), None: ("open", "depends")}[claim.holds]
    if claim.text.endswith("?"):
        word = {True: "yes", False: "no", None: "depends"}[claim.holds]
    marks = ["quick run"] * quick + ["changed"] * bool(experiment.changed)  # both can reverse a verdict
    mark = f" <span class=quiet>({', '.join(marks)})</span>" if marks else ""
    return f"<span class='badge {name}'>{word}</span>{mark}"


def _summary(sections: list[Section], quick: bool) -> str:
    rows = [
        f"<tr><td><a href='#{s.experiment.name}'>{escape(s.experiment.title)}</a></td>"
        f"<td>{_text(claim.text)}</td><td>{_badge(claim, s.experiment, quick)}</td></tr>"
        for s in sections
        for claim in s.result.claims
    ]
    return (
        "<section><h2>At a glance</h2><div class=scroll><table class=glance>"
        "<thead><tr><th>experiment</th><th>claim or question</th><th>verdict</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


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


_LEFT_OUT = {
    "Actions that are not isometries.": (
        "The paper says that its theory extends to them. The Laplacian does not commute with such a group, and its "
        "eigenspaces are not mapped to themselves: maps that are not isometries are refused."
    ),
    "Manifolds with a boundary.": "The spaces here have none; `Interval` is the circle modulo its reflection.",
    "Infinite groups": "are outside of the paper's theorem; the part on its sequel has them.",
    "The paper's own figures": (
        "cannot be matched number by number: η, the noise, the sizes and the normalisation of λ are not stated. "
        "The choices made are written with each figure."
    ),
}


def _left_out() -> str:
    items = "".join(f"<li><b>{escape(what)}</b> {escape(why)}</li>" for what, why in _LEFT_OUT.items())
    return f"<section><h2>What the paper mentions and this library leaves out</h2><ul>{items}</ul></section>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>Exact invariances, reproduced</title><style>{style}</style></head>
<body><main>
{body}
</main></body></html>
"""
