"""Subalgebras that turn several planes, or several parts, together: found from the fields that move a function least.

The eigenvectors of small eigenvalue of the form ⟨ξf, ηf⟩ span the fields that leave f alone, up to noise. Their span
is not quite closed under brackets, and the planes of a field do not quite turn with speeds of integer ratios, without
which its flow fills a larger group. So the span is moved to the nearest subalgebra, and the speeds to integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import gcd
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.discovery._subalgebras import AlgebraParts, Subalgebra

_STILL = 0.1  # of the mean of the form: noise as large as 0.3 of the function left the fields of a symmetry below 0.05
_SPEEDS, _MOST_PLANES = 3, 5  # the fields of a circle: 4⁵ combinations of speeds at most
_TURNED = 0.3  # radians to what is near: speeds (1, 1) and (2, 1) are 0.32 apart
_CLOSED = 1e-12  # brackets round to 1e-15, and a group takes two fields that are 1e-9 apart for different ones
_ROUNDS = 30  # steps of Newton's method at most: near a subalgebra each doubles the digits
MOST_FIELDS = 10  # those of SO(5): each candidate is moved to the data in nearly as many directions
_MOVED = (
    1e-6  # of a field in each derivative; and singular values below it are zero, as those of integers are or near 1
)


@final
@dataclass(frozen=True, eq=False)
class LinkedSubalgebras:
    """Candidates among the fields of all parts of rotations of an algebra."""

    parts: AlgebraParts

    @cached_property
    def places(self) -> list[int]:
        """Where the fields of rotation are in the basis of the algebra."""
        return [i for part in self.parts.rotations for i in part.places]

    @cached_property
    def _frame(self) -> Array:
        """Columns: orthonormal fields, in the basis of the algebra."""  # (r, s)
        vectors = np.stack([self.parts.basis[i].vector for i in self.places], axis=1)
        frame = np.zeros((len(self.parts.basis), len(self.places)))
        frame[self.places] = np.linalg.inv(np.linalg.qr(vectors)[1])
        return frame

    @cached_property
    def _brackets(self) -> Array:
        """The coordinates of [e_i, e_j] for the orthonormal fields e."""  # (s, s, s)
        fields = [self.parts.basis[i] for i in self.places]
        vectors = np.stack([f.vector for f in fields], axis=1)
        found = np.stack([[a.bracket(b).vector for b in fields] for a in fields])  # (s, s, p)
        inner = self._frame[self.places]
        back = np.linalg.pinv(vectors @ inner)
        return np.einsum("kp,abp,ai,bj->ijk", back, found, inner, inner, optimize=True)

    @property
    def unsearched(self) -> str:
        """Which fields are in no candidate, in words; empty where every subalgebra is one, as of SO(3) or of shifts."""
        rotations = self.parts.rotations
        missing: list[str] = []
        if len(rotations) > 1 or any(part.size > 3 for part in rotations):
            if len(self.places) <= MOST_FIELDS:
                found = "single ones of speeds up to 3, and semisimple algebras"
            else:
                found = f"none, for the group has {len(self.places)} fields, more than {MOST_FIELDS}"
            missing.append(f"of those that turn several planes or parts together, {found}")
        if rotations and self.parts.abelian:
            missing.append("of those that turn and shift together, none")
        return "; ".join(missing)

    def candidates(self, form: Array) -> Iterator[Subalgebra]:
        """Linked subalgebras near the fields that move the function least."""
        s = len(self.places)
        if not self.unsearched or not 3 < s <= MOST_FIELDS:
            return
        values, vectors = np.linalg.eigh(self._frame.T @ form @ self._frame)
        still = int(np.sum(values < _STILL * values.mean()))
        if still:
            yield from map(self._of, self._circles(vectors[:, :1]))
        for k in range(3, min(still, s - 1) + 1):
            closed = self._closed(vectors[:, :k])
            if closed is not None:
                yield self._of(closed)

    def directions(self, algebra: Subalgebra) -> Array:
        """Orthonormal fields that move a subalgebra: those at right angles to its normaliser."""  # (s, moves)
        return self._movers(self._inside(algebra))

    def moved(self, algebra: Subalgebra, directions: Array, t: Array) -> Subalgebra:
        """What the flow of a combination of fields makes of a subalgebra."""
        from scipy.linalg import expm

        flow = expm(np.einsum("i,ijk->kj", directions @ t, self._brackets))
        return Subalgebra(self._frame @ flow @ self._inside(algebra), (), (), algebra.moves)

    def _inside(self, algebra: Subalgebra) -> Array:
        found = np.linalg.lstsq(self._frame, np.asarray(algebra.C, dtype=float))[0]
        return np.asarray(found, dtype=np.float64)

    def _of(self, H: Array) -> Subalgebra:
        return Subalgebra(self._frame @ H, (), (), self._movers(H).shape[1])

    def _movers(self, H: Array) -> Array:
        Q = np.linalg.qr(H)[0]
        moved = np.einsum("ijk,ja->iak", self._brackets, Q)
        outside = (moved - moved @ Q @ Q.T).reshape(len(moved), -1)
        vectors, values, _ = np.linalg.svd(outside)
        return vectors[:, : int(np.sum(values > _MOVED))]

    def _circles(self, h: Array) -> Iterator[Array]:
        """Fields near h whose planes turn with integer speeds, not all but one of them zero."""
        C = (self._frame @ h)[:, 0]
        turns: list[tuple[int, Array, Array]] = []
        for n, part in enumerate(self.parts.rotations):
            S = np.einsum("i,iab->ab", C[list(part.places)], part.matrices)
            values, vectors = np.linalg.eigh(1j * S)
            turns += [(n, values[-j], vectors[:, -j]) for j in range(1, part.size // 2 + 1)]
        if len(turns) > _MOST_PLANES:
            return
        speeds = np.array([speed for _, speed, _ in turns])
        integers = [
            n for n in product(range(_SPEEDS + 1), repeat=len(turns)) if gcd(*n) == 1 and np.count_nonzero(n) > 1
        ]
        lengths = np.linalg.norm(np.array(integers, dtype=float), axis=1)
        cosines = np.array(integers) @ speeds / (lengths * np.linalg.norm(speeds))
        for k in np.argsort(-cosines)[:3]:
            if cosines[k] < np.cos(_TURNED):
                return
            found = np.zeros(len(self.parts.basis))
            for p, part in enumerate(self.parts.rotations):
                S = np.zeros((part.size, part.size))
                for (q, _, u), n in zip(turns, integers[k], strict=True):
                    S += 2 * n * (q == p) * np.outer(u, u.conj()).imag
                flat = part.matrices.reshape(len(part.places), -1).T
                found[list(part.places)] = np.linalg.lstsq(flat, S.ravel())[0]
            yield np.asarray(np.linalg.lstsq(self._frame, found)[0][:, None], dtype=np.float64)

    def _closed(self, H: Array) -> Array | None:
        """The semisimple subalgebra near the span of H; None where there is none."""
        s, k = H.shape
        pairs = np.triu_indices(k, 1)

        def outside(H: Array) -> Array:
            B = np.einsum("ijk,ia,jb->abk", self._brackets, H, H, optimize=True)[pairs]
            Q = np.linalg.qr(H)[0]
            return B - B @ Q @ Q.T

        Q = H
        for _ in range(_ROUNDS):
            left = outside(Q)
            if np.abs(left).max() < _CLOSED:
                B = np.einsum("ijk,ia,jb->abk", self._brackets, Q, Q, optimize=True)[pairs]
                near = np.linalg.svd(Q.T @ H)[1].min() > np.cos(_TURNED)
                return Q if near and np.linalg.matrix_rank(B, tol=_MOVED) == k else None
            beside = np.linalg.svd(Q)[0][:, k:]
            steps: list[Array] = []
            for a, b in product(range(s - k), range(k)):
                moved = Q.copy()
                moved[:, b] += _MOVED * beside[:, a]
                steps.append((outside(moved) - left).ravel() / _MOVED)
            step = np.linalg.lstsq(np.stack(steps, axis=1), -left.ravel(), rcond=1e-3)[0]
            Q = np.linalg.qr(Q + beside @ step.reshape(s - k, k))[0]
        return None
