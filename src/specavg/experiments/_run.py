"""Run the experiments and write what they found."""

from __future__ import annotations

import csv
import json
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from specavg.experiments import (
    _alternatives,
    _discovered,
    _examples,
    _figure_1,
    _figure_2,
    _group_size,
    _invariant_ridge,
    _oracles,
    _rate,
    _sequel,
    _weyl,
)
from specavg.experiments._figure_style import own_settings, save
from specavg.experiments._paper_task import Changes
from specavg.experiments._progress import progress
from specavg.experiments._report import Section, write_report
from specavg.experiments._result import Experiment, Record

# Every experiment, in the order of the report. A new one is a file and a line here.
EXPERIMENTS: tuple[Experiment, ...] = (
    _figure_1.experiment(Changes()),
    _figure_2.experiment(Changes()),
    _rate.EXPERIMENT,
    _group_size.EXPERIMENT,
    _oracles.EXPERIMENT,
    _weyl.EXPERIMENT,
    _examples.EXPERIMENT,
    _alternatives.EXPERIMENT,
    _invariant_ridge.EXPERIMENT,
    _sequel.EXPERIMENT,
    _discovered.EXPERIMENT,
)


def reproduce(
    out: Path | str = "results",
    quick: bool = False,
    only: Sequence[str] | None = None,
    stream: Any = None,
    changes: Changes | None = None,
) -> Path:
    """Run the paper's experiments and claims; write figures, every number and a page to read.

    Parameters
    ----------
    out : path
        Folder for ``report.html``, ``results.csv`` and ``figures/*.png, *.svg``; made if missing.
    quick : bool
        Smaller sizes and fewer seeds: about a minute on two idle cores, compilation included.
    only : sequence of str, optional
        Names of the experiments to run; all by default.
    stream : file, optional
        Where progress goes; standard error by default.
    changes : Changes, optional
        Other sizes, seeds and λ for the paper's two figures.

    Returns
    -------
    Path
        The report.

    Examples
    --------
    >>> from specavg.experiments import EXPERIMENTS
    >>> [experiment.name for experiment in EXPERIMENTS][:3]
    ['figure-1', 'figure-2', 'rate']
    """
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    if changes is not None:
        known.update({e.name: e for e in (_figure_1.experiment(changes), _figure_2.experiment(changes))})
    unknown = [name for name in only or () if name not in known]
    if unknown:
        raise ValueError(f"unknown experiments: {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [known[name] for name in known if only is None or name in only]
    folder = Path(out)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    sections: list[Section] = []
    start = time.perf_counter()
    with own_settings(), progress(stream) as track:
        for experiment in sorted(chosen, key=lambda e: e.timed):
            begun = time.perf_counter()
            result = experiment.run(quick, track)
            for figure in result.figures:
                save(figure.figure, folder / "figures" / figure.name)
            sections.append(Section(experiment, result, time.perf_counter() - begun))
    sections.sort(key=lambda section: chosen.index(section.experiment))
    records = [record for section in sections for record in section.result.records]
    _write_csv(folder / "results.csv", records)
    return write_report(folder, sections, quick, time.perf_counter() - start, _versions())


def _write_csv(path: Path, records: list[Record]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["experiment", "series", "quantity", "value", "n", "seed", "settings"])
        for r in records:
            settings = json.dumps(r.settings, sort_keys=True, ensure_ascii=False, default=float)
            writer.writerow([r.experiment, r.series, r.quantity, repr(float(r.value)), r.n, r.seed, settings])


def _versions() -> dict[str, str]:
    from specavg import __version__

    return {
        "specavg": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
