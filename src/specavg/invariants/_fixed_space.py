"""The common fixed vectors of orthogonal matrices, and null vectors of antisymmetric ones, certified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._config import require_memory
from specavg.groups import Group, Representation
from specavg.invariants._certified_null_space import (
    FixedSpace,
    common_null_space,
    entries_of,
    null_space,
    one_like,
    unpacked,
)
from specavg.invariants.solvers._orbits import orbits
from specavg.isometries import Orthogonal, SignedPermutation
from specavg.isometries._given_isometries import with_rotations_apart
from specavg.isometries._isometry import refuse_complex

ORTHOGONALITY_TOLERANCE = 1e-9  # largest |DᵀD − I|: products of many rotations are off by 1e-13
# Matrices of fewer rows, or with a larger part of nonzero entries, are dense: sparse products then take longer.
_SMALL = 128
_SPARSE = 0.05


def fixed_space(matrices: Sequence[Any], size: int | None = None) -> FixedSpace:
    """The vectors v with D v = v for every orthogonal matrix D, and A v = 0 for every antisymmetric matrix A.

    Parameters
    ----------
    matrices : sequence of array-like, sparse array or isometry
        Orthogonal m × m matrices: dense, SciPy sparse, `isometries.signed_permutation`, or a SciPy Rotation. If each is
        a signed permutation the answer comes from its orbits, exactly; otherwise from a certified numerical null space.
        An antisymmetric matrix A is taken as a field: the vectors that exp(tA) fixes for every t are those with
        A v = 0. A matrix that is both orthogonal and antisymmetric has neither fixed nor null vectors; the zero matrix
        is the field that moves nothing.
    size : int, optional
        m; needed only when `matrices` is empty.

    Returns
    -------
    FixedSpace

    Raises
    ------
    ValueError
        If a matrix is complex, has NaN or is neither orthogonal nor antisymmetric, or if the singular values leave the
        rank in doubt.

    Examples
    --------
    >>> import numpy as np
    >>> swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> found = fixed_space([swap])
    >>> found.dim, found.solver
    (1, 'orbits')
    >>> around_z = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> np.abs(fixed_space([around_z]).basis.ravel())
    array([0., 0., 1.])
    """
    if isinstance(matrices, Representation):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            "fixed_space takes matrices, and this is a representation of a group: give "
            "[image.matrix for image in representation.images]. Tensors that a group leaves alone, with names for "
            "their entries, are sa.invariant_tensors(group, 'ij=ji')"
        )
    if isinstance(matrices, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"fixed_space takes matrices, and {matrices!r} is a group: give [g.matrix for g in group.generators]. The "
            "functions that a group leaves alone are sa.invariant_basis(space, group, ...)"
        )
    matrices = with_rotations_apart(matrices)
    if not matrices:
        if size is None:
            raise ValueError("fixed_space of no matrices is the whole space: say its size, fixed_space([], size=m)")
        return FixedSpace(np.eye(size), "orbits", np.inf, 0.0)
    for i, matrix in enumerate(matrices):
        refuse_complex(matrix, f"matrix {i}")
    signed = [_as_signed_permutation(matrix) for matrix in matrices]
    sizes = {_size(matrix) for matrix in matrices}
    if len(sizes) > 1:
        raise ValueError(f"the matrices have different sizes: {sorted(sizes)}")
    m = sizes.pop()
    if size is not None and size != m:
        raise ValueError(f"size = {size}, but the matrices are {m} x {m}")
    known = [pair for pair in signed if pair is not None]
    if len(known) == len(signed):
        return _by_orbits(m, known)
    moving, fields = [], []
    for i, (matrix, exact) in enumerate(zip(matrices, signed, strict=True)):
        if exact is None:
            D = _packed(matrix)
            scale = None if isinstance(matrix, Orthogonal) else _field_scale(i, D)  # which was checked when it was made
            # How fast a field flows changes nothing: with its largest entry at one, rounding is small beside all of
            # them.
            (moving if scale is None else fields).append(D if scale is None else D / scale)
    if known:
        return _within(_by_orbits(m, known), moving, fields)
    if len(moving) + len(fields) > 1 and all(hasattr(D, "tocsr") for D in (*moving, *fields)):
        # The field of one circle falls into small blocks, where two together fall into few large ones.
        some = [fields.pop(0)] if fields else []
        return _within(null_space([] if some else [moving.pop(0)], some), moving, fields)
    return null_space(moving, fields)


def _within(first: FixedSpace, matrices: list[Any], fields: list[Any]) -> FixedSpace:
    """The part of a known fixed space that further matrices fix as well."""
    Q = first.basis
    found = common_null_space([D @ Q - Q for D in matrices] + [A @ Q for A in fields], len(Q))
    basis = Q @ found.basis
    return FixedSpace(basis, "null space", min(first.gap, found.gap), max(first.residual, found.residual))


def _field_scale(i: int, D: Any) -> float | None:
    """The largest entry of an antisymmetric matrix (1 for zero), None for an orthogonal one; an error for any other."""
    entries = entries_of(D)
    if not np.isfinite(entries).all():
        raise ValueError(f"matrix {i} has NaN or infinity: no null space can be certified")
    largest = float(np.abs(entries).max(initial=0.0))
    if _symmetric_part(D) <= ORTHOGONALITY_TOLERANCE * largest:
        return largest or 1.0
    deviation = float(np.abs(entries_of(D.T @ D - one_like(D))).max(initial=0.0))
    if deviation > ORTHOGONALITY_TOLERANCE:
        raise ValueError(
            f"matrix {i} is not orthogonal: max|DᵀD - I| = {deviation:.2g}, tolerance "
            f"{ORTHOGONALITY_TOLERANCE:.0e}, and not antisymmetric either. Only such matrices have a projector of "
            "this kind."
        )
    return None


def _symmetric_part(D: Any) -> float:
    """The largest entry of D + Dᵀ."""
    if not hasattr(D, "tocsr"):
        return float(np.abs(D + D.T).max(initial=0.0))
    T = D.T.tocsr()
    if np.array_equal(T.indptr, D.indptr) and np.array_equal(T.indices, D.indices):
        return float(np.abs(D.data + T.data).max(initial=0.0))  # a sum of sparse matrices takes ten times as long
    return float(np.abs((D + T).data).max(initial=0.0))


def _by_orbits(m: int, maps: list[tuple[NDArray[np.intp], NDArray[np.int64]]]) -> FixedSpace:
    found = orbits(m, [t for t, _ in maps], [p for _, p in maps], 2)
    require_memory(8.0 * m * found.count, f"{found.count} fixed vectors of length {m}", "Use the orbits directly.")
    alive = found.label >= 0
    basis = np.zeros((m, found.count))
    signs = 1.0 - 2.0 * found.phase[alive].astype(float)
    basis[np.flatnonzero(alive), found.label[alive]] = signs / np.sqrt(found.size[found.label[alive]])
    return FixedSpace(basis, "orbits", np.inf, 0.0)


def _size(matrix: Any) -> int:
    if isinstance(matrix, SignedPermutation | Orthogonal):
        return matrix.size
    shape = tuple(int(s) for s in matrix.shape) if hasattr(matrix, "shape") else np.shape(matrix)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"fixed_space needs square matrices; got shape {shape}")
    return shape[0]


def _packed(matrix: Any) -> Any:
    """A matrix as a dense array, or as a sparse one where nearly all entries are zero."""
    if isinstance(matrix, SignedPermutation | Orthogonal):
        return matrix.matrix
    m = _size(matrix)
    sparse = hasattr(matrix, "tocsr")
    if not sparse:
        matrix = np.asarray(matrix, dtype=float)
    if m < _SMALL or (matrix.nnz if sparse else np.count_nonzero(matrix)) > _SPARSE * m * m:
        require_memory(8.0 * m * m * 6, f"a dense {m} x {m} null-space problem", "Give sparse signed permutations.")
        return np.asarray(unpacked(matrix), dtype=float)
    from scipy.sparse import csr_array

    if sparse:
        return csr_array(matrix, dtype=float)
    place = np.flatnonzero(matrix != 0)  # of Booleans: five times as fast as of numbers
    starts = np.searchsorted(place, np.arange(m + 1) * m)
    return csr_array((matrix.ravel()[place], place % m, starts), shape=(m, m))


def _as_signed_permutation(matrix: Any) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
    """(target, sign bit) of each unit vector, where D sends e_k to ±e_target; None for other matrices."""
    if isinstance(matrix, SignedPermutation):
        # (gx)[i] = sign[i] x[image[i]]: e_k goes to the i with image[i] = k. `inverse()` would build Python tuples.
        target, sign = np.empty(matrix.size, dtype=np.intp), np.empty(matrix.size, dtype=np.int64)
        target[matrix.image_array], sign[matrix.image_array] = np.arange(matrix.size), matrix.signs_array < 0
        return target, sign
    if isinstance(matrix, Orthogonal):
        return None
    m = _size(matrix)
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        row, column, value = entries.row, entries.col, np.asarray(entries.data, dtype=float)
        row, column, value = row[value != 0], column[value != 0], value[value != 0]
    else:
        array = np.asarray(matrix, dtype=float)
        if np.count_nonzero(array) != m:
            return None
        row, column = np.nonzero(array)
        value = array[row, column]
    if len(row) != m or np.any(np.abs(value) != 1) or len(np.unique(row)) != m or len(np.unique(column)) != m:
        return None
    target = np.empty(m, dtype=np.intp)
    sign = np.empty(m, dtype=np.int64)
    target[column], sign[column] = row, value < 0
    return target, sign
