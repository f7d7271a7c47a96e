"""Outputs as a direct sum: summands that no element mixes, equivalent ones with one image.

Zeros of the matrices show some summands. Others show after a rotation of the outputs: a symmetric matrix that commutes
with every image has invariant eigenspaces, and those of a generic one are irreducible (Schur's lemma).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, components
from specavg._random import OWN_SEED
from specavg.groups import Representation
from specavg.groups._index_symmetry import index_symmetry
from specavg.invariants._certified_null_space import FixedSpace, UnclearRank, common_null_space
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
    """The fixed parts of vectors that nothing singles out; zeros where it is unclear what is fixed.

    They do not depend on the basis that is found for all that is fixed.
    """  # (k, p) -> (k, p)
    try:
        basis = fixed_outputs(rho).basis
    except UnclearRank:
        return np.zeros_like(vectors)
    return vectors @ basis @ basis.T


def _some(*shape: int) -> Array:
    """Numbers that nothing singles out."""
    return np.random.default_rng(OWN_SEED).normal(size=shape) / shape[-1]


def frame_of(projector: Array, size: int) -> Array:
    """Orthonormal columns, so many, that span the range of a projector: pivoted Cholesky, the first of equal pivots.

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
