"""Accuracy at default settings: a model with nothing set, against the group-averaged kernel tuned on the same rows.

Each problem is drawn anew eight times, with other points on other orbits. The kernel is Gaussian in the coordinates of
the embedding and averaged over the whole group. Its width and penalty are those of the smallest leave-one-out error in
closed form. A ratio below one says that the default model has the smaller test error.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import specavg as sa
from benchmarks.accuracy_sets import SETS, ProblemSet, embedded
from benchmarks.timing import row

__all__ = ["accuracy", "averaged_kernel_ridge", "coverage"]

Array = NDArray[np.float64]
SPLITS = 8
WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # over the mean squared distance
PENALTIES = 10.0 ** np.arange(-12, 3)  # over the largest eigenvalue of the kernel matrix
NORMAL_90 = 1.6449


def _squared_distances(A: Array, B: Array) -> Array:
    return np.maximum((A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2 * A @ B.T, 0.0)


def averaged_kernel_ridge(problem: ProblemSet, X: Array, y: Array, Z: Array) -> Array:
    """Predictions at `Z` of kernel ridge regression with the averaged kernel, tuned by leave-one-out."""
    images = [embedded(problem.space, moved) for moved in problem.images(X)]
    E = embedded(problem.space, X)
    unit = _squared_distances(E, E).mean()
    kernels = np.zeros((len(WIDTHS), len(X), len(X)))
    for moved in images:
        distances = _squared_distances(moved, E)
        for kernel, width in zip(kernels, WIDTHS, strict=True):
            kernel += np.exp(-width / unit * distances)
    centre = y.mean(axis=0)
    best: tuple[float, float, Any] = (np.inf, 0.0, None)
    for kernel, width in zip(kernels / len(images), WIDTHS, strict=True):
        values, V = np.linalg.eigh((kernel + kernel.T) / 2)
        c = V.T @ (y - centre)
        for penalty in PENALTIES * values[-1]:
            inverse = 1 / (np.maximum(values, 0.0) + penalty)
            dual = V @ (inverse[:, None] * c)
            error = float(np.mean((dual / (V**2 @ inverse)[:, None]) ** 2))
            if error < best[0]:
                best = (error, width, dual)
    _, width, dual = best
    points = embedded(problem.space, Z)
    kernel = np.zeros((len(Z), len(X)))
    for moved in images:
        kernel += np.exp(-width / unit * _squared_distances(points, moved))
    return kernel / len(images) @ dual + centre


def _ratio(problem: ProblemSet, seed: int) -> float:
    X, y, Z, truth = problem.split(seed)
    model = sa.InvariantKernelRidge(problem.space, problem.group).fit(X, y)
    columns = truth.reshape(len(truth), -1)
    theirs = averaged_kernel_ridge(problem, X, y.reshape(len(y), -1), Z)
    ours = model.predict(Z).reshape(columns.shape)
    return float(np.sqrt(np.mean((ours - columns) ** 2) / np.mean((theirs - columns) ** 2)))


def accuracy() -> list[dict[str, Any]]:
    """One row for each problem: the geometric mean of the ratios of test errors."""
    warnings.simplefilter("ignore", UserWarning)
    rows = []
    for problem in SETS():
        ratios = np.array([_ratio(problem, seed) for seed in range(SPLITS)])
        mean = float(np.exp(np.log(ratios).mean()))
        error = mean * float(np.log(ratios).std(ddof=1)) / SPLITS**0.5
        rows.append(
            row(
                f"error at default settings over the averaged kernel: {problem.name}, n = {problem.n}",
                mean,
                1.0,
                at_most=True,
                unit="×",
                note=f"± {error:.2g} over {SPLITS} splits, the worst {ratios.max():.2g}",
                standard_error=error,
                worst=float(ratios.max()),
                splits=SPLITS,
            )
        )
    return rows


def coverage() -> list[dict[str, Any]]:
    """How many of the values lie in 90 % intervals: smooth and kinked targets, without and with noise."""
    warnings.simplefilter("ignore", UserWarning)
    S2, T2 = sa.Sphere(3), sa.Torus(2)
    oh, squares = sa.groups.point_group("Oh"), sa.groups.hyperoctahedral(2)
    by_name = {problem.name: problem for problem in SETS()}
    targets: dict[str, tuple[Any, Any, Any]] = {
        "smooth on S²": (S2, oh, lambda X: np.exp(2 * (X**4).sum(axis=1)) + 20 * (X**2).prod(axis=1)),
        "kinked on S²": (S2, oh, lambda X: np.abs(X).max(axis=1)),
        "smooth on T²": (T2, squares, lambda X: np.exp(np.cos(np.pi * X).sum(axis=1))),
        "kinked on T²": (T2, squares, by_name["ridges with noise, T²"].target),
    }
    for name in ("four methyls, T⁴", "ring of six, T⁶", "kurtosis of wine, V(5, 3)"):
        targets[name] = (by_name[name].space, by_name[name].group, by_name[name].target)
    rows = []
    for name, (space, group, target) in targets.items():
        for noise in (0.0, 0.2):
            for n in (30, 100, 300, 1000):
                problem = ProblemSet(name, space, group, n, target, noise=noise)
                inside = []
                for seed in range(SPLITS):
                    X, y, Z, truth = replace(problem, n=n).split(seed)
                    model = sa.InvariantKernelRidge(space, group).fit(X, y)
                    mean, deviation = model.predict(Z, return_std=True)
                    inside.append(np.mean(np.abs(mean - truth) <= NORMAL_90 * deviation))
                share = 100 * float(np.mean(inside))
                note = f"± {100 * np.std(inside, ddof=1) / SPLITS**0.5:.1f}; wanted are 85 to 95 %"
                kind = "with noise" if noise else "without noise"
                rows.append(row(f"values in 90 % intervals: {name}, {kind}, n = {n}", share, unit=" %", note=note))
    return rows
