"""A default fit of 100,000 rows: how many functions it takes, the time and memory, and what they gain."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import row

__all__ = ["cell", "rotations", "sphere", "torus"]

_ROWS, _NOISE, _FEWER = 100_000, 0.01, 1_000
_SECONDS = 120.0  # of all threads together: a minute on two cores
_GIGABYTES = 2.0


def _rough(corner: np.ndarray) -> np.ndarray:
    """A kink, a narrow bump and waves, of coordinates 1 ≥ a ≥ b ≥ c ≥ 0."""  # (n, 3) -> (n,)
    a, b, c = corner.T
    return np.abs(a - 2 * b) + 2 * np.exp(-300 * ((a - 0.8) ** 2 + (b - 0.5) ** 2)) + np.sin(25 * c * a)


def _falling(X: np.ndarray) -> np.ndarray:
    return -np.sort(-np.abs(X), axis=1)


def _of_rows(X: np.ndarray) -> np.ndarray:
    """The same for rotations, of three entries that signed permutations of the rows leave alone."""
    sizes = np.sort(np.abs(X.reshape(-1, 3, 3)), axis=1)
    bump = np.exp(-30 * ((sizes[:, 2, 0] - 0.9) ** 2 + (sizes[:, 1, 1] - 0.3) ** 2))
    return np.abs(sizes[:, 2, 2] - 0.8) + bump + np.sin(8 * sizes[:, 0, 2] * sizes[:, 2, 1])


def _rows(space: Any, group: Any, target: Callable[[np.ndarray], np.ndarray]) -> list[dict[str, Any]]:
    X, Z = space.sample(_ROWS, random_state=0), space.sample(5_000, random_state=1)
    y = target(X) + _NOISE * np.random.default_rng(0).normal(size=_ROWS)
    wanted = target(Z)
    sa.InvariantKernelRidge(space, group).fit(X[:500], y[:500])  # compiles

    def fitted(**cutoff: float) -> tuple[Any, float, float]:
        start = time.process_time()
        model = sa.InvariantKernelRidge(space, group, **cutoff).fit(X, y)
        seconds = time.process_time() - start
        error = float(np.sqrt(np.mean((model.predict(Z) - wanted) ** 2)) / wanted.std())
        return model, seconds, error

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model, seconds, error = fitted()
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6
    fewer, _, worse = fitted(max_invariant_dim=_FEWER)
    name = f"default fit of {_ROWS:,} rows on {space!r} under {group!r}"
    return [
        row(
            f"{name}: CPU seconds, all threads",
            seconds,
            _SECONDS,
            at_most=True,
            unit=" s",
            note=f"{model.basis_.dim:,} functions, solver {model.solver_}, spectrum {model.spectrum_.name}",
            functions=model.basis_.dim,
        ),
        row(f"{name}: peak memory above that of the data", memory, _GIGABYTES, at_most=True, unit=" GB"),
        row(
            f"{name}: test error over that of {fewer.basis_.dim:,} functions",
            error / worse,
            1.0,
            at_most=True,
            note=f"{error:.3g} and {worse:.3g} standard deviations of the target; noise {_NOISE}",
            error=error,
            error_of_fewer=worse,
        ),
    ]


def sphere() -> list[dict[str, Any]]:
    return _rows(sa.Sphere(3), sa.groups.point_group("Oh"), lambda X: _rough(_falling(X)))


def rotations() -> list[dict[str, Any]]:
    return _rows(sa.Rotations(), sa.groups.crystal_symmetry("O"), _of_rows)


def torus() -> list[dict[str, Any]]:
    return _rows(sa.Torus(3), sa.groups.hyperoctahedral(3), lambda X: _rough(_falling(X)))


def cell() -> list[dict[str, Any]]:
    return _rows(
        sa.Torus(lattice=np.eye(3)), sa.groups.space_group(221), lambda X: _rough(_falling(2 * (X - np.round(X))))
    )
