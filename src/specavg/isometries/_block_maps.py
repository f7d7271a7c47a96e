"""Maps made of parts: on the copies of a power, and on the factors of a product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import block_diagonal
from specavg.isometries._affine import Affine, affine_map, as_affine
from specavg.isometries._given_isometries import isometries_from
from specavg.isometries._isometry import Isometry, entries
from specavg.isometries._linear import Orthogonal, SignedPermutation, identity, linear, orthogonal, permutation


class _OfParts(Isometry):
    """Shared by maps that are made of one map for each part."""

    parts: tuple[Isometry, ...]

    @property
    def size(self) -> int:
        return len(self.parts)

    @property
    def is_exact(self) -> bool:
        return all(g.is_exact for g in self.parts)

    @property
    def is_identity(self) -> bool:
        return all(g.is_identity for g in self.parts)


@final
@dataclass(frozen=True, repr=False)
class Copies(_OfParts):
    """(gx)[i] = g_i(x[image[i]]) on the copies of a power space: permute the copies, then act on each.

    Examples
    --------
    >>> from specavg import isometries
    >>> g = isometries.copies([1, 0], [isometries.identity(3), isometries.permutation([1, 2, 0])])
    >>> g.image, g.size
    ((1, 0), 2)
    """

    image: tuple[int, ...]
    parts: tuple[Isometry, ...]

    @property
    def is_identity(self) -> bool:
        return self.image == tuple(range(self.size)) and super().is_identity

    def inverse(self) -> Copies:
        source = tuple(np.argsort(self.image).tolist())
        return Copies(source, tuple(self.parts[i].inverse() for i in source))

    def _after(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation) and other.is_permutation:
            other = self._exchange(other)
        if not isinstance(other, Copies):
            return None
        return Copies(
            tuple(other.image[j] for j in self.image),
            tuple(g @ other.parts[j] for j, g in zip(self.image, self.parts, strict=True)),
        )

    def _before(self, other: Isometry) -> Isometry | None:
        if isinstance(other, SignedPermutation) and other.is_permutation:
            return self._exchange(other) @ self
        return None

    def _exchange(self, g: SignedPermutation) -> Copies:
        """The permutation of whole copies, which changes nothing within a copy."""
        return Copies(g.image, (identity(self.parts[0].size),) * g.size)

    def __repr__(self) -> str:
        if self.size > 6:
            return f"copies(<{self.size}>)"
        return f"copies({list(self.image)}, {list(self.parts)})"


@final
@dataclass(frozen=True, repr=False)
class Factors(_OfParts):
    """Each part acts on its own factor of a product space (or block of coordinates).

    Examples
    --------
    >>> from specavg import isometries
    >>> g = isometries.factors([isometries.permutation([1, 0]), isometries.identity(3)])
    >>> (g @ g).is_identity
    True
    """

    parts: tuple[Isometry, ...]

    def inverse(self) -> Factors:
        return Factors(tuple(g.inverse() for g in self.parts))

    def _after(self, other: Isometry) -> Isometry | None:
        if not isinstance(other, Factors):
            return None
        return Factors(tuple(g @ h for g, h in zip(self.parts, other.parts, strict=True)))

    def __repr__(self) -> str:
        return f"factors({list(self.parts)})"


def copies(image: Sequence[int], isometries: Iterable[Isometry | ArrayLike]) -> Copies:
    """(gx)[i] = g_i(x[image[i]]) on `Power`: permute the copies, then act on each.

    Matrices and SciPy rotations are taken for isometries, as `Group` takes them.

    Examples
    --------
    >>> from specavg.isometries import identity, signed_permutation
    >>> mirror = signed_permutation([0, 1, 2], [1, 1, -1])
    >>> g = copies([1, 0], [mirror, identity(3)])
    >>> g @ g == copies([0, 1], [mirror, mirror])
    True
    """
    given = entries(isometries, "copies takes an isometry for each copy", "[g, h]")
    exact, parts = permutation(image).image, isometries_from(given, "copy", "isometries.fields.copies([...])")
    if len(exact) != len(parts):
        raise ValueError(f"{len(exact)} copies but {len(parts)} isometries: give one per copy")
    return Copies(exact, parts)


def factors(isometries: Iterable[Isometry | ArrayLike]) -> Factors:
    """Each isometry acts on its own factor of `Product` (on a torus or sphere: its own block of coordinates).

    Matrices and SciPy rotations are taken for isometries, as `Group` takes them.

    Examples
    --------
    >>> from specavg.isometries import permutation, signed_permutation
    >>> flatten(factors([permutation([1, 0]), signed_permutation([0], [-1])]))
    signed_permutation([1, 0, 2], [1, 1, -1])
    """
    given = entries(isometries, "factors takes an isometry for each factor", "factors([g, h])")
    return Factors(isometries_from(given, "factor", "isometries.fields.factors([...])"))


def flatten(g: Isometry) -> Isometry:
    """`g` with blocks of linear or affine `factors` joined in one map of all coordinates.

    Examples
    --------
    >>> from specavg.isometries import identity, shift
    >>> flatten(factors([shift(["1/2"]), identity(1)]))
    shift(['1/2', 0])
    """
    if not isinstance(g, Factors):
        return g
    parts = [flatten(part) for part in g.parts]
    if all(isinstance(part, SignedPermutation) for part in parts):
        offsets = np.cumsum([0, *(part.size for part in parts)])
        image = [int(o) + i for o, part in zip(offsets, parts, strict=False) for i in linear(part).image]  # pyright: ignore[reportAttributeAccessIssue]
        return SignedPermutation(tuple(image), tuple(s for part in parts for s in part.signs))  # pyright: ignore[reportAttributeAccessIssue]
    if all(isinstance(part, SignedPermutation | Orthogonal) for part in parts):
        return orthogonal(block_diagonal([linear(part).matrix for part in parts]))
    if all(isinstance(part, SignedPermutation | Affine) for part in parts):
        blocks = [as_affine(part) for part in parts]
        shifts = [t for block in blocks for t in block.shift]
        return affine_map(block_diagonal([block.matrix for block in blocks]), shifts)
    return g
