"""Waves on a flat torus: their values, and how isometries move them, in whatever order they are listed."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.functions._functions import Functions
from specavg.functions._integer_vectors import rows_in
from specavg.functions._trigonometric_sums import TrigonometricSums
from specavg.isometries import Affine, Isometry, SignedPermutation
from specavg.isometries.fields import Field, ShiftField
from specavg.spaces._space import Eigenspace, Space

__all__ = ["FlatTorus", "frequency_speeds", "product_grid"]


class FlatTorus(Space):
    """A torus with the functions √2 cos 2πk·u and √2 sin 2πk·u, u the point in periods, one pair for each ±k of Z^d.

    A subclass says which frequencies k an eigenspace has.
    """

    @property
    @abc.abstractmethod
    def period(self) -> NDArray[np.float64]:
        """Period of each coordinate of the points."""  # (d,)

    @abc.abstractmethod
    def _frequencies(self, eigenspace: Eigenspace) -> NDArray[np.int64]:
        """One of each pair ±k of the eigenspace, first non-zero entry positive."""  # (⌈m/2⌉, d)

    @property
    def dim(self) -> int:
        return len(self.period)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def frequencies(self, eigenspace: Eigenspace) -> NDArray[np.int64]:
        """One of each pair ±k with eigenvalue λ, first non-zero entry positive.

        Returns
        -------
        ndarray of shape (⌈m/2⌉, d)
        """
        require_memory(
            4.0 * 8 * eigenspace.dim * self.dim,
            f"listing {eigenspace.dim} frequencies in {self.dim} dimensions",
            "Lower the cutoff, or use a group whose invariants have a closed form.",
        )
        return self._frequencies(eigenspace)

    def _units(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X / self.period  # in periods

    def _evaluate(self, eigenspace: Eigenspace, X: NDArray[np.float64]) -> NDArray[np.float64]:
        K = self.frequencies(eigenspace)
        if eigenspace.eigenvalue == 0:
            return np.ones((len(X), 1))
        turns = self._units(X) @ K.T  # (n, m/2)
        turns -= np.rint(turns)
        turns *= 2 * np.pi
        return np.sqrt(2) * np.concatenate([np.cos(turns), np.sin(turns)], axis=1)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        from scipy.sparse import coo_array

        listed = [self.frequencies(V) for V in eigenspaces]
        K = np.concatenate([np.empty((0, self.dim), dtype=np.int64), *listed])
        rows: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)]
        end = 0
        for V, part in zip(eigenspaces, listed, strict=True):
            cosines = np.arange(end, end := end + len(part))
            rows += [cosines] if V.eigenvalue == 0 else [cosines, cosines + len(K)]
        row = np.concatenate(rows)
        values = np.where(K[row % max(len(K), 1)].any(axis=1), 1.0, np.sqrt(0.5))  # the constant is 1, not √2
        Q = coo_array((values, (row, np.arange(len(row)))), shape=(2 * len(K), len(row)))
        return TrigonometricSums(self.period, K, Q.tocsr())

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> NDArray[np.float64]:
        target, sign, phase, modulus = self.frequency_action(g, eigenspace)
        h = len(target)
        if eigenspace.eigenvalue == 0:
            return np.ones((1, 1))
        angle = 2 * np.pi * (phase / modulus).astype(float)
        column = np.arange(h)
        D = np.zeros((2 * h, 2 * h))
        D[target, column] = np.cos(angle)
        D[h + target, column] = -sign * np.sin(angle)
        D[target, h + column] = np.sin(angle)
        D[h + target, h + column] = sign * np.cos(angle)
        return D

    def frequency_action(
        self, g: Isometry, eigenspace: Eigenspace
    ) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[Any], int]:
        """How `g` moves exponentials: e_k(gx) = exp(2πi θ_k/N) e_{s_k k'}(x) with k' the row `target[k]`.

        Returns
        -------
        target : ndarray of int, shape (h,)
        sign : ndarray of ±1, shape (h,)
        phase : ndarray, shape (h,)
            θ_k: integers modulo N where the shift is exact, else floats modulo one.
        modulus : int
            N.
        """
        K = self.frequencies(eigenspace)
        if isinstance(g, SignedPermutation):
            moved = np.empty_like(K)
            moved[:, g.image_array] = K * g.signs_array.astype(np.int64)  # Aᵀk
            phase, modulus = np.zeros(len(K), dtype=np.int64), 1
        else:
            assert isinstance(g, Affine)
            moved = K @ g.matrix
            phase, modulus = _phases(K, g.shift)
        first = np.take_along_axis(moved, (moved != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
        sign = np.where(first < 0, -1, 1)
        target = rows_in(moved * sign[:, None], K)
        if (target < 0).any():
            raise ValueError(f"{g!r} does not permute the frequencies of {self!r}: it is not an isometry of it")
        return target, sign, phase, modulus

    def _infinitesimal(self, field: Field, eigenspace: Eigenspace) -> NDArray[np.float64]:
        # ξ cos 2πk·u = −2π(k·v) sin 2πk·u and ξ sin 2πk·u = 2π(k·v) cos 2πk·u.
        assert isinstance(field, ShiftField)
        if eigenspace.eigenvalue == 0:
            return np.zeros((1, 1))
        speed = 2 * np.pi * frequency_speeds(self.frequencies(eigenspace), field).astype(float)
        h, column = len(speed), np.arange(len(speed))
        dD = np.zeros((2 * h, 2 * h))
        dD[h + column, column] = -speed
        dD[column, h + column] = speed
        return dD

    def _membership_error(self, X: NDArray[np.float64]) -> None:
        return None


def product_grid(
    nodes: NDArray[np.intp], periods: NDArray[np.float64], start: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights of the product of equally spaced nodes, exact for waves below their number."""
    total = float(np.prod(nodes.astype(float)))
    require_memory(8.0 * 3 * total * len(nodes), f"a product grid of {total:.3g} points", "Lower max_eigenvalue.")
    axes = [(np.arange(count) / count + start) * p for count, p in zip(nodes, periods, strict=True)]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    return grid, np.full(len(grid), 1.0 / len(grid))


def frequency_speeds(K: NDArray[np.int64], field: ShiftField) -> NDArray[Any]:
    """k·v for each frequency k: exact numbers (Python's) where the velocity is exact, so that zero is zero."""
    if not field.is_exact:
        return K @ field.vector
    return K.astype(object) @ np.array(field.velocity, dtype=object)


def _phases(K: NDArray[np.int64], shift: tuple[Fraction | float, ...]) -> tuple[NDArray[Any], int]:
    """K·shift modulo one, as integers over a common denominator where the shift is exact."""
    exact = [t for t in shift if isinstance(t, Fraction)]
    if len(exact) < len(shift):
        return (K @ np.array([float(t) for t in shift])) % 1.0, 1
    modulus = lcm(*(t.denominator for t in exact))
    numerators = [int(t * modulus) for t in exact]
    largest = int(np.abs(K).max(initial=0)) * sum(numerators)
    kind = np.int64 if max(largest, modulus) < 2**62 else object  # Python's integers where 64 bits would overflow
    return (K.astype(kind) @ np.array(numerators, dtype=kind)) % modulus, modulus
