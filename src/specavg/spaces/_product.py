"""Products of spaces: columns side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product as cartesian
from itertools import takewhile
from math import fsum, prod
from typing import Any, final

import numpy as np

from specavg._arrays import Array, block_diagonal
from specavg._config import require_memory
from specavg._messages import shown
from specavg._random import as_generator
from specavg.functions._bessel_series import Series
from specavg.functions._functions import Functions
from specavg.functions._tensor_products import TensorProducts
from specavg.functions._types_of_functions import Type
from specavg.isometries import Factors, Isometry
from specavg.isometries.fields import FactorsField, Field, still
from specavg.spaces._eigenspace import SAME_EIGENVALUE, Eigenspace, columns_of
from specavg.spaces._infinitesimal import kronecker_sum
from specavg.spaces._order_of_functions import BY_EIGENVALUE, ByType, Order, first_eigenvalue
from specavg.spaces._space import Space
from specavg.spaces._sums_of_eigenvalues import Values, joined


@final
class Product(Space):
    """A × B × …: the points of each factor side by side in the columns.

    Parameters
    ----------
    *factors : Space

    Notes
    -----
    Eigenfunctions are products of the factors' eigenfunctions, eigenvalues are sums.

    Examples
    --------
    >>> from specavg.spaces import Sphere, Torus
    >>> from itertools import islice
    >>> cylinder = Product(Torus(1, period=2 * np.pi), Sphere(3))
    >>> [(round(V.eigenvalue, 6), V.dim) for V in islice(cylinder.eigenspaces(), 4)]
    [(0.0, 1), (1.0, 2), (2.0, 3), (3.0, 6)]
    """

    def __init__(self, *factors: Space) -> None:
        if not factors or not all(isinstance(factor, Space) for factor in factors):  # pyright: ignore[reportUnnecessaryIsInstance]
            listed = len(factors) == 1 and isinstance(factors[0], list | tuple)
            how = "; its factors are arguments, no list: Product(A, B), or Product(*factors)" if listed else ""
            raise ValueError(f"Product needs one or more spaces; got {shown(factors[0] if listed else factors)}{how}")
        self._factors = self._key = factors
        self._ends = np.cumsum([0, *(factor.n_features for factor in factors)])

    @property
    def factors(self) -> tuple[Space, ...]:
        """The factors, in the order of their columns."""
        return self._factors

    @property
    def dim(self) -> int:
        return sum(factor.dim for factor in self._factors)

    @property
    def volume(self) -> float:
        return prod(factor.volume for factor in self._factors)

    @property
    def log_volume(self) -> float:
        return fsum(factor.log_volume for factor in self._factors)

    @property
    def shape(self) -> tuple[int, ...]:
        return (int(self._ends[-1]),)

    @property
    def column_periods(self) -> Array:
        return np.concatenate([factor.column_periods for factor in self._factors])

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self._factors))})"

    def blocks(self, X: Array) -> list[Array]:
        """The columns of each factor."""
        return [X[:, a:b] for a, b in zip(self._ends[:-1], self._ends[1:], strict=True)]

    @property
    def parts(self) -> int:
        return len(self._factors)

    @property
    def unlike_parts(self) -> int:
        first = [first_eigenvalue(factor) for factor in self._factors]
        return len(first) if max(first) > min(first) * (1 + SAME_EIGENVALUE) else 1

    @property
    def has_own_units(self) -> bool:  # a factor is one part: sides of a box in it keep its unit
        return self.unlike_parts > 1 and not any(factor.has_own_units for factor in self._factors)

    def eigenspaces(self) -> Iterator[Eigenspace]:
        return self.ordered(BY_EIGENVALUE)

    def ordered(self, order: Order) -> Iterator[Eigenspace]:
        factors = [Values(order.of_factor(factor, i)) for i, factor in enumerate(self._factors)]
        first = 2 * max(values.first for values in factors)
        for value, dim, parts in joined(lambda bound: parts_up_to(bound, factors), first, order):
            if not order.separates_types:
                yield Eigenspace(value, dim, parts)
                continue
            for one in parts:
                yield Eigenspace(value, prod(V.dim for V in one), (one,))

    def type_of(self, eigenspace: Eigenspace) -> Type | None:
        ways = list(factor_eigenspaces(eigenspace))
        if len(ways) > 1:
            return None
        found: list[float] = []
        for M, V in zip(self._factors, ways[0], strict=True):
            inner = M.type_of(V) if M.parts > 1 else None  # of its coordinates or copies
            unit = sum(inner) / V.eigenvalue if inner else 1.0  # that of a balanced order
            found += (
                [value / unit for value in inner] if inner is not None else [V.eigenvalue] if V.eigenvalue > 0 else []
            )
        return tuple(found)

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series | None:
        if not order.separates_types:
            return None
        columns = zip(*(next(iter(factor_eigenspaces(V))) for V in eigenspaces), strict=True)
        series: list[tuple[Series, float]] = []
        for i, (factor, used) in enumerate(zip(self._factors, columns, strict=True)):
            one = factor.von_mises_series(used, ByType())
            if one is None:
                return None
            series.append((one, order.unit_of_factor(factor, i)))
        return lambda kappa: np.sum([one(kappa * unit) for one, unit in series], axis=0)

    def steepness(self, eigenspace: Eigenspace) -> float:
        ways = factor_eigenspaces(eigenspace)
        return max(sum(A.steepness(V) for A, V in zip(self._factors, way, strict=True)) for way in ways)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        ways = [way for V in eigenspaces for way in factor_eigenspaces(V)]
        columns = [columns_of(way[i] for way in ways) for i in range(len(self._factors))]
        index = [row for way in ways for row in cartesian(*(at[V] for at, V in zip(columns, way, strict=True)))]
        families = [factor.functions(list(used)) for factor, used in zip(self._factors, columns, strict=True)]
        widths = [factor.n_features for factor in self._factors]
        return TensorProducts(widths, families, np.array(index, dtype=np.intp).reshape(-1, len(widths)))

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        return self.functions([eigenspace]).values(X)

    @property
    def identity(self) -> Isometry:
        return Factors(tuple(factor.identity for factor in self._factors))

    def check_isometry(self, g: Isometry) -> Isometry:
        if g.is_identity and g.size == self.n_features:  # the element of the trivial group, which is the default
            return self.identity
        if not isinstance(g, Factors):
            raise ValueError(
                f"{g!r} does not act on {self!r} factor by factor: write isometries.factors([g1, g2, ...]), and for a "
                f"group {self._for_a_group(g)}. To exchange equal factors, use Power."
            )
        if g.size != len(self._factors):
            raise ValueError(
                f"{g!r} has {g.size} parts; {self!r} has {len(self._factors)} factors: give each a part, "
                "groups.trivial(n) for a factor of n columns that does not move"
            )
        return Factors(tuple(M.check_isometry(part) for M, part in zip(self._factors, g.parts, strict=True)))

    def _for_a_group(self, g: Isometry) -> str:
        """How a group that holds `g` is written, for a message: trivial where one factor alone takes it."""
        taken = [_takes(M, g) for M in self._factors]
        parts = [f"G{i + 1}" for i in range(len(taken))]
        if sum(taken) == 1:
            still = [f"groups.trivial({M.identity.size})" for M in self._factors]
            parts = ["G" if takes else part for takes, part in zip(taken, still, strict=True)]
        return f"groups.direct_product({', '.join(parts)})"

    def columns_follow(self, g: Isometry) -> bool:
        assert isinstance(g, Factors)
        return all(M.columns_follow(part) for M, part in zip(self._factors, g.parts, strict=True))

    def _act(self, g: Isometry, X: Array) -> Array:
        assert isinstance(g, Factors)
        moved = [
            factor._act(part, block)  # pyright: ignore[reportPrivateUsage]
            for factor, part, block in zip(self._factors, g.parts, self.blocks(X), strict=True)
        ]
        return np.concatenate(moved, axis=1)

    def tangents(self, X: Array) -> Array:
        tangents, row, column = np.zeros((len(X), self.n_features, self.dim)), 0, 0
        for factor, block in zip(self._factors, self.blocks(X), strict=True):
            tangents[:, row : row + factor.n_features, column : column + factor.dim] = factor.tangents(block)
            row, column = row + factor.n_features, column + factor.dim
        return tangents

    def squared_lengths(self, X: Array, gradients: Array) -> Array:
        ends = np.cumsum([factor.n_features for factor in self._factors])[:-1]
        parts = zip(self._factors, self.blocks(X), np.split(gradients, ends, axis=2), strict=True)
        return np.sum([factor.squared_lengths(block, G) for factor, block, G in parts], axis=0)

    def _differential(self, g: Isometry) -> Array:
        assert isinstance(g, Factors)
        parts = zip(self._factors, g.parts, strict=True)
        return block_diagonal([M.differential(part) for M, part in parts])

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        assert isinstance(g, Factors)
        blocks = [
            reduce(np.kron, [M.representation(h, V) for M, h, V in zip(self._factors, g.parts, part, strict=True)])
            for part in factor_eigenspaces(eigenspace)
        ]
        return block_diagonal(blocks)

    def check_field(self, field: Field) -> Field:
        if not isinstance(field, FactorsField) or field.size != len(self._factors):
            raise ValueError(
                f"{field!r} is not a field of {self!r}: write isometries.fields.factors([f1, f2, ...]), one for each "
                f"of its {len(self._factors)} factors, None where a factor does not move."
            )
        pairs = zip(self._factors, field.parts, strict=True)
        return FactorsField(tuple(still(M.identity) if f is None else M.check_field(f) for M, f in pairs))

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        assert isinstance(field, FactorsField)
        fields = [f for f in field.parts if f is not None]
        blocks = [
            kronecker_sum([M.infinitesimal(f, V) for M, f, V in zip(self._factors, fields, part, strict=True)])
            for part in factor_eigenspaces(eigenspace)
        ]
        return block_diagonal(blocks)

    def _membership_error(self, X: Array) -> Array | None:
        errors = [
            factor._membership_error(block)  # pyright: ignore[reportPrivateUsage]
            for factor, block in zip(self._factors, self.blocks(X), strict=True)
        ]
        known = [error for error in errors if error is not None]
        return np.max(known, axis=0) if known else None

    def _membership_unit(self, point: Array) -> float:
        worst, unit = 0.0, 1.0
        for factor, block in zip(self._factors, self.blocks(point), strict=True):
            errors = factor._membership_error(block)  # pyright: ignore[reportPrivateUsage]
            if errors is not None and errors[0] > worst:
                worst, unit = float(errors[0]), factor._membership_unit(block)  # pyright: ignore[reportPrivateUsage]
        return unit

    def _remedy(self, points: Array) -> str:
        """What to do about the factor whose points are furthest off."""
        worst, remedy, start = 0.0, "", 0
        for i, (factor, block) in enumerate(zip(self._factors, self.blocks(points), strict=True)):
            errors = factor._membership_error(block)  # pyright: ignore[reportPrivateUsage]
            if errors is not None and errors.max() > worst:
                end = start + factor.n_features
                columns = f"column {start}" if end - start == 1 else f"columns {start} to {end - 1}"
                worst = float(errors.max())
                remedy = f"It is factor {i}, {factor!r}, in {columns}. {factor._remedy(block)}"  # pyright: ignore[reportPrivateUsage]
            start += factor.n_features
        return remedy

    def sample(self, n: int, random_state: Any = None) -> Array:
        rng = as_generator(random_state)
        return np.concatenate(
            [factor.sample(n, rng).reshape(-1, factor.n_features) for factor in self._factors], axis=1
        )

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        return tensor_quadrature([factor.quadrature(max_eigenvalue) for factor in self._factors])

    def ordered_quadrature(self, order: Order, top: float) -> tuple[Array, Array]:
        return tensor_quadrature([order.factor_quadrature(factor, i, top) for i, factor in enumerate(self._factors)])


def factor_eigenspaces(eigenspace: Eigenspace) -> tuple[tuple[Eigenspace, ...], ...]:
    return eigenspace.label  # pyright: ignore[reportReturnType]


_MOST_ENTRIES = 50_000_000  # of a list of products, k for a product of k factors: it takes 10 s and 400 MB


def parts_up_to(bound: float, factors: Sequence[Values]) -> list[tuple[float, int, tuple[Eigenspace, ...]]]:
    """(value, dim, parts) of all products of one eigenspace of each factor, of value up to `bound`."""
    # Constants are left out while products are listed: of 300 factors few are not constant.
    listed = [values.up_to(bound) for values in factors]
    least = min(values.first for values in factors)
    found: list[tuple[float, int, tuple[tuple[int, int], ...]]] = [(0.0, 1, ())]  # chosen: (−factor, which)
    with_room = found.copy()
    for i, mine in enumerate(listed):
        new = [
            (total + V.eigenvalue, dim * V.dim, (*chosen, (-i, j)))
            for total, dim, chosen in with_room
            for j, V in takewhile(lambda pair, total=total: total + pair[1].eigenvalue <= bound, enumerate(mine))
            if j
        ]
        found += new
        with_room += [product for product in new if product[0] + least <= bound]
        if len(found) * len(factors) > _MOST_ENTRIES:
            raise ValueError(
                f"a product of {len(factors)} factors has more than {len(found)} products of their functions up to "
                f"{bound:.6g}, too many to list. Lower the cutoff, or use Power for equal factors."
            )
    found.sort(key=lambda product: product[2])  # by the first factors, constants first
    constants = [mine[0] for mine in listed]
    return [(total, dim, _with_constants(constants, chosen, listed)) for total, dim, chosen in found]


def _with_constants(
    constants: list[Eigenspace], chosen: tuple[tuple[int, int], ...], listed: list[list[Eigenspace]]
) -> tuple[Eigenspace, ...]:
    parts = constants.copy()
    for i, j in chosen:
        parts[-i] = listed[-i][j]
    return tuple(parts)


def tensor_quadrature(rules: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The product of quadrature rules."""
    total = float(prod(len(w) for _, w in rules))
    columns = sum(X.shape[1] for X, _ in rules)
    require_memory(8.0 * 3 * total * columns, f"a product rule of {total:.3g} points", "Lower max_eigenvalue.")
    index = np.array(list(cartesian(*(range(len(w)) for _, w in rules))), dtype=np.intp)
    X = np.concatenate([rule[0][index[:, i]] for i, rule in enumerate(rules)], axis=1)
    w = np.prod([rule[1][index[:, i]] for i, rule in enumerate(rules)], axis=0)
    return X, w


def _takes(space: Space, g: Isometry) -> bool:
    try:
        space.check_isometry(g)
    except ValueError:
        return False
    return True
