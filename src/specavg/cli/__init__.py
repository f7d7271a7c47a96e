"""The command line: ``specavg reproduce | info | fit | predict | check``.

Exit codes: 0 done, 1 something is wrong with the data or a file, 2 something is wrong with the command,
3 `check` found that the symmetry does not hold, 130 interrupted. Errors are one line on standard error.
"""

from __future__ import annotations

from specavg.cli._main import main

__all__ = ["main"]
