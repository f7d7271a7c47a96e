"""Powers of a space: sets of points, each a copy of one space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from math import inf
from typing import Any, final

import numpy as np

from specavg._arrays import Array, block_diagonal
from specavg._messages import shown, whole_number
from specavg._random import as_generator
from specavg.functions._bessel_series import Series
from specavg.functions._copy_tensors import CopyTensor, CopyTensors
from specavg.functions._functions import Functions
from specavg.functions._types_of_functions import Type
from specavg.isometries import Copies, Isometry, SignedPermutation, flatten
from specavg.isometries.fields import CopiesField, Field, still
from specavg.isometries.fields import flatten as flatten_field
from specavg.spaces._copy_types import CopyTypes, OneType, copy_types, functions_of_type, sums_of_copies
from specavg.spaces._eigenspace import Eigenspace, columns_of
from specavg.spaces._infinitesimal import kronecker_sum
from specavg.spaces._order_of_functions import BY_EIGENVALUE, Order
from specavg.spaces._product import tensor_quadrature
from specavg.spaces._space import Space
from specavg.spaces._sums_of_eigenvalues import Values, joined


@final
class Power(Space):
    """m copies of one space, side by side in the columns.

    Parameters
    ----------
    base : Space
        The space of one copy.
    m : int
        How many copies. A permutation of length m permutes the copies.

    Examples
    --------
    >>> from specavg.spaces import Sphere
    >>> from itertools import islice
    >>> cloud = Power(Sphere(3), 100)
    >>> [(V.eigenvalue, V.dim) for V in islice(cloud.eigenspaces(), 3)]
    [(0.0, 1), (2.0, 300), (4.0, 44550)]
    """

    def __init__(self, base: Space, m: int) -> None:
        if not isinstance(base, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"Power needs a space; got {shown(base)}")
        if int(m) != m or m < 1:
            raise ValueError(f"Power needs a number of copies m ≥ 1; got {m!r}")
        self._base, self._m = self._key = (base, int(m))

    @property
    def base(self) -> Space:
        """The space of one copy."""
        return self._base

    @property
    def copies(self) -> int:
        """The number m of copies."""
        return self._m

    @property
    def dim(self) -> int:
        return self._m * self._base.dim

    @property
    def volume(self) -> float:
        try:
            return self._base.volume**self._m
        except OverflowError:
            return inf

    @property
    def log_volume(self) -> float:
        return self._m * self._base.log_volume

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._m, *self._base.shape)

    @property
    def column_periods(self) -> Array:
        return np.tile(self._base.column_periods, self._m)

    def __repr__(self) -> str:
        return f"Power({self._base!r}, {self._m})"

    def _copies_of(self, X: Array) -> Array:
        return X.reshape(len(X), self._m, self._base.n_features)

    def _shape_advice(self, shape: tuple[int, ...]) -> str:
        if len(shape) > 1 and shape[1:] == self._base.shape:
            return f": {shape[0]} copies for {self._m}"
        return self._base._shape_advice(shape[1:])

    def _remedy(self, points: Array) -> str:
        m, width = self._m, self._base.n_features
        regrouped = points.reshape(len(points), width, m).swapaxes(1, 2).reshape(len(points), m * width)
        errors = self._membership_error(regrouped)
        if errors is not None and (errors <= self.membership_tolerance).all():
            return (
                "The columns are ordered by coordinate (x1, x2, ..., y1, y2, ...), and are wanted copy by copy "
                f"(x1, y1, ..., x2, y2, ...): X.reshape(-1, {width}, {m}).swapaxes(1, 2) orders them."
            )
        remedy = self._base._remedy(self._copies_of(points).reshape(-1, width))
        return f"The copies are the rows of X.reshape(-1, {width}), each a point of {self._base!r}. {remedy}"

    @property
    def parts(self) -> int:
        return self._m

    def eigenspaces(self) -> Iterator[Eigenspace]:
        return self.ordered(BY_EIGENVALUE)

    def ordered(self, order: Order) -> Iterator[Eigenspace]:
        one_copy = Values(order.copies(self._base))
        table = None

        def up_to(bound: float) -> list[tuple[float, int, int]]:
            nonlocal table
            table, sums = sums_of_copies(one_copy.up_to(bound)[1:], self._m, bound)  # without the constant
            return sums

        for value, dim, keys in joined(up_to, 2 * one_copy.first, order):
            assert table is not None
            types = CopyTypes(table, keys)
            if not order.separates_types:
                yield Eigenspace(value, dim, types)
                continue
            for one in types:
                yield Eigenspace(value, functions_of_type(one, self._m), OneType(one))

    @property
    def one_part(self) -> Space:
        return self._base

    @property
    def unlike_parts(self) -> int:
        return self._base.unlike_parts

    @property
    def has_own_units(self) -> bool:
        return self._base.has_own_units

    def type_of(self, eigenspace: Eigenspace) -> Type | None:
        chosen = copy_types(eigenspace)
        found = [tuple(V.eigenvalue for V, count in one for _ in range(count)) for one in chosen]
        return found[0] if len(found) == 1 else None

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series | None:
        if not order.separates_types:
            return None
        types = [next(iter(copy_types(V))) for V in eigenspaces]
        place = {V: i for i, V in enumerate(dict.fromkeys(V for chosen in types for V, _ in chosen))}
        one_copy = self._base.von_mises_series(list(place), order.within_a_copy(self._base))
        if one_copy is None:
            return None
        owner = np.repeat(np.arange(len(types)), [len(chosen) for chosen in types])
        used = np.array([place[V] for chosen in types for V, _ in chosen], dtype=np.intp)
        copies = np.array([count for chosen in types for _, count in chosen], dtype=np.float64)
        return lambda kappa: np.bincount(owner, copies * one_copy(kappa)[used], len(types)).astype(np.float64)

    def steepness(self, eigenspace: Eigenspace) -> float:
        return max(sum(count * self._base.steepness(V) for V, count in chosen) for chosen in copy_types(eigenspace))

    def assignments(self, eigenspace: Eigenspace) -> list[tuple[int, ...]]:
        """Which one-copy eigenspace each copy uses, for every product in the eigenspace (0: the constant).

        Entries index `[constant, *the one-copy eigenspaces in order]` as listed by `palette`.
        """
        palette = self.palette(eigenspace)
        place = {V: i + 1 for i, V in enumerate(palette)}
        found: list[tuple[int, ...]] = []
        for chosen in copy_types(eigenspace):
            entries = [place[V] for V, count in chosen for _ in range(count)]
            found.extend(sorted(_arrangements(entries, self._m)))
        return found

    def palette(self, eigenspace: Eigenspace) -> list[Eigenspace]:
        """The non-constant one-copy eigenspaces that occur in `eigenspace`."""
        seen = {V for chosen in copy_types(eigenspace) for V, _ in chosen}
        return sorted(seen, key=lambda V: V.eigenvalue)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        palettes = [self.palette(V) for V in eigenspaces]
        columns = columns_of(V for palette in palettes for V in palette)
        products = [
            CopyTensor(tuple((i, columns[palette[a - 1]]) for i, a in enumerate(assignment) if a))
            for E, palette in zip(eigenspaces, palettes, strict=True)
            for assignment in self.assignments(E)
        ]
        return CopyTensors(self._base.functions(list(columns)), self._m, products)

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        return self.functions([eigenspace]).values(X)

    @property
    def identity(self) -> Isometry:
        return Copies(tuple(range(self._m)), (self._base.identity,) * self._m)

    def check_isometry(self, g: Isometry) -> Isometry:
        g = flatten(g)  # permutations of several blocks of copies are one permutation
        if isinstance(g, SignedPermutation) and g.is_permutation and g.size == self._m:
            return Copies(g.image, (self._base.identity,) * self._m)
        if not isinstance(g, Copies):
            signs = isinstance(g, SignedPermutation) and g.size == self._m and self._base.n_features == 1
            every = f" All signs and permutations together are groups.wreath(groups.sign_flips(1), {self._m})."
            try:
                self._base.check_isometry(g)
            except ValueError:
                together = ""
            else:
                together = f" It acts on one copy; groups.diagonal(group, {self._m}) moves all of them together."
            raise ValueError(
                f"{g!r} does not act on {self!r}: give a permutation of its {self._m} copies, or "
                f"isometries.copies(image, [g_1, ..., g_m]) to move each copy too.{together}{every if signs else ''}"
            )
        if g.size != self._m:
            raise ValueError(f"{g!r} moves {g.size} copies; {self!r} has {self._m}")
        checked = {part: self._base.check_isometry(part) for part in set(g.parts)}
        return Copies(g.image, tuple(checked[part] for part in g.parts))

    def columns_follow(self, g: Isometry) -> bool:
        assert isinstance(g, Copies)
        return all(map(self._base.columns_follow, set(g.parts)))

    def _act(self, g: Isometry, X: Array) -> Array:
        assert isinstance(g, Copies)
        moved = self._copies_of(X)[:, list(g.image)].copy()
        for i, part in enumerate(g.parts):
            if not part.is_identity:
                moved[:, i] = self._base._act(part, moved[:, i])  # pyright: ignore[reportPrivateUsage]
        return moved.reshape(X.shape)

    def tangents(self, X: Array) -> Array:
        f, d = self._base.n_features, self._base.dim
        tangents = np.zeros((len(X), self._m, f, self._m, d))
        for i, copy in enumerate(self._copies_of(X).transpose(1, 0, 2)):
            tangents[:, i, :, i] = self._base.tangents(copy)
        return tangents.reshape(len(X), self.n_features, self.dim)

    def squared_lengths(self, X: Array, gradients: Array) -> Array:
        parts = np.split(gradients, self._m, axis=2)
        copies = self._copies_of(X).transpose(1, 0, 2)
        return np.sum([self._base.squared_lengths(x, G) for x, G in zip(copies, parts, strict=True)], axis=0)

    def _differential(self, g: Isometry) -> Array:
        assert isinstance(g, Copies)
        f = self._base.n_features
        blocks = np.zeros((self._m, f, self._m, f))
        for i, (j, part) in enumerate(zip(g.image, g.parts, strict=True)):
            blocks[i, :, j] = self._base.differential(part)
        return blocks.reshape(self.n_features, self.n_features)

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        # Φ_a∘g puts, in copy image[i], the function that copy i used, composed with g_i.
        assert isinstance(g, Copies)
        palette = self.palette(eigenspace)
        dims = [1, *(V.dim for V in palette)]
        assignments = self.assignments(eigenspace)
        sizes = [int(np.prod([dims[a] for a in assignment])) for assignment in assignments]
        starts = dict(zip(assignments, np.cumsum([0, *sizes[:-1]]), strict=True))
        D = np.zeros((eigenspace.dim, eigenspace.dim))
        for assignment, column, size in zip(assignments, starts.values(), sizes, strict=True):
            moved = [0] * self._m
            for i, a in enumerate(assignment):
                moved[g.image[i]] = a
            used = [i for i, a in enumerate(assignment) if a]
            tensor = reduce(
                np.kron,
                [self._base.representation(g.parts[i], palette[assignment[i] - 1]) for i in used],
                np.ones((1, 1)),
            )
            # Rows are in the order of `used`; the target wants its own copies in increasing order.
            order = np.argsort([g.image[i] for i in used])
            shape = [dims[assignment[i]] for i in used]
            tensor = tensor.reshape(*shape, size).transpose(*order, len(used)).reshape(size, size)
            row = starts[tuple(moved)]
            D[row : row + size, column : column + size] = tensor
        return D

    def check_field(self, field: Field) -> Field:
        # Beside a group of permutations of the copies, fields of other factors come with a zero matrix of their size.
        field = flatten_field(field).like(still(self.identity))
        if not isinstance(field, CopiesField) or field.size != self._m:
            raise ValueError(
                f"{field!r} is not a field of {self!r}: write isometries.fields.copies([f1, ..., fm]), one for each of "
                f"its {self._m} copies, None where a copy does not move."
            )
        checked = {part: self._base.check_field(part) for part in set(field.parts)}
        return CopiesField(tuple(checked[part] for part in field.parts))

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        assert isinstance(field, CopiesField)
        palette = self.palette(eigenspace)
        moves = {
            (f, a): self._base.infinitesimal(f, V) for f in set(field.parts) for a, V in enumerate(palette, start=1)
        }
        blocks = [
            kronecker_sum([moves[field.parts[i], a] for i, a in enumerate(assignment) if a])
            for assignment in self.assignments(eigenspace)
        ]
        return block_diagonal(blocks)

    def _membership_error(self, X: Array) -> Array | None:
        errors = self._base._membership_error(X.reshape(-1, self._base.n_features))  # pyright: ignore[reportPrivateUsage]
        return None if errors is None else errors.reshape(len(X), self._m).max(axis=1)

    def _membership_unit(self, point: Array) -> float:
        copies = point.reshape(self._m, -1)
        errors = self._base._membership_error(copies)  # pyright: ignore[reportPrivateUsage]
        worst = 0 if errors is None else int(errors.argmax())
        return self._base._membership_unit(copies[worst : worst + 1])  # pyright: ignore[reportPrivateUsage]

    def sample(self, n: int, random_state: Any = None) -> Array:
        n = whole_number(n, "n", 0)
        return self._base.sample(n * self._m, as_generator(random_state)).reshape(n, self.n_features)

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        return tensor_quadrature([self._base.quadrature(max_eigenvalue)] * self._m)

    def ordered_quadrature(self, order: Order, top: float) -> tuple[Array, Array]:
        return tensor_quadrature([order.copy_quadrature(self._base, top)] * self._m)


def _arrangements(entries: list[int], m: int) -> set[tuple[int, ...]]:
    """All ways to put the entries on m copies, the others 0."""
    if not entries:
        return {(0,) * m}
    found: set[tuple[int, ...]] = set()
    for rest in _arrangements(entries[1:], m):
        for i, entry in enumerate(rest):
            if entry == 0:
                found.add((*rest[:i], entries[0], *rest[i + 1 :]))
    return found
