"""``specavg reproduce``: the paper's figures and claims."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "reproduce",
        help="the paper's figures and claims, as PNG and SVG, CSV and one HTML page",
        description="Run the paper's experiments and write figures (PNG and SVG), numbers (CSV) and one HTML page.",
        epilog="example:\n  specavg reproduce --quick --out results\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer seeds: under a minute")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run every experiment."""
    from specavg import experiments

    report = experiments.reproduce(out=options.out, quick=options.quick)
    print(f"the report: {report}")
    return 0
