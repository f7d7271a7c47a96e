"""A group: its generators, its name, and what is known about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._random import as_generator
from specavg.groups._canonical import Level, least_image
from specavg.groups._coordinates import levels, on_columns
from specavg.groups._product_replacement import random_product
from specavg.groups._structure import Structure
from specavg.groups.families import DirectProduct, PointGroup, Wreath
from specavg.groups.recognition._large_permutation_groups import large_permutation_group
from specavg.groups.recognition._search import structure_of
from specavg.isometries import (
    Copies,
    Factors,
    Isometry,
    LeftRight,
    SignedPermutation,
    copies,
    factors,
    identity,
    orthogonal,
)

__all__ = ["Group"]


@final
class Group:
    """A finite group of isometries, given by generators.

    Nothing here lists the group unless asked to: the order is exact and comes from the structure or from
    a stabiliser chain, and random elements are drawn without enumeration. Groups are immutable, compare and
    hash by their generators and structure (not by their name), and copy to themselves.

    Parameters
    ----------
    generators : iterable of Isometry or (d, d) array_like
        The generating set S. A square matrix stands for `isometries.orthogonal(matrix)`.
    name : str, optional
        What the group is called in messages and pictures.
    structure : Structure, optional
        What is known about the group, beyond its generators. It must be true: it is believed.
    size : int, optional
        How many coordinates (or copies, or factors) the group acts on; needed only without generators.

    Examples
    --------
    >>> from specavg import groups, isometries
    >>> G = groups.Group([isometries.permutation([1, 0, 2]), isometries.permutation([1, 2, 0])])
    >>> G.order
    6
    >>> G == groups.Group(G.generators, name="S3")
    True
    """

    def __init__(
        self,
        generators: Iterable[Isometry | ArrayLike],
        name: str | None = None,
        *,
        structure: Structure | None = None,
        size: int | None = None,
    ) -> None:
        if isinstance(generators, Isometry):
            raise TypeError(f"Group needs a list of generators; got the single isometry {generators!r}: write [g]")
        self._generators = _one_kind(tuple(_isometry(g, i) for i, g in enumerate(generators)))
        self._name = name
        self._claimed = structure
        self._size = _common_size(self._generators, size)

    @property
    def generators(self) -> tuple[Isometry, ...]:
        """The generating set S."""
        return self._generators

    @property
    def name(self) -> str | None:
        """What the group is called, if it has a name. Nothing depends on it."""
        return self._name

    @property
    def size(self) -> int:
        """How many coordinates (or copies, or factors) the group acts on."""
        return self._size

    @cached_property
    def structure(self) -> Structure | None:
        """What the group is said to be, or what its generators show at a glance; None where neither is the case.

        Generators show at a glance that they are those of S_d, A_d or B_d, on 12 coordinates or more.
        """
        signed = [g for g in self._generators if isinstance(g, SignedPermutation)]
        if self._claimed is not None or not signed or len(signed) < len(self._generators):
            return self._claimed
        return large_permutation_group(signed)

    def recognise(self) -> Structure:
        """What the group is: its `structure`, or what a search finds from its generators (done once).

        Raises
        ------
        ValueError
            Where the generators do not show how large the group is; the message says why.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.Group(groups.sign_flips(3).generators).recognise()
        SignFlips(size=3)
        """
        if self.structure is not None:
            return self.structure
        found = self._recognition
        if isinstance(found, ValueError):
            raise found.with_traceback(None)
        return found

    @cached_property
    def _recognition(self) -> Structure | ValueError:
        """What was found, or why nothing was: a failed search takes long, and is not repeated for each element."""
        try:
            return structure_of(self._generators, self.identity)
        except ValueError as refusal:
            return refusal

    @cached_property
    def order(self) -> int:
        """How many elements the group has, exactly; never found by listing them.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.hyperoctahedral(10).order
        3715891200
        """
        return self.recognise().order

    @property
    def columns(self) -> int:
        """How many columns a point has, factors and copies side by side."""
        structure = self._claimed
        if isinstance(structure, DirectProduct):
            return sum(group.columns for group in structure.groups)
        if isinstance(structure, Wreath):
            return structure.copies * structure.group.columns
        return columns(self._generators[0]) if self._generators else self._size

    @property
    def identity(self) -> Isometry:
        """The element that moves nothing, of the same kind as the others."""
        structure = self._claimed
        if isinstance(structure, DirectProduct):
            return factors([group.identity for group in structure.groups])
        if isinstance(structure, Wreath):
            return copies(range(structure.copies), [structure.group.identity] * structure.copies)
        return neutral(self._generators[0]) if self._generators else identity(self._size)

    def random(self, random_state: int | np.random.Generator | np.random.RandomState | None = None) -> Isometry:
        """One element drawn uniformly, without listing the group.

        Where the generators show no stabiliser chain (an infinite group, or one with no short orbit) the element
        comes from product replacement, which is only approximately uniform.

        Parameters
        ----------
        random_state : int, Generator, RandomState or None
            Where the randomness comes from.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.symmetric(5).random(0) == groups.symmetric(5).random(0)
        True
        """
        rng = as_generator(random_state)
        try:
            known = self.recognise()
        except ValueError:  # no stabiliser chain within reach
            return random_product(self._generators, self.identity, rng)
        return known.random(rng)

    def elements(self, limit: int = 1_000_000) -> Iterator[Isometry]:
        """Every element once, the identity first.

        Parameters
        ----------
        limit : int
            Refuse groups of more elements than this.

        Examples
        --------
        >>> from specavg import groups
        >>> list(groups.cyclic(3).elements())
        [permutation([0]), shift(['1/3']), shift(['2/3'])]
        """
        if self.order > limit:
            raise ValueError(
                f"{self!r} has {_large(self.order)} elements, more than the limit of {limit}. Use "
                "group.random for a sample, or pass a larger limit= to list them all."
            )
        return self.recognise().elements()

    @cached_property
    def has_canonical(self) -> bool:
        """Whether `canonical` exists: the action on floating-point numbers is exact (signed permutations)."""
        if self._claimed is not None and self._claimed.has_canonical:
            return True
        return self._on_columns is not None

    def canonical(self, X: ArrayLike) -> NDArray[np.float64]:
        """A point of the orbit of each point: the same, to the last bit, for every point of that orbit.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points, factors and copies side by side in the columns.

        Returns
        -------
        ndarray of shape (n, d)
            The canonical points.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.hyperoctahedral(3).canonical([[0.5, -2.0, 1.0], [2.0, 1.0, -0.5]])
        array([[0.5, 1. , 2. ],
               [0.5, 1. , 2. ]])
        """
        points = np.asarray(X, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.columns:
            raise ValueError(
                f"canonical needs points of shape (n, {self.columns}) for {self!r}; got shape {points.shape}"
            )
        if not np.isfinite(points).all():
            raise ValueError("canonical needs finite points; X has NaN or infinity")
        if not self.has_canonical:
            raise ValueError(
                f"{self!r} has no canonical points: shifts and rotations round on floating-point numbers, so "
                "only groups of permutations and sign changes have them. See group.has_canonical."
            )
        if self._closed_canonical is not None:
            return self._closed_canonical.canonical(points)
        return least_image(points, self._levels)

    @cached_property
    def _closed_canonical(self) -> Structure | None:
        if self._claimed is not None and self._claimed.has_canonical:
            return self._claimed
        plain = self._claimed is None and all(isinstance(g, SignedPermutation) for g in self._generators)
        return self.recognise() if plain and self.recognise().has_canonical else None

    @cached_property
    def _on_columns(self) -> tuple[SignedPermutation, ...] | None:
        signed = [on_columns(g) for g in self._generators]
        exact = tuple(g for g in signed if g is not None)
        return exact if len(exact) == len(signed) else None

    @cached_property
    def _levels(self) -> list[Level]:
        return levels(self._on_columns or ())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self._generators, self.structure, self._size)

    def __copy__(self) -> Group:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Group:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._generators, self._name, self._claimed, self._size)

    def __repr__(self) -> str:
        if isinstance(self._claimed, PointGroup):
            return f"point_group({self._name!r})"
        if self._name is not None:
            return self._name if self._claimed is not None else f"Group({self._name!r})"
        count = len(self._generators)
        return f"Group(<{count} generator{'s' * (count != 1)} of size {self._size}>)"


def _restored(generators: tuple[Isometry, ...], name: str | None, structure: Structure | None, size: int) -> Group:
    """A group read back from a pickle; what was computed from the generators is computed again."""
    return Group(generators, name, structure=structure, size=size)


def neutral(g: Isometry) -> Isometry:
    """The identity, of the same kind as `g`."""
    if isinstance(g, Factors):
        return factors([neutral(part) for part in g.parts])
    if isinstance(g, Copies):
        return copies(range(g.size), [neutral(part) for part in g.parts])
    if isinstance(g, LeftRight):
        return LeftRight(identity(g.left.size), identity(g.right.size))
    return identity(g.size)


def columns(g: Isometry) -> int:
    """How many columns a point that `g` acts on has."""
    if isinstance(g, Factors | Copies):
        return sum(columns(part) for part in g.parts)
    if isinstance(g, LeftRight):
        return g.left.size * g.right.size
    return g.size


def _isometry(g: Isometry | ArrayLike, i: int) -> Isometry:
    if isinstance(g, Isometry):
        return g
    try:
        matrix = np.asarray(g, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"generator {i} is neither an isometry nor a matrix; got {type(g).__name__}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"generator {i} is neither an isometry nor a square matrix; got shape {matrix.shape}. For a "
            "permutation write isometries.permutation(image)."
        )
    return orthogonal(matrix)


def _one_kind(generators: tuple[Isometry, ...]) -> tuple[Isometry, ...]:
    """Permutations of copies written as `copies`, where some generators are (both mean the same)."""
    like = next((g for g in generators if isinstance(g, Copies)), None)
    if like is None:
        return generators
    part = neutral(like.parts[0])
    return tuple(
        copies(g.image, [part] * g.size) if isinstance(g, SignedPermutation) and g.is_permutation else g
        for g in generators
    )


def _common_size(generators: tuple[Isometry, ...], size: int | None) -> int:
    if not generators:
        if size is None:
            raise ValueError("a group without generators needs size=, the number of coordinates it acts on")
        return size
    common = generators[0].size if size is None else size
    for i, g in enumerate(generators):
        if g.size != common:
            against = "generator 0" if size is None else "size="
            raise ValueError(
                f"generator {i}, {g!r}, acts on {g.size} parts but {against} says {common}: "
                "all generators must act on the same space"
            )
    return common


def _large(n: int) -> str:
    # Not len(str(n)): Python refuses to write out integers of more than 4300 digits.
    return str(n) if n < 10**15 else f"about 10^{math.floor(math.log10(n))}"
