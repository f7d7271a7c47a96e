"""``python -m specavg.experiments [--quick] [--out DIR] [names]``."""

from __future__ import annotations

import argparse

from specavg.experiments import EXPERIMENTS, reproduce


def main() -> None:
    """Run the experiments from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m specavg.experiments",
        description=reproduce.__doc__.splitlines()[0] if reproduce.__doc__ else None,
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes: under a minute")
    parser.add_argument("--out", default="results", help="folder for the results (default: results)")
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(e.name for e in EXPERIMENTS)} (default: all)")
    given = parser.parse_args()
    print(reproduce(given.out, given.quick, given.names or None))


if __name__ == "__main__":
    main()
