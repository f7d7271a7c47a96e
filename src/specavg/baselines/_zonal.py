"""Weighted sums of zonal functions, Σ_λ w_λ Σ_{φ in V_λ} φ(x)φ(y), by addition theorem where there is one.

Spheres have Gegenbauer polynomials of x·y, rotations the characters of the angle between two of them, and
cubic tori a generating function: Σ_{|k|²=m} cos 2πk·u is the coefficient of z^m in the product over
coordinates of 1 + Σ_j 2 cos(2πj u_i) z^{j²}. Anywhere else the eigenfunctions themselves are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from specavg.baselines._kernels import Array, KernelFunction
from specavg.functions._orthonormal_matrices import normalized
from specavg.spaces import Eigenspace, Rotations, Space, Sphere, Torus
from specavg.spaces._eigenspace import degree_label
from specavg.spaces._frequency_sets import Shell

_PAIRS = 1 << 15  # pairs of points held at once by the generating function: it fits in cache

Weighted = Sequence[tuple[Eigenspace, float]]


def zonal_sum(space: Space, table: Weighted) -> KernelFunction:
    """The function (X, Y) -> Σ_λ w_λ Z_λ(x_i, y_j)."""
    if isinstance(space, Sphere):
        return lambda X, Y: _gegenbauer_sum(_cosines(normalized(X), normalized(Y)), space.shape[0], table)
    if isinstance(space, Rotations):
        return lambda X, Y: _character_sum(np.clip((X @ Y.T - 1) / 2, -1, 1), table)
    if isinstance(space, Torus) and space.is_cubic and _shells_are_cheaper(space, table):
        return _shell_sums(space, table, even=False)
    return lambda X, Y: _feature_sum(space, table, X, Y)


def even_shell_sums(space: Torus, table: Weighted) -> KernelFunction:
    """`zonal_sum` on a cubic torus, averaged over all sign flips: cos j(a − b) becomes cos ja · cos jb."""
    return _shell_sums(space, table, even=True)


def theta_product(space: Torus, length_scale: float, constant: bool, *, even: bool) -> KernelFunction:
    """The whole heat kernel of a box torus, Π_i θ_i(x_i − y_i); `even`: averaged over all sign flips."""
    rates = (2 * np.pi * length_scale / space.period) ** 2 / 2  # (d,)
    harmonics = _even_harmonics if even else _harmonics

    def kernel(X: Array, Y: Array) -> Array:
        a, b = 2 * np.pi * X / space.period, 2 * np.pi * Y / space.period
        values = np.ones((len(X), len(Y)))
        for i, rate in enumerate(rates):
            theta = np.ones_like(values)
            reach = int(np.ceil(np.sqrt(40.0 / rate)))  # exp(−40) is below the last bit
            for k, term in enumerate(harmonics(a[:, i], b[:, i], reach), start=1):
                theta += np.exp(-rate * k * k) * term
            values *= theta
        return values if constant else values - 1.0

    return kernel


def _cosines(X: Array, Y: Array) -> Array:
    return np.clip(X @ Y.T, -1.0, 1.0)


def _gegenbauer_sum(t: Array, d: int, table: Weighted) -> Array:
    """Z_k(t) = m_k P_k(t) with P_k(1) = 1, by (k + d − 3) P_k = (2k + d − 4) t P_{k−1} − (k − 1) P_{k−2}."""
    weights = {degree_label(V): w * V.dim for V, w in table}
    degrees = max(weights)
    total = np.full_like(t, weights.get(0, 0.0))
    before, current, spare = np.ones_like(t), t.copy(), np.empty_like(t)
    for k in range(1, degrees + 1):
        if k in weights:
            total += np.multiply(current, weights[k], out=spare)
        n = k + 1
        # Chebyshev apart: the general coefficients are 0/0 at degree one.
        up, down = (2.0, 1.0) if d == 2 else ((2 * n + d - 4) / (n + d - 3), (n - 1) / (n + d - 3))
        np.multiply(t, current, out=spare)
        spare *= up
        before *= down
        spare -= before
        before, current, spare = current, spare, before
    return total


def _character_sum(c: Array, table: Weighted) -> Array:
    """Z_l = (2l + 1) χ_l with χ_l = 1 + 2 Σ_{j ≤ l} cos jω, c = cos ω the angle between two rotations."""
    weights = {degree_label(V): w for V, w in table}
    degrees = max(weights)
    total = np.full_like(c, weights.get(0, 0.0))
    character = np.ones_like(c)
    before, current = np.ones_like(c), c.copy()
    for l in range(1, degrees + 1):
        character = character + 2 * current
        if l in weights:
            total += weights[l] * (2 * l + 1) * character
        before, current = current, 2 * c * current - before
    return total


def _feature_sum(space: Space, table: Weighted, X: Array, Y: Array) -> Array:
    total = np.zeros((len(X), len(Y)))
    for V, w in table:
        if w:
            total += w * (space.evaluate(V, X) @ space.evaluate(V, Y).T)
    return total


def _shells_are_cheaper(space: Torus, table: Weighted) -> bool:
    # Per pair: about a nanosecond for each elementwise step, a tenth of one for a step of a matrix product.
    norms = [V.label.norm for V, _ in table if isinstance(V.label, Shell)]
    if len(norms) < len(table):  # another order: not by |k|²
        return False
    return 7 * space.dim * max(1, *norms) ** 1.5 < sum(V.dim for V, _ in table)


def _shell_sums(space: Torus, table: Weighted, *, even: bool) -> KernelFunction:
    shells = [(V.label.norm, w) for V, w in table if isinstance(V.label, Shell)]
    weights = np.zeros(1 + max(norm for norm, _ in shells))
    for norm, w in shells:
        weights[norm] = w
    reach = int(np.sqrt(len(weights) - 1) + 1e-9)
    harmonics = _even_harmonics if even else _harmonics

    def kernel(X: Array, Y: Array) -> Array:
        a, b = 2 * np.pi * X / space.period, 2 * np.pi * Y / space.period
        total = np.empty((len(X), len(Y)))
        step = max(1, _PAIRS // max(1, len(Y)))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            total[rows] = _series(a[rows], b, weights, reach, harmonics)
        return total

    return kernel


Harmonics = Callable[[Array, Array, int], Iterator[Array]]


def _series(a: Array, b: Array, weights: Array, reach: int, harmonics: Harmonics) -> Array:
    """Σ_m w_m [z^m] Π_i (1 + Σ_j 2 h_j(a_i, b_i) z^{j²})."""
    top = len(weights) - 1
    shells = np.zeros((top + 1, len(a), len(b)))
    shells[0] = 1.0
    for i in range(a.shape[1]):
        terms = list(harmonics(a[:, i], b[:, i], reach))
        for m in range(top, 0, -1):  # from above, so that what is read is still without this coordinate
            for j in range(1, int(np.sqrt(m) + 1e-9) + 1):
                shells[m] += terms[j - 1] * shells[m - j * j]
    return np.tensordot(weights, shells, axes=1)


def _harmonics(a: Array, b: Array, reach: int) -> Iterator[Array]:
    return (
        2 * (np.multiply.outer(np.cos(j * a), np.cos(j * b)) + np.multiply.outer(np.sin(j * a), np.sin(j * b)))
        for j in range(1, reach + 1)
    )


def _even_harmonics(a: Array, b: Array, reach: int) -> Iterator[Array]:
    return (2 * np.multiply.outer(np.cos(j * a), np.cos(j * b)) for j in range(1, reach + 1))
