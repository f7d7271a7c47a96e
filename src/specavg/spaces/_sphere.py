"""Spheres of any dimension, by stable recurrences: no table, no cap on degree or dimension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from math import lgamma, pi
from typing import Any, final

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._messages import whole_number
from specavg._random import as_generator
from specavg.functions._bessel_series import Series, bessel_series
from specavg.functions._functions import Functions
from specavg.functions._orthonormal_matrices import normalized
from specavg.functions._s2_harmonics import S2Harmonics
from specavg.functions._sphere_harmonics import SphereHarmonics, gegenbauer_recurrence, harmonics, harmonics_count
from specavg.functions._wigner_matrices import wigner_derivative, wigner_matrices
from specavg.functions._zonal_sums import gegenbauer_sum
from specavg.isometries import Affine, Isometry, Orthogonal, SignedPermutation, flatten
from specavg.isometries._linear import linear
from specavg.isometries.fields import Field, RotationField
from specavg.spaces._eigenspace import Eigenspace, Weighted, degree_label
from specavg.spaces._infinitesimal import circle_angles
from specavg.spaces._interpolation import interpolation
from specavg.spaces._order_of_functions import Order
from specavg.spaces._space import Space
from specavg.spaces._von_mises import OnSphere, VonMises


@final
class Sphere(Space):
    """The unit sphere **in R^d** (the paper's S^{d−1}); `dim` is d − 1.

    Parameters
    ----------
    d : int
        Number of coordinates, at least 2.

    Notes
    -----
    The eigenspace of degree k has eigenvalue k(k + d − 2). Its basis is the usual tree of Gegenbauer
    polynomials: one coordinate is split off at a time, and Y(x) = p(x_d) · Y'(x_1, …, x_{d−1}) with Y' a
    *solid* harmonic, so that no angle and no pole ever appears. `directions_from_lonlat` of `specavg.spaces` makes
    points of `Sphere(3)` of longitude and latitude.

    Examples
    --------
    >>> from itertools import islice
    >>> [(V.eigenvalue, V.dim) for V in islice(Sphere(3).eigenspaces(), 4)]
    [(0.0, 1), (2.0, 3), (6.0, 5), (12.0, 7)]
    """

    def __init__(self, d: int) -> None:
        if int(d) != d or d < 2:
            raise ValueError(f"Sphere(d) is the unit sphere in R^d and needs d ≥ 2; got {d!r}")
        self._d = self._key = int(d)

    @property
    def dim(self) -> int:
        return self._d - 1

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._d,)

    @property
    def volume(self) -> float:
        return float(np.exp(self.log_volume))

    @property
    def log_volume(self) -> float:
        return float(np.log(2) + self._d / 2 * np.log(pi) - lgamma(self._d / 2))

    def __repr__(self) -> str:
        return f"Sphere({self._d})"

    def eigenspaces(self) -> Iterator[Eigenspace]:
        for k in count():
            yield self.eigenspace(k)

    def eigenspace(self, degree: int) -> Eigenspace:
        """The harmonics of one degree."""
        d = self._d
        return Eigenspace(float(degree * (degree + d - 2)), harmonics_count(d, degree), degree)

    def degree(self, eigenspace: Eigenspace) -> int:
        return degree_label(eigenspace)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        degrees = [degree_label(V) for V in eigenspaces]
        return S2Harmonics(degrees) if self._d == 3 else SphereHarmonics(self._d, degrees)

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        return harmonics(normalized(X), [degree_label(eigenspace)])[0]

    def check_isometry(self, g: Isometry) -> Isometry:
        g = flatten(g)
        if isinstance(g, Affine):
            why = "a sphere has no shifts" if any(g.shift) else "its matrix is not orthogonal"
            raise ValueError(f"{g!r} is not an isometry of {self!r}: {why}. Use isometries.orthogonal(R).")
        if not isinstance(g, SignedPermutation | Orthogonal):
            raise ValueError(
                f"{g!r} does not act on {self!r}: its isometries are orthogonal matrices of size {self._d}"
            )
        if g.size != self._d:
            raise ValueError(f"{g!r} acts on {g.size} coordinates; {self!r} has {self._d}")
        return g

    def _act(self, g: Isometry, X: Array) -> Array:
        return g(X)

    def _differential(self, g: Isometry) -> Array:
        return linear(g).matrix

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        degree = self.degree(eigenspace)
        if self._d > 3 or (self._d == 2 and degree == 0):
            return super()._representation(g, eigenspace)
        assert isinstance(g, SignedPermutation | Orthogonal)
        matrix = np.asarray(g.matrix, dtype=np.float64)
        if self._d == 2:  # θ ↦ α + θ or α − θ: the addition theorem
            turn = degree * np.arctan2(matrix[1, 0], matrix[0, 0])
            c, s = np.cos(turn), np.sin(turn)
            turned = [[c, s], [-s, c]] if np.linalg.det(matrix) > 0 else [[c, s], [s, -c]]
            return np.array(turned)
        parity = 1 if np.linalg.det(matrix) > 0 else -1  # −x has the harmonics of x times (−1)^degree
        return parity**degree * wigner_matrices(parity * matrix[None], degree)[0].T

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> Array:
        degree = self.degree(eigenspace)
        if degree == 0:
            return np.zeros((1, 1))
        assert isinstance(field, RotationField)
        if self._d == 2:
            return degree * field.matrix.T
        if self._d == 3:
            return wigner_derivative(field.matrix, degree).T
        # Harmonics have frequencies up to their degree. Interpolation is linear: values at all angles of all circles
        # are added, and one least-squares problem is solved in place of one for each.
        X, solve = interpolation(self, eigenspace)
        moved = np.zeros((len(X), eigenspace.dim))
        for speed, circle in field.circles():
            for t, share in circle_angles(degree):
                moved += speed * share * self._evaluate(eigenspace, self._act(circle.flow(t), X))
        D, _ = solve(moved)
        return D - D.T

    def _membership_error(self, X: Array) -> Array:
        return np.abs(np.sqrt(np.einsum("ni,ni->n", X, X)) - 1)

    def _shape_advice(self, shape: tuple[int, ...]) -> str:
        two_angles = self._d == 3 and shape == (2,)
        return ". spaces.directions_from_lonlat makes them of longitude and latitude" if two_angles else ""

    def _remedy(self, points: Array) -> str:
        remedy, zero = "Points of a sphere are unit vectors: divide each row by its norm.", ~points.any(axis=1)
        if zero.any():
            remedy += (
                f" {int(zero.sum())} of them are zero and have no direction, as at b = 0 in diffusion MRI: leave these "
                "rows out."
            )
        return remedy

    @property
    def von_mises(self) -> VonMises:
        return OnSphere(self._d)

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series:
        return bessel_series(self._d / 2 - 1, [degree_label(V) for V in eigenspaces])  # by Funk and Hecke

    def zonal_sum(self, weighted: Weighted, X: Array, Y: Array) -> Array:
        cosines = np.clip(normalized(X) @ normalized(Y).T, -1.0, 1.0)
        return gegenbauer_sum(cosines, self._d, {degree_label(V): w * V.dim for V, w in weighted})

    def sample(self, n: int, random_state: Any = None) -> Array:
        n = whole_number(n, "n", 0)
        return normalized(as_generator(random_state).standard_normal((n, self._d)))

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        degree = degree_up_to(max_eigenvalue, self._d)
        total = float(2 * degree + 1) * float(degree + 1) ** (self._d - 2)
        require_memory(8.0 * 3 * total * self._d, f"a product rule of {total:.3g} points", "Lower max_eigenvalue.")
        angle = 2 * np.pi * (np.arange(2 * degree + 1) + 0.5) / (2 * degree + 1)
        X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        weights = np.full(len(angle), 1.0 / len(angle))
        for d in range(3, self._d + 1):
            t, w = gauss_gegenbauer(degree + 1, (d - 2) / 2)
            rho = np.sqrt((1 - t) * (1 + t))
            X = np.concatenate([(rho[:, None, None] * X).reshape(-1, d - 1), np.repeat(t, len(X))[:, None]], axis=1)
            weights = np.outer(w, weights).ravel()
        return X, weights


def degree_up_to(max_eigenvalue: float, d: int) -> int:
    """The largest k with k(k + d − 2) ≤ max_eigenvalue (relative tolerance 1e-9)."""
    half = (d - 2) / 2
    return int(np.floor(np.sqrt(half**2 + max_eigenvalue * (1 + 1e-9)) - half + 1e-9))


def gauss_gegenbauer(n: int, order: float) -> tuple[Array, Array]:
    """Gauss nodes for the weight (1 − t²)^{order − 1/2}, as a probability measure (Golub-Welsch)."""
    from scipy.linalg import eigh_tridiagonal

    t, vectors = eigh_tridiagonal(np.zeros(n), gegenbauer_recurrence(np.arange(1.0, n), order))
    return t, vectors[0] ** 2
