"""Outputs as a direct sum: summands that no element mixes, equivalent ones with one image; functions of each summand.

Zeros of the matrices show some summands. Others show after a rotation of the outputs: a symmetric matrix that commutes
with every image has invariant eigenspaces, and those of a generic one are irreducible (Schur's lemma).

Orbits of waves are exact because they only permute outputs. A fit is cheaper summand by summand: so the functions of
each eigenspace are combined, after they were found, into functions that have the outputs of one summand each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, components
from specavg._random import OWN_SEED
from specavg.functions._vector_functions import CombinedOutputs, JoinedOutputs, Summand, VectorFunctions
from specavg.groups import Representation
from specavg.groups._index_symmetry import index_symmetry
from specavg.invariants._certified_null_space import FixedSpace, UnclearRank, common_null_space, independent_blocks
from specavg.invariants._fixed_space import fixed_space

# Outputs at most whose commuting matrices are looked for: 40 outputs have 820 symmetric matrices, which take 0.2 s.
_MOST = 40
# Eigenvalues of a generic matrix, which has size one: nearer than the first they are the same, and different ones must
# be apart by the second, or the outputs stay together. Eigenvectors err by 1e-16 over the smallest gap, so that the
# best of some matrices is taken.
_SAME, _APART = 1e-11, 1e-3
_TRIES = 16
_ROUNDING = 1e-14  # entries of a frame below this are zeros
_EQUIVALENT = 1e-9  # how far an intertwining matrix, scaled, may be from an orthogonal one


@final
@dataclass(frozen=True, eq=False)
class OutputSummand:
    """Equivalent summands of a representation.

    Attributes
    ----------
    output : Representation
        How the group moves the outputs of each of them.
    frames : ndarray of shape (copies, p, output.dim)
        Orthonormal columns, with ρ(g) frame = frame output(g).
    """

    output: Representation
    frames: Array


@lru_cache(maxsize=64)
def summands_of_outputs(output: Representation, *, exact: bool) -> tuple[OutputSummand, ...]:
    """The summands of a representation, equivalent ones together. Their frames side by side are an orthogonal matrix.

    Parameters
    ----------
    output : Representation
    exact : bool
        Whether signed permutations stay as they are. They may be reducible then.

    Examples
    --------
    >>> from specavg import groups
    >>> summands = summands_of_outputs(groups.representation(groups.point_group("D3d"), "ij=ji"), exact=True)
    >>> [(summand.output.dim, len(summand.frames)) for summand in summands]
    [(1, 2), (2, 2)]
    """
    kinds: list[tuple[Representation, list[Array]]] = []
    one = np.eye(output.dim)
    for at in _linked(output):
        linked = output.restricted(at)
        for piece, frame in [(linked, np.eye(len(at)))] if exact and linked.is_exact else _pieces(linked):
            _add(kinds, piece, one[:, at] @ frame, exact)
    return tuple(OutputSummand(piece, np.stack(frames)) for piece, frames in kinds)


def fixed_outputs(rho: Representation) -> FixedSpace:
    """The outputs that no element moves."""
    if not rho.field_images:
        return fixed_space(rho.images, size=rho.dim)
    one = np.eye(rho.dim)
    return common_null_space([g.matrix - one for g in rho.images] + [f.matrix for f in rho.field_images], rho.dim)


def _linked(output: Representation) -> list[NDArray[np.intp]]:
    """Which outputs belong together: some generator or field makes one of them from another."""
    linked = np.zeros((output.dim, output.dim), dtype=bool)
    for moved in (*output.images, *output.field_images):
        linked |= moved.matrix != 0
    label = components(output.dim, *np.nonzero(linked))
    return [np.flatnonzero(label == k) for k in range(label.max(initial=-1) + 1)]


def _pieces(output: Representation) -> list[tuple[Representation, Array]]:
    """Irreducible summands, each with its frame."""
    p = output.dim
    whole = [(output, np.eye(p))]
    if not 1 < p <= _MOST:
        return whole
    square = index_symmetry("ij=ji", p)
    some = _some(_TRIES, p, p)
    commuting = _generic(output.on_tensors("ij=ji"), square.components((some + some.swapaxes(1, 2)) / 2))
    values, vectors = np.linalg.eigh(square.tensors(commuting))
    steps = np.diff(values, axis=1)
    gaps = np.where(steps > _SAME, steps, np.inf).min(axis=1, initial=np.inf)  # of one eigenvalue there is none
    best = int(np.argmax(gaps))
    if not _APART < gaps[best] < np.inf:
        return whole
    spaces = np.split(vectors[best], np.flatnonzero(steps[best] > _SAME) + 1, axis=1)
    frames = [frame_of(Q @ Q.T, Q.shape[1]) for Q in spaces]
    return [(output.in_frame(frame), frame) for frame in frames]


def _add(kinds: list[tuple[Representation, list[Array]]], piece: Representation, frame: Array, exact: bool) -> None:
    """Put a piece beside an equivalent one, its frame rotated so that both move in the same way."""
    for known, frames in kinds:
        if known == piece:
            frames.append(frame)
            return
        turn = None if exact and (known.is_exact or piece.is_exact) else _intertwining(known, piece)
        if turn is not None:
            frames.append(frame @ turn.T)
            return
    kinds.append((piece, [frame]))


def _intertwining(a: Representation, b: Representation) -> Array | None:
    """An orthogonal O with O b(g) = a(g) O for every g; None where there is none."""
    d = a.dim
    both = [*zip(a.images, b.images, strict=True), *zip(a.field_images, b.field_images, strict=True)]
    if d != b.dim or any(abs(np.trace(x.matrix) - np.trace(y.matrix)) > _EQUIVALENT for x, y in both):
        return None
    found = _generic(a * b, _some(_TRIES, d * d))
    X = found[np.argmax(np.linalg.norm(found, axis=1))].reshape(d, d)
    X = X * np.sqrt(d) / max(float(np.linalg.norm(X)), _SAME)
    return X if np.abs(X @ X.T - np.eye(d)).max() < _EQUIVALENT else None


def _generic(rho: Representation, vectors: Array) -> Array:
    """Projections of vectors on what ρ leaves alone; zeros where the rank leaves in doubt what that is.

    A projection does not depend on which basis of the fixed vectors was found.
    """  # (k, p) -> (k, p)
    try:
        basis = fixed_outputs(rho).basis
    except UnclearRank:
        return np.zeros_like(vectors)
    return vectors @ basis @ basis.T


def _some(*shape: int) -> Array:
    """Normal random numbers, the same at every call."""
    return np.random.default_rng(OWN_SEED).normal(size=shape) / shape[-1]


def frame_of(projector: Array, size: int) -> Array:
    """`size` orthonormal columns that span the range of a projector: pivoted Cholesky, with the first of equal pivots.

    They depend on the projector alone, not on the eigenvectors that it came from: another LAPACK finds the same.
    """
    rest, columns = projector.copy(), np.zeros((len(projector), size))
    for i in range(size):
        pivots = np.diag(rest)
        j = int(np.argmax(pivots > (1 - 1e-9) * pivots.max()))
        columns[:, i] = rest[:, j] / np.sqrt(rest[j, j])
        rest -= np.outer(columns[:, i], columns[:, i])
    frame, _ = np.linalg.qr(columns)
    frame *= np.sign(np.sum(frame * columns, axis=0))
    return np.where(np.abs(frame) < _ROUNDING, 0.0, frame)


Indices = NDArray[np.intp]
# A fit of p outputs and r functions decomposes n·p rows, one of D numbers n rows: p·r²/D² times the operations. Below
# this share the other parts of a fit take longer.
_CHEAP = 0.25


def split_functions(
    functions: CombinedOutputs, output: Representation, dims: Sequence[int], scalars: int
) -> VectorFunctions:
    """Functions with the span of `functions`, each along one summand; `functions` where a fit is no cheaper with them.

    Parameters
    ----------
    functions : CombinedOutputs
        Orthonormal, those of one eigenspace after those of another.
    output : Representation
    dims : sequence of int
        How many functions each eigenspace has.
    scalars : int
        How many numbers, not vectors, there are as functions up to the same eigenspace.
    """
    if output.dim * functions.dim**2 <= _CHEAP * scalars**2:
        return functions
    pieces = summands_of_outputs(output, exact=False)
    if sum(len(piece.frames) for piece in pieces) == 1:
        return functions
    eigenspace = np.repeat(np.arange(len(dims)), dims)
    found = [_along(functions, piece.frames[0], eigenspace) for piece in pieces]
    counts = np.array([np.bincount(at, minlength=len(dims)) for _, at in found]).T  # (eigenspaces, pieces)
    copies = np.array([len(piece.frames) for piece in pieces])
    return JoinedOutputs(
        output.dim,
        [
            Summand(family, piece.frames, places)
            for (family, _), piece, places in zip(found, pieces, places_of_copies(counts, copies), strict=True)
            if family.dim
        ],
        apart=True,
    )


def places_of_copies(counts: Indices, copies: Indices) -> list[Indices]:
    """The places of the functions of each summand among all functions.

    Functions come eigenspace by eigenspace, summand by summand; all copies of a function stand side by side.

    Parameters
    ----------
    counts : ndarray of int, shape (eigenspaces, summands)
        How many functions a copy of each summand has.
    copies : ndarray of int, shape (summands,)

    Returns
    -------
    list of ndarray of int, shape (copies, functions)
    """
    sizes = counts * copies
    starts = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
    found: list[Indices] = []
    for i, m in enumerate(copies):
        each = [
            start + np.arange(m * dim).reshape(dim, m).T for start, dim in zip(starts[:, i], counts[:, i], strict=True)
        ]
        found.append(np.concatenate(each, axis=1))
    return found


def _along(functions: CombinedOutputs, frame: Array, eigenspace: Indices) -> tuple[CombinedOutputs, Indices]:
    """The functions whose outputs lie along a frame, and the eigenspace of each."""
    from scipy.sparse import csr_array, diags_array

    scale = diags_array(1.0 / np.sqrt(functions.product(np.eye(functions.n_outputs)).diagonal()))
    projector = csr_array(scale @ functions.product(frame @ frame.T) @ scale)
    rows: list[Indices] = []
    entries: list[Array] = []
    for members, blocks in independent_blocks(projector):
        for at, block in zip(members, blocks, strict=True):
            columns = frame_of(block, round(float(np.trace(block))))
            rows += [at] * columns.shape[1]
            entries += list(columns.T)
    order = np.argsort([eigenspace[at[0]] for at in rows], kind="stable") if rows else []
    rows, entries = [rows[i] for i in order], [entries[i] for i in order]
    column = np.repeat(np.arange(len(rows)), [len(at) for at in rows])
    at = (np.concatenate([np.zeros(0, dtype=np.intp), *rows]), column)
    mixed = csr_array((np.concatenate([np.zeros(0), *entries]), at), shape=(functions.dim, len(rows)))
    return functions.along(frame, mixed), np.array([eigenspace[at[0]] for at in rows], dtype=np.intp)
