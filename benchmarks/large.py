"""Default fits of 100,000 rows: how many functions they take, the time and memory, and what they gain."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import specavg as sa
from benchmarks.timing import row

__all__ = ["cell", "orientations", "rotations", "sphere", "torus"]

_ROWS, _NOISE, _FEWER = 100_000, 0.01, 1_000
_CUBIC = sa.groups.crystal_symmetry("O")
_SECONDS = 120.0  # of all threads together: a minute on two cores
_GIGABYTES = 2.0
_HELD_OUT = 200  # pixels that densities are compared on
_CONCENTRATIONS = 1e4 * 2.0 ** np.arange(5)  # of the plain kernel density estimate: widths of 0.6 to 0.14 degrees
_ANYWHERE = 0.01  # share of the uniform density in it: a pixel far from all others would have no likelihood at all


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
    return _rows(sa.Rotations(), _CUBIC, _of_rows)


def torus() -> list[dict[str, Any]]:
    return _rows(sa.Torus(3), sa.groups.hyperoctahedral(3), lambda X: _rough(_falling(X)))


def cell() -> list[dict[str, Any]]:
    return _rows(
        sa.Torus(lattice=np.eye(3)), sa.groups.space_group(221), lambda X: _rough(_falling(2 * (X - np.round(X))))
    )


def _pixels(n: int) -> np.ndarray:
    """Orientations of pixels: 40 grains of their own sizes and spreads, bent along an axis; one in fifty is wrong."""
    space, rng = sa.Rotations(), np.random.default_rng(0)
    grain = rng.choice(40, size=n, p=rng.dirichlet(np.full(40, 0.7)))
    spread = np.deg2rad(0.6) * rng.lognormal(0.0, 0.5, size=40)
    bend = np.deg2rad(1.5) * rng.uniform(-1.0, 1.0, size=(40, 3))
    turns = spread[grain, None] * rng.normal(size=(n, 3)) + bend[grain] * rng.uniform(-1.0, 1.0, size=(n, 1))
    centres = space.sample(40, random_state=1).reshape(-1, 3, 3)[grain]
    X = (Rotation.from_rotvec(turns).as_matrix() @ centres).reshape(n, 9)
    wrong = rng.uniform(size=n) < 0.02
    X[wrong] = space.sample(int(wrong.sum()), random_state=2)
    for g, rows in zip(_CUBIC.elements(), np.array_split(rng.permutation(n), 24), strict=True):  # any of 24 settings
        X[rows] = space.act(g, X[rows])
    return X


def _plain(X: np.ndarray, Z: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
    """Log densities by one kernel around every point of X, averaged over the group; `own` are rows that Z are of X."""
    space = sa.Rotations()
    family: Any = space.von_mises
    targets, total = family.embedded(X).T, np.zeros((len(Z), len(_CONCENTRATIONS)))
    for g in _CUBIC.elements():
        for start in range(0, len(Z), 20):
            rows = slice(start, start + 20)
            exponents = np.minimum(family.embedded(space.act(g, Z[rows])) @ targets - family.square, 0.0)
            if own is not None:
                exponents[np.arange(len(exponents)), own[rows]] = -np.inf
            kernel = np.exp(_CONCENTRATIONS[0] * exponents)
            for k in range(len(_CONCENTRATIONS)):
                total[rows, k] += kernel.sum(axis=1)
                np.multiply(kernel, kernel, out=kernel)
    heights = np.exp(-family.log_mass(_CONCENTRATIONS)) / (24 * (len(X) - (own is not None)))
    return np.log(_ANYWHERE + (1 - _ANYWHERE) * heights * total)


def orientations() -> list[dict[str, Any]]:
    space, X = sa.Rotations(), _pixels(_ROWS + _HELD_OUT)
    X = X[np.random.default_rng(1).permutation(len(X))]
    X, Z = X[_HELD_OUT:], X[:_HELD_OUT]
    sa.InvariantDensity(space, _CUBIC).fit(X[:600])  # compiles
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    model = sa.InvariantDensity(space, _CUBIC).fit(X)
    seconds = time.process_time() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6
    found = model.score_samples(Z)
    left_out = np.random.default_rng(2).permutation(len(X))[:_HELD_OUT]
    best = int(_plain(X, X[left_out], left_out).mean(axis=0).argmax())
    gain = found - _plain(X, Z)[:, best]
    name = f"default density of {_ROWS:,} orientations of pixels"
    return [
        row(
            f"{name}: CPU seconds, all threads", seconds, _SECONDS, at_most=True, unit=" s", note=f"form {model.form_}"
        ),
        row(f"{name}: peak memory above that of the data", memory, _GIGABYTES, at_most=True, unit=" GB"),
        row(
            f"{name}: likelihood of a pixel left out over that of a plain kernel density estimate",
            float(np.exp(gain.mean())),
            1.0,
            note=f"mean logarithm {gain.mean():.3f} ± {gain.std() / _HELD_OUT**0.5:.3f}, ours {found.mean():.2f}; "
            f"the plain one has a kernel around every point, one width by leave-one-out, {_ANYWHERE:.0%} anywhere",
        ),
    ]
