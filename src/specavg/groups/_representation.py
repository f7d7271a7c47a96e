"""Representations: how a group moves the outputs of a function, F(gx) = ρ(g) F(x)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._immutable import Immutable
from specavg._messages import shown, whole_number
from specavg._random import as_generator
from specavg.groups._group import Group
from specavg.groups._index_symmetry import index_symmetry
from specavg.groups._product_replacement import random_product
from specavg.groups._relations import COORDINATES, TOLERANCE, check_brackets, check_relations, pairs
from specavg.groups._tangent_vectors import images_of_potentials
from specavg.isometries import Factors, Isometry, Orthogonal, SignedPermutation, flatten, identity, orthogonal
from specavg.isometries._isometry import refuse_complex
from specavg.isometries.fields import FactorsField, Field, RotationField, rotation
from specavg.isometries.fields import flatten as flatten_field

Linear = SignedPermutation | Orthogonal


@final
class Representation(Immutable):
    """A homomorphism ρ from a group to orthogonal matrices, given by the images of the generators.

    It is checked on the relations between the generators: completely where the group can be listed or the order of
    the pairs (g, ρ(g)) can be found, and on some words otherwise. Representations are immutable and compare by value.

    Parameters
    ----------
    group : Group
        The group.
    images : iterable of (p, p) array_like or isometry
        ρ of each generator: an orthogonal matrix, or a permutation or signed permutation of the outputs, which
        stays exact.
    field_images : iterable of (p, p) array_like, default ()
        dρ of each field of a continuous group: the antisymmetric matrix of the velocity of the outputs.
    dim : int, optional
        The number p of outputs; needed only where the group has neither generators nor fields.
    tangent : bool, default False
        Whether the outputs at a point x of the unit sphere of R³ are a vector that is orthogonal to x.

    Raises
    ------
    ValueError
        If the map is not a homomorphism; the message has the relation that fails and its residual.

    Examples
    --------
    >>> from specavg import groups, isometries
    >>> G = groups.cyclic(3)
    >>> rho = groups.Representation(G, [isometries.permutation([1, 2, 0])])  # three outputs, handed round
    >>> rho.dim, rho.is_exact
    (3, True)
    >>> groups.Representation(G, [isometries.permutation([1, 0])])
    Traceback (most recent call last):
    ...
    ValueError: the images are no representation of cyclic(3): the relation g0^3 = 1 fails by 1 ...
    """

    def __init__(
        self,
        group: Group,
        images: Iterable[Isometry | ArrayLike],
        field_images: Iterable[Field | ArrayLike] = (),
        *,
        dim: int | None = None,
        tangent: bool = False,
    ) -> None:
        moved, velocities = list(images), list(field_images)
        if len(moved) != len(group.generators) or len(velocities) != len(group.fields):
            raise ValueError(
                f"{group!r} has {len(group.generators)} generators and {len(group.fields)} fields; got {len(moved)} "
                f"images and {len(velocities)} field_images. Give one of each, in the order of group.generators and "
                "group.fields"
            )
        self._set(group, [_linear(g, i) for i, g in enumerate(moved)], [_velocity(v) for v in velocities], dim, tangent)
        check_relations(group, self._images)
        check_brackets(group, self._images, self._field_images)

    def _set(
        self,
        group: Group,
        images: Sequence[Linear],
        field_images: Sequence[RotationField],
        dim: int | None,
        tangent: bool,
    ) -> None:
        self._group, self._images, self._field_images = group, tuple(images), tuple(field_images)
        sizes = {image.size for image in (*images, *field_images)} | ({dim} if dim is not None else set())
        if len(sizes) > 1:
            raise ValueError(f"the images have different sizes: {sorted(sizes)}")
        if not sizes:
            raise ValueError("a group without generators and fields needs dim=, the number of outputs")
        self._dim = sizes.pop()
        self._tangent = tangent
        if tangent and self._dim != 3:
            raise ValueError(f"tangent vectors have three components in R³; got images of size {self._dim}")
        self._potentials = images_of_potentials(group, images, field_images) if tangent else None

    @classmethod
    def _built(
        cls,
        group: Group,
        images: Sequence[Linear],
        field_images: Sequence[RotationField],
        dim: int,
        tangent: bool = False,
    ) -> Representation:
        """A representation by construction, which needs no check."""
        made = object.__new__(cls)
        made._set(group, images, field_images, dim, tangent)
        return made

    @property
    def group(self) -> Group:
        """The group."""
        return self._group

    @property
    def images(self) -> tuple[Linear, ...]:
        """ρ of each generator."""
        return self._images

    @property
    def field_images(self) -> tuple[RotationField, ...]:
        """dρ of each field, as the velocity of the outputs under its flow: the antisymmetric ``matrix``."""
        return self._field_images

    @property
    def dim(self) -> int:
        """The number p of outputs."""
        return self._dim

    @property
    def tangent(self) -> bool:
        """Whether the outputs at a point x are a vector that is orthogonal to x."""
        return self._tangent

    @property
    def of_coefficients(self) -> Representation:
        """How the group moves what is combined from eigenfunctions: the outputs, or the potentials of a tangent field.

        A tangent field is ∇f + x × ∇g; here are the two outputs f and g.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.representation(groups.point_group("Oh"), "tangent vector").of_coefficients.dim
        2
        """
        if self._potentials is None:
            return self
        still = [RotationField(np.zeros((2, 2))) for _ in self._field_images]
        return Representation._built(self._group, self._potentials, still, 2)

    @property
    def is_exact(self) -> bool:
        """Whether every image is a signed permutation of the outputs, in integers."""
        return not self._field_images and all(isinstance(image, SignedPermutation) for image in self._images)

    @property
    def is_trivial(self) -> bool:
        """Whether nothing moves: equivariant functions are then invariant ones."""
        return all(image.is_identity for image in self._images) and all(A.is_zero for A in self._field_images)

    def elements(self, limit: int = 1_000_000) -> Iterator[tuple[Isometry, Linear]]:
        """Every element g once, with ρ(g); refuses groups of more than `limit` elements.

        Examples
        --------
        >>> from specavg import groups
        >>> rho = groups.representation(groups.point_group("C2v"), "vector")
        >>> sum(int(image.matrix.trace()) for _, image in rho.elements())  # 4 × the vectors that C2v leaves alone
        4
        """
        self._group.elements(limit)  # refuses large and infinite groups
        return pairs(self._group, self._images, self._dim)

    def random(
        self, random_state: int | np.random.Generator | np.random.RandomState | None = None
    ) -> tuple[Isometry, Linear]:
        """One element g with ρ(g), uniform; approximately where the group is very large or exact.

        Examples
        --------
        >>> from specavg import groups
        >>> g, image = groups.representation(groups.symmetric(5), "pseudoscalar").random(0)
        >>> g.is_permutation, image.size
        (True, 1)
        """
        rng = as_generator(random_state)
        exact = all(g.is_exact for g in self._pairs.generators)
        if exact or self._group.columns + self._dim > COORDINATES:
            found = random_product(self._pairs.generators, self._pairs.identity, rng)
        else:  # from a stabiliser chain: a product of many matrices has lost four digits
            found = self._pairs.random(rng)
        assert isinstance(found, Factors)
        return found.parts[0], _linear(found.parts[1], 0)

    @cached_property
    def _pairs(self) -> Group:
        """The pairs (g, ρ(g)) of the generators g."""
        both = [Factors(pair) for pair in zip(self._group.generators, self._images, strict=True)]
        return Group(both or [Factors((self._group.identity, identity(self._dim)))])

    def restricted(self, outputs: Sequence[int] | NDArray[np.intp]) -> Representation:
        """ρ on some of the outputs, which no element mixes with the others.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.representation(groups.point_group("C4v"), "vector").restricted([2]).is_trivial
        True
        """
        self._require_all_vectors()
        at = [whole_number(i, "an output", 0) for i in outputs]
        if max(at, default=0) >= self._dim or len(set(at)) < len(at):
            raise ValueError(f"outputs are 0 to {self._dim - 1}, each at most once; got {at}")
        place = {i: k for k, i in enumerate(at)}
        images: list[Linear] = []
        for number, g in enumerate(self._images):
            name = f"generator {number}"
            if isinstance(g, SignedPermutation):
                _require_alone(at, [g.image[i] for i in at if g.image[i] not in place], name)
                images.append(SignedPermutation(tuple(place[g.image[i]] for i in at), tuple(g.signs[i] for i in at)))
            else:
                images.append(_linear(_block(g.matrix, at, name), number))
        fields = [_velocity(_block(f.matrix, at, f"field {number}")) for number, f in enumerate(self._field_images)]
        return Representation._built(self._group, images, fields, len(at))

    def in_frame(self, frame: Array) -> Representation:
        """ρ on outputs that are taken along orthonormal vectors, whose span no element leaves.

        Parameters
        ----------
        frame : ndarray of shape (p, d)
            Orthonormal columns.

        Examples
        --------
        >>> import numpy as np
        >>> from specavg import groups
        >>> exchange = groups.representation(groups.symmetric(2), "vector")
        >>> exchange.in_frame(np.array([[1.0], [1.0]]) / np.sqrt(2)).is_trivial
        True
        """
        self._require_all_vectors()
        F = np.asarray(frame, dtype=float)
        if F.ndim != 2 or len(F) != self._dim or not np.abs(F.T @ F - np.eye(F.shape[1])).max(initial=0.0) < TOLERANCE:
            raise ValueError(f"frame needs orthonormal columns of {self._dim} numbers; got {shown(frame)}")
        images = [_within(g.matrix, F, f"generator {i}") for i, g in enumerate(self._images)]
        velocities = [_within(f.matrix, F, f"field {i}") for i, f in enumerate(self._field_images)]
        fields = [RotationField((A - A.T) / 2) for A in velocities]
        return Representation._built(self._group, [_linear(A, i) for i, A in enumerate(images)], fields, F.shape[1])

    def on_tensors(self, equations: str) -> Representation:
        """How the group moves tensors with given index symmetries over the outputs, by their components.

        Examples
        --------
        >>> from specavg import groups
        >>> groups.representation(groups.point_group("Oh"), "vector").on_tensors("ij=ji").dim
        6
        """
        self._require_all_vectors()
        index = index_symmetry(equations, self._dim)
        fields = [RotationField(index.velocity(f.matrix)) for f in self._field_images]
        return Representation._built(self._group, [index.moved(g) for g in self._images], fields, index.dim)

    def __add__(self, other: Representation) -> Representation:
        """The direct sum: the outputs of `self`, then those of `other`."""
        if not isinstance(other, Representation):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        self._require_same_group(other)
        images = [_linear(flatten(Factors(pair)), 0) for pair in zip(self._images, other._images, strict=True)]
        velocities = zip(self._field_images, other._field_images, strict=True)
        fields = [_velocity(flatten_field(FactorsField(pair))) for pair in velocities]
        return Representation._built(self._group, images, fields, self._dim + other._dim)

    def __mul__(self, other: Representation) -> Representation:
        """The tensor product: output (i, j) at place i · other.dim + j."""
        if not isinstance(other, Representation):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        self._require_same_group(other)
        images = [_product(a, b) for a, b in zip(self._images, other._images, strict=True)]
        one, two = np.eye(self._dim), np.eye(other._dim)
        fields = [
            RotationField(np.kron(A.matrix, two) + np.kron(one, B.matrix))
            for A, B in zip(self._field_images, other._field_images, strict=True)
        ]
        return Representation._built(self._group, images, fields, self._dim * other._dim)

    def _require_all_vectors(self) -> None:
        if self._tangent:
            raise ValueError(
                "tangent vectors are no fixed space of outputs: they cannot be restricted, added or multiplied. Use "
                "the output 'vector', or fit each kind of target by itself"
            )

    def _require_same_group(self, other: Representation) -> None:
        self._require_all_vectors()
        other._require_all_vectors()
        if self._group != other._group:
            raise ValueError(f"only representations of one group combine; got {self._group!r} and {other._group!r}")

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self._group, self._images, self._field_images, self._dim, self._tangent)

    def __repr__(self) -> str:
        kind = "components of tangent vectors" if self._tangent else "outputs"
        return f"Representation({self._group!r}, <{self._dim} {kind}>)"


def _product(a: Linear, b: Linear) -> Linear:
    if isinstance(a, SignedPermutation) and isinstance(b, SignedPermutation):
        image = (a.image_array[:, None] * b.size + b.image_array).ravel()
        signs = np.multiply.outer(a.signs_array, b.signs_array).ravel().astype(int)
        return SignedPermutation(tuple(image.tolist()), tuple(signs.tolist()))
    return orthogonal(np.kron(a.matrix, b.matrix))


def _block(matrix: Array, at: list[int], name: str) -> Array:
    """The square of a matrix on the outputs `at`, which makes them from no others."""
    rest = np.abs(matrix[at])
    rest[:, at] = 0.0
    _require_alone(at, np.flatnonzero((rest > TOLERANCE * np.abs(matrix).max(initial=0.0)).any(axis=0)).tolist(), name)
    return matrix[np.ix_(at, at)]


def _require_alone(at: list[int], others: list[int], name: str) -> None:
    if others:
        raise ValueError(
            f"outputs {at} are mixed with output {min(others)} by {name}: ρ is no representation on them alone. "
            "Add the outputs that belong to them"
        )


def _within(matrix: Array, frame: Array, name: str) -> Array:
    """A matrix along the columns of a frame, whose span it does not leave."""
    inside = frame.T @ matrix @ frame
    residual = float(np.abs(matrix @ frame - frame @ inside).max(initial=0.0))
    if residual > TOLERANCE * float(np.abs(matrix).max(initial=0.0)):
        raise ValueError(
            f"{name} leaves the span of the frame (residual {residual:.2g}): ρ moves these outputs into others, and is "
            "no representation on them alone. Give a frame of all outputs that belong together"
        )
    return inside


def _linear(image: ArrayLike | Isometry, i: int) -> Linear:
    if isinstance(image, SignedPermutation | Orthogonal):
        return image
    if isinstance(image, Isometry):
        raise ValueError(f"image {i} is {image!r}; give an orthogonal matrix or a (signed) permutation of the outputs")
    refuse_complex(image, f"image {i}")
    try:
        return orthogonal(np.atleast_2d(np.asarray(image, dtype=float)))
    except ValueError as error:
        raise ValueError(f"image {i} is no orthogonal matrix: {error}") from None


def _velocity(image: Field | ArrayLike) -> RotationField:
    if isinstance(image, RotationField):
        return image
    if isinstance(image, Field):
        raise ValueError(f"a field's image is an antisymmetric matrix of the outputs; got {shown(image)}")
    return rotation(np.atleast_2d(np.asarray(image)))
