"""Loops that are needed later, compiled meanwhile by a second process: on two cores a first run waits half as long.

The second process leaves machine code in numba's cache on disk, where this one finds it. If there is no cache, or it is
filled already, nothing is lost but a few seconds of the other core. Both compile each loop for the same types: it
does not matter which of them writes last.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def compiling_ahead(wanted: bool = True) -> Generator[Callable[[], object]]:
    """Start the second process, if `wanted`; what is yielded waits until it has finished."""
    if not wanted or (os.cpu_count() or 1) < 2:
        yield lambda: None
        return
    command = "from specavg.experiments._compiled_ahead import fit_small_models; fit_small_models()"
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, "-c", command], stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        yield process.wait
    finally:
        process.kill()
        process.wait()


def fit_small_models() -> None:
    """Fit and predict once with each family of functions that the first experiments do not compile themselves."""
    import numpy as np

    from specavg import groups
    from specavg.estimators import SpecAvgRegressor
    from specavg.functions._few_rows import FEW_ROWS
    from specavg.invariants import invariant_basis
    from specavg.spaces import Circle, Sphere, Torus

    rng, rows = np.random.default_rng(0), FEW_ROWS + 1  # fewer need no loop
    torus = Torus(10)  # values of products: sums and predictions are compiled by the first process at the same time
    invariant_basis(torus, groups.sign_flips(10), max_dim=21).evaluate(torus.sample(rows, rng))
    for space, group in (
        (Circle(), groups.dihedral(1)),  # waves
        (Sphere(3), groups.point_group("C2")),  # harmonics of S²
        (Torus(4), groups.symmetric(4)),  # symmetric functions
    ):
        X = space.sample(rows, rng)
        model = SpecAvgRegressor(space, group, max_dim=9).fit(X, X[:, 0])
        model.predict(X)
        model.basis_.evaluate(X)
