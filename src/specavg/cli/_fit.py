"""Fit an exactly invariant model to a table.

The model is saved in one file, which `specavg predict` and `specavg.load` read.

For example:
  specavg fit data.parquet --target y --space torus:10 --group sign_flips:10 -o model.specavg
  specavg fit data.csv --target energy --features x,y,z --space sphere:3 --group point_group:Oh -o model.specavg
  specavg fit forces.csv --target fx,fy,fz --targets-are vector --space sphere:3 --group point_group:Oh -o model.specavg
  specavg fit wind.csv --target u,v --targets-are "tangent vector" --lonlat --space sphere:3 -o model.specavg
  specavg fit data.csv --target a,b --space torus:2 --group p4.toml --max-invariant-dim 200 -o model.specavg
  specavg fit grains.csv --space rotations --euler bunge:degrees --features phi1,Phi,phi2 --group crystal_symmetry:O \
      -o texture.specavg

Without --target the density of the points is learnt, a texture for instance; `specavg predict` writes its values.

A group file (TOML or JSON) lists generators; fractions of the period are exact:
  name = "screw"
  generators = [
    { kind = "affine", matrix = [[-1, 0], [0, 1]], shift = [0, "1/2"] },
    { kind = "permutation", image = [1, 0] },
    { kind = "shift", degrees = [120, 0] },
  ]
Kinds: permutation, signed_permutation, orthogonal, shift, affine, left_right, copies, factors.

Tables that do not fit in memory are read in pieces; the model is then chosen by generalised cross-validation.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from specavg.cli._euler_columns import point_columns, remember_angles
from specavg.cli._spaces_and_groups import add_symmetry_options, cutoff_of, space_and_group
from specavg.cli._table_options import add_table_options, separated
from specavg.cli._user_error import UserError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    add_table_options(parser, one_target=False)
    add_symmetry_options(parser, space_required=True)
    parser.add_argument(
        "--model",
        choices=("ridge", "mean", "density"),
        help="kernel ridge (default), the paper's Algorithm 1, or the density of the points (default without --target)",
    )
    parser.add_argument(
        "--targets-are",
        metavar="KIND",
        help="how the group moves the targets: vector, 'axial vector', 'tangent vector' (with --lonlat also by two "
        "targets, to the east and to the north), pseudoscalar, ij=ji (default: not at all)",
    )
    parser.add_argument("--alpha", type=float, metavar="A", help="the ridge penalty (default: chosen from the data)")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where the model goes")
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")


def run(options: argparse.Namespace) -> int:
    """Fit and save."""
    from specavg.cli._progress_bar import Progress
    from specavg.cli._tables import TableStream, check_output, open_table, split_columns
    from specavg.estimators import EquivariantKernelRidge, InvariantDensity, InvariantKernelRidge, SpecAvgRegressor
    from specavg.invariants._output_on_space import output_representation

    space, group = space_and_group(options)
    kind = _kind_of_model(options)
    if options.alpha is not None and not 0 < options.alpha < float("inf"):
        raise UserError(f"--alpha must be positive and finite; got {options.alpha:g}", 2)
    check_output(options.output, options.data)
    table = open_table(options.data)
    names, chosen, count = separated(options.target), separated(options.features), point_columns(options.euler, space)
    features, targets = split_columns(table, names, chosen, space, options.weights, count)
    penalty, local = "auto" if options.alpha is None else options.alpha, False
    if options.targets_are is not None:
        try:
            moved = output_representation(space, group, options.targets_are)
        except ValueError as error:
            raise UserError(f"--targets-are: {error}", 2) from None
        local = moved.tangent and options.euler is not None and len(targets) == 2  # to the east and to the north
        if moved.dim != len(targets) and not local:
            raise UserError(
                f"--targets-are {options.targets_are!r} needs {moved.dim} targets; got {len(targets)}"
                + ". Components to the east and to the north go with --lonlat" * (moved.tangent and len(targets) == 2),
                2,
            )
        model: Any = EquivariantKernelRidge(space, group, options.targets_are, alpha=penalty, **cutoff_of(options))
    elif kind == "density":
        model = InvariantDensity(space, group, **cutoff_of(options))
    elif kind == "ridge":
        model = InvariantKernelRidge(space, group, alpha=penalty, **cutoff_of(options))
    else:
        model = SpecAvgRegressor(space, group, **cutoff_of(options))
    held = table.fits_in_memory(len(features) + len(targets) + (options.weights is not None))
    with Progress("counting rows", quiet=options.quiet) as progress:
        stream = TableStream(table, features, targets, progress, options.weights, options.euler, local=local)
        progress.phase("reading" if held else "reading and summing", stream.rows)
        if held:
            import pandas as pd

            X, *more = stream.whole()
            space.check_points(X)  # all of them: what is wrong is then told with the row of the table
            progress.phase("choosing and fitting")
            points = X if stream.feature_names is None else pd.DataFrame(X, columns=features)
            model.fit(points, *([] if targets else [None]), *more)
        else:
            model.fit(stream)
        remember_angles(model, options.euler, features)
        if len(targets) > 1:
            model.target_names_ = targets
        progress.phase("saving")
        model.save(options.output)
    if not options.quiet:
        print(_summary(model, table.rows, options.output))
    return 0


def _kind_of_model(options: argparse.Namespace) -> str:
    """Which model is asked for; an error where the other options do not go with it."""
    kind = options.model or ("density" if options.target is None else "ridge")
    if kind == "density":
        if options.target is not None:
            raise UserError("--model density learns how the points are spread, and takes no --target", 2)
        if options.targets_are is not None:
            raise UserError("--targets-are needs --target: a density has no targets", 2)
    elif options.target is None:
        raise UserError(f"--model {kind} needs --target, the column to learn", 2)
    elif not separated(options.target):
        raise UserError("--target names no column", 2)
    if options.alpha is not None and kind != "ridge":
        raise UserError(f"--alpha is for --model ridge: the {kind} has no penalty", 2)
    if options.targets_are is not None and kind == "mean":
        raise UserError("--targets-are is for --model ridge: Algorithm 1 is for invariant functions", 2)
    return kind


def _summary(model: Any, rows: int, output: Path) -> str:
    import numpy as np

    basis = model.basis_
    text = (
        f"{rows} rows, {basis.dim} {basis.kind} functions of {basis.total_dim} on {basis.space!r} under {basis.group!r}"
    )
    if hasattr(model, "loo_error_"):
        low, high = np.min(model.alpha_), np.max(model.alpha_)  # outputs may have a penalty each
        alpha = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
        text += (
            f"\n{model.spectrum_!r}, alpha = {alpha}; "
            f"leave-one-out error {model.loo_error_:.3g} standard deviations of the target"
        )
    if hasattr(model, "form_"):
        text += f"\ndensity relative to uniform points, form {model.form_!r}"
        if "Interval(" in repr(basis.space):  # itself, a factor of it, or its copies
            text += (
                "; on an interval, relative to its arcsine measure: divide by π√((x − low)(high − x)) for each "
                "such column to have it per unit of x"
            )
    return f"{text}\nsaved to {output}"
