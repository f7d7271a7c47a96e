"""The irreducible types of O(n) as real orthogonal matrices, built one box at a time.

A type λ lies once in μ ⊗ Rⁿ, μ being λ without the last box of its last row, and there it is an eigenspace of the
coupling Σ ρ_μ(E_ij) ⊗ E_ij. Eigenvalues of the coupling are integers (contents of boxes), so the eigenspace is one
or more apart from the others, and its dimension is known exactly: nothing is left to a tolerance.

Every basis vector is even or odd in each coordinate, as a product of coordinates is. The coupling keeps these parities
and a rotation in the plane (i, j) changes just two of them, so that every matrix here falls apart in small blocks:
types of several thousand dimensions are built from eigenproblems of a few dozen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._config import require_memory
from specavg._random import OWN_SEED
from specavg.spaces._orthogonal_types import Partition, associate, type_dim

_WORKING_SET = 1 << 20  # numbers held for a chunk of points: 8 MB, as much as a cache holds
_DENSE = 64  # rows: up to here products of dense matrices are faster than those of sparse ones


@final
@dataclass(frozen=True, eq=False)
class Irrep:
    """One type of O(n): ρ(E_ij) for the turns in the coordinate planes, and the parities of the basis vectors.

    Only types with at most n/2 rows are built; the others are these times the determinant.
    """

    shape: Partition
    n: int
    generators: dict[tuple[int, int], Any] = field(repr=False)  # sparse (m, m) each, antisymmetric
    odd: NDArray[np.bool_] = field(repr=False)  # (m, n): in which coordinates each vector is odd

    @property
    def dim(self) -> int:
        """The dimension m."""
        return len(self.odd)

    def fixed_vectors(self, k: int, count: int, *, det: bool) -> Array:
        """Orthonormal vectors fixed by O(n − k) on the last coordinates, or multiplied by its determinant."""
        # Reflections leave vectors that are even in the last coordinates (with det: odd in all of them). On these the
        # Casimir operator of so(n − k) has integer eigenvalues, the smallest above 0 at least 1.
        parts: list[_Part] = []
        for start, stop in _runs(self.odd):
            if (self.odd[start, k:] == det).all():
                casimir = np.zeros((stop - start, stop - start))
                for i, j in combinations(range(k, self.n), 2):
                    moved = self.generators[i, j][start:stop]
                    casimir += (moved @ moved.T).toarray()  # −E², E being antisymmetric
                what = f"the vectors of {self.shape} fixed by O({self.n - k})"
                parts.append((np.arange(start, stop), _eigenspace(casimir, 0.0, what)))
        fixed = _stacked(self.dim, parts).toarray()
        if fixed.shape[1] != count:
            raise ArithmeticError(
                f"{self.shape}: {fixed.shape[1]} vectors fixed by O({self.n - k}) where there are {count}"
            )
        return fixed

    def turned(self, W: Array, turns: list[tuple[int, Array]]) -> Array:
        """ρ(g) W for g the product of plane turns, the last one applied first.

        Parameters
        ----------
        W : ndarray of shape (m, c)
        turns : list of (plane, angles)
            Turns in the planes (i, i + 1), with one angle per point, of shape (N,).

        Returns
        -------
        ndarray of shape (N, m, c)
        """
        m, c = W.shape
        N = len(turns[0][1]) if turns else 1
        moved = np.empty((N, m, c))
        step = max(1, _WORKING_SET // (m * c))
        for start in range(0, N, step):
            rows = slice(start, min(start + step, N))
            state = np.repeat(W[:, :, None], rows.stop - start, axis=2)  # (m, c, points)
            before: int | None = None
            for plane, angles in reversed(turns):
                change = self._change(before, plane)
                state = (change @ state.reshape(m, -1)).reshape(state.shape)
                _turn(state, self._planes[plane][1], angles[rows])
                before = plane
            if before is not None:
                state = (self._planes[before][0] @ state.reshape(m, -1)).reshape(state.shape)
            moved[rows] = state.transpose(2, 0, 1)
        return moved

    def matrix(self, A: Array, W: Array | None = None) -> Array:
        """ρ(A), or ρ(A) W, for an orthogonal matrix A, proper or not."""
        start = np.eye(self.dim) if W is None else W
        if np.array_equal(A, np.eye(self.n)):  # one side of a map that acts from the other
            return start
        if np.linalg.det(A) < 0:
            start = np.where(self.odd[:, -1:], -start, start)  # A = g · diag(1, …, 1, −1) with g proper
        return self.turned(start, givens(A[None, :, : self.n - 1]))[0]

    def derivative(self, A: Array) -> Any:
        """dρ(A), the derivative of ρ(exp(tA)) at t = 0, for an antisymmetric matrix A."""  # sparse (m, m)
        return sum(A[j, i] * E for (i, j), E in self.generators.items())

    @property
    def classes(self) -> list[tuple[int, int]]:
        """From where to where basis vectors have the same parities."""
        return _runs(self.odd)

    def quarter_turned(self, A: Array) -> Any:
        """ρ(A) for a signed permutation A, sparse: it takes basis vectors of like parities to such vectors.

        A product of quarter turns in planes of neighbouring coordinates, whose cosines and sines are whole numbers.
        """  # sparse (m, m)
        from scipy import sparse

        negative = np.linalg.det(A) < 0
        product: Any = sparse.diags_array(np.where(self.odd[:, -1] & negative, -1.0, 1.0), format="csr")
        for plane, angles in reversed(givens(A[None, :, : self.n - 1])):
            quarters = int(np.rint(angles[0] / (np.pi / 2))) % 4
            if quarters:
                product = self._quarter_turn(plane, quarters) @ product
        product.data[np.abs(product.data) < 1e-13] = 0.0  # entries of orthogonal matrices: below this it is rounding
        product.eliminate_zeros()
        return product

    def _quarter_turn(self, plane: int, quarters: int) -> Any:
        """A turn by so many right angles."""
        from scipy import sparse

        basis, mu = self._planes[plane]
        h, turns = len(mu), (mu.astype(np.int64) * quarters) % 4
        cosine, sine = np.array([1.0, 0, -1, 0])[turns], np.array([0, 1.0, 0, -1])[turns]
        diagonal = np.concatenate([cosine, cosine, np.ones(self.dim - 2 * h)])
        p, q = np.arange(h), np.arange(h, 2 * h)
        entries = (np.concatenate([diagonal, sine, -sine]), (np.r_[: self.dim, q, p], np.r_[: self.dim, p, q]))
        Q = sparse.csr_array(basis)
        return Q @ (sparse.csr_array(entries, shape=(self.dim, self.dim)) @ Q.T)

    @cached_property
    def _planes(self) -> list[tuple[Any, Array]]:
        """For each plane (i, i + 1) a basis in which its turns are plane turns, and the integers they turn by."""
        return [self._normal_form(i) for i in range(self.n - 1)]

    @cached_property
    def _changes(self) -> dict[tuple[int | None, int], Any]:
        return {}

    def _change(self, before: int | None, plane: int) -> Any:
        if (before, plane) not in self._changes:
            basis = self._planes[plane][0].T
            change = basis if before is None else basis @ self._planes[before][0]
            self._changes[before, plane] = (
                np.ascontiguousarray(change) if isinstance(change, np.ndarray) else change.tocsr()
            )
        return self._changes[before, plane]

    def _normal_form(self, i: int) -> tuple[Any, Array]:
        """Q and μ with E = Q diag([[0, −μ], [μ, 0]], 0) Qᵀ: columns p₁…p_h, q₁…q_h, then the null vectors."""
        # E takes vectors even in x_i to odd ones and back, [[0, −Bᵀ], [B, 0]]: B = U diag(μ) Vᵀ has all of it.
        E, runs = self.generators[i, i + 1], _runs(self.odd)
        where = {self.odd[start].tobytes(): (start, stop) for start, stop in runs}
        first: list[_Part] = []
        second: list[_Part] = []
        still: list[_Part] = []
        turns: list[Array] = []
        for start, stop in runs:
            parity = self.odd[start].copy()
            parity[i : i + 2] ^= True
            partner = where.get(parity.tobytes(), (0, 0))
            rows, others = np.arange(start, stop), np.arange(*partner)
            if self.odd[start, i] and len(others):
                continue  # seen from its partner
            U, mu, Vt = np.linalg.svd(_block(E, partner, (start, stop)))
            whole = np.rint(mu)
            if np.abs(mu - whole).max(initial=0.0) > 1e-6:
                raise ArithmeticError(f"a plane rotation has a fractional weight: {np.abs(mu - whole).max():.2g} off")
            h = int(np.count_nonzero(whole))
            first.append((rows, Vt[:h].T))
            second.append((others, U[:, :h]))
            still += [(rows, Vt[h:].T), (others, U[:, h:])]
            turns.append(whole[:h])
        Q = _stacked(self.dim, first + second + still)
        return (Q.toarray() if self.dim <= _DENSE else Q), np.concatenate(turns)


def givens(X: Array) -> list[tuple[int, Array]]:
    """Turns in planes (i, i + 1) whose product has the columns of X as its first columns.

    Each column is turned into a coordinate vector from the bottom up; entries are zeroed one by one, so the
    product is X to rounding at every X.
    """  # (N, n, k), k < n
    rest = X.copy()
    turns: list[tuple[int, Array]] = []
    n, k = X.shape[1:]
    for a in range(k):
        for i in range(n - 2, a - 1, -1):
            angle = np.arctan2(rest[:, i + 1, a], rest[:, i, a])
            c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
            upper, lower = rest[:, i, a:], rest[:, i + 1, a:]
            rest[:, i, a:], rest[:, i + 1, a:] = c * upper + s * lower, c * lower - s * upper
            turns.append((i, angle))
    return turns


def irrep(shape: Partition, n: int) -> Irrep:
    """The type λ of O(n) with at most n/2 rows."""
    return (_small_type if type_dim(shape, n) <= _DENSE else _large_type)(shape, n)


def _new_irrep(shape: Partition, n: int) -> Irrep:
    from scipy import sparse

    pairs = list(combinations(range(n), 2))
    if not shape:
        return Irrep(shape, n, {pair: sparse.csr_array((1, 1)) for pair in pairs}, np.zeros((1, n), dtype=bool))
    dim = type_dim(shape, n)
    what = f"the type {shape} of O({n}), of dimension {dim},"
    require_memory(16.0 * len(pairs) * dim, what, "Lower the cutoff.")  # at least; before the smaller ones are built
    row = shape[-1] - 1
    smaller = irrep((*shape[:-1], row) if row else shape[:-1], n)
    odd = (smaller.odd[None, :, :] ^ np.eye(n, dtype=bool)[:, None, :]).reshape(-1, n)  # (n · m, n)
    _, which = np.unique(np.packbits(odd, axis=1), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")  # vectors of equal parities together
    coupling = _coupling(smaller, pairs)[order][:, order]
    parts: list[_Part] = [
        (order[slice(*run)], _eigenspace(_block(coupling, run, run), len(shape) - shape[-1], f"the type {shape}"))
        for run in _runs(odd[order])
    ]
    sizes = np.array([vectors.shape[1] for _, vectors in parts])
    if sizes.sum() != dim:
        raise ArithmeticError(f"{what} was found with {sizes.sum()}")
    require_memory(16.0 * len(pairs) * float(dim * sizes.max()), what, "Lower the cutoff.")
    L = _stacked(len(odd), parts)
    generators: dict[tuple[int, int], Any] = {}
    for i in range(n - 1):
        turn = sparse.csr_array(([1.0, -1.0], ([i + 1, i], [i, i + 1])), shape=(n, n))
        apart = (
            sparse.kron(sparse.eye_array(n), smaller.generators[i, i + 1]),
            sparse.kron(turn, sparse.eye_array(smaller.dim)),
        )
        moved = (L.T @ ((apart[0] + apart[1]).tocsr() @ L)).tocsr()
        generators[i, i + 1] = (0.5 * (moved - moved.T)).tocsr()
    for gap in range(2, n):
        for i in range(n - gap):
            left, right = generators[i, i + gap - 1], generators[i + gap - 1, i + gap]
            product = right @ left
            generators[i, i + gap] = (product - product.T).tocsr()  # [E_jk, E_ij], both antisymmetric
    return Irrep(shape, n, generators, np.repeat(odd[[rows[0] for rows, _ in parts]], sizes, axis=0))


# A type is built from smaller ones, so one that was dropped costs all of them again. A fit has hundreds of small types,
# of some 10 kB each, and few large ones, of megabytes.
_small_type = lru_cache(maxsize=4096)(_new_irrep)
_large_type = lru_cache(maxsize=64)(_new_irrep)


def _coupling(mu: Irrep, pairs: list[tuple[int, int]]) -> Any:
    """Σ ρ_μ(E_ij) ⊗ E_ij on Rⁿ ⊗ μ."""  # sparse (n · m, n · m)
    from scipy import sparse

    rows, columns, data = [], [], []
    for i, j in pairs:
        E = mu.generators[i, j].tocoo()
        rows += [i * mu.dim + E.row, j * mu.dim + E.row]
        columns += [j * mu.dim + E.col, i * mu.dim + E.col]
        data += [-E.data, E.data]
    size = mu.n * mu.dim
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(entries, shape=(size, size))


_Part = tuple[NDArray[np.intp], Array]  # rows, and columns with nothing in the other rows


def _runs(odd: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """From where to where the parities are the same."""
    ends = np.flatnonzero((odd[1:] != odd[:-1]).any(axis=1)) + 1
    return list(pairwise([0, *ends.tolist(), len(odd)]))


def _block(M: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Array:
    """M[rows, columns], where the rows have nothing in other columns."""
    entries = slice(M.indptr[rows[0]], M.indptr[rows[1]])
    block = np.zeros((rows[1] - rows[0], columns[1] - columns[0]))
    which = np.repeat(np.arange(len(block)), np.diff(M.indptr[rows[0] : rows[1] + 1]))
    np.add.at(block, (which, M.indices[entries] - columns[0]), M.data[entries])
    return block


def _stacked(height: int, parts: list[_Part]) -> Any:
    """The columns of all parts, side by side."""  # sparse (height, columns)
    from scipy import sparse

    widths = [values.shape[1] for _, values in parts]
    first = np.cumsum([0, *widths])
    rows = [np.repeat(rows, width) for (rows, _), width in zip(parts, widths, strict=True)]
    columns = [start + np.tile(np.arange(w), len(r)) for start, w, (r, _) in zip(first, widths, parts, strict=False)]
    data = [values.ravel() for _, values in parts]
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(entries, shape=(height, int(first[-1])))


def short_type(shape: Partition, n: int) -> tuple[Irrep, bool]:
    """The matrices of a type, and whether they are to be multiplied by the determinant."""
    if 2 * len(shape) > n:
        return irrep(associate(shape, n), n), True
    return irrep(shape, n), False


def _eigenspace(operator: Array, eigenvalue: float, what: str) -> Array:
    """An orthonormal basis of an eigenspace, one or more apart from the others, the same on every machine.

    An eigensolver's basis of a degenerate eigenspace is arbitrary; what is returned is the polar factor of the
    projection of fixed numbers instead, which depends on the eigenspace only.
    """
    values, vectors = np.linalg.eigh(operator)
    vectors = vectors[:, np.abs(values - eigenvalue) < 0.5]
    count = vectors.shape[1]
    raw = np.random.MT19937(OWN_SEED).random_raw(len(operator) * count)  # raw bits: a frozen stream
    numbers = np.asarray(raw, dtype=np.float64).reshape(len(operator), count) / 2.0**31 - 1.0
    U, s, Vt = np.linalg.svd(vectors.T @ numbers)
    if count and s[-1] < 1e-7 * s[0]:
        raise ArithmeticError(f"{what}: no stable basis (condition {s[0] / s[-1]:.1g})")
    return vectors @ (U @ Vt)


def _turn(state: Array, mu: Array, angles: Array) -> None:
    """Turn the pairs (p, q) of a state by μ times the angle, in place."""  # (m, c, points)
    h = len(mu)
    different, which = np.unique(mu, return_inverse=True)  # few integers
    c, s = (part(different[:, None] * angles)[which][:, None] for part in (np.cos, np.sin))
    p, q = state[:h], state[h : 2 * h]
    moved = s * p
    p *= c
    p -= s * q
    q *= c
    q += moved
