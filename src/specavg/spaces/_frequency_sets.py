"""The frequencies of an eigenspace of a flat torus: a set of them is the label of the eigenspace.

Four kinds of sets occur: a shell |k|² = n of a cube, types of frequencies, a range of eigenvalues of any torus (or one
type of it), and a set that is known in other units of length. Each lists all of its frequencies, or those in a lattice
of frequencies. Lists are cached by the value of the torus, and bounds are rounded up to powers of two, so that few
lists serve all eigenspaces.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._frequency_types import FrequencyType, types_of_norm, waves_of_types
from specavg.functions._integer_vectors import ellipsoid
from specavg.spaces._eigenspace import SAME_EIGENVALUE, Eigenspace, Weighted
from specavg.spaces._order_of_functions import ByType

if TYPE_CHECKING:
    from specavg.spaces._torus import Torus

Frequencies = NDArray[np.int64]
# Part by which a range of eigenvalues is widened when its frequencies are picked out again: far above rounding and far
# below `SAME_EIGENVALUE`. The second is for eigenvalues in the basis of a lattice, whose entries may be large.
_ROUNDING, _ROUNDING_IN_LATTICE = 1e-12, 1e-10
_SAME = 1e-7  # relative difference of sizes of types that are one: far above rounding, far below true differences


class FrequencySet(abc.ABC):
    """A set of frequencies, with k also −k, that every isometry of the torus maps to itself."""

    __slots__ = ()

    @abc.abstractmethod
    def frequencies(self, space: Torus) -> Frequencies:
        """One of each pair ±k, first non-zero entry positive."""  # (h, d)

    @abc.abstractmethod
    def frequencies_in(self, space: Torus, basis: Frequencies) -> Frequencies:
        """Those of `frequencies` that lie in a lattice, given by a basis as rows. Only these are listed."""

    def bounds(self, space: Torus) -> tuple[float, float] | None:
        """The least and the largest eigenvalue, where the set has all frequencies between them; None elsewhere."""
        return None

    @classmethod
    def together(
        cls, space: Torus, sets: Sequence[Any], basis: Frequencies | None
    ) -> tuple[Frequencies, NDArray[np.intp]]:
        """The frequencies of several such sets, those in a lattice if one is given, and how many each set has."""
        listed = [listed_frequencies(space, one) if basis is None else one.frequencies_in(space, basis) for one in sets]
        return np.concatenate(listed), np.array([len(K) for K in listed], dtype=np.intp)


@final
@dataclass(frozen=True, slots=True)
class Shell(FrequencySet):
    """All k with |k|² = `norm`: an eigenspace of a cube."""

    norm: int

    def frequencies(self, space: Torus) -> Frequencies:
        return waves_of_types(space.dim, types_of_norm(space.dim, self.norm))

    def frequencies_in(self, space: Torus, basis: Frequencies) -> Frequencies:
        step = _common_step(basis)
        if step is None:
            return FrequencyRange(*self.bounds(space)).frequencies_in(space, basis)
        inner, rest = divmod(self.norm, step**2)
        return basis[:0] if rest else step * Shell(inner).frequencies(space)

    def bounds(self, space: Torus) -> tuple[float, float]:
        value = float((2 * np.pi / space.side) ** 2 * self.norm)
        return value, value


def shell_weights(weighted: Weighted) -> dict[int, float] | None:
    """The weight of each |k|²; None unless all of them are shells of a cube."""
    found = {V.label.norm: w for V, w in weighted if isinstance(V.label, Shell)}
    return found if len(found) == len(weighted) else None


@final
@dataclass(frozen=True, slots=True)
class FrequencyTypes(FrequencySet):
    """All k of some types: a set of equal value in an order that adds over coordinates, or one type."""

    listed: tuple[FrequencyType, ...]

    def frequencies(self, space: Torus) -> Frequencies:
        return waves_of_types(space.dim, self.listed)

    def frequencies_in(self, space: Torus, basis: Frequencies) -> Frequencies:
        step = _common_step(basis)
        if step is not None:
            inner = [tuple(k // step for k in t) for t in self.listed if all(k % step == 0 for k in t)]
            return step * waves_of_types(space.dim, inner)
        K = self.frequencies(space)
        return K[_is_in_lattice(K, basis)]


@final
@dataclass(frozen=True, slots=True)
class FrequencyRange(FrequencySet):
    """All k with an eigenvalue of the Laplacian from `low` to `high`, which differ by rounding only.

    Of one type only, those with `FirstWaves.sizes_of_types` from `least` to `most`, which differ by rounding too.
    """

    low: float
    high: float
    least: float = -inf
    most: float = inf

    @property
    def is_one_type(self) -> bool:
        """Whether other types of the same eigenvalue are left out."""
        return self.most < inf

    def bounds(self, space: Torus) -> tuple[float, float] | None:
        return None if self.is_one_type else (self.low, self.high)

    def frequencies(self, space: Torus) -> Frequencies:
        return self.together(space, [self], None)[0]

    def frequencies_in(self, space: Torus, basis: Frequencies) -> Frequencies:
        return self.together(space, [self], basis)[0]

    @classmethod
    def together(
        cls, space: Torus, sets: Sequence[Any], basis: Frequencies | None
    ) -> tuple[Frequencies, NDArray[np.intp]]:
        low, high, least, most = np.array([(one.low, one.high, one.least, one.most) for one in sets]).T
        K, values = _ball(space, basis, float(high.max()))
        rounding = _ROUNDING if basis is None else _ROUNDING_IN_LATTICE
        starts = np.searchsorted(values, low * (1 - rounding), "left")
        counts = np.searchsorted(values, high * (1 + rounding), "right") - starts
        number = np.repeat(np.arange(len(sets)), counts)  # the set of each frequency
        place = np.arange(len(number)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        chosen = _is_first_of_pair(K[place])
        if space.first_waves is not None and np.isfinite(most).any():
            once = slice(starts.min(), (starts + counts).max())  # types of one eigenvalue have the same frequencies
            short = space.cell.short_frequencies(K[once])
            sizes = space.first_waves.sizes_of_types(short, space.cell.dual_metric)[place - once.start]
            slack = _SAME / 4 * sizes
            chosen &= (sizes >= least[number] - slack) & (sizes <= most[number] + slack)
        K = K[place]
        K, number = K[chosen], number[chosen]
        return K[np.lexsort((*K.T[::-1], number))], np.bincount(number, minlength=len(sets))


@final
@dataclass(frozen=True, slots=True)
class InOtherUnits(FrequencySet):
    """The set `inner` of the torus whose directions are measured in the units of `order`."""

    order: ByType
    inner: FrequencySet

    def frequencies(self, space: Torus) -> Frequencies:
        return self.inner.frequencies(space.in_units_of(self.order))

    def frequencies_in(self, space: Torus, basis: Frequencies) -> Frequencies:
        return self.inner.frequencies_in(space.in_units_of(self.order), basis)

    @classmethod
    def together(
        cls, space: Torus, sets: Sequence[Any], basis: Frequencies | None
    ) -> tuple[Frequencies, NDArray[np.intp]]:
        (order,) = {one.order for one in sets}
        return frequencies_together(space.in_units_of(order), [one.inner for one in sets], basis)


@lru_cache(maxsize=64)
def _complete_below(space: Torus, bound: float, by_type: bool) -> tuple[Array, NDArray[np.intp], Array]:
    """Eigenvalues, dimensions and ranges of the eigenspaces certainly complete below `bound`, by increasing eigenvalue.

    Nearly equal eigenvalues are joined; there is one eigenspace for each type if `by_type`.
    """  # (m,), (m,), (m, 2) or (m, 4)
    W, waves = space.cell.dual_metric, space.first_waves
    K = ellipsoid(W, bound)
    values = np.einsum("ki,ij,kj->k", K, W, K)
    order = np.argsort(values, kind="stable")
    apart = np.diff(values[order]) > SAME_EIGENVALUE * values[order][1:]
    level = np.empty(len(K), dtype=np.intp)  # the number of the eigenvalue of each frequency
    level[order] = np.concatenate([[0], np.cumsum(apart)])
    sizes = waves.sizes_of_types(K, W) if by_type and waves is not None else np.zeros(len(K))
    order = np.lexsort((sizes, level))
    level, sizes, values = level[order], sizes[order], values[order]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(level) > 0) | (np.diff(sizes) > _SAME * sizes[1:])]))
    dims = np.diff(np.append(starts, len(K)))
    mean = (np.bincount(level, values) / np.bincount(level))[level[starts]]
    ranges = [np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)]
    if by_type:
        ranges += [sizes[starts], sizes[starts + dims - 1]]
    inside = int(np.sum(mean < bound * (1 - 10 * SAME_EIGENVALUE)))  # of increasing means
    return mean[:inside], dims[:inside], np.stack(ranges, axis=1)[:inside]


@lru_cache(maxsize=64)
def listed_frequencies(space: Torus, chosen: FrequencySet) -> Frequencies:
    """The frequencies of a set; the last 64 lists are kept."""  # (h, d)
    return chosen.frequencies(space)


def frequencies_together(
    space: Torus, sets: Sequence[FrequencySet], basis: Frequencies | None = None
) -> tuple[Frequencies, NDArray[np.intp]]:
    """The frequencies of several sets, one set after the other, and how many each has; those in a lattice if given."""
    parts = [kind.together(space, list(run), basis) for kind, run in groupby(sets, key=type)]
    K, counts = ([part[i] for part in parts] for i in range(2))
    return np.concatenate(K), np.concatenate(counts)


def frequency_ranges(space: Torus, *, by_type: bool = False) -> Iterator[Eigenspace]:
    """All eigenspaces by increasing eigenvalue, one for each type if `by_type`."""
    reached, bound = -1.0, space.first_bound
    while True:  # lists up to larger and larger bounds, and from each what is new
        values, dims, ranges = _complete_below(space, bound, by_type)
        new = slice(int(np.searchsorted(values, reached, "right")), None)
        for value, dim, ends in zip(values[new].tolist(), dims[new].tolist(), ranges[new].tolist(), strict=True):
            yield Eigenspace(value, dim, FrequencyRange(*ends))
            reached = value * (1 + SAME_EIGENVALUE)
        bound *= 2.0


def _common_step(basis: Frequencies) -> int | None:
    """The s of a lattice that has every s-th frequency of each coordinate; None for other lattices."""
    step = int(basis[0, 0])
    return step if np.array_equal(basis, step * np.eye(len(basis), dtype=np.int64)) else None


def _is_in_lattice(K: Frequencies, basis: Frequencies) -> NDArray[np.bool_]:
    """Which of some frequencies lie in a lattice."""
    inside = K @ np.linalg.inv(basis)
    return np.all(np.abs(inside - np.rint(inside)) < 1e-6, axis=1)


def _ball(space: Torus, basis: Frequencies | None, bound: float) -> tuple[Frequencies, Array]:
    """All frequencies, or those of a lattice, with eigenvalue up to `bound` and more, and their sorted eigenvalues."""
    if basis is None:
        short = space.cell.short_basis
        basis = np.eye(space.dim, dtype=np.int64) if short is None else np.ascontiguousarray(short.inverse.T)
    # Up to the next power of two, so that few listings serve all eigenspaces.
    rounded = float(2.0 ** np.ceil(np.log2(bound))) if bound > 0 else 0.0
    return _cached_ball(space, basis.shape, basis.tobytes(), rounded)


@lru_cache(maxsize=8)
def _cached_ball(space: Torus, shape: tuple[int, ...], basis: bytes, bound: float) -> tuple[Frequencies, Array]:
    """The frequencies of a lattice with eigenvalue up to a little more than `bound`, and their sorted eigenvalues."""
    B = np.frombuffer(basis, dtype=np.int64).reshape(shape)
    S = space.cell.short_frequencies(B)  # in the short basis the metric is not a difference of large terms
    W = S @ space.cell.dual_metric @ S.T
    K = ellipsoid(W, bound * (1 + 1e-9))
    values = np.einsum("ki,ij,kj->k", K, W, K)
    order = np.argsort(values, kind="stable")
    return K[order] @ B, values[order]


def _is_first_of_pair(K: Frequencies) -> NDArray[np.bool_]:
    """Whether the first non-zero entry is positive, or there is none."""  # (h, d) -> (h,)
    first = np.take_along_axis(K, (K != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    return (first > 0) | ~K.any(axis=1)
