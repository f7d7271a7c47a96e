"""Tables on disk, CSV and Parquet, read and written in pieces of bounded size."""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from specavg._arrays import Array
from specavg._atomic import is_pipe
from specavg._config import settings
from specavg.cli._euler_columns import check_angle_names, point_width, points_from_angles
from specavg.cli._local_vectors import vectors_from_local
from specavg.cli._user_error import UserError
from specavg.data._given_data import is_number
from specavg.data._streaming import Stream

if TYPE_CHECKING:
    from specavg.spaces import Space

_PIECE_ROWS = 50_000  # rows that are read at a time: ten columns of them take 4 MB
_CSV = (".csv", ".csv.gz", ".tsv")


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise UserError("reading tables needs pandas and pyarrow: pip install 'specavg[cli]'") from None
    return pandas


def _kind(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(_CSV):
        return "csv"
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    raise UserError(f"{path}: the name must end in .csv, .csv.gz, .tsv or .parquet, to say what the file is", 2)


@final
@dataclass(eq=False)
class Table:
    """A table on disk: its columns, and its rows in pieces."""

    path: Path
    columns: list[str]
    known_rows: int | None  # None where they have to be read to be counted
    frames: Callable[[list[str]], Iterator[Any]]  # columns of the table, piece by piece

    @property
    def rows(self) -> int:
        """How many rows; CSV files are read once to find out."""
        if self.known_rows is None:
            self.known_rows = sum(len(piece) for piece in self.frames(self.columns[:1]))
        return self.known_rows

    def pieces(self, columns: Sequence[str]) -> Iterator[Array]:
        """Numbers of the chosen columns, piece by piece; what is not a finite number is an error with its row."""
        first = 1
        for frame in self.frames(list(columns)):
            yield _numbers(frame, list(columns), self.path, first)
            first += len(frame)

    def fits_in_memory(self, n_columns: int) -> bool:
        """Whether all rows of so many columns may be held, with room to work."""
        if self.known_rows is None and self.path.stat().st_size > settings().memory_limit / 8:
            return False  # do not read a large CSV file twice to find out
        return 8.0 * self.rows * n_columns < settings().memory_limit / 8


def open_table(path: Path) -> Table:
    """The table in a CSV or Parquet file."""
    kind = _kind(path)
    if not path.exists():
        raise UserError(f"{path}: there is no such file")
    if path.is_dir():
        raise UserError(f"{path} is a folder, not a table")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty")
    table = _open_csv(path) if kind == "csv" else _open_parquet(path)
    twice = sorted({name for name in table.columns if table.columns.count(name) > 1})
    if twice:
        raise UserError(f"{path} has two columns {twice[0]!r}")
    return table


@contextmanager
def _reading(path: Path, kind: str, *errors: type[Exception]) -> Generator[None]:
    """Name the file in what its reader refuses."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        what = f"it is not text in UTF-8 (it has a byte {byte:#04x}). Save it in that encoding"
        raise UserError(f"{path} cannot be read as {kind}: {what}") from None
    except (ValueError, OSError, *errors) as error:
        raise UserError(f"{path} cannot be read as {kind}: {error}") from None


def _open_csv(path: Path) -> Table:
    pandas = _pandas()
    separator = "\t" if path.name.lower().endswith(".tsv") else ","
    with _reading(path, "CSV"):
        # As they are written: a second column of one name would be given another.
        first = pandas.read_csv(path, sep=separator, nrows=1, header=None, dtype=str, keep_default_na=False)
        header = _without_blanks([str(name) for name in pandas.read_csv(path, sep=separator, nrows=0).columns])
    _check_header(path, [str(name) for name in first.iloc[0]])

    # Up to pandas 2 the default parser may be wrong in the last bit.
    exact = {"float_precision": "round_trip"} if int(pandas.__version__.split(".")[0]) < 3 else {}

    # A blank line is a row without values: skipped, it would shift all rows after it.
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    settings: dict[str, Any] = {"sep": separator, "index_col": False, "skip_blank_lines": False, **exact}

    def pieces(columns: list[str]) -> Iterator[Any]:
        # All columns are parsed: with `usecols` a row with too many fields would pass unnoticed.
        try:
            with (
                _reading(path, "CSV"),
                warnings.catch_warnings(),
                opened(path, "rt", encoding="utf-8-sig", newline="") as text,
                pandas.read_csv(_Trimmed(text), chunksize=_PIECE_ROWS, **settings) as reader,
            ):
                warnings.simplefilter("ignore", pandas.errors.DtypeWarning)  # words among numbers are found below
                warnings.simplefilter("error", pandas.errors.ParserWarning)
                for frame in reader:
                    frame.columns = header
                    yield frame[columns]
        except pandas.errors.ParserWarning:
            raise UserError(f"{path} cannot be read as CSV: its rows have more fields than its first line") from None

    return Table(path, header, None, pieces)


@final
class _Trimmed(io.TextIOBase):
    """Text without blank lines at its start and its end."""

    def __init__(self, file: Any) -> None:
        self._file, self._held, self._started = file, "", False

    def read(self, size: int | None = -1, /) -> str:
        while text := self._file.read(size):
            text = self._held + text
            kept = text.rstrip("\r\n ")
            self._held = text[len(kept) :]  # only what follows tells whether this is the end
            if kept:
                first, self._started = not self._started, True
                return re.sub(r"\A(?: *[\r\n])+", "", kept) if first else kept
        return ""


def _without_blanks(names: list[str]) -> list[str]:
    """Names as they are meant in a header `h, y`: without blanks around them, unless these tell two names apart."""
    stripped = [name.strip() for name in names]
    return stripped if len(set(stripped)) == len(names) else names


def _check_header(path: Path, names: list[str]) -> None:
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise UserError(f"{path} has two columns {twice[0]!r}")
    mark = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if mark is not None:
        raise UserError(f"{path} is separated by {mark!r}: write commas, or tabs with a name that ends in .tsv")
    if all(map(is_number, names)):
        raise UserError(f"{path} starts with numbers ({_listed(names)}): its first line must name the columns")


def _open_parquet(path: Path) -> Table:
    _pandas()
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise UserError("reading Parquet files needs pyarrow: pip install 'specavg[cli]'") from None
    with _reading(path, "Parquet", pyarrow.ArrowException), parquet.ParquetFile(path) as opened:
        names = [str(name) for name in opened.schema_arrow.names if not str(name).startswith("__index_level")]
        rows = int(opened.metadata.num_rows)

    def pieces(columns: list[str]) -> Iterator[Any]:
        with _reading(path, "Parquet", pyarrow.ArrowException), parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_PIECE_ROWS, columns=columns):
                yield batch.to_pandas(ignore_metadata=True)  # an index of pandas is a column as others are

    return Table(path, names, rows, pieces)


def _numbers(frame: Any, columns: list[str], path: Path, first_row: int) -> Array:
    pandas = _pandas()
    values = np.empty((len(frame), len(columns)))
    for j, name in enumerate(columns):
        if frame[name].dtype.kind in "mM":  # they would be nanoseconds
            raise UserError(f"{path}: column {name!r} holds dates or times, not numbers")
        numbers = pandas.to_numeric(frame[name], errors="coerce")
        values[:, j] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        bad = np.flatnonzero(~np.isfinite(values[:, j]))
        if len(bad):
            cell = frame[name].iloc[int(bad[0])]
            missing = pandas.isna(cell)
            what = "is missing" if missing else f"is {str(cell)[:40]!r}, not a finite number"
            raise UserError(f"{path}: column {name!r}, row {first_row + int(bad[0])} {what} (rows count from 1)")
    return values


def split_columns(
    table: Table, targets: list[str], features: list[str], space: Space, weights: str | None, count: int
) -> tuple[list[str], list[str]]:
    """The `count` columns of the points (by default all others) and the targets; errors name what is wrong."""
    others = targets if weights is None else [*targets, weights]
    for name in others + features:
        if (others + features).count(name) > 1:
            raise UserError(f"the column {name!r} is asked for twice; targets and features must differ", 2)
        if name not in table.columns:
            raise UserError(f"{table.path} has no column {name!r}; it has {_listed(table.columns)}")
    chosen = features or [name for name in table.columns if name not in others]
    if len(chosen) != count:
        from specavg.spaces import Sphere

        angles = "; three Euler angles are told by --euler" if len(chosen) == 3 and count == 9 else ""
        if len(chosen) == 2 and space == Sphere(3):
            angles = "; longitude and latitude are told by --lonlat"
        whose = "Euler angles are" if count == 3 else "longitude and latitude are"
        if count == space.n_features:
            whose = f"points of {space!r} have"
        learnt = "" if targets else "; without --target all columns are those of points"
        raise UserError(
            f"{table.path} has {len(chosen)} feature columns ({_listed(chosen)}) but {whose} "
            f"{count}: choose them with --features, or another --space{angles}{learnt}"
        )
    return chosen, targets


def _listed(names: Sequence[str]) -> str:
    shown = [name if name.isprintable() and name == name.strip() else repr(name) for name in names[:12]]
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")


@final
class TableStream(Stream):
    """A table as a stream for estimators, with a call after each piece; `local`: targets go to the east and north."""

    def __init__(
        self,
        table: Table,
        features: list[str],
        targets: list[str],
        done: Callable[[int], None],
        weights: str | None = None,
        euler: str | None = None,
        *,
        local: bool = False,
    ) -> None:
        self.rows = table.rows
        if self.rows == 0:
            raise UserError(f"{table.path} has no rows")
        check_angle_names(euler, features)
        self.n_features = len(features) if euler is None else point_width(euler)
        self.feature_names = features if euler is None else None  # what angles are turned into has no names
        self.outputs = () if len(targets) <= 1 else (3 if local else len(targets),)
        self._table, self._features, self._targets, self._done, self._euler = table, features, targets, done, euler
        self._weights, self._local = [] if weights is None else [weights], local

    def chunks(self) -> Iterator[tuple[Array, ...]]:
        """X, Y where there are targets, and weights where a column has them, piece by piece."""
        start, seen, end = len(self._features), 0, len(self._features) + len(self._targets)
        for piece in self._table.pieces([*self._features, *self._targets, *self._weights]):
            X, Y = points_from_angles(self._euler, piece[:, :start]), piece[:, start:end]
            Y = vectors_from_local(piece[:, :start], Y) if self._local else Y
            negative = np.flatnonzero(piece[:, end:] < 0)
            if len(negative):
                raise UserError(f"{self._table.path}: the weight in row {seen + int(negative[0]) + 1} is negative")
            yield X, *([Y if self.outputs else Y[:, 0]] if self._targets else []), *piece[:, end:].T
            seen += len(piece)
            self._done(seen)

    def whole(self) -> tuple[Array, ...]:
        """All rows of X, and of Y and of the weights where there are any."""
        return tuple(np.concatenate(parts) for parts in zip(*self.chunks(), strict=True))

    def placed_chunks(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        none = () if self._targets else (None,)
        return ((str(self._table.path), (X, *none, *more)) for X, *more in self.chunks())


# --- writing ----------------------------------------------------------------------------------------------


@final
class CsvWriter:
    """Rows of data frames to a text file."""

    def __init__(self, file: Any, separator: str = ",") -> None:
        self._file, self._separator, self._first = file, separator, True

    def write(self, frame: Any) -> None:
        frame.to_csv(self._file, sep=self._separator, index=False, header=self._first, lineterminator="\n")
        self._first = False

    def close(self) -> None:
        self._file.close()


@final
class ParquetWriter:
    """Rows of data frames to a Parquet file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def write(self, frame: Any) -> None:
        import pyarrow
        import pyarrow.parquet as parquet

        table: Any = pyarrow.Table.from_pandas(frame, preserve_index=False)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def open_writer(final_name: Path, unfinished: Path) -> CsvWriter | ParquetWriter:
    """A writer of `unfinished`, in the format that `final_name` asks for; CSV to a pipe."""
    if is_pipe(final_name):
        return CsvWriter(unfinished.open("w", encoding="utf-8", newline=""))
    if _kind(final_name) == "parquet":
        return ParquetWriter(unfinished)
    if final_name.name.lower().endswith(".gz"):
        return CsvWriter(gzip.open(unfinished, "wt", encoding="utf-8", newline=""))
    separator = "\t" if final_name.name.lower().endswith(".tsv") else ","
    return CsvWriter(unfinished.open("w", encoding="utf-8", newline=""), separator)


def check_output(path: Path, *inputs: Path) -> None:
    """Refuse an output that could not be written, or would replace an input, before any work is done."""
    for given in inputs:
        if given.exists() and path.exists() and path.samefile(given):
            raise UserError(f"{path} is an input of this command: give the output another name", 2)
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file in it")
    if is_pipe(path):
        return
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"the folder {path.parent} cannot be written to")
