"""The table of a command: which of its columns are points and which are targets, and its rows whole or in pieces."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from specavg.cli._euler_columns import add_euler_option, point_columns
from specavg.cli._spaces_and_groups import MOST_COLUMNS
from specavg.cli._user_error import UserError

if TYPE_CHECKING:
    from specavg.cli._progress_bar import Progress
    from specavg.cli._tables import TableStream
    from specavg.spaces import Space


def add_table_options(parser: argparse.ArgumentParser, *, one_target: bool = True) -> None:
    """Add the table, its features and its target: one, or none or several."""
    parser.add_argument("data", type=Path, metavar="DATA", help="a table: .csv, .csv.gz, .tsv or .parquet")
    several = "" if one_target else "; several with commas (default: none, and the density of the points is learnt)"
    parser.add_argument("--target", required=one_target, metavar="NAME", help=f"the column to learn{several}")
    parser.add_argument(
        "--features", metavar="NAMES", help="the columns of the points, with commas (default: all others)"
    )
    add_euler_option(parser)
    parser.add_argument(
        "--weights", metavar="NAME", help="the column of sample weights, relative precisions (default: all rows alike)"
    )


def points_and_target(
    options: argparse.Namespace, space: Space, progress: Progress, next_phase: str
) -> tuple[Any, Any, Any, list[str]]:
    """Points, targets and weights, and the columns of the points.

    Chunks of them, and None twice, where the table does not fit in memory.
    """
    import pandas as pd

    from specavg.cli._tables import TableStream, open_table, split_columns

    table = open_table(options.data)
    names, chosen = separated(options.target), separated(options.features)
    count = point_columns(options.euler, space)
    features, targets = split_columns(table, names, chosen, space, options.weights, count)
    if len(targets) != 1:
        raise UserError(f"give one --target at a time; got {len(targets)}", 2)
    stream = TableStream(table, features, targets, progress, options.weights, options.euler)
    if not table.fits_in_memory(len(features) + 2):
        return _Anew(stream, progress), None, None, features
    progress.phase("reading", stream.rows)
    X, y, *weights = stream.whole()
    space.check_points(X)  # what is wrong is then told with the row of the table
    progress.phase(next_phase)
    points = X if stream.feature_names is None else pd.DataFrame(X, columns=features)  # models keep the names
    return points, y, weights[0] if weights else None, features


@final
class _Anew:
    """The chunks of a table that does not fit in memory, with its names, read anew each time they are asked for."""

    def __init__(self, stream: TableStream, progress: Progress) -> None:
        self._stream, self._progress, self._readings = stream, progress, 0
        self.rows = stream.rows

    def __iter__(self) -> Iterator[Any]:
        import pandas as pd

        self._readings += 1
        self._progress.phase("reading" if self._readings == 1 else "reading again", self._stream.rows)
        names = self._stream.feature_names
        return ((X if names is None else pd.DataFrame(X, columns=names), *more) for X, *more in self._stream.chunks())


def separated(names: str | None) -> list[str]:
    """Names separated by commas; (phi,psi)1..3 is phi1,psi1,phi2,psi2,phi3,psi3, and x1..3 is x1,x2,x3.

    Examples
    --------
    >>> separated("(phi,psi)1..2, z")
    ['phi1', 'psi1', 'phi2', 'psi2', 'z']
    """

    def grouped(match: re.Match[str]) -> str:
        stems = [stem.strip() for stem in (match[1] or match[2]).split(",")]
        if int(match[4]) - int(match[3]) >= MOST_COLUMNS:
            raise UserError(f"{match[0]!r} stands for more than {MOST_COLUMNS:,} columns", 2)
        return ",".join(f"{stem}{i}" for i in range(int(match[3]), int(match[4]) + 1) for stem in stems)

    text = re.sub(r"(?:\(([^()]*)\)|([^\s,()]*?))(\d+)\.\.(\d+)(?=\s*(?:,|$))", grouped, names or "")
    return [name.strip() for name in text.split(",") if name.strip()]
