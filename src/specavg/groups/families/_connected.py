"""Continuous groups without generators, and O(d): rotations, shifts of a torus, one flow, semisimple Lie algebras."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.groups._structure import Continuous
from specavg.isometries import Isometry, orthogonal
from specavg.isometries._affine import affine_map
from specavg.isometries.fields import Field


@final
@dataclass(frozen=True)
class OrthogonalGroup(Continuous):
    """O(d) on `size` = d coordinates, or SO(d) if `special`."""

    size: int
    special: bool

    @property
    def order(self) -> int | float:
        return math.inf if self.size > 1 else (1 if self.special else 2)

    def random(self, rng: np.random.Generator) -> Isometry:
        """Haar: the orthogonal factor of a Gaussian matrix, with the signs that make it unique."""
        Q, R = np.linalg.qr(rng.standard_normal((self.size, self.size)))
        Q *= np.where(np.diag(R) < 0, -1.0, 1.0)
        if self.special and np.linalg.det(Q) < 0:
            Q[:, 0] = -Q[:, 0]
        return orthogonal(Q)


# Each step keeps at most 1/3 of what is not uniform (see the class), and up to 0.01 more where steps are not long
# enough: 0.34^36 = 1e-17.
_STEPS = 36
# The variance of a step, times the dimension of the algebra, in units of the Killing form. On SO(3) the angle of a step
# is then of the order of 17 radians, and a weight 1 that does not average out keeps exp(−17²/6) of itself.
_VARIANCE = 100.0


@final
@dataclass(frozen=True)
class ShiftGroup(Continuous):
    """x ↦ x + Σ t_i v_i for real t_i and integer vectors v_i, the `directions`: a closed torus of shifts."""

    directions: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many coordinates the group acts on."""
        return len(self.directions[0])

    def random(self, rng: np.random.Generator) -> Isometry:
        # t ↦ Σ t_i v_i is a homomorphism from the torus of all t onto the group: it takes uniform to uniform.
        # The times are dyadic fractions, so that the shift is along the directions exactly.
        times = [Fraction(int(k), 2**53) for k in rng.integers(2**53, size=len(self.directions))]
        moved = [
            sum((t * v[i] for t, v in zip(times, self.directions, strict=True)), Fraction(0)) for i in range(self.size)
        ]
        return affine_map(np.eye(self.size, dtype=np.int64), moved)


@final
@dataclass(frozen=True)
class CircleSubgroup(Continuous):
    """exp(t·field) for all t, of which `period` is a period."""

    field: Field
    period: float

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return self.field.size

    @property
    def fields(self) -> tuple[Field, ...]:
        """The one field, in a tuple."""
        return (self.field,)

    def random(self, rng: np.random.Generator) -> Isometry:
        return self.field.flow(self.period * rng.random())


@final
@dataclass(frozen=True)
class Semisimple(Continuous):
    """The connected group of a semisimple Lie algebra, of which `fields` are a basis: SU(2), SO(3) acting in any way.

    A uniform element is a product of independent steps exp(X), where X is Gaussian with the Killing form as its inverse
    covariance. That law does not change under conjugation, so on an irreducible representation π its mean is a
    number c times the identity: the share of functions that X leaves alone, and that is the share of weight zero where
    steps are long. Raising operators of the simple roots take the weight zero into their own weights without
    losing anything, for every choice of simple roots. With h the Coxeter number, at least 2, there are h times as many
    roots as simple ones, of each length, so that c ≤ 1/(1 + h) ≤ 1/3 unless π is trivial.

    An algebra of three dimensions is that of SU(2), where one step is enough: a uniform unit quaternion is a rotation
    by the angle 2 arccos(w) about a uniform axis.
    """

    fields: tuple[Field, ...]

    @property
    def size(self) -> int:
        """How many parts the group acts on."""
        return self.fields[0].size

    @cached_property
    def _units(self) -> Array:
        """Takes coordinates in which the Killing form is −1 to the coefficients of a field."""  # (p, p)
        values, vectors = np.linalg.eigh(-killing_form(self.fields))
        return vectors / np.sqrt(values)

    @property
    def _spread(self) -> Array:
        """Takes independent Gaussian numbers to the coefficients of a step."""  # (p, p)
        return self._units * np.sqrt(_VARIANCE * len(self.fields))

    def random(self, rng: np.random.Generator) -> Isometry:
        if len(self.fields) == 3:
            w, *axis = rng.standard_normal(4)
            angle = 2 * math.atan2(np.linalg.norm(axis), w)
            # A unit of the Killing form turns by 1/√2 of a radian.
            turn = self._units @ (math.sqrt(2) * angle * np.array(axis) / np.linalg.norm(axis))
            return combination(turn, self.fields).flow(1.0)
        steps = rng.standard_normal((_STEPS, len(self.fields))) @ self._spread.T
        return reduce(lambda g, h: g @ h, (combination(step, self.fields).flow(1.0) for step in steps))


def combination(coefficients: Array, fields: tuple[Field, ...]) -> Field:
    """Σ c_i ξ_i."""
    return reduce(lambda f, h: f + h, (float(c) * f for c, f in zip(coefficients, fields, strict=True)))


def killing_form(fields: tuple[Field, ...]) -> Array:
    """Traces of ad(ξ_i) ad(ξ_j) for a basis of a Lie algebra: zero on its centre, negative on the rest."""  # (p, p)
    basis = np.stack([f.vector for f in fields], axis=1)
    inverse = np.linalg.pinv(basis)
    ad = np.stack([inverse @ np.stack([f.bracket(h).vector for h in fields], axis=1) for f in fields])
    return np.einsum("iab,jba->ij", ad, ad)
