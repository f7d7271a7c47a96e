"""What gradients cost beside values, and what they save."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import specavg as sa
from benchmarks.timing import best_times, row
from specavg.isometries import permutation

# What a swap of two hydrogens, and a cycle of all four, do to the ten pairs of atoms, the four with carbon first.
METHANE = ([1, 0, 2, 3, 4, 7, 8, 5, 6, 9], [1, 2, 3, 0, 7, 8, 4, 9, 5, 6])
# Space, group, cutoff and order, number of points, and whether a reverse pass computes all components together.
CASES: dict[str, tuple[Any, Any, dict[str, Any], int, bool]] = {
    "cosine products, T^10": (sa.Torus(10), sa.groups.sign_flips(10), {"max_invariant_dim": 738}, 50_000, True),
    "Gegenbauer products, S^9": (sa.Sphere(10), sa.groups.trivial(10), {"max_eigenvalue": 3.0 * 11}, 20_000, True),
    "Chebyshev products by degree, distances of methane": (
        sa.Power(sa.Interval(), 10),
        sa.groups.Group([permutation(swap) for swap in METHANE]),
        {"max_eigenvalue": 4, "order": "degree"},
        10_000,
        True,
    ),
    "symmetric functions, T^10, S_10": (sa.Torus(10), sa.groups.symmetric(10), {"max_invariant_dim": 100}, 5_000, True),
    "symmetric functions, T^100, S_100": (
        sa.Torus(100),
        sa.groups.symmetric(100),
        {"max_invariant_dim": 100},
        10_000,
        True,
    ),
    "orbit sums, S^5, S_6": (sa.Sphere(6), sa.groups.symmetric(6), {"max_invariant_dim": 20}, 5_000, True),
    "pairs of points of S²": (
        sa.Power(sa.Sphere(3), 2),
        sa.groups.symmetric(2),
        {"max_invariant_dim": 60},
        5_000,
        True,
    ),
    "waves, T²": (sa.Torus(2), sa.groups.trivial(2), {"max_dim": 1000}, 50_000, False),
    "waves, a hexagonal lattice, p6mm": (
        sa.Torus(lattice=[[1, 0], [-0.5, 0.75**0.5]]),
        sa.groups.plane_group("p6mm"),
        {"max_invariant_dim": 100},
        20_000,
        False,
    ),
    "waves by degree, T³, B_3": (
        sa.Torus(3),
        sa.groups.hyperoctahedral(3),
        {"max_eigenvalue": 12, "order": "degree"},
        10_000,
        False,
    ),
    "harmonics, S², degree 20": (sa.Sphere(3), sa.groups.trivial(3), {"max_eigenvalue": 20.0 * 21}, 50_000, False),
    "harmonics, S², Oh, degree 20": (
        sa.Sphere(3),
        sa.groups.point_group("Oh"),
        {"max_eigenvalue": 20.0 * 21},
        50_000,
        False,
    ),
    "Wigner functions, degree 6": (sa.Rotations(), sa.groups.trivial(3), {"max_eigenvalue": 6.0 * 7}, 20_000, False),
    "Chebyshev products by degree, S_5 on five of ten intervals": (
        sa.Power(sa.Interval(), 10),
        sa.groups.direct_product(sa.groups.symmetric(5), sa.groups.trivial(5)),
        {"max_eigenvalue": 4, "order": "degree"},
        5_000,
        False,
    ),
    "circle times S², C_2 × C_3": (
        sa.Product(sa.Circle(), sa.Sphere(3)),
        sa.groups.direct_product(sa.groups.cyclic(2), sa.groups.point_group("C3")),
        {"max_invariant_dim": 100},
        5_000,
        False,
    ),
    "three points of S², all rotations": (
        sa.Power(sa.Sphere(3), 3),
        sa.groups.diagonal(sa.groups.special_orthogonal(3), 3),
        {"max_dim": 1000},
        5_000,
        False,
    ),
    "frames, V(4, 2), S_4": (sa.Stiefel(4, 2), sa.groups.symmetric(4), {"max_dim": 180}, 2_000, False),
}
TARGET, REVERSE_TARGET = 4.0, 2.0  # times a prediction, all components together
SIZES = (20, 40, 80)  # points to learn from, with and without gradients


def cost_of_gradients() -> list[dict[str, Any]]:
    """The time of `gradient(X)` over the time of `predict(X)`: CPU, one thread."""
    rows = []
    sa.config(n_threads=1)
    for name, (space, group, options, n, reverse) in CASES.items():
        X = space.sample(n, random_state=0)
        y = np.random.default_rng(0).standard_normal(500)
        model = sa.SpecAvgRegressor(space, group, **options).fit(X[:500], y)
        functions, points, C = model.basis_.functions, space.check_points(X), model.coef_[:, None]
        tasks = [
            lambda: model.predict(X),  # noqa: B023
            lambda: model.gradient(X),  # noqa: B023
            lambda: functions.combine(points, C),  # noqa: B023 - at X itself: no canonical points
            lambda: functions.combine_gradient(points, C),  # noqa: B023
        ]
        for task in tasks:
            task()
        value, gradient, alone, slopes = best_times(tasks, [7] * 4, time.process_time)
        rows.append(
            row(
                f"gradient over value: {name}, {len(model.coef_)} functions",
                gradient / value,
                note=f"{X[0].size} components{', by a reverse pass' if reverse else ''}; a value takes "
                f"{1e9 * value / n:.0f} ns a point; without canonical points {slopes / alone:.1f} times",
                reverse=reverse,
            )
        )
    largest = {kind: max(r["value"] for r in rows if r["reverse"] in kind) for kind in ((True,), (True, False))}
    count = sum(r["reverse"] for r in rows)
    name = "all components of a gradient over a prediction, the largest of {}"
    return [
        row(name.format(f"{len(rows)} families"), largest[True, False], TARGET, at_most=True),
        row(name.format(f"{count} families with a reverse pass"), largest[True,], REVERSE_TARGET, at_most=True),
        *rows,
    ]


def what_gradients_save() -> list[dict[str, Any]]:
    """Test errors with values only over those with gradients, at the same number of points."""
    rows = []
    for name, space in (("T²", sa.Torus(2)), ("S²", sa.Sphere(3))):
        f, gradient = TARGETS[name]
        Z, said = space.sample(1000, random_state=99), []
        for n in SIZES:
            errors = []
            for seed in range(3):
                X = space.sample(n, random_state=seed)
                models = [
                    sa.InvariantKernelRidge(space).fit(X, f(X)),
                    sa.InvariantKernelRidge(space).fit(X, f(X), gradient=gradient(X)),
                ]
                errors.append([np.sqrt(np.mean((model.predict(Z) - f(Z)) ** 2)) / f(Z).std() for model in models])
            without, with_gradients = np.mean(errors, axis=0)
            said.append(f"{without:.2g} and {with_gradients:.2g} (n = {n})")
            if n == SIZES[1]:
                ratio = without / with_gradients
        rows.append(
            row(
                f"error without over error with gradients, {name}, n = {SIZES[1]}",
                ratio,
                note=f"errors in standard deviations, means of 3 draws: {', '.join(said)}",
            )
        )
    return rows


def _torus(X: Any) -> Any:
    return np.exp(np.cos(np.pi * X).sum(axis=1))


def _torus_gradient(X: Any) -> Any:
    return -np.pi * np.sin(np.pi * X) * _torus(X)[:, None]


def _sphere(X: Any) -> Any:
    return np.exp(2 * X[:, 0] * X[:, 1]) + np.cos(3 * X[:, 2])


def _sphere_gradient(X: Any) -> Any:
    e = np.exp(2 * X[:, 0] * X[:, 1])
    return np.stack([2 * X[:, 1] * e, 2 * X[:, 0] * e, -3 * np.sin(3 * X[:, 2])], axis=1)


TARGETS = {"T²": (_torus, _torus_gradient), "S²": (_sphere, _sphere_gradient)}
