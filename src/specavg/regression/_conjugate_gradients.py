"""Conjugate gradients for many right-hand sides, each with a shift of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from specavg._arrays import Array

STEPS = 2000  # after so many, the system is not one that these steps solve
_STALLED = 50  # steps without half the residual: rounding is reached
_NEARLY = 1e6  # a standstill this many times above the squared goal is a failure, and not rounding


class NotConverged(ValueError):
    """The residual did not fall far enough."""


def conjugate_gradients(
    multiply: Callable[[Array], Array],
    shift: Array,
    right: Array,
    diagonal: Array,
    tolerance: float,
    steps: int | None = None,
    start: Array | None = None,
) -> tuple[Array, int]:
    """Solve (A + shift) x = right for every column at once, A symmetric positive and near its `diagonal`.

    Parameters
    ----------
    multiply : callable
        A times columns; only those that are not solved yet are multiplied.
    shift : ndarray of shape (q,)
        Positive.
    right : ndarray of shape (D, q)
    diagonal : ndarray of shape (D, 1)
    tolerance : float
        Of the residual in the norm of the preconditioner, relative to `right`.
    steps : int, optional
        How many to take at most; 2000 by default.
    start : ndarray of the shape of `right`, optional
        Where to start from; zero by default.

    Returns
    -------
    x : ndarray of the shape of `right`
    iterations : int

    Raises
    ------
    NotConverged
        If a residual does not fall below `tolerance` in so many steps.
    """
    most = STEPS if steps is None else steps
    x = np.zeros_like(right) if start is None else start.copy()
    columns = np.flatnonzero(right.any(axis=0))  # of x, still open; the arrays below have these columns only
    a, residual = shift[columns], right[:, columns].copy()
    inverse = 1.0 / (diagonal + a)
    goal = tolerance**2 * np.sum(inverse * residual**2, axis=0)
    if start is not None:
        residual -= multiply(x[:, columns]) + a * x[:, columns]
    direction = inverse * residual
    energy = np.sum(residual * direction, axis=0)
    best, since = np.inf, 0
    for step in range(most):
        still = energy > goal
        if not still.all():
            columns, a, energy, goal = columns[still], a[still], energy[still], goal[still]
            residual, direction, inverse = residual[:, still], direction[:, still], inverse[:, still]
        if not len(columns):
            return x, step
        worst = float(np.max(energy / goal))
        best, since = (worst, 0) if worst < 0.5 * best else (best, since + 1)
        if since > _STALLED and worst < _NEARLY:  # rounding is reached: further steps change the last digits only
            return x, step
        product = multiply(direction) + a * direction
        length = energy / np.sum(direction * product, axis=0)
        x[:, columns] += length * direction
        residual -= length * product
        z = inverse * residual
        before, energy = energy, np.sum(residual * z, axis=0)
        direction = z + energy / before * direction
    worst = float(np.sqrt(np.max(energy / goal))) * tolerance
    raise NotConverged(
        f"conjugate gradients did not converge in {most} steps: relative residual {worst:.2g}, wanted "
        f"{tolerance:.0e}. The data may leave large parts of the space empty, or have hardly more rows than there are "
        "functions. Give a larger alpha or a lower cutoff; or a larger sa.config(memory_limit=...), within which the "
        "Gram matrix is decomposed instead."
    )
