"""What a matrix, or a field, does to the symmetric products of the vectors it acts on.

The symmetric product Sym^n(V) has one unit vector for each multiset of n basis vectors of V. Taking one factor out,
J: Sym^n(V) → V ⊗ Sym^{n−1}(V), is an isometry with entries √(count/n). Hence Sym^n(M) = Jᵀ (M ⊗ Sym^{n−1}(M)) J, and
a field acts by the product rule, n Jᵀ (A ⊗ 1) J.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["multisets", "power_of_field", "power_of_matrix"]


def multisets(dim: int, n: int) -> list[tuple[int, ...]]:
    """The multisets of n of `dim` things, in the order of the unit vectors of Sym^n."""
    return list(combinations_with_replacement(range(dim), n))


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


def power_of_matrix(M: NDArray[Any], n: int) -> NDArray[Any]:
    """Sym^n(M), dense: orthogonal (or unitary) as M is.

    Examples
    --------
    >>> power_of_matrix(np.diag([1.0, -1.0]), 3).diagonal()
    array([ 1., -1.,  1., -1.])
    """
    found = M
    for k in range(2, n + 1):
        J = _one_out(len(M), k)
        # (M ⊗ S) J, one index of the tensor after the other.
        tensor = J.toarray().reshape(len(M), len(found), -1)
        moved = np.tensordot(M, np.tensordot(found, tensor, (1, 1)), (1, 1))
        found = J.T @ moved.reshape(J.shape)
    return found
