"""What an experiment hands to the report: claims with verdicts, figures, tables, and every number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Track(Protocol):
    """Iterate and show progress."""

    def __call__(self, items: Iterable[T], description: str) -> Iterable[T]: ...


@dataclass(frozen=True)
class Claim:
    """One claim, and what the numbers say about it.

    Attributes
    ----------
    text : str
        The claim, in the paper's terms.
    verdict : str
        A sentence computed from the numbers.
    holds : bool or None
        Whether it reproduced; None where it depends on choices that the paper leaves open.

    Examples
    --------
    >>> Claim("the discrepancy is 0", "largest found: 0.0", holds=True).holds
    True
    """

    text: str
    verdict: str
    holds: bool | None


@dataclass(frozen=True)
class Figure:
    """A matplotlib figure, its file name (without ending) and a caption.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> Figure("empty", plt.figure(), "Nothing to see.").name
    'empty'
    """

    name: str
    figure: Any
    caption: str


@dataclass(frozen=True)
class Table:
    """A small table for the report; every cell is text already.

    Examples
    --------
    >>> Table("Errors", ["n", "error"], [["100", "0.1"]]).columns
    ['n', 'error']
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Record:
    """One number, with everything that is needed to compute it again.

    Examples
    --------
    >>> Record("rate", "sphere", "slope", -0.52, n=1000, seed=0).value
    -0.52
    """

    experiment: str
    series: str
    quantity: str
    value: float
    n: int | None = None
    seed: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    """What one experiment found.

    Examples
    --------
    >>> Result("Nothing was measured.").claims
    []
    """

    summary: str
    claims: list[Claim] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, text: str | None, **numbers: object) -> Result:
        """From the text of an experiment's file: after its first line, what was run and then notes, a paragraph each.

        A name in braces, as in {n}, stands for one of `numbers`.
        """
        for name, number in numbers.items():
            text = (text or "").replace(f"{{{name}}}", str(number))
        _, summary, *notes = [" ".join(paragraph.split()) for paragraph in (text or "\n\n").split("\n\n")]
        return cls(summary, notes=notes)

    def claim(self, text: str, verdict: str, holds: bool | None) -> None:
        """Add a claim."""
        self.claims.append(Claim(text, verdict, holds))

    def figure(self, name: str, figure: Any, caption: str | None) -> None:
        """Add a figure; the text of the function that draws it may be its caption."""
        self.figures.append(Figure(name, figure, " ".join((caption or "").split())))

    def table(self, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table."""
        self.tables.append(Table(caption, columns, rows))

    def record(self, experiment: str, series: str, quantity: str, value: float, *more: Any, **settings: Any) -> None:
        """Add a number; `more` and `settings` as in `Record`."""
        self.records.append(Record(experiment, series, quantity, value, *more, **settings))


@dataclass(frozen=True)
class Experiment:
    """One experiment: its short name, its title, the function that runs it, and whether it measures time.

    `run(quick, track)` returns a `Result`; `track(items, description)` shows progress. `changed` says what a reader
    changed in it.

    Examples
    --------
    >>> from specavg.experiments import EXPERIMENTS
    >>> all(isinstance(experiment, Experiment) for experiment in EXPERIMENTS)
    True
    """

    name: str
    title: str
    run: Callable[[bool, Track], Result]
    timed: bool = False
    changed: str = ""
