"""Run the paper's experiments, and write its figures and claims.

Figures are PNG and SVG, numbers are CSV, and one HTML page has all of it.

For example:
  specavg reproduce --quick --out results
  specavg reproduce --only figure-2 --n 500,2000 --lambda 10 --seed 7
  specavg reproduce --only figure-1 --group hyperoctahedral:10
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from specavg.cli._user_error import UserError

_CHANGED = {"figure-1", "figure-2"}  # what the options for other sizes, seeds, penalties and groups change


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes and fewer seeds: about a minute on an idle machine"
    )
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="experiments, with commas or repeated; default: all"
    )
    parser.add_argument("--seed", type=int, help="the first seed of figures 1 and 2 (default: 1)")
    parser.add_argument("--n", type=_sizes, metavar="N,N,...", help="numbers of samples of figures 1 and 2")
    parser.add_argument(
        "--lambda", dest="penalty", type=float, metavar="L", help="the λ of the paper's claim (default: 50)"
    )
    parser.add_argument(
        "--group",
        metavar="GROUP",
        help="another group on the ten coordinates of figures 1 and 2, such as hyperoctahedral:10 or cyclic_shifts:10 "
        "(default: sign_flips:10)",
    )


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"numbers of samples with commas, such as 500,2000; got {text!r}") from None


def run(options: argparse.Namespace) -> int:
    """Run the experiments."""
    from specavg import experiments
    from specavg.cli._spaces_and_groups import group_of
    from specavg.spaces import Torus

    if options.out.exists() and not options.out.is_dir():
        raise UserError(f"{options.out} is a file; --out names a folder")
    names = [experiment.name for experiment in experiments.EXPERIMENTS]
    only = [name for given in options.only or () for name in given.split(",")]
    unknown = [name for name in only if name not in names]
    if unknown:
        raise UserError(f"there is no experiment {unknown[0]!r}; there are {', '.join(names)}", 2)
    changed = [name for name in ("n", "seed", "penalty", "group") if getattr(options, name) is not None]
    if only and changed and not set(only) & _CHANGED:
        option = f"--{changed[0]}".replace("penalty", "lambda")
        raise UserError(
            f"{option} changes {' and '.join(sorted(_CHANGED))}, and --only names others: {', '.join(only)}", 2
        )
    try:
        values: dict[str, Any] = {"sizes": options.n, "seed": options.seed, "penalty": options.penalty}
        given = {name: value for name, value in values.items() if value is not None}
        if options.group:
            given["group"] = group_of(options.group, Torus(10))
        changes = experiments.Changes(**given)
    except ValueError as error:
        raise UserError(str(error), 2) from None
    report = experiments.reproduce(options.out, options.quick, only or None, changes=changes)
    print(f"the report: {report}")
    return 0
