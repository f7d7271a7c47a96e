"""``python -m specavg`` is the command line."""

from __future__ import annotations

import sys

from specavg.cli import main

sys.exit(main())
