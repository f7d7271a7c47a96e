"""Accuracy at default settings: a model with nothing set, against the group-averaged kernel tuned on the same rows.

Each problem is drawn anew eight times, with other points on other orbits. The kernel is Gaussian in the coordinates of
the embedding and averaged over the whole group. Its width and penalty are those of the smallest leave-one-out error in
closed form. A ratio below one says that the default model has the smaller test error.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import specavg as sa
from benchmarks.accuracy_further_sets import FURTHER_SETS
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


@dataclass(frozen=True)
class Outcome:
    """What one split gave: the ratio of test errors, and the share of the truth in 90 % intervals."""

    ratio: float
    covered: float


def outcome(problem: ProblemSet, seed: int) -> Outcome:
    """One split of a problem: the default model and the averaged kernel."""
    X, y, Z, truth = problem.split(seed)
    model = sa.InvariantKernelRidge(problem.space, problem.group).fit(X, y)
    columns = truth.reshape(len(truth), -1)
    theirs = averaged_kernel_ridge(problem, X, y.reshape(len(y), -1), Z)
    mean, inside = _covered(problem, model, Z, truth)
    ours = mean.reshape(columns.shape)
    return Outcome(float(np.sqrt(np.mean((ours - columns) ** 2) / np.mean((theirs - columns) ** 2))), inside)


def _covered(problem: ProblemSet, model: Any, Z: Array, truth: Array) -> tuple[Array, float]:
    """Predictions, and the share of the truth in their 90 % intervals: of the function, or of an observation of it."""
    mean, deviation = model.predict(Z, return_std=True)
    if problem.observed:
        deviation = np.sqrt(deviation**2 + model.noise_variance_)
    return mean, float(np.mean(np.abs(mean - truth) <= NORMAL_90 * deviation))


def accuracy_row(problem: ProblemSet, outcomes: list[Outcome]) -> dict[str, Any]:
    """The geometric mean of the ratios of one problem, and the mean coverage."""
    ratios, inside = (np.array([getattr(o, name) for o in outcomes]) for name in ("ratio", "covered"))
    mean = float(np.exp(np.log(ratios).mean()))
    error = mean * float(np.log(ratios).std(ddof=1)) / len(ratios) ** 0.5
    share = 100 * float(inside.mean())
    return row(
        f"error at default settings over the averaged kernel: {problem.name}, n = {problem.n}",
        mean,
        1.0,
        at_most=True,
        unit="×",
        note=f"± {error:.2g} over {len(ratios)} splits, the worst {ratios.max():.2g}; "
        f"90 % intervals of {'observations' if problem.observed else 'the function'} hold {share:.0f} %",
        standard_error=error,
        worst=float(ratios.max()),
        splits=len(ratios),
        covered=share,
        interval="observation" if problem.observed else "function",
    )


def accuracy() -> list[dict[str, Any]]:
    """One row for each problem: the geometric mean of the ratios of test errors, and how well error bars hold."""
    warnings.simplefilter("ignore", UserWarning)
    problems = [*SETS(), *FURTHER_SETS()]
    return [accuracy_row(problem, [outcome(problem, seed) for seed in range(SPLITS)]) for problem in problems]


def coverage_problems(sizes: Sequence[int] = (30, 100, 300, 1000)) -> list[ProblemSet]:
    """Smooth and kinked targets, without and with noise, of several sizes."""
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
    return [
        ProblemSet(name, space, group, n, target, noise=noise)
        for n in sizes
        for name, (space, group, target) in targets.items()
        for noise in (0.0, 0.2)
    ]


def covered(problem: ProblemSet, seed: int) -> float:
    """The share of the truth in 90 % intervals of a default model, for one split."""
    X, y, Z, truth = problem.split(seed)
    model = sa.InvariantKernelRidge(problem.space, problem.group).fit(X, y)
    return _covered(problem, model, Z, truth)[1]


def coverage_row(problem: ProblemSet, inside: Sequence[float]) -> dict[str, Any]:
    """The mean share of one problem."""
    kind = "with noise" if problem.noise else "without noise"
    error = 100 * np.std(inside, ddof=1) / len(inside) ** 0.5
    return row(
        f"values in 90 % intervals: {problem.name}, {kind}, n = {problem.n}",
        100 * float(np.mean(inside)),
        unit=" %",
        note=f"± {error:.1f} over {len(inside)} splits; wanted are 85 to 95 %",
    )


def coverage() -> list[dict[str, Any]]:
    """How many of the values lie in 90 % intervals: smooth and kinked targets, without and with noise."""
    warnings.simplefilter("ignore", UserWarning)
    return [coverage_row(p, [covered(p, seed) for seed in range(SPLITS)]) for p in coverage_problems()]
