"""Ridge regression on blocks of equations; decay, weight of energies and penalty by leaving out geometries.

Degrees and decays are compared with few weights of energies against forces. Where the residuals of both kinds say that
their precisions differ, other weights follow, over orders of magnitude.

Three ways to the same answer. With few functions, or few equations, the matrix itself is decomposed, and penalties of
1e-18 of its size still count: noise-free energies want them. If there are many equations for each function, triangular
factors stand for them, found once for all candidates. With many of both the Gram matrix is summed over chunks, which
stops at 1e-13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory, settings
from specavg._reporting import reported
from specavg.data._gradient_moments import Multiple, multiple_given
from specavg.molecules._candidate_fit import Fit, LeftOut, fit_of, prior_deviations, unit_penalty, weighted
from specavg.molecules._distances import distances
from specavg.molecules._equations import Equations
from specavg.molecules._terms import LOWER

DECAYS = (1.0, 0.5, 0.25)  # prior standard deviation of a function of degree k: decay^k
# Of an energy against a force, both in units of their spread in the data: those that are compared first. Others follow
# where residuals ask for them (`_with_other_weights`).
ENERGY_WEIGHTS = (1.0, 3.0)
# Residuals of energies and of forces that differ by more ask for another weight: 0.8 to 1.8 times in methane and water
# without noise, 5 or a tenth where one of them is noisy. Weights change by a factor of ten at least, until two in a row
# are no better: with forces noisy by 10⁻³, the score of 60 exact energies of water rises before it falls.
_UNBALANCED, _STEP, _FAILURES = 2.0, 10.0, 2
_WEIGHTS_APART = 1e6  # from the first: beyond, the squares of one kind are lost in the rounding of those of the other
_ROUNDS = 3  # of choices of degree and decay, each with a better weight
EXACT_PENALTIES = 10.0 ** np.arange(-18, 1)  # in units of the sums of squares of the functions of degree 1
GRAM_PENALTIES = 10.0 ** np.arange(-13, 1, 1.0)  # the same from a Gram matrix, whose rounding is 1e-15
# Functions, or equations, up to which the matrix is decomposed, and how many times as many of the other: 1200 functions
# take 0.8 s for each candidate of 2000 equations.
_EXACT_FUNCTIONS, _EXACT_TIMES = 1200, 40
MOST_WITH_ERROR_BARS = 3000  # functions whose covariance a potential keeps: 72 MB, here and in a saved file
_MANY_EQUATIONS = 8  # for each function: then the factors are smaller than the matrix, and I − H is far from zero
# Geometries whose errors choose, where there are more: the root mean square is known to 2 %.
_LEFT_OUT_GEOMETRIES = 2000
_PRODUCT_BYTES = 16e6  # of products that one matrix product sums: they stay near the processor
_LEFT_OUT_WORK = 1e11  # operations for the errors of one candidate: some 5 s, as much as a factor of 5000 functions
# Geometries whose energies are compared with those that forces predict: 1.03 ± 0.01 times in methane.
_COMPARED_GEOMETRIES = 200
_FEWEST_GEOMETRIES = 5  # with fewer the standard error says nothing


def best_fit(equations: Equations, degrees: NDArray[np.int64], tried: list[int]) -> Fit:
    """The best of all candidates.

    `degrees` are those of the functions. With few functions, those up to each degree in `tried` are candidates too.
    """
    rows, p = equations.count * equations.block, equations.functions.dim
    if not _is_decomposed(rows, p):
        require_room(rows, p, f"{p} functions")
        found = _gram_fits(equations, degrees)
    elif equations.count > _LEFT_OUT_GEOMETRIES and rows > _MANY_EQUATIONS * p:
        found = _factored_fits(equations, degrees, tried)
    else:
        found = _exact_fits(equations, degrees, tried)
    squares: list[Array] = []

    def noted(fit: Fit) -> Fit:
        squares.append(_squared_errors(fit))
        return fit

    shown = reported(map(noted, found), "choice of degree, prior and penalty", "candidates")
    best = _judged_by_others(min(shown, key=lambda fit: fit.score), np.stack(squares))
    return best if len(best.rows) == equations.count else _with_all_energies(best, equations)


def _is_decomposed(rows: int, functions: int) -> bool:
    """Whether the matrix of the equations itself is."""
    small = 8.0 * 5 * rows * functions < settings().memory_limit
    least, most = sorted((rows, functions))
    return small and least <= _EXACT_FUNCTIONS and most <= _EXACT_TIMES * _EXACT_FUNCTIONS


def require_room(rows: int, functions: int, what: str) -> None:
    """Refuse functions whose Gram matrix would not fit in memory, where it is needed: two are held at a time."""
    if not _is_decomposed(rows, functions):
        require_memory(16.0 * functions**2, f"a Gram matrix of {what}", LOWER)


def _squared_errors(fit: Fit) -> Array:
    """Of energies and of forces at each geometry that was left out, times its weight; 0 where there are none."""
    return np.nan_to_num(fit.weights * np.stack([fit.energies_left, fit.forces_left]) ** 2)  # (2, n)


def _judged_by_others(best: Fit, squares: Array) -> Fit:
    """The best fit, with the errors of choices that did not see the geometries they are judged by.

    Few geometries at the ends of the data have most of the error, and of hundreds of candidates one passes through them
    by chance: of ten distances of two atoms the least error was up to eight times too small. So a geometry judges the
    candidate that is the best for all others.
    """  # squares (candidates, 2, n)
    errors = np.array([best.energy_error, best.force_error])
    told = ~np.isnan(errors)
    others = np.log(np.maximum(squares.sum(axis=2, keepdims=True) - squares, 0.0) + 1e-300)[:, told]
    chosen = others.sum(axis=1).argmin(axis=0)  # (n,)
    judged = squares[chosen, :, np.arange(len(chosen))].sum(axis=0)
    least = np.maximum(_squared_errors(best).sum(axis=1), 1e-300)
    energy, force = (errors * np.sqrt(np.maximum(judged / least, 1.0))).tolist()
    return replace(best, energy_error=energy, force_error=force)


def contradiction(equations: Equations, degrees: NDArray[np.int64]) -> Multiple | None:
    """The energies as a multiple of those that the forces alone predict, unless it may be one.

    The sign and the units of forces are those of the energies where the multiple is one. Where the forces cannot be
    predicted from one another nothing is said.
    """
    few = equations.some(np.flatnonzero(equations.has_forces)[:_COMPARED_GEOMETRIES])
    if few.count < _FEWEST_GEOMETRIES:
        return None
    A, y, unreachable = few.all()
    fits = _decomposed(A, y, degrees, 0.5, 1e-3 * _unit_weight(few), unreachable, few)  # energies hardly count
    best = min(fits, key=lambda fit: fit.force_error)
    predicted = A[:, 0] @ best.coefficients
    predicted, given = predicted - predicted.mean(), y[:, 0] - y[:, 0].mean()
    if best.force_error > 0.5 * few.force_size:
        return None
    sums = float(predicted @ predicted), float(predicted @ given), float(given @ given)
    found = multiple_given(*sums, few.count)
    return found if found.wrong else None


def _exact_fits(equations: Equations, degrees: NDArray[np.int64], tried: list[int]) -> Iterator[Fit]:
    A, y, unreachable = equations.all()

    def fits(degree: int, decay: float, weight: float) -> Iterator[Fit]:
        p = int((degrees <= degree).sum())
        return _decomposed(A[:, :, :p], y, degrees[:p], decay, weight, unreachable, equations)

    fewer = _degrees_of_energies(degrees, tried, equations)
    return _with_other_weights(fits, list(product(tried, DECAYS)), list(product(fewer, DECAYS)), _weights(equations))


def _with_other_weights(
    fits: Callable[[int, float, float], Iterator[Fit]],
    choices: list[tuple[int, float]],
    fewer: list[tuple[int, float]],
    weights: list[float],
) -> Iterator[Fit]:
    """Candidates of all degrees and decays with these weights, then with those that the residuals of the best ask for.

    Energies and forces are to count by their precision: the squared residuals of either kind, over its equations less
    its degrees of freedom, are its variance (Helmert, 1907). Where both are alike the weight is right. The errors at
    geometries that were left out decide: what is not fitted is not all noise. Where forces hardly count, choices of
    `fewer` functions are candidates too.
    """
    best: Fit | None = None
    bounds = weights[0] / _WEIGHTS_APART, weights[0] * _WEIGHTS_APART
    for _ in range(_ROUNDS):
        for (degree, decay), weight in product(choices, weights):
            for fit in fits(degree, decay, weight):
                best = fit if best is None or fit.score < best.score else best
                yield fit
        if best is None:
            return
        last, failures, up = best, 0, best.balance > 1
        while failures < _FAILURES:
            asked = last.balance if up else 1 / last.balance
            weight = last.energy_weight * max(asked, _STEP) ** (1 if up else -1)
            if not asked > _UNBALANCED or not bounds[0] <= weight <= bounds[1]:
                break
            last = replace(best, energy_error=np.inf, energy_weight=weight)
            for fit in fits(best.degree, best.decay, weight):
                last = min(last, fit, key=lambda fit: fit.score)
                yield fit
            failures = 0 if last.score < best.score else failures + 1
            best = min(best, last, key=lambda fit: fit.score)
        if best.energy_weight in weights:
            return
        choices = choices + fewer if best.energy_weight > max(weights) else choices
        fewer, weights = [], [best.energy_weight]


def _degrees_of_energies(degrees: NDArray[np.int64], tried: list[int], equations: Equations) -> list[int]:
    """Lower degrees that would be tried if there were no forces, as many as are."""
    if len(tried) == 1 or equations.forces is None:
        return []  # one was asked for, or there is nothing to weigh
    allowed = [d for d in range(1, max(tried)) if (degrees <= d).sum() <= equations.count]
    return [d for d in allowed[-len(tried) :] if d not in tried]


def _decomposed(
    A: Array,
    y: Array,
    degrees: NDArray[np.int64],
    decay: float,
    weight: float,
    unreachable: float,
    equations: Equations,
) -> Iterator[Fit]:
    """Fits for all penalties from one decomposition, and the errors at left-out blocks: (I − H_bb)⁻¹ r_b."""
    from scipy.linalg import svd

    n, block, p = A.shape
    prior = prior_deviations(degrees, decay)
    B = (weighted(A, weight) * prior).reshape(n * block, p)
    z = weighted(y, weight).ravel()
    told = B.any(axis=1)  # forces that are missing, and directions that a geometry on a line lacks, are rows of zeros
    square = told.sum() <= p  # then the fit can pass through all data: I − UUᵀ is zero, and rounding must not fill it
    V, d, Wt = svd(B[told], full_matrices=False, check_finite=False)
    U = np.zeros((n * block, len(d)))
    U[told] = V
    b = U.T @ z
    outside = np.zeros_like(z) if square else z - U @ b
    Ub = U.reshape(n, block, -1)
    empty = ~told.reshape(n, block, 1) * np.eye(block)
    rest = empty if square else np.eye(block) - np.matmul(Ub, Ub.transpose(0, 2, 1))
    unit = unit_penalty(B, degrees, prior)
    added = unit * EXACT_PENALTIES
    kept = added / (d[:, None] ** 2 + added)  # 1 − filter, a column for each penalty
    blocks = _products(Ub, kept)
    residuals = (outside[:, None] + U @ (kept * b[:, None])).T.reshape(-1, n, block)
    for k, penalty in enumerate(EXACT_PENALTIES):
        try:
            left = LeftOut.of(rest + blocks[k], residuals[k], z)
        except np.linalg.LinAlgError:  # so small a penalty leaves nothing to tell
            continue
        c = prior * (Wt.T @ (d / (d * d + penalty * unit) * b))
        factor = partial(_triangular, d, Wt, penalty * unit) if p <= MOST_WITH_ERROR_BARS else None
        yield fit_of(int(degrees[-1]), decay, weight, penalty, c, left, factor, unreachable, equations)


def _factored_fits(equations: Equations, degrees: NDArray[np.int64], tried: list[int]) -> Iterator[Fit]:
    """The same from triangular factors of the energies and of the forces; errors at some of the geometries.

    A factor has all products of the columns that it stands for, and none of its digits is squared away.
    """
    from scipy.linalg import qr, svd

    A, y, _ = equations.all()
    factors: list[Array] = []
    for part in (slice(0, 1), slice(1, None)):
        if y[:, part].size:
            both = np.column_stack([A[:, part].reshape(-1, A.shape[2]), y[:, part].ravel()])
            found: Any = qr(both, mode="r", check_finite=False, overwrite_a=True)
            factors.append(np.triu(found[0][: both.shape[1]]))
    chosen = np.unique(np.linspace(0, equations.count - 1, _LEFT_OUT_GEOMETRIES).astype(np.intp))
    some = equations.some(chosen)
    A, y, unreachable = some.all()

    def fits(degree: int, decay: float, weight: float) -> Iterator[Fit]:
        p = int((degrees <= degree).sum())
        prior = prior_deviations(degrees[:p], decay)
        S = np.concatenate([weight * factors[0], *factors[1:]])
        V, d, Wt = svd(S[:, :p] * prior, full_matrices=False, check_finite=False)
        b, unit = V.T @ S[:, -1], unit_penalty(S[:, :p] * prior, degrees[:p], prior)
        B = (weighted(A[:, :, :p], weight) * prior).reshape(-1, p)
        P, z = B @ Wt.T, weighted(y, weight)  # P is U d, of the geometries that are left out
        inverse = 1.0 / (d[:, None] ** 2 + unit * EXACT_PENALTIES)
        taken = inverse * (d * b)[:, None]
        H = _products(P.reshape(*z.shape, -1), inverse)
        fitted = (P @ taken).T.reshape(-1, *z.shape)
        for k, penalty in enumerate(EXACT_PENALTIES):
            left = LeftOut.of(np.eye(z.shape[1]) - H[k], z - fitted[k], z)
            c = prior * (Wt.T @ taken[:, k])
            factor = partial(_triangular, d, Wt, penalty * unit)
            yield fit_of(degree, decay, weight, penalty, c, left, factor, unreachable, some)

    fewer = _degrees_of_energies(degrees, tried, equations)
    return _with_other_weights(fits, list(product(tried, DECAYS)), list(product(fewer, DECAYS)), _weights(equations))


def _products(P: Array, diagonals: Array) -> Array:
    """P diag(column) Pᵀ of each block, for every column: one matrix product serves all of them."""
    # (n, block, k), (k, q) -> (q, n, block, block)
    n, block, k = P.shape
    i, j = np.triu_indices(block)
    out = np.empty((diagonals.shape[1], n, block, block))
    for rows in np.array_split(np.arange(n), max(1, int(8.0 * n * len(i) * k / _PRODUCT_BYTES))):
        found = (P[rows][:, i] * P[rows][:, j]).reshape(-1, k) @ diagonals
        found = found.reshape(len(rows), len(i), -1).transpose(2, 0, 1)
        out[:, rows[:, None], i, j] = found
        out[:, rows[:, None], j, i] = found
    return out


def _with_all_energies(fit: Fit, equations: Equations) -> Fit:
    """With the errors of all energies, fitted where they were not left out: among so many they are hardly smaller."""
    c = np.zeros((equations.functions.dim, 1))
    c[: len(fit.coefficients), 0] = fit.coefficients  # functions of lower degree come first
    energies, forces = equations.energies.copy(), np.full(equations.count, np.nan)
    for rows in equations.chunks():
        energies[rows] -= equations.functions.combine(equations.scale(distances(equations.R[rows]).r)[0], c)[:, 0]
    order = np.argsort(equations.rows)
    left_out = order[np.searchsorted(equations.rows, fit.rows, sorter=order)]
    energies[left_out], forces[left_out] = fit.energies_left, fit.forces_left
    return replace(fit, rows=equations.rows, weights=equations.weights, energies_left=energies, forces_left=forces)


def _gram_fits(equations: Equations, degrees: NDArray[np.int64]) -> Iterator[Fit]:
    """The same from sums over chunks: two decays, one weight at first; errors at some of the geometries."""
    from scipy.linalg import cho_solve, cholesky

    p, n, (first_weight, *_) = equations.functions.dim, equations.count, _weights(equations)
    gram, moments = _sums(equations, first_weight)
    summed = first_weight
    most = max(2, int(min(_LEFT_OUT_WORK / p**2, settings().memory_limit / (32.0 * p)) / equations.block))
    some = equations.some(np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp)))
    every, y, unreachable = some.all()
    first = degrees == 1

    def fits(degree: int, decay: float, weight: float) -> Iterator[Fit]:
        nonlocal summed
        if weight != summed:
            _add_energies(gram, moments, weight**2 - summed**2, equations)
            summed = weight
        A, z = weighted(every, weight), weighted(y, weight)
        unit = float(np.diagonal(gram)[first].sum()) if first.any() else 1.0
        prior, best = prior_deviations(degrees, decay), np.inf
        for penalty in GRAM_PENALTIES:
            K = gram * prior[:, None] * prior
            K[np.diag_indices(p)] += penalty * unit
            try:
                L = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:  # rounding of the sums is larger than the penalty
                continue
            c = prior * cho_solve((L, True), prior * moments, check_finite=False)
            left = _left_out(L, A, z, c, prior)
            factor = partial(np.transpose, L) if p <= MOST_WITH_ERROR_BARS else None
            fit = fit_of(degree, decay, weight, penalty, c, left, factor, unreachable, some)
            yield fit
            if fit.score > best + 0.1:  # past the valley
                break
            best = min(best, fit.score)

    # With thousands of functions a prior without decay was never the best.
    choices = list(product([int(degrees[-1])], DECAYS[1:]))
    return _with_other_weights(fits, choices, [], [first_weight])


def _left_out(L: Array, A: Array, z: Array, c: Array, prior: Array) -> LeftOut:
    """The same, H from the factor of the penalised Gram matrix."""
    from scipy.linalg import solve_triangular

    rest = np.empty((*z.shape, z.shape[1]))
    for rows in np.array_split(np.arange(len(A)), max(1, len(A) // 100)):
        B = (A[rows] * prior).reshape(-1, A.shape[2])
        V = solve_triangular(L, B.T, lower=True, check_finite=False).T.reshape(len(rows), -1, A.shape[2])
        rest[rows] = np.eye(A.shape[1]) - np.matmul(V, V.transpose(0, 2, 1))
    return LeftOut.of(rest, z - A @ c, z)


def _triangular(d: Array, Wt: Array, penalty: float) -> Array:
    """R with RᵀR = W diag(d²) Wᵀ + penalty, without the squares."""  # (r,), (r, p) -> (p, p)
    from scipy.linalg import qr

    p = Wt.shape[1]
    found: Any = qr(np.concatenate([d[:, None] * Wt, penalty**0.5 * np.eye(p)]), mode="r", check_finite=False)
    return np.triu(found[0][:p])


def _sums(equations: Equations, weight: float) -> tuple[Array, Array]:
    """The Gram matrix and the moments, chunk by chunk."""  # (p, p), (p,)
    p = equations.functions.dim
    gram, moments = np.zeros((p, p)), np.zeros(p)
    for rows in equations.chunks():
        A, y, _ = equations.of(rows)
        B, z = weighted(A, weight).reshape(-1, p), weighted(y, weight).ravel()
        gram += B.T @ B
        moments += B.T @ z
    return gram, moments


def _add_energies(gram: Array, moments: Array, factor: float, equations: Equations) -> None:
    """Add `factor` times what energies contribute to both, in place."""
    alone = replace(equations, forces=None)
    for rows in alone.chunks():
        A, y, _ = alone.of(rows)
        gram += factor * (A[:, 0].T @ A[:, 0])
        moments += factor * (A[:, 0].T @ y[:, 0])


def _unit_weight(equations: Equations) -> float:
    """Brings energies to the spread of forces."""
    spread = float(equations.energies.std())
    if equations.forces is None or spread == 0:
        return 1.0
    return equations.force_size / spread or 1.0


def _weights(equations: Equations) -> list[float]:
    if not equations.has_energies:
        return [0.0]  # their equations say nothing
    unit = _unit_weight(equations)
    return [1.0] if equations.forces is None else [unit * w for w in ENERGY_WEIGHTS]
