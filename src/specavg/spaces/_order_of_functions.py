"""Orders: which functions of a space come first. The functions, and the invariants among them, stay the same.

An order gives every function a value, and functions are listed by increasing value. Values add over the coordinates of
a box, the copies of a power and the factors of a product. Permutations of coordinates or copies, sign flips and shifts
change no value: every group maps the functions of one value to functions of the same value.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import expm1, isfinite, log, log1p
from typing import TYPE_CHECKING, ClassVar, final

from specavg._arrays import Array

if TYPE_CHECKING:
    from specavg.spaces._eigenspace import Eigenspace
    from specavg.spaces._space import Space

_MANY_COORDINATES = 4  # dimensions: with fewer, a basis of moderate size has high frequencies of one coordinate anyway
_FEW_PARTS = 8  # parts: with more, types are very many, and those that are reached differ in one part at most
_FEW_UNLIKE_PARTS = 3  # parts that may each come late: every one of them is one more basis to compare
_STEEPNESSES = (4, 64)  # c of functions that join two or three parts, and of functions that hardly join any
_LATE = 4.0  # factor of the eigenvalues of a part that comes late, as if it had half the length
# The inverse of an order is rounded up by this, so that no function of the value asked for is lost.
_ROUNDED_UP = 1e-8


class Order(abc.ABC):
    """Which functions come first: a value for every function, additive over coordinates, copies and factors.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(10), max_dim=300, order="few coordinates")
    >>> basis.order
    FewCoordinates(steepness=4)
    """

    name: ClassVar[str]
    logarithmic: ClassVar[bool] = False  # whether the number of functions grows exponentially with their value
    separates_types: ClassVar[bool] = False  # whether functions of one value and of different types stand apart
    late: int | None = None  # the part that comes late, if one does

    @abc.abstractmethod
    def value(self, space: Space, eigenspace: Eigenspace) -> float:
        """The value of one eigenspace of the Laplacian, `space` taken as a whole."""

    @abc.abstractmethod
    def eigenvalue(self, space: Space, value: float) -> float:
        """The largest eigenvalue of the Laplacian of functions up to `value`, `space` taken as a whole."""

    def within_a_copy(self, base: Space) -> Order:
        """The order of the functions of one copy of a power."""
        return self

    def copies(self, base: Space) -> Iterator[Eigenspace]:
        """The eigenspaces of one copy of a power, with their values in this order."""
        return base.ordered(self.within_a_copy(base))

    def copy_quadrature(self, base: Space, top: float) -> tuple[Array, Array]:
        """Points and weights that integrate products of two such functions of one copy, of value up to `top`."""
        return base.ordered_quadrature(self.within_a_copy(base), top)

    @property
    def within_a_factor(self) -> Order:
        """The order of the functions of one factor of a product, in units of the factor."""
        return self

    def unit_of_factor(self, factor: Space, index: int) -> float:
        """The value of the factor, in its own units, that counts as 1 in the product."""
        return 1.0

    def of_factor(self, factor: Space, index: int) -> Iterator[Eigenspace]:
        """The eigenspaces of one factor of a product, with their values in this order of the product."""
        listed, unit = factor.ordered(self.within_a_factor), self.unit_of_factor(factor, index)
        return listed if unit == 1 else (replace(V, eigenvalue=V.eigenvalue / unit) for V in listed)

    def factor_quadrature(self, factor: Space, index: int, top: float) -> tuple[Array, Array]:
        """Points and weights that integrate products of two such functions of one factor, of value up to `top`."""
        return factor.ordered_quadrature(self.within_a_factor, top * self.unit_of_factor(factor, index))


class CoordinateOrder(Order):
    """An order that adds over the coordinates of a box torus.

    Such values are compared exactly, by integer keys: `joined_keys` of the keys of the coordinates.
    """

    no_frequency: ClassVar[int]  # the key of the constant

    @abc.abstractmethod
    def frequency_key(self, k: int) -> int:
        """The integer that says how early the frequency k > 0 of one coordinate comes."""

    @abc.abstractmethod
    def joined_keys(self, a: int, b: int) -> int:
        """The integer of a product of two functions of different coordinates."""

    @abc.abstractmethod
    def key_value(self, key: int) -> float:
        """The value that an integer stands for."""

    @abc.abstractmethod
    def highest_frequency(self, value: float) -> int:
        """The largest frequency of one coordinate up to `value`."""


@final
@dataclass(frozen=True)
class ByEigenvalue(Order):
    """Functions by the eigenvalue of the Laplacian: the smoothest first. ``order="eigenvalue"``.

    Examples
    --------
    >>> import specavg as sa
    >>> sa.invariant_basis(sa.Torus(2), max_dim=9).order
    ByEigenvalue()
    """

    name: ClassVar[str] = "eigenvalue"

    def value(self, space: Space, eigenspace: Eigenspace) -> float:
        return eigenspace.eigenvalue

    def eigenvalue(self, space: Space, value: float) -> float:
        return value


@final
@dataclass(frozen=True)
class ByType(Order):
    """Functions by eigenvalue, and those of one eigenvalue by their type. ``order="type"``.

    The functions are those of the order of eigenvalues. A row of the table is one type: the non-constant eigenvalues
    of the coordinates of a cubic torus, of the copies of a power or of the factors of a product, without regard to
    their order; the partition of a type of O(n) on Stiefel manifolds; the frequencies that isometries may exchange on
    other tori of two and three dimensions. No group mixes types, and a spectrum may give each its own value. Elsewhere
    an eigenspace is one type.

    Parameters
    ----------
    balanced : bool, default False
        Whether eigenvalues of the factors of a product are divided by the first one of their factor. Factors of
        different kinds have no common unit of length: a circle of length 2 beside a sphere of radius 1 has its first
        eigenvalue at π², the sphere at 2, and a target that varies alike on both is rough on the circle only. So do
        parts of a torus of up to three dimensions that are orthogonal and of different lengths, such as the plane
        and the axis of a hexagonal crystal, or an angle in degrees beside a length, and so do copies of such spaces.
    late : int, optional
        The factor or part whose eigenvalues count four times: functions that vary along it come later. With
        ``balanced=True`` only. Parts of a torus are numbered from the longest to the shortest.

    Examples
    --------
    >>> from itertools import islice
    >>> import numpy as np
    >>> import specavg as sa
    >>> [(round(V.eigenvalue / np.pi**2), V.dim, V.label.listed) for V in islice(sa.Torus(4).ordered(ByType()), 3, 6)]
    [(3, 32, ((1, 1, 1),)), (4, 16, ((1, 1, 1, 1),)), (4, 8, ((2,),))]
    >>> space = sa.Product(sa.Torus(1), sa.Sphere(3))
    >>> [(V.eigenvalue, V.dim) for V in islice(space.ordered(ByType(balanced=True)), 4)]
    [(0.0, 1), (1.0, 3), (1.0, 2), (2.0, 6)]
    """

    balanced: bool = False
    late: int | None = None

    name: ClassVar[str] = "type"
    separates_types: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.late is not None and not self.balanced:
            raise ValueError(f"late={self.late!r} needs balanced=True: only then have parts units of their own")

    def __repr__(self) -> str:
        given = ["balanced=True"] * self.balanced + [f"late={self.late}"] * (self.late is not None)
        return f"ByType({', '.join(given)})"

    def weight(self, index: int) -> float:
        """What the eigenvalues of a part are multiplied by."""
        return _LATE if index == self.late else 1.0

    @property
    def within_a_factor(self) -> Order:
        return ByType()

    def unit_of_factor(self, factor: Space, index: int) -> float:
        return self._unit(factor) / self.weight(index)

    def _unit(self, space: Space) -> float:
        return first_eigenvalue(space) if self.balanced else 1.0

    def value(self, space: Space, eigenspace: Eigenspace) -> float:
        return eigenspace.eigenvalue / self._unit(space)

    def eigenvalue(self, space: Space, value: float) -> float:
        return value * self._unit(space)

    def within_a_copy(self, base: Space) -> Order:
        return self if self.balanced and base.unlike_parts > 1 else BY_EIGENVALUE  # a copy is one part


@final
@dataclass(frozen=True)
class FewCoordinates(CoordinateOrder):
    """Functions of few coordinates, copies or factors first. ``order="few coordinates"`` means steepness 4.

    In many dimensions the eigenspaces of the Laplacian fill up with products of many coordinates before the second
    or third frequency of a single one. Here a space of dimension d that is taken as a whole has the value
    μ = d log(1 + ((1 + c)^(1/d) − 1) λ/λ₁), λ₁ its first non-zero eigenvalue, and values of parts add. Parts are the
    coordinates of a box torus (together log ∏(1 + c k_i²)), the copies of a power and the factors of a product.
    A copy whose coordinates or factors have no common unit of length is no part: these are. e^μ = 1 + c for the first
    functions of each part, and the number of functions grows like e^(μ/2) whatever d is: the "heat" spectrum e^(−sμ),
    s = ℓ²/2, is the kernel of a Sobolev space of mixed smoothness.

    Parameters
    ----------
    steepness : float, default 4
        c, positive; an integer on tori. The larger, the later come functions of several parts.

    Examples
    --------
    >>> from itertools import islice
    >>> import numpy as np, specavg as sa
    >>> few = FewCoordinates()
    >>> [(round(np.exp(V.eigenvalue)), V.dim) for V in islice(sa.Torus(10).ordered(few), 5)]
    [(1, 1), (5, 20), (17, 20), (25, 180), (37, 20)]
    >>> cloud = sa.Power(sa.Sphere(3), 100)
    >>> [(round(float(np.exp(V.eigenvalue)), 1), V.dim) for V in islice(cloud.ordered(few), 4)]
    [(1.0, 1), (5.0, 300), (22.2, 500), (25.0, 44550)]
    """

    steepness: float = 4

    name: ClassVar[str] = "few coordinates"
    no_frequency: ClassVar[int] = 1
    logarithmic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isfinite(self.steepness) and self.steepness > 0):
            raise ValueError(
                f"steepness must be positive and finite, on tori an integer of at least 1; got {self.steepness!r}"
            )
        if self.steepness == int(self.steepness):
            object.__setattr__(self, "steepness", int(self.steepness))

    def _scale(self, space: Space) -> float:
        return ((1 + self.steepness) ** (1 / space.dim) - 1) / first_eigenvalue(space)

    def value(self, space: Space, eigenspace: Eigenspace) -> float:
        return space.dim * log1p(self._scale(space) * eigenspace.eigenvalue)

    def eigenvalue(self, space: Space, value: float) -> float:
        return expm1(value / space.dim) / self._scale(space) * (1 + _ROUNDED_UP)

    def copies(self, base: Space) -> Iterator[Eigenspace]:
        # A copy is one part, also where it has several coordinates, unless these have units of their own.
        return base.as_a_whole(self) if base.unlike_parts == 1 else base.ordered(self)

    def copy_quadrature(self, base: Space, top: float) -> tuple[Array, Array]:
        whole = base.unlike_parts == 1
        return base.quadrature(self.eigenvalue(base, top)) if whole else base.ordered_quadrature(self, top)

    def frequency_key(self, k: int) -> int:
        if int(self.steepness) != self.steepness:
            raise ValueError(f"on a torus the steepness must be an integer of at least 1; got {self.steepness!r}")
        return 1 + int(self.steepness) * k * k

    def joined_keys(self, a: int, b: int) -> int:
        return a * b

    def key_value(self, key: int) -> float:
        return log(key)

    def highest_frequency(self, value: float) -> int:
        return int((max(expm1(value), 0.0) / self.steepness * (1 + _ROUNDED_UP)) ** 0.5 + _ROUNDED_UP)


@final
@dataclass(frozen=True)
class ByDegree(CoordinateOrder):
    """Functions by their total degree: Σ|k_i| on a box torus, the degree of polynomials elsewhere. ``order="degree"``.

    Examples
    --------
    >>> from itertools import islice
    >>> import specavg as sa
    >>> [(V.eigenvalue, V.dim) for V in islice(sa.Torus(3).ordered(ByDegree()), 4)]
    [(0.0, 1), (1.0, 6), (2.0, 18), (3.0, 38)]
    """

    name: ClassVar[str] = "degree"
    no_frequency: ClassVar[int] = 0

    def value(self, space: Space, eigenspace: Eigenspace) -> float:
        return float(space.degree(eigenspace))

    def eigenvalue(self, space: Space, value: float) -> float:
        last = 0.0
        for V in space.eigenspaces():
            if space.degree(V) > value * (1 + _ROUNDED_UP):
                break
            last = V.eigenvalue
        return last

    def frequency_key(self, k: int) -> int:
        return k

    def joined_keys(self, a: int, b: int) -> int:
        return a + b

    def key_value(self, key: int) -> float:
        return float(key)

    def highest_frequency(self, value: float) -> int:
        return int(value * (1 + _ROUNDED_UP))


@lru_cache(maxsize=64)
def first_eigenvalue(space: Space) -> float:
    """The smallest non-zero eigenvalue λ₁ of a space."""
    return next(V.eigenvalue for V in space.eigenspaces() if V.eigenvalue > 0)


BY_EIGENVALUE = ByEigenvalue()
_NAMED: dict[str, Order] = {order.name: order for order in (BY_EIGENVALUE, FewCoordinates(), ByDegree(), ByType())}


def order_of(order: str | Order) -> Order:
    """The order that `order` names, or `order` itself.

    Examples
    --------
    >>> order_of("few coordinates")
    FewCoordinates(steepness=4)
    """
    if isinstance(order, Order):
        return order
    if not isinstance(order, str) or order not in _NAMED:  # pyright: ignore[reportUnnecessaryIsInstance]
        names = ", ".join(map(repr, _NAMED))
        raise ValueError(f"order must be {names} or an order such as invariants.FewCoordinates(64); got {order!r}")
    return _NAMED[order]


def default_order(space: Space) -> Order:
    """The order of eigenvalues, by type where a space has types.

    Examples
    --------
    >>> import specavg as sa
    >>> default_order(sa.Torus(4)), default_order(sa.Sphere(6))
    (ByType(), ByEigenvalue())
    """
    return ByType() if space.has_types and space.parts <= _FEW_PARTS else BY_EIGENVALUE


def order_in_own_units(space: Space) -> Order:
    """The order of a default that compares no others: that of eigenvalues, balanced where columns differ in unit.

    Examples
    --------
    >>> import specavg as sa
    >>> order_in_own_units(sa.Torus(2, period=[1, 360])), order_in_own_units(sa.Torus(2, period=360))
    (ByType(balanced=True), ByEigenvalue())
    """
    return ByType(balanced=True) if space.has_own_units and space.parts <= _FEW_PARTS else BY_EIGENVALUE


def further_orders(space: Space, *, many_rows: bool = False) -> tuple[Order, ...]:
    """Orders beside that of eigenvalues that are worth a try.

    In four dimensions and more: few coordinates, copies or factors first, and the total degree where functions have
    one. Balanced parts where they are unlike, and each of up to three late. Of `many_rows` few coordinates come first
    in two and three dimensions too: the rows could tell far more functions than there are, and the cutoff decides what
    is left out.

    Examples
    --------
    >>> import specavg as sa
    >>> further_orders(sa.Torus(10))
    (FewCoordinates(steepness=4), FewCoordinates(steepness=64), ByDegree())
    >>> further_orders(sa.Sphere(6))
    ()
    >>> further_orders(sa.Product(sa.Torus(1), sa.Sphere(3)))
    (ByType(balanced=True), ByType(balanced=True, late=0), ByType(balanced=True, late=1))
    """
    unlike = space.unlike_parts
    balanced = (ByType(balanced=True),) if unlike > 1 and space.parts <= _FEW_PARTS else ()
    if 1 < unlike <= _FEW_UNLIKE_PARTS:
        balanced += tuple(ByType(balanced=True, late=i) for i in range(unlike))
    several = space.dim >= _MANY_COORDINATES
    if space.parts == 1 or not (several or many_rows):
        return balanced
    by_degree = (ByDegree(),) if several and _has_degrees(space) else ()
    return (*balanced, *(FewCoordinates(steepness) for steepness in _STEEPNESSES), *by_degree)


def _has_degrees(space: Space) -> bool:
    """Whether every function has a total degree: on lattices and rotations there is none."""
    try:
        next(iter(space.ordered(ByDegree())))
    except ValueError:
        return False
    return True
