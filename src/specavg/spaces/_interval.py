"""The interval: Chebyshev polynomials, for coordinates that are not periodic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, final

import numpy as np

from specavg._arrays import Array, with_fractions
from specavg._messages import shown, whole_number
from specavg._random import as_generator
from specavg.functions._bessel_series import Series, bessel_series
from specavg.functions._functions import Functions
from specavg.functions._one_coordinate import chebyshev_polynomials
from specavg.isometries import Isometry, SignedPermutation, flatten
from specavg.spaces._eigenspace import Eigenspace, degree_label
from specavg.spaces._order_of_functions import Order
from specavg.spaces._space import Space


@final
class Interval(Space):
    """The interval [low, high] with Chebyshev polynomials: the circle modulo its reflection.

    Parameters
    ----------
    low, high : float, default −1 and 1
        The ends; texts such as "1/3" are taken too. Points outside are refused.

    Notes
    -----
    x = centre + half·cos θ, and functions of x are the even functions of the angle θ: 1 and √2 cos kθ = √2 T_k,
    orthonormal under the arcsine measure (θ uniform), with eigenvalue k². There is no kink at the ends, and smooth
    functions that are not periodic have coefficients that decrease fast. The points are not all alike: Σφ² is no
    constant. Isometries are the identity and the reflection x ↦ low + high − x, written
    ``isometries.signed_permutation([0], [-1])``. `Power(Interval(), m)` is a box; with order="degree" and a group of
    permutations its invariants are the permutationally invariant polynomials of chemistry.

    Examples
    --------
    >>> from itertools import islice
    >>> space = Interval(0.0, 2.0)
    >>> [(V.eigenvalue, V.dim) for V in islice(space.eigenspaces(), 4)]
    [(0.0, 1), (1.0, 1), (4.0, 1), (9.0, 1)]
    >>> V = next(islice(space.eigenspaces(), 2, None))
    >>> space.evaluate(V, [[0.0], [1.0], [2.0]]).round(4).ravel()  # √2 T_2 at −1, 0 and 1
    array([ 1.4142, -1.4142,  1.4142])
    """

    def __init__(self, low: float | str = -1.0, high: float | str = 1.0) -> None:
        if np.ndim(low) or np.ndim(high):
            raise ValueError(_one_for_each_column(low, high))
        low, high = float(with_fractions(low)), float(with_fractions(high))
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError(f"Interval needs finite ends low < high; got {low!r} and {high!r}")
        self._low, self._high = self._key = (low, high)
        self._centre, self._half = low / 2 + high / 2, high / 2 - low / 2
        if not self._half > 0:
            raise ValueError(f"Interval({low!r}, {high!r}) has no width that floating-point numbers can tell from 0")

    @property
    def low(self) -> float:
        """The lower end."""
        return self._low

    @property
    def high(self) -> float:
        """The upper end."""
        return self._high

    @property
    def dim(self) -> int:
        return 1

    @property
    def volume(self) -> float:
        return float(np.pi)  # of the angles from 0 to π

    @property
    def shape(self) -> tuple[int, ...]:
        return (1,)

    def __repr__(self) -> str:
        return "Interval()" if (self._low, self._high) == (-1.0, 1.0) else f"Interval({self._low!r}, {self._high!r})"

    def eigenspaces(self) -> Iterator[Eigenspace]:
        return (Eigenspace(float(k * k), 1, k) for k in count())

    def degree(self, eigenspace: Eigenspace) -> int:
        return degree_label(eigenspace)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        return chebyshev_polynomials(self._centre, self._half, [self.degree(V) for V in eigenspaces])

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        return self.functions([eigenspace]).values(X)

    def check_isometry(self, g: Isometry) -> Isometry:
        g = flatten(g)
        if not isinstance(g, SignedPermutation) or g.size != 1:
            raise ValueError(
                f"{g!r} does not act on {self!r}: an interval has the identity and the reflection "
                "isometries.signed_permutation([0], [-1]) only."
            )
        return g

    def columns_follow(self, g: Isometry) -> bool:
        return g.is_identity or self._low == -self._high

    def _act(self, g: Isometry, X: Array) -> Array:
        return X if g.is_identity else (self._low + self._high) - X

    def _differential(self, g: Isometry) -> Array:
        return np.eye(1) if g.is_identity else -np.eye(1)

    def tangents(self, X: Array) -> Array:
        return np.broadcast_to(np.eye(self.dim), (len(X), self.dim, self.dim))

    def squared_lengths(self, X: Array, gradients: Array) -> Array:
        return (self._half**2 - (X - self._centre) ** 2) * gradients[..., 0] ** 2  # by the angle: dx/dθ = half·sin θ

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> Array:
        return np.full((1, 1), 1.0 if g.is_identity or self.degree(eigenspace) % 2 == 0 else -1.0)

    def _membership_error(self, X: Array) -> Array:
        return np.maximum(np.abs(X[:, 0] - self._centre) / self._half - 1.0, 0.0)  # in half widths

    def _membership_unit(self, point: Array) -> float:
        return self._half

    def _remedy(self, points: Array) -> str:
        return (
            f"It goes from {self._low:.6g} to {self._high:.6g}, and its column from {points.min():.6g} to "
            f"{points.max():.6g}: widen the interval so that it holds all points, those to be predicted too. "
            "A scaler to its ends needs to clip: MinMaxScaler(clip=True)."
        )

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series:
        return bessel_series(0.0, [self.degree(V) for V in eigenspaces])  # of the angle, averaged over its reflection

    def sample(self, n: int, random_state: Any = None) -> Array:
        """`n` independent points of the arcsine measure."""
        n = whole_number(n, "n", 0)
        angle = np.pi * as_generator(random_state).random((n, 1))
        return np.clip(self._centre + self._half * np.cos(angle), self._low, self._high)

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        nodes = int(np.sqrt(max_eigenvalue) * (1 + 1e-9)) + 1  # exact up to degree 2·nodes − 1
        angle = np.pi * (np.arange(nodes) + 0.5) / nodes
        return (self._centre + self._half * np.cos(angle))[:, None], np.full(nodes, 1.0 / nodes)


def _one_for_each_column(low: Any, high: Any) -> str:
    """The message about ends of several intervals."""
    message = "Interval takes two numbers, low and high"
    if np.ndim(low) != 1 or np.shape(low) != np.shape(high):
        return f"{message}; got {shown(low)} and {shown(high)}"
    ends = zip(np.asarray(low).tolist(), np.asarray(high).tolist(), strict=True)
    each = [f"Interval({a}, {b})" for a, b in ends]
    if len(set(each)) == 1:
        return f"{message}, for one column. A box with the same ends in all columns is Power({each[0]}, {len(each)})"
    return f"{message}, for one column. A box has one interval for each column: Product({', '.join(each)})"
