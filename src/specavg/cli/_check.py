"""Test whether a table has a symmetry, generator by generator.

How much of what can be explained lies outside the invariant functions, with p-values.

For example:
  specavg check data.parquet --target y --space torus:10 --group sign_flips:10
  specavg check data.csv --target energy --space sphere:3 --group point_group:Oh --permutations 2000

Exit code 0: nothing speaks against the symmetry. Exit code 3: it does not hold, at the level given. Exit code 4:
the data cannot tell: no function is seen, most of what they have is finer detail that was not tested, or the
functions compared speak against it, and finer ones do not, at points that are spread unevenly over their orbits.
"""

from __future__ import annotations

import argparse
from math import isnan
from typing import TYPE_CHECKING, Any

from specavg.cli._command_words import in_words_of_the_command
from specavg.cli._spaces_and_groups import add_space_and_group, check_level, space_and_group
from specavg.cli._table_options import add_table_options, points_and_target
from specavg.cli._user_error import UserError

if TYPE_CHECKING:
    from specavg.estimators import SymmetryTest

_MOST_UNTESTED = 0.1  # share of the variance of y, noise or finer detail, up to which a verdict speaks of all of it
_MOSTLY = 2.0  # times as much as was tested, from which on what was not tested is most of what the data have


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    add_table_options(parser)
    add_space_and_group(parser, space_required=True)
    parser.add_argument("--max-dim", type=float, metavar="D", help="how many functions to look at (default: up to 300)")
    parser.add_argument("--level", type=float, default=0.01, metavar="P", help="p-values below it fail (default: 0.01)")
    parser.add_argument("--permutations", type=int, default=0, metavar="N", help="p-values by N permutations")
    parser.add_argument("--quiet", action="store_true", help="no progress, no output: the exit code only")


def run(options: argparse.Namespace) -> int:
    """Test, print, and say by the exit code whether the symmetry holds."""
    from specavg.cli._progress_bar import Progress
    from specavg.estimators import symmetry_test

    if options.permutations < 0:
        raise UserError(f"--permutations must not be negative; got {options.permutations}", 2)
    if options.max_dim is not None and not options.max_dim >= 2:
        raise UserError(f"--max-dim must be at least 2; got {options.max_dim:g}", 2)
    check_level(options)
    smallest = 1 / (options.permutations + 1)
    if options.permutations and smallest >= options.level:
        raise UserError(
            f"--permutations {options.permutations} gives no p-value below {smallest:.2g}, so that nothing could fail "
            f"at the level {options.level:g}: give at least {int(1 / options.level)}, or none",
            2,
        )
    space, group = space_and_group(options, "there is no symmetry to check")
    with Progress("counting rows", quiet=options.quiet) as progress:
        X, y, weights, _ = points_and_target(options, space, progress, "testing")
        chosen: dict[str, Any] = {"max_dim": options.max_dim, "n_permutations": options.permutations, "random_state": 0}
        found = symmetry_test(X, y, space, group, **chosen, sample_weight=weights)
    fails = found.p_value < options.level and not found.doubtful
    if not options.quiet:
        print(in_words_of_the_command(str(found)))
        failing = [f"{found.generators[i].kind} {i}" for i in found.failing(options.level)]
        which = f" It fails for {', '.join(failing)}." if failing else ""
        print("The symmetry does not hold." + which if fails else _not_refuted(found))
    return 3 if fails else 4 if _cannot_tell(found) else 0


def _cannot_tell(found: SymmetryTest) -> bool:
    """Whether a test that does not fail says nothing: in doubt, or no function is seen, or most is untested."""
    return found.doubtful or isnan(found.p_value) or not found.seen or found.untested > _MOSTLY * found.explained


def _not_refuted(found: SymmetryTest) -> str:
    """What a test says that does not fail: what was not tested may break the symmetry."""
    rest = 1 - found.explained
    if found.doubtful or isnan(found.p_value) or not found.seen:
        return "The data cannot tell whether it holds."
    if _cannot_tell(found):
        tested, untested = 100 * found.explained, 100 * found.untested
        return (
            f"The data cannot tell whether it holds: the functions compared explain {tested:.0f} % of the variance of "
            f"y, and finer ones, not tested, {untested:.0f} %."
        )
    if rest < _MOST_UNTESTED:
        return "Nothing speaks against the symmetry."
    return f"Nothing tested speaks against the symmetry. Not tested: {100 * rest:.0f} % of the variance of y."
