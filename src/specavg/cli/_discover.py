"""Find the symmetry of a table among the subgroups of a group.

The largest subgroup under which the target is invariant, as far as the data tell.

For example:
  specavg discover data.parquet --target y --space sphere:3 --group point_group:Oh
  specavg discover data.csv --target energy --space torus:20 --group symmetric:20 -o model.specavg

GROUP surely contains the symmetry; the largest part of it that the data allow is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from specavg.cli._command_words import in_words_of_the_command
from specavg.cli._euler_columns import remember_angles
from specavg.cli._spaces_and_groups import add_space_and_group, check_level, space_and_group
from specavg.cli._table_options import add_table_options, points_and_target


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    add_table_options(parser)
    add_space_and_group(parser, space_required=True)
    parser.add_argument(
        "--level", type=float, default=0.05, metavar="P", help="tolerated probability of a false symmetry (0.05)"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where the model with that symmetry goes")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace) -> int:
    """Search, print, and save the model if asked to."""
    from specavg.cli._progress_bar import Progress
    from specavg.cli._tables import check_output
    from specavg.discovery import discover_symmetry

    check_level(options)
    space, group = space_and_group(options, "name with --group one that surely contains the symmetry")
    if options.output is not None:
        check_output(options.output, options.data)
    with Progress("counting rows", quiet=options.quiet) as progress:
        X, y, weights, features = points_and_target(options, space, progress, "searching")
        found = discover_symmetry(X, y, space, group, level=options.level, sample_weight=weights)
        if options.output is not None:
            progress.phase("fitting")
            model = found.model
            remember_angles(model, options.euler, features)
            model.save(options.output)
    print(in_words_of_the_command(str(found)))
    if options.output is not None:
        print(f"saved to {options.output}")
    return 0
