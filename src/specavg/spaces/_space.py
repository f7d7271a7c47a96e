"""What every space is: a compact manifold, seen through the spectrum of its Laplacian."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._html import facts_html
from specavg.functions._bessel_series import Series
from specavg.functions._combinations import Given, Joined
from specavg.functions._functions import Functions
from specavg.functions._types_of_functions import Type
from specavg.isometries import Isometry, identity
from specavg.isometries.fields import Field, rotation
from specavg.isometries.fields import flatten as flatten_field
from specavg.spaces._eigenspace import Eigenspace, Weighted
from specavg.spaces._infinitesimal import REPRESENTATION_TOLERANCE, SOME_TIME, derivative_along
from specavg.spaces._interpolation import interpolation, linear_part
from specavg.spaces._order_of_functions import Order, order_of
from specavg.spaces._points import Points
from specavg.spaces._rotation_gradients import (
    gradient_by_rotations,
    rotations_in_planes,
    squared_slopes,
    tangents_of_frames,
)
from specavg.spaces._von_mises import VonMises


class Space(Points):
    """A compact manifold, seen through the spectrum of its Laplacian.

    Every basis is real and orthonormal under the uniform *probability* measure. A new space writes the abstract
    methods below, and `shape` and `_membership_error` for its points; ``representation`` has a general implementation
    that most can keep.
    `specavg.testing.check_space` runs every law on it.

    Examples
    --------
    >>> from itertools import islice
    >>> import specavg as sa
    >>> space = sa.Sphere(3)
    >>> X = space.sample(5, random_state=0)
    >>> V = next(islice(space.eigenspaces(), 2, None))
    >>> space.evaluate(V, X).shape
    (5, 5)
    >>> g = sa.isometries.permutation([1, 2, 0])
    >>> D = space.representation(g, V)
    >>> bool(abs(space.evaluate(V, space.act(g, X)) - space.evaluate(V, X) @ D).max() < 1e-12)
    True
    """

    # --- to be written by each space ---------------------------------------------------------------

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """Dimension d of the manifold."""

    @property
    @abc.abstractmethod
    def volume(self) -> float:
        """Riemannian volume vol(M); infinite or zero where it is beyond floating-point numbers."""

    @abc.abstractmethod
    def eigenspaces(self) -> Iterator[Eigenspace]:
        """All eigenspaces, smallest eigenvalue first. Endless: take what you need."""

    @abc.abstractmethod
    def sample(self, n: int, random_state: Any = None) -> Array:
        """`n` independent uniform points."""  # (n, n_features)

    @abc.abstractmethod
    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        """Points and weights that integrate products of two eigenfunctions up to `max_eigenvalue` exactly."""

    @abc.abstractmethod
    def check_isometry(self, g: Isometry) -> Isometry:
        """`g` in the form this space works with; an error that says why if it is not an isometry of it."""

    @abc.abstractmethod
    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        """The eigenfunctions of `eigenspace` at checked points.

        The law `testing.check_gradient` also asks for values at most 0.01 beside the space.
        """  # (n, n_features) -> (n, m)

    @abc.abstractmethod
    def _act(self, g: Isometry, X: Array) -> Array:
        """The checked map `g` on checked points, and on nothing else."""

    @property
    def log_volume(self) -> float:
        """Log vol(M), a number also where the volume itself is beyond floating-point numbers."""
        return log(self.volume)

    # --- orders: which functions come first ---------------------------------------------------------

    @property
    def parts(self) -> int:
        """How many parts an order tells apart: coordinates of a box, copies of a power, factors of a product."""
        return 1

    @property
    def one_part(self) -> Space | None:
        """The space of one part, where isometries permute the parts: a coordinate of a cube, a copy; None elsewhere."""
        return None

    @property
    def unlike_parts(self) -> int:
        """How many parts have no common unit of length: factors whose first eigenvalues differ, axes of a lattice.

        Of a power, the parts of one copy.
        """
        return 1

    @property
    def has_own_units(self) -> bool:
        """Whether a balanced order measures all unlike columns in units of their own: factors, or sides of a box.

        Axes of a lattice have one unit of length, in which atoms are as sharp along all of them.
        """
        return False

    def check_order(self, order: str | Order) -> Order:
        """`order`, or the one of that name; an error that says why if the space has no such order."""
        chosen = order_of(order)
        if chosen.late is not None and not 0 <= chosen.late < self.unlike_parts:
            raise ValueError(
                f"late={chosen.late!r} names no part of {self!r}: parts with units of their own are numbered from 0, "
                f"and it has {self.unlike_parts}"
            )
        return chosen

    def ordered(self, order: Order) -> Iterator[Eigenspace]:
        """The spaces of equal value in `order`, the smallest value first; `.eigenvalue` is that value.

        Powers and products sum the values of their parts, and so does a box torus over its coordinates. Any other space
        is taken as a whole: its eigenspaces under other values.
        """
        return self.as_a_whole(order)

    def as_a_whole(self, order: Order) -> Iterator[Eigenspace]:
        """The eigenspaces of the Laplacian, with their values in `order`."""
        return (Eigenspace(order.value(self, V), V.dim, V.label) for V in self.eigenspaces())

    def ordered_quadrature(self, order: Order, top: float) -> tuple[Array, Array]:
        """A rule as `quadrature` gives it, exact for products of two functions of value up to `top` in `order`."""
        return self.quadrature(order.eigenvalue(self, top))

    @property
    def type_spectrum(self) -> str | None:
        """The family of spectra that knows the types of this space: "product", "partition" or None."""
        return "product" if self.parts > 1 else None

    @property
    def von_mises(self) -> VonMises | None:
        """Narrow positive kernels that every isometry keeps; None where the space has none in closed form."""
        return None

    @property
    def has_types(self) -> bool:
        """Whether the order `ByType` tells functions of one eigenvalue apart."""
        return self.type_spectrum is not None

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series | None:
        """The coefficients of the kernel exp(−κ|e(x) − e(y)|²/2), e the embedding by the first functions of each part.

        Parameters
        ----------
        eigenspaces : sequence of Eigenspace
        order : Order
            In which they are listed: it may have units of its own.

        Returns
        -------
        callable or None
            κ, in these units, to the logarithm of the coefficient of each eigenspace relative to that of the constant;
            of their mean, where functions of an eigenspace do not share it. None where the series is not known, as for
            eigenspaces of several types.
        """
        return None

    def type_of(self, eigenspace: Eigenspace) -> Type | None:
        """The type of an eigenspace in the order `ByType`; None where it has several, or none but its eigenvalue."""
        return None

    def degree(self, eigenspace: Eigenspace) -> int:
        """The degree of the functions of an eigenspace, on spaces where they have one."""
        raise ValueError(f'functions of {self!r} have no degree: use order="eigenvalue" or "few coordinates"')

    def steepness(self, eigenspace: Eigenspace) -> float:
        """How much D(g) can change when the numbers of g are rounded, in multiples of that rounding.

        The degree of the functions where they have one. Otherwise √λ in units of the space, by Weyl's law.
        """
        try:
            return float(self.degree(eigenspace))
        except ValueError:
            return sqrt(max(eigenspace.eigenvalue, 0.0)) * exp(self.log_volume / self.dim)

    # --- shared ------------------------------------------------------------------------------------

    @property
    def lattice(self) -> Array | None:
        """The vectors of the crystal lattice in whose coordinates points are given; None elsewhere."""
        return None

    @property
    def identity(self) -> Isometry:
        """The isometry that moves nothing."""
        return identity(self.shape[0])

    def columns_follow(self, g: Isometry) -> bool:
        """Whether a checked `g` that permutes columns and changes signs does just that to the columns of the points."""
        return True

    def act(self, g: Isometry, X: ArrayLike) -> Array:
        """The points g·x; refuses what is not an isometry of this space.

        Parameters
        ----------
        g : Isometry
        X : array-like of shape (n, n_features) or (n, *shape)

        Returns
        -------
        ndarray
            Of the shape of `X`.
        """
        checked = self.check_isometry(g)
        points = self.check_points(X)
        return self._act(checked, points).reshape(np.shape(X) or points.shape)

    def differential(self, g: Isometry) -> Array:
        """The matrix dg[i, j] = ∂(gx)_i/∂x_j in the flattened coordinates of the points, the same at every x.

        A gradient of an invariant function follows it: ∇f(x) = dgᵀ ∇f(gx).

        Returns
        -------
        ndarray of shape (n_features, n_features)

        Examples
        --------
        >>> import specavg as sa
        >>> sa.Sphere(2).differential(sa.isometries.signed_permutation([1, 0], [1, -1]))
        array([[ 0.,  1.],
               [-1.,  0.]])
        """
        return self._differential(self.check_isometry(g))

    def _differential(self, g: Isometry) -> Array:
        """The linear part of a checked `g`: isometries are affine maps of the coordinates."""
        return linear_part(self, g)

    def tangents(self, X: Array) -> Array:
        """An orthonormal basis of the tangent space at each of checked points, in their coordinates.

        Where points are frames or unit vectors, the velocities A X of rotations span it.

        Returns
        -------
        ndarray of shape (n, n_features, dim)
        """
        return tangents_of_frames(X, self.shape[0], self.dim)

    def squared_lengths(self, X: Array, gradients: Array) -> Array:
        """|∇f|² in the metric of the Laplacian, from gradients in the coordinates of checked points.

        Where points are frames or unit vectors, the sum of squares of the derivatives along rotations in planes. Spaces
        on which rotations are no isometries write their own.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        gradients : ndarray of shape (n, q, n_features)

        Returns
        -------
        ndarray of shape (n, q)
        """
        n = self.shape[0]
        if n * (n - 1) // 2 < self.dim:
            raise ValueError(f"the metric of {self!r} is not that of rotations: write its method `squared_lengths`")
        self.check_field(rotation(np.eye(n, k=1) - np.eye(n, k=-1)))
        return squared_slopes(X, gradients, n)

    def evaluate(self, eigenspace: Eigenspace, X: ArrayLike) -> Array:
        """The eigenfunctions φ_1..φ_m of one eigenspace at `X`.

        Returns
        -------
        ndarray of shape (n, eigenspace.dim)
            Orthonormal under the uniform probability measure.
        """
        points = self.check_points(X)
        require_memory(
            3.0 * 8 * len(points) * eigenspace.dim,
            f"{eigenspace.dim} eigenfunctions at {len(points)} points",
            "Evaluate in chunks of rows, or evaluate an invariant basis only.",
        )
        return self._evaluate(eigenspace, points)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        """The eigenfunctions of several eigenspaces side by side, as a family that sums and combines them fast."""
        ways = (self._evaluate, self._gradient, self._combined_gradient)
        return Joined([Given(V.dim, *(partial(way, V) for way in ways)) for V in eigenspaces])

    def zonal_sum(self, weighted: Weighted, X: Array, Y: Array) -> Array:
        """Σ_V w_V Σ_{φ in V} φ(x)φ(y) at checked points; by the addition theorem, where a space has one.

        Parameters
        ----------
        weighted : sequence of (Eigenspace, float)
        X, Y : ndarray of shape (n, n_features) and (m, n_features)

        Returns
        -------
        ndarray of shape (n, m)
        """
        total = np.zeros((len(X), len(Y)))
        for V, w in weighted:
            if w:
                total += w * (self._evaluate(V, X) @ self._evaluate(V, Y).T)
        return total

    def _gradient(self, eigenspace: Eigenspace, X: Array) -> Array:
        """The tangential gradients of the eigenfunctions at checked points, from the derivatives along rotations.

        Spaces whose points are no frames or unit vectors, and families that are faster, write their own.
        """  # (n, n_features) -> (n, m, n_features)
        return gradient_by_rotations(
            self.shape[0], X, self._evaluate(eigenspace, X), rotations_in_planes(self, eigenspace)
        )

    def _combined_gradient(self, eigenspace: Eigenspace, X: Array, C: Array) -> Array:
        """The gradients of combinations of the eigenfunctions."""  # (m, q) -> (n, q, n_features)
        return np.asarray(C.T @ self._gradient(eigenspace, X))

    def representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        """The orthogonal matrix D(g) with D[l, k] = <φ_l, φ_k∘g>, hence φ(gx) = D(g)ᵀ φ(x).

        Returns
        -------
        ndarray of shape (m, m)
        """
        checked = self.check_isometry(g)
        require_memory(
            6.0 * 8 * eigenspace.dim**2,
            f"the representation on an eigenspace of {eigenspace.dim} functions",
            "Lower the cutoff.",
        )
        if checked.is_identity:
            return np.eye(eigenspace.dim)
        return self._representation(checked, eigenspace)

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        """D(g) from values at random points: Φ(gX) = Φ(X) D(g), a well-conditioned least-squares problem.

        On a homogeneous space Σ φ(x)² is the same at every x, so uniform points have no leverage to fear and
        a few more points than functions are enough.
        """
        X, solve = interpolation(self, eigenspace)
        moved = self._evaluate(eigenspace, self._act(g, X))
        D, residual = solve(moved)
        if residual > REPRESENTATION_TOLERANCE:
            raise ValueError(
                f"{g!r} is not an isometry of {self!r}: it maps the eigenspace of eigenvalue "
                f"{eigenspace.eigenvalue:.6g} outside itself (residual {residual:.2g}, tolerance "
                f"{REPRESENTATION_TOLERANCE:.0e})."
            )
        return D

    # --- infinitesimal isometries ------------------------------------------------------------------

    def check_field(self, field: Field) -> Field:
        """`field` in the form this space works with; an error that says why if its flow does not keep distances.

        Parameters
        ----------
        field : Field
            Made by `isometries.fields`.
        """
        flat = flatten_field(field)
        try:
            self.check_isometry(flat.flow(SOME_TIME))
        except ValueError as error:
            raise ValueError(f"{field!r} is not a field of {self!r}: its flow is no isometry. {error}") from None
        return flat

    def infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        """The antisymmetric matrix dD(ξ) with dD[l, k] = <φ_l, ξ·φ_k>, hence ξ·φ = dD(ξ)ᵀ φ.

        It is the derivative of D(exp tξ) at t = 0, and [dD(ξ), dD(η)] = dD(ξ.bracket(η)).

        Returns
        -------
        ndarray of shape (m, m)

        Examples
        --------
        >>> import specavg as sa
        >>> from specavg.isometries import fields
        >>> around = fields.rotation([[0, -1], [1, 0]])
        >>> sa.Sphere(2).infinitesimal(around, sa.Sphere(2).eigenspace(3)).round(12)
        array([[ 0.,  3.],
               [-3.,  0.]])
        """
        checked = self.check_field(field)
        require_memory(
            6.0 * 8 * eigenspace.dim**2,
            f"the field on an eigenspace of {eigenspace.dim} functions",
            "Lower the cutoff.",
        )
        if checked.is_zero:
            return np.zeros((eigenspace.dim, eigenspace.dim))
        return self._infinitesimal(checked, eigenspace)

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        """dD(ξ) from D along the circles of isometries that the field is made of."""
        total = np.zeros((eigenspace.dim, eigenspace.dim))
        for speed, circle in field.circles():
            total += speed * derivative_along(self, circle, eigenspace)
        return total

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        first = list(islice(self.eigenspaces(), 4))
        levels = ", ".join(f"{V.eigenvalue:.4g} ({V.dim:,})" for V in first)
        shape = " × ".join(map(str, self.shape))
        columns = f"{self.n_features}" + (f" ({shape})" if len(self.shape) > 1 else "")
        facts = [("dimension", self.dim), ("columns of X", columns), ("eigenvalues (functions)", f"{levels}, …")]
        return facts_html(repr(self), facts)
