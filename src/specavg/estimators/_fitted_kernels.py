"""Kernel density estimates with several widths, fitted: shares of widths and weights of kernels.

f(x) = s_0 + Σ_k s_k Σ_j w_kj k_κ(x, x_j), every kernel averaged over the images of x_j, and over flows in closed form
(`_orbit_space`). The cost is linear in the number of kernels, and widths cost little: κ doubles from one to the next,
and kernels are squared. The shares s maximise the leave-one-out likelihood, a concave problem; data of two scales, such
as grains and what lies between them, have two widths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from specavg._arrays import Array
from specavg._config import settings
from specavg._random import OWN_SEED
from specavg._reporting import reported
from specavg.estimators._explained_centres import DENSE, MOST_PAIRS, NONE, VANISHING, Centres, squared
from specavg.estimators._kernel_mixture import KernelMixture
from specavg.estimators._leaves_of_points import Places
from specavg.estimators._left_out import LeftOut
from specavg.estimators._orbit_space import orbit_space
from specavg.groups import Group
from specavg.spaces import Space
from specavg.spaces._von_mises import VonMises

MOST_IMAGES = 300_000
"""Images of points, over all elements of the group: 22 MB of rotation matrices, 3 ms for a density. Further points
count for the nearest of those that are kept, which are taken at random."""

DEARER = 10
"""How much longer a pair takes where a flow is averaged, with a value of Bessel's function for each width: of images
and of pairs so many times fewer are taken. Orbits are then points of fewer dimensions, which fewer images fill."""

_WIDTHS = 20  # values of κ, from the size of the space to a thousandth of it: orientations are measured to 0.1 degrees
_STEPS = 400  # steps of the search for shares: the likelihood of 500 points is then settled to 1e-4
_FEWEST = 0.5  # the uniform density has at least the weight of so many rows, so that no point has density zero
_DROPPED = 1e-3  # a width with a smaller share of the density is dropped: it costs as much time as any other
_TIE = 1.01  # a single pair gains its standard error, and rounding must not decide
_CACHED = 1e6  # pairs that are squared at a time: with 4e6 of them, which leave the cache, it took 2.7 times as long


def fitted_mixture(
    space: Space, group: Group, points: Array, weights: Array
) -> tuple[KernelMixture, LeftOut] | tuple[None, None]:
    """The mixture of greatest leave-one-out likelihood, and what it says of the rows that it was chosen by.

    None without kernels, or with too many elements to list.

    Flows of the group are averaged where `orbit_space` knows how; elsewhere there are no kernels.

    Parameters
    ----------
    space : Space
    group : Group
    points : ndarray of shape (n, n_features)
        One of each orbit: a point is left out with all of its orbit.
    weights : ndarray of shape (n,)
    """
    family = orbit_space(space, group).family
    elements = orbit_space(space, group).elements(space) if len(points) > 1 else None
    if family is None or elements is None:
        return None, None
    order = len(elements)
    dearer = DEARER if family.is_averaged else 1
    rng = np.random.default_rng(OWN_SEED)
    shuffled, most = rng.permutation(len(points)), max(MOST_IMAGES // dearer // order, 2)
    kept, others = np.sort(shuffled[:most]), shuffled[most:]
    centres, n, total = points[kept], min(len(points), most), float(weights.sum())
    images = np.concatenate([space.act(g, centres) for g in elements])  # element after element
    targets = family.embedded(images)
    owner = np.empty(len(points), dtype=np.intp)  # the centre that a point counts for
    owner[kept] = np.arange(n)
    if len(others):
        owner[others] = KDTree(targets).query(family.embedded(points[others]))[1] % n
    counts: Array = np.asarray(np.bincount(owner, weights, n), dtype=np.float64)
    kappas: Array = np.exp2(np.arange(_WIDTHS, dtype=np.float64)) / family.square
    # A centre that counts for others too lies where nothing of them is left out: points beside it tell.
    left = np.sort((others if len(others) else shuffled)[: max(int(MOST_PAIRS / dearer / len(images)), 100)])
    table = np.ones((len(left), 1 + _WIDTHS))
    scales = np.exp(-family.log_mass(kappas)) / order
    each: Array = np.tile(counts, order)
    chunks = list(_chunks(len(left), len(images)))
    for rows in reported(chunks, "kernels left out", "chunks", len(chunks)):
        some = left[rows]
        own = owner[some][:, None] + n * np.arange(order)  # the images of the centre that a point counts for
        beside = (counts[owner[some]] - weights[some])[:, None]  # without the point itself
        sums = _sums(family, kappas, family.embedded(points[some]), targets, each, own, beside)
        table[rows, 1:] = scales * sums / (total - weights[some])[:, None]
    mine = weights[left] / weights[left].sum()
    shares = _shares(table, mine, total)
    used = np.flatnonzero(shares[1:] > 0)
    kappas, table, shares = kappas[used], table[:, np.concatenate([[0], used + 1])], shares[shares > 0]
    mixture = KernelMixture(images, each / (order * total), kappas, shares, 0.0)
    if len(used):
        near = Centres(family, mixture, counts, weights[kept], total)
        explained = near.explained(family.embedded(points[others]), owner[others], weights[others], rng)
        posterior = shares[1:] * explained
        posterior /= shares[0] + posterior.sum(axis=1, keepdims=True)
        sure = squared(posterior.sum(axis=1, keepdims=True))
        parts = counts[:, None] * np.concatenate([posterior, sure * posterior], axis=1)
        columns = np.empty((len(left), parts.shape[1]))
        for rows in reported(chunks, "kernels weighted", "chunks", len(chunks)):
            some = left[rows]
            columns[rows] = near.left_out(family.embedded(points[some]), owner[some], weights[some], explained)
        columns = np.concatenate([table, columns], axis=1)
        both = _shares(columns, mine, total)
        gains = mine * np.log((columns @ both) / (table @ shares))
        if gains.sum() >= max(1 / total, standard_error_of_pairs(gains)):
            mixture, table, shares = _joined(mixture, both, parts), columns, both
    # Shares were fitted to these rows: a number for each, less the sum, over the number of observations.
    optimism = float(np.sum(shares > 0) - 1) * float(mine @ mine)
    told = LeftOut(left, mine, np.log(table @ shares) - optimism, len(points))
    return replace(mixture, loo_log_likelihood=told.mean), told


def _joined(mixture: KernelMixture, shares: Array, parts: Array) -> KernelMixture:
    """Kernels with equal weights and with those of rows that a width explains, as one mixture.

    Parameters
    ----------
    mixture : KernelMixture
        With equal weights.
    shares : ndarray of shape (1 + K + mK,)
        Of the uniform density, of equal weights, and of m other kinds of weights.
    parts : ndarray of shape (n, mK)
        These weights of the centres.
    """
    K, order = len(mixture.concentrations), len(mixture.images) // len(parts)
    by_width = shares[1:].reshape(-1, K)  # (1 + m, K)
    explained = (parts / np.maximum(parts.sum(axis=0), NONE) / order).T.reshape(-1, K, len(parts))
    weights = np.tile(np.einsum("mk,mkn->kn", by_width[1:], explained), order)
    weights += by_width[0][:, None] * mixture.weights
    each = by_width.sum(axis=0)
    kept = each > 0
    return KernelMixture(
        mixture.images,
        weights[kept] / each[kept, None],
        mixture.concentrations[kept],
        np.concatenate([shares[:1], each[kept]]),
        0.0,
    )


def _sums(
    family: VonMises, kappas: Array, places: Array, targets: Array, weights: Array, own: Places, beside: Array
) -> Array:
    """Sums of kernels over images for every κ, each twice the one before, with other weights of some images.

    Kernels are squared from one κ to the next. What has become negligible is left out, so that sharp kernels, which
    reach few images, cost little.

    Parameters
    ----------
    family : VonMises
    kappas : ndarray of shape (K,)
    places, targets : ndarray of shape (n, m) and (N, m)
        Embedded points, and images.
    weights : ndarray of shape (N,)
    own : ndarray of shape (n, order)
        Images of each point whose weight is `beside`.
    beside : ndarray of shape (n, 1)

    Returns
    -------
    ndarray of shape (n, K)
    """
    row = np.arange(len(places))
    pairs = np.minimum(places @ targets.T - family.square, 0.0)
    arms = np.outer(places[:, -1], targets[:, -1]) if family.is_averaged else None
    near, near_arms = pairs[row[:, None], own], None if arms is None else arms[row[:, None], own]
    kernel = np.exp(kappas[0] * pairs)
    kernel[row[:, None], own] = 0.0
    found = np.empty((len(places), len(kappas)))
    row_of: Places | None = None  # of pairs that are left
    for k, kappa in enumerate(kappas.tolist()):
        terms = kernel if arms is None else kernel * family.share(kappa * arms)
        found[:, k] = terms @ weights if row_of is None else np.bincount(row_of, terms * weights, len(places))
        mine = np.exp(kappa * near)
        if near_arms is not None:
            mine *= family.share(kappa * near_arms)
        found[:, k] += np.sum(mine * beside, axis=1)
        if k >= DENSE:
            left = np.flatnonzero(kernel > VANISHING)
            kernel, arms = kernel.ravel()[left], None if arms is None else arms.ravel()[left]
            if row_of is None:
                row_of, column = np.divmod(left, len(targets))
                weights = weights[column]
            else:
                row_of, weights = row_of[left], weights[left]
        np.multiply(kernel, kernel, out=kernel)
    return found


def _shares(table: Array, weights: Array, total: float) -> Array:
    """The shares that maximise Σ w log(table · s), by expectation and maximisation."""  # (n, K), (n,) -> (K,)
    least = _FEWEST / (total + _FEWEST)

    def maximum(chosen: NDArray[np.bool_]) -> Array:
        part = table[:, chosen]
        s = np.full(part.shape[1], 1.0 / part.shape[1])
        for _ in range(_STEPS):
            s = s * ((weights / (part @ s)) @ part)
            s = s / s.sum()
            if s[0] < least:
                s *= (1 - least) / (s.sum() - s[0])
                s[0] = least
        found = np.zeros(len(chosen))
        found[chosen] = s
        return found

    first = maximum(np.ones(table.shape[1], dtype=bool))
    chosen = first > _DROPPED
    chosen[0] = True
    found = maximum(chosen)
    for k in np.argsort(first):  # a width that the likelihood hardly needs costs time, and more than it gains
        if k > 0 and chosen[k]:
            without = maximum(chosen & (np.arange(len(chosen)) != k))
            gains = weights * np.log((table @ found) / (table @ without))
            if gains.sum() < max(1 / total, standard_error_of_pairs(gains)):
                found, chosen[k] = without, False
    return found


def standard_error_of_pairs(gains: Array) -> float:
    """Of a sum over rows that predict each other in pairs, so that two rows are one observation.

    A single pair has as much as it gains, and more than that where other rows lose: what is carried by two points that
    lie close by chance is no evidence. Of 720 sets of 20 to 100 uniform points on the sphere 27 were given kernels
    without this bound, with ∫f² up to 8, and 10 with it, with several close pairs. A bound of 1.5 times as much leaves
    1 of 720, but takes kernels from 20 points that are sharp in part: the log density of others like them falls by up
    to 14 on average, and by up to 1.3 with a bound of 1.25 times as much.
    """
    return _TIE * float(np.sqrt(2 * (gains @ gains)))


def _chunks(n: int, images: int) -> Iterator[slice]:
    step = max(1, int(min(_CACHED, settings().memory_limit / 64) / max(images, 1)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
