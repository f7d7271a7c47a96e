"""Settings every test shares."""

import os
from pathlib import Path

import hypothesis

# numba's on-disk cache reads its index and writes it back without a lock: two processes that compile one
# function for different argument types can swap their results. So every test process has its own cache.
# Set before numba is first imported, and also over the value a worker inherits from the main process.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_cache = Path(__file__).parents[1] / ".numba_cache" / _worker
os.environ["NUMBA_CACHE_DIR"] = str(_cache)

# Reproducible runs: a failure seen once is seen again. Compiling on first use makes any deadline meaningless.
hypothesis.settings.register_profile("specavg", deadline=None, derandomize=True)
hypothesis.settings.load_profile("specavg")
