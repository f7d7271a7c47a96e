"""Vector functions from an exact solver by irreducible summands of their outputs, which are a signed permutation.

Orbits are exact because the outputs are only permuted. A fit is cheaper summand by summand: so the functions
of each eigenspace are combined, after they were found, into functions that have the outputs of one summand each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.functions._vector_functions import CombinedOutputs, JoinedOutputs, Summand, VectorFunctions
from specavg.groups import Representation
from specavg.invariants._independent_blocks import independent_blocks
from specavg.invariants._summands_of_outputs import frame_of, summands_of_outputs

Indices = NDArray[np.intp]
# A fit of p outputs and r functions decomposes n·p rows, one of D numbers n rows: p·r²/D² times the operations. Below
# this share the other parts of a fit take longer.
_CHEAP = 0.25


def split_functions(
    functions: CombinedOutputs, output: Representation, dims: Sequence[int], scalars: int
) -> VectorFunctions:
    """Functions of the same span, each along one summand of the outputs; those given where a fit gains nothing by it.

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
    """Where functions are among all: eigenspace by eigenspace, summand by summand, all copies of a function.

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
