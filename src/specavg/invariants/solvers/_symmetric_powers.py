"""How a matrix, or a field, moves the symmetric products of the vectors that it acts on.

The symmetric product Sym^n(V) has one unit vector for each multiset of n basis vectors of V. Taking one factor out,
J: Sym^n(V) → V ⊗ Sym^{n−1}(V), is an isometry with entries √(count/n). Hence Sym^n(M) = Jᵀ (M ⊗ Sym^{n−1}(M)) J, and
a field acts by the product rule, n Jᵀ (A ⊗ 1) J.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations_with_replacement
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array


def multisets(dim: int, n: int) -> list[tuple[int, ...]]:
    """The multisets of n of `dim` things, in the order of the unit vectors of Sym^n."""
    return list(combinations_with_replacement(range(dim), n))


def multiset_array(dim: int, n: int) -> NDArray[np.intp]:
    """`multisets` as the rows of an array."""
    flat = chain.from_iterable(combinations_with_replacement(range(dim), n))
    return np.fromiter(flat, dtype=np.intp, count=n * comb(dim + n - 1, n)).reshape(-1, n)


# Numbers of a tensor that are moved at a time: types of 16 directions under O took 1.06, 1.28, 1.41 s with 2^16, 2^18
# and 2^20.
_HELD = 2**16


@lru_cache(maxsize=256)
def _one_out(dim: int, n: int) -> Any:
    """J, sparse."""  # (dim · |Sym^{n−1}|, |Sym^n|)
    from scipy.sparse import csr_array

    rest = {multiset: i for i, multiset in enumerate(multisets(dim, n - 1))}
    rows, columns, values = [], [], []
    whole = multisets(dim, n)
    for column, multiset in enumerate(whole):
        for a in set(multiset):
            i = multiset.index(a)
            rows.append(a * len(rest) + rest[multiset[:i] + multiset[i + 1 :]])
            columns.append(column)
            values.append(np.sqrt(multiset.count(a) / n))
    return csr_array((values, (rows, columns)), shape=(dim * len(rest), len(whole)))


def power_of_field(A: NDArray[Any], n: int) -> Any:
    """A field on Sym^n, sparse: antisymmetric (or anti-Hermitian) as A is.

    Examples
    --------
    >>> power_of_field(np.array([[0.0, -1.0], [1.0, 0.0]]), 2).toarray().round(3)
    array([[ 0.   , -1.414,  0.   ],
           [ 1.414,  0.   , -1.414],
           [ 0.   ,  1.414,  0.   ]])
    """
    from scipy.sparse import csr_array, eye_array, kron

    if n == 1:
        return csr_array(A)
    J = _one_out(len(A), n)
    return (n * (J.T @ (kron(csr_array(A), eye_array(J.shape[0] // len(A)), format="csr") @ J))).tocsr()


def applied_power(M: NDArray[Any], n: int, X: NDArray[Any]) -> NDArray[Any]:
    """Sym^n(M) X, without the matrix Sym^n(M).

    One factor after another is taken out, moved, and joined to those that were moved before, so that vectors of
    Sym^{n−j}(V) ⊗ Sym^j(V) are held and never a tensor of all n factors.

    Examples
    --------
    >>> applied_power(np.diag([1.0, -1.0]), 3, np.eye(4)).diagonal()
    array([ 1., -1.,  1., -1.])
    """  # (d, d), (|Sym^n|, k) -> (|Sym^n|, k)
    if n == 1:
        return M @ X
    step = max(1, _HELD // widest_in_powers(len(M), n))
    if X.shape[1] > step:
        parts = [applied_power(M, n, X[:, start : start + step]) for start in range(0, X.shape[1], step)]
        return np.concatenate(parts, axis=1)
    d, k, tensor = len(M), X.shape[1], X
    for j in range(n):
        left, moved = comb(d + n - j - 2, d - 1), comb(d + j - 1, d - 1)
        tensor = M @ (_one_out(d, n - j) @ tensor).reshape(d, -1)
        tensor = tensor.reshape(d, left, moved, k).transpose(0, 2, 1, 3).reshape(d * moved, left * k)
        tensor = (_one_out(d, j + 1).T @ tensor).reshape(-1, left, k).transpose(1, 0, 2).reshape(left, -1)
    return tensor.reshape(X.shape)


def widest_in_powers(dim: int, n: int) -> int:
    """How many numbers `applied_power` makes of one vector, at the widest of its n steps."""
    return max(dim * comb(dim + n - j - 2, dim - 1) * comb(dim + j - 1, dim - 1) for j in range(n))


def bytes_of_powers(dim: int, n: int) -> float:
    """The working memory of `applied_power` beside its argument: four complex arrays."""
    return 0.0 if n == 1 else 64.0 * max(_HELD, widest_in_powers(dim, n))


def in_symmetric_powers(tensor: Array, powers: Sequence[tuple[int, int]]) -> Array:
    """A tensor that is symmetric in each run of n equal factors, in the unit vectors of ⊗ Sym^n(V).

    Parameters
    ----------
    tensor : ndarray
        With a dimension for each factor.
    powers : sequence of (int, int)
        The dimension of V, and n, of each run.

    Examples
    --------
    >>> in_symmetric_powers(np.array([[1.0, 2.0], [2.0, 3.0]]), [(2, 2)]).round(4)
    array([1.    , 2.8284, 3.    ])
    """
    for place, (dim, n) in enumerate(powers):
        if n == 1:
            continue
        parts = multiset_array(dim, n)
        # Of the n! orders of a multiset, those that exchange equal things are one: n! / ∏ (how often each occurs)!
        occurrence = np.ones(len(parts))
        run = np.ones(len(parts))
        for i in range(1, n):
            run = np.where(parts[:, i] == parts[:, i - 1], run + 1, 1)
            occurrence *= run
        tensor = tensor[(*(slice(None),) * place, *parts.T)]
        orders = np.sqrt(factorial(n) / occurrence)
        tensor = tensor * orders.reshape(-1, *(1,) * (tensor.ndim - 1 - place))
    return np.ascontiguousarray(tensor).reshape(-1)
