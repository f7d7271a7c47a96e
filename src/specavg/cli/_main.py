"""Learn functions that are exactly invariant to a group, from the group's generators alone.

Each command has its own help: specavg info --help.

For example:
  specavg info --space torus:10 --group sign_flips:10 --max-invariant-dim 176
  specavg fit data.parquet --target y --space torus:10 --group sign_flips:10 -o model.specavg
  specavg predict model.specavg new.parquet -o predictions.parquet
  specavg check data.parquet --target y --space torus:10 --group sign_flips:10
  specavg discover data.parquet --target y --space sphere:3 --group point_group:Oh
  specavg reproduce --quick --out results

Exit codes: 0 done, 1 bad data or file, 2 bad command, 3 check: the symmetry does not hold, 4 check: the data
cannot tell, 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from specavg.cli import _check, _discover, _fit, _info, _predict, _reproduce
from specavg.cli._command_words import in_words_of_the_command
from specavg.cli._user_error import UserError

_COMMANDS = {
    "reproduce": _reproduce,
    "info": _info,
    "fit": _fit,
    "predict": _predict,
    "check": _check,
    "discover": _discover,
}


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command; the text of its module is its help."""
    from specavg import __version__

    parser = argparse.ArgumentParser(prog="specavg", **_texts(__doc__))
    parser.add_argument("--version", action="version", version=f"specavg {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in _COMMANDS.items():
        texts = _texts(module.__doc__)
        command = commands.add_parser(name, help=texts["description"].partition("\n")[0], **texts)
        module.add_options(command)
        command.set_defaults(run=module.run)
    return parser


def _texts(text: str | None) -> dict[str, Any]:
    """What stands before the options and after them, from the text of a module."""
    before, mark, after = (text or "").strip().partition("For example:")
    layout = argparse.RawDescriptionHelpFormatter
    return {"description": before.strip(), "epilog": (mark + after).strip(), "formatter_class": layout}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name. Default: `sys.argv[1:]`.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> main(["info", "--space", "sphere:3", "--group", "point_group:Oh", "--max-eigenvalue", "20"])
    Sphere(3) under point_group('Oh'), order 48, 2 generators
    ...
    0
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # "?" where an encoding other than UTF-8 has no λ or ∞
        sys.stdout.reconfigure(errors="replace")
    try:
        options = build_parser().parse_args(arguments)
    except SystemExit as end:  # argparse has printed its own line
        return end.code if isinstance(end.code, int) else 2
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _one_line_warnings()
            return options.run(options)
    except KeyboardInterrupt:
        print("specavg: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe has seen enough: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UserError as problem:
        return _failed(str(problem), problem.code)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("SPECAVG_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.filename:
            return _failed(f"{error.filename}: {error.strerror}", 1)
        return _failed(str(error) or type(error).__name__, 1)


def _terminated(number: int, frame: object) -> None:
    raise SystemExit(128 + number)  # unwinds, so that unfinished files are removed


def _failed(message: str, code: int) -> int:
    print("specavg: " + " ".join(in_words_of_the_command(message).split()), file=sys.stderr)
    return code


def _one_line_warnings() -> Callable[..., None]:
    """Shows each warning once, in one line: a search and the fit after it may have the same."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = "specavg: warning: " + " ".join(in_words_of_the_command(str(message)).split())
        if line not in shown:
            print(line, file=sys.stderr)
        shown.add(line)

    return show
