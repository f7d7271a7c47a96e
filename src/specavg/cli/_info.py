"""Count the invariant functions of a space under a group, or say what a saved model is.

Functions are counted for each eigenspace up to a cutoff, and nothing is fitted. Of a saved model: its space, group,
functions, spectrum and what it predicts.

For example:
  specavg info --space torus:10 --group sign_flips:10 --max-invariant-dim 176
  specavg info --space sphere:3 --group point_group:Oh --max-eigenvalue 110
  specavg info --space sphere:100 --group symmetric:100 --max-invariant-dim 30
  specavg info model.specavg
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from specavg._messages import size_text
from specavg.cli._spaces_and_groups import add_symmetry_options, cutoff_of, space_and_group
from specavg.cli._user_error import UserError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("model", type=Path, nargs="?", metavar="MODEL", help="a file that model.save wrote")
    add_symmetry_options(parser, space_required=False)
    parser.add_argument("--plan", action="store_true", help="forecast solvers, memory and seconds; solve nothing")


def run(options: argparse.Namespace) -> int:
    """Print the table of an invariant basis, or what a model is."""
    from specavg.invariants import invariant_basis, plan

    if options.model is not None:
        return _of_model(options)
    if options.space is None:
        raise UserError("give --space SPACE, or the file of a saved model", code=2)
    space, group = space_and_group(options)
    cutoff = cutoff_of(options) or {"max_invariant_dim": 100}
    if options.plan:
        print(plan(space, group, **cutoff), flush=True)
        return 0
    basis = invariant_basis(space, group, **cutoff)
    count = len(group.generators)
    print(f"{space!r} under {group!r}, order {_order(group)}, {count} generator{'s' * (count != 1)}")
    print(f"{basis.dim} invariant functions of {basis.total_dim}, in {len(basis.table)} eigenspaces")
    print(f"{'eigenvalue':>12} {'functions':>12} {'invariant':>10}  {'solver':<12} {'residual':>9}")
    for row in basis.table:
        print(f"{row.eigenvalue:>12.6g} {row.dim:>12} {row.invariant_dim:>10}  {row.solver:<12} {row.residual:>9.1e}")
    sys.stdout.flush()
    return 0


def _of_model(options: argparse.Namespace) -> int:
    from specavg.cli._described_model import described_model
    from specavg.io import load

    if options.space is not None or options.group is not None or options.plan or cutoff_of(options):
        raise UserError("a saved model has its own space, group and functions: give its file alone", code=2)
    if not options.model.exists():
        raise UserError(f"{options.model}: there is no such file")
    print(described_model(load(options.model), options.model), flush=True)
    return 0


def _order(group: Any) -> str:
    try:
        order = group.order
    except ValueError:
        return "unknown"
    return "infinite" if order == math.inf else size_text(order)
