"""Functions of one coordinate, or of one copy, at a time: what tells the parts of a point apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.estimators._finer_detail import first_eigenspaces
from specavg.spaces import Space, Sphere


@final
@dataclass(frozen=True, eq=False)
class OnePartFunctions:
    """The same few functions of every part of a point; a permutation of the parts permutes them.

    Attributes
    ----------
    parts : int
        m, the number of coordinates or copies.
    levels : ndarray of shape (k,)
        The degree of each function, from 1 on.
    evaluate : callable
        Points of shape (n, n_features) to values of shape (n, m, k).
    """

    parts: int
    levels: NDArray[np.intp]
    evaluate: Callable[[Array], Array]

    def of_levels(self, chosen: Sequence[int]) -> OnePartFunctions:
        """The functions of some degrees, which are counted from 1 on again."""
        kept = np.isin(self.levels, chosen)
        levels = 1 + np.searchsorted(np.sort(chosen), self.levels[kept])
        return OnePartFunctions(self.parts, np.asarray(levels), lambda X: self.evaluate(X)[:, :, kept])

    def by_level(self, X: Array) -> Array:
        """Values at n points, those of the first degree first."""  # (n, m * k)
        return np.moveaxis(self.evaluate(X), 2, 1).reshape(len(X), -1)  # levels ascend


def one_part_functions(space: Space, most: int) -> OnePartFunctions | None:
    """Functions of single parts of a space whose parts can be permuted, at most `most` in all; else None.

    Circles have waves, the coordinates of a sphere the zonal harmonics around their axes, and copies of a space its
    eigenfunctions.

    Examples
    --------
    >>> import specavg as sa
    >>> functions = one_part_functions(sa.Torus(20), most=80)
    >>> functions.levels
    array([1, 1, 2, 2])
    """
    if space.one_part is not None:
        return _of_parts(space.one_part, space.n_features // space.one_part.n_features, most)
    if isinstance(space, Sphere):  # the only space whose coordinates are permuted and are no spaces of their own
        d = space.shape[0]
        count = most // d
        if count < 1:
            return None
        return OnePartFunctions(d, np.arange(1, count + 1), lambda X: _zonal(X, count))
    return None


def with_pairs(functions: OnePartFunctions, blocks: Sequence[Sequence[int]]) -> OnePartFunctions:
    """Functions of single parts, and products φ_a(x_i) Σ_j φ_c(x_j) of level 1 with sums over the others j of a block.

    A permutation that keeps the blocks permutes these functions as it permutes the parts.

    Examples
    --------
    >>> import specavg as sa
    >>> pairs = with_pairs(one_part_functions(sa.Torus(4), most=8), [[0, 1], [2, 3]])
    >>> pairs.levels, pairs.evaluate(sa.Torus(4).sample(5, random_state=0)).shape
    (array([1, 1, 2, 2, 2, 2, 2, 2, 2, 2]), (5, 4, 10))
    """
    first = np.flatnonzero(functions.levels == 1)
    member = np.zeros((len(blocks), functions.parts))
    for b, block in enumerate(blocks):
        member[b, block] = 1

    def evaluate(X: Array) -> Array:
        values = functions.evaluate(X)
        one = values[:, :, first]  # (n, m, a)
        sums = np.einsum("bi,nic->nbc", member, one)[:, None] - member.T[:, :, None] * one[:, :, None]  # (n, m, b, c)
        scale = np.sqrt(np.maximum(member.sum(axis=1) - member.T, 1))  # (m, b): others in the block
        products = one[:, :, :, None, None] * (sums / scale[:, :, None])[:, :, None]
        return np.concatenate([values, products.reshape(*values.shape[:2], -1)], axis=2)

    more = np.full(len(first) ** 2 * len(blocks), functions.levels.max() + 1)
    return OnePartFunctions(functions.parts, np.concatenate([functions.levels, more]), evaluate)


def _of_parts(part: Space, m: int, most: int) -> OnePartFunctions | None:
    eigenspaces = first_eigenspaces(part, most // m)
    if not eigenspaces:
        return None
    functions = part.functions(eigenspaces)
    levels = np.repeat(np.arange(1, len(eigenspaces) + 1), [V.dim for V in eigenspaces])

    def evaluate(X: Array) -> Array:
        return functions.evaluate(X.reshape(-1, part.n_features)).reshape(len(X), m, len(levels))

    return OnePartFunctions(m, levels, evaluate)


def _zonal(X: Array, count: int) -> Array:
    """Harmonics of degrees 1 to `count` around each axis, of mean square one."""  # (n, d) -> (n, d, count)
    from scipy.special import eval_gegenbauer, gammaln

    d = X.shape[1]
    a = d / 2 - 1  # Gegenbauer's index
    k = np.arange(1, count + 1)
    # ∫ C_k² = a/(k+a) · C_k(1) under the uniform measure, and C_k(1) = Γ(k+2a)/(k! Γ(2a)).
    square = np.exp(gammaln(k + 2 * a) - gammaln(k + 1) - gammaln(2 * a)) * a / (k + a)
    return eval_gegenbauer(k, a, X[:, :, None]) / np.sqrt(square)
