"""Predict with a saved model for every row of a table.

Predictions are in the order of the rows. Columns of the table are found by the names the model was fitted with. A
density is relative to uniform points. A potential of a molecule takes x, y and z of each atom, atom by atom, and
predicts energies. Euler angles are taken as those that the model was fitted with.

For example:
  specavg predict model.specavg new.parquet -o predictions.parquet
  specavg predict model.specavg new.csv --std > predictions.csv
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specavg._named_columns import named_like
from specavg.cli._euler_columns import (
    add_euler_option,
    angles_option,
    check_angle_names,
    point_columns,
    points_from_angles,
)
from specavg.cli._local_vectors import local_predictions, predicts_local
from specavg.cli._table_options import separated
from specavg.cli._user_error import UserError
from specavg.functions._few_rows import FEW_ROWS, rows_of_a_larger_table

if TYPE_CHECKING:
    from specavg.cli._tables import CsvWriter, ParquetWriter, Table


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that `specavg fit` or model.save wrote")
    parser.add_argument("data", type=Path, metavar="DATA", help="a table: .csv, .csv.gz, .tsv or .parquet")
    parser.add_argument("--features", metavar="NAMES", help="columns of the points, with commas (default: by name)")
    add_euler_option(parser)
    parser.add_argument("--std", action="store_true", help="the standard deviation of each prediction too")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: CSV on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace) -> int:
    """Predict piece by piece."""
    from specavg._atomic import atomic_path
    from specavg.cli._tables import CsvWriter, check_output, open_table, open_writer
    from specavg.io import load

    if not options.model.exists():
        raise UserError(f"{options.model}: there is no such file")
    if str(options.output) == "/dev/stdout":
        options.output = None
    if options.output is not None:
        check_output(options.output, options.model, options.data)
    model = load(options.model)
    if not hasattr(model, "predict") and not hasattr(model, "density"):
        raise UserError(f"{options.model} holds a {type(model).__name__}, which does not predict")
    of_molecules = hasattr(model, "energy_and_forces")
    if options.std and not of_molecules and not hasattr(model, "noise_variance_"):
        raise UserError(
            f"--std needs a kernel ridge model or a potential; {options.model} holds a {type(model).__name__}", 2
        )
    if options.euler is not None and of_molecules:
        raise UserError(
            f"{angles_option(options.euler)} is for angles; {options.model} takes x, y and z of each atom", 2
        )
    table = open_table(options.data)
    if options.euler is None:
        options.euler = getattr(model, "euler_", None)
    features = _features(model, table, separated(options.features), options)
    if options.output is None:
        _write(model, table, features, CsvWriter(sys.stdout), options)
        sys.stdout.flush()
        return 0
    with atomic_path(options.output) as unfinished:
        writer = open_writer(options.output, unfinished)
        try:
            _write(model, table, features, writer, options)
        finally:
            writer.close()
    return 0


def _features(model: Any, table: Table, given: list[str], options: argparse.Namespace) -> list[str]:
    path, count = options.model, model.n_features_in_
    if options.euler is not None:
        count = point_columns(options.euler, model.basis_.space)
    fitted = getattr(model, "feature_names_in_" if options.euler is None else "euler_columns_", None)
    names = given or list(table.columns if fitted is None else map(str, fitted))
    # Models of earlier versions may have learnt names with the blanks of a header `h, y`.
    names = [name if name in table.columns else name.strip() for name in names]
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise UserError(f"{table.path} has no column {missing[0]!r}, which {path} needs")
    if len(names) != count:
        raise UserError(
            f"{path} was fitted on {model.n_features_in_} columns, but {table.path} gives {len(names)}: "
            "choose them with --features"
            if options.euler is None
            else f"{angles_option(options.euler)} takes {count} columns, but {table.path} gives {len(names)}: choose "
            "them with --features"
        )
    if given or fitted is None:  # a fit has checked the names that it has learnt
        check_angle_names(options.euler, names)
    return names


def _pieces(table: Table, features: list[str]) -> tuple[Iterator[Any], bool]:
    """The pieces of a table, and whether the whole table has many rows.

    Few rows and many rows are computed in ways that differ in the last bits. So a last piece of few rows has to be told
    that it is a part of a table of many.
    """
    pieces = table.pieces(features)
    ahead: list[Any] = []
    for piece in pieces:
        ahead.append(piece)
        if sum(map(len, ahead)) > FEW_ROWS:
            return chain(ahead, pieces), True
    return iter(ahead), False


def _write(
    model: Any, table: Table, features: list[str], writer: CsvWriter | ParquetWriter, options: argparse.Namespace
) -> None:
    import pandas as pd

    from specavg.cli._progress_bar import Progress

    local = predicts_local(model)
    outputs = getattr(model, "output_shape_", model.coef_.shape[1:])  # vectors have one coefficient for all outputs
    names = ["prediction"]
    if outputs:
        known = getattr(model, "target_names_", ())
        named = local or len(known) == outputs[0]
        names = [f"prediction_{end}" for end in (known if named else range(outputs[0]))]
    predict = model.predict if hasattr(model, "predict") else model.density
    if not hasattr(model, "predict"):
        names = ["density"]
    pieces, many = _pieces(table, features)
    done = 0
    with (
        Progress("predicting", table.known_rows, quiet=options.quiet) as progress,
        rows_of_a_larger_table() if many else nullcontext(),
    ):
        for piece in pieces:
            if not len(piece):  # a table with names and no rows
                continue
            X = points_from_angles(options.euler, piece)
            X = named_like(model, X)
            if local:
                mean, std = local_predictions(model, piece, X, options.std)
            else:
                mean, std = predict(X, return_std=True) if options.std else (predict(X), None)
            frame = pd.DataFrame(mean.reshape(len(piece), -1), columns=names)
            if std is not None:
                frame[[name.replace("prediction", "std", 1) for name in names]] = std.reshape(len(piece), -1)
            writer.write(frame)
            done += len(piece)
            progress(done)
    if done == 0:
        writer.write(pd.DataFrame({name: pd.Series(dtype=float) for name in names}))
