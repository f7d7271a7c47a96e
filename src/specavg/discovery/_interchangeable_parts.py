"""Which coordinates or copies are interchangeable? Transpositions of a large symmetric group, closed to blocks.

Transpositions that are symmetries generate all permutations within blocks of parts (a Young subgroup), so a partition
is looked for. The coefficients of functions of single parts must be equal within a block. Blocks are merged from single
parts, the nearest two first, as long as the evidence grows; a part that might as well be elsewhere is left alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from specavg.discovery._evidence import HONEST
from specavg.discovery._finding import Candidate, Discovery
from specavg.discovery._one_part_functions import one_part_functions
from specavg.discovery._partitions_of_parts import Blocks, Parts
from specavg.discovery._samples import Samples
from specavg.groups import Group
from specavg.isometries import Isometry, permutation

__all__ = ["search_transpositions"]

Array = NDArray[np.float64]
_PER_FUNCTION = 4  # samples for each function that is compared
_MOST_FUNCTIONS = 400  # their Gram matrix is decomposed for every step: a second or two in all
_ROUNDS = 3  # of choosing the blocks and the decay in turn


def search_transpositions(samples: Samples, group: Group, level: float) -> Discovery:
    """The blocks of interchangeable parts under a symmetric group."""
    n = len(samples.targets)
    functions = one_part_functions(samples.space, min(_MOST_FUNCTIONS, n // _PER_FUNCTION))
    if functions is None:
        raise ValueError(
            f"{n} samples are too few to tell the {group.size} parts of {samples.space!r} apart: give at least "
            f"{2 * _PER_FUNCTION * group.size}, or a group of fewer elements"
        )
    information = samples.information(lambda X: functions.evaluate(X).reshape(len(X), -1))
    parts = Parts(information, functions.parts, functions.levels)
    singles: Blocks = [[i] for i in range(functions.parts)]
    blocks, decay = singles, None
    for _ in range(_ROUNDS):
        chosen = parts.best_decay(blocks)
        if chosen == decay:
            break
        decay = chosen
        blocks = parts.reassigned(parts.merged(decay), decay)
    assert decay is not None
    blocks = parts.homogeneous(blocks, decay.last, level * HONEST)
    blocks, doubt = parts.without_doubt(blocks, decay, level)
    notes = [f"Only functions of single parts were compared, {len(functions.levels)} of each part."]
    if parts.evidence(blocks, decay) < -math.log(level):
        blocks, doubt = singles, 0.0
        notes.append("No function is seen: they explain no more than chance does. Give more samples, or less noise.")
    return Discovery(
        samples=samples,
        group=_young(group, blocks),
        table=_table(*parts.distances(singles, decay.last), information.freedom, blocks),
        probability=1 - doubt,
        explained=information.signal / information.variance if information.variance > 0 else 0.0,
        n_functions=len(information.b),
        indistinguishable=(),
        notes=tuple(notes),
        method="transpositions",
    )


def _table(distances: Array, tested: int, freedom: int, blocks: Blocks) -> tuple[Candidate, ...]:
    """A row for each transposition."""
    from scipy.stats import f as distribution

    m = len(distances)
    block_of = {i: b for b, block in enumerate(blocks) for i in block}
    p_values = distribution.sf(distances / tested, tested, freedom)
    return tuple(
        Candidate(
            element=_cycle(m, [i, j]),
            subgroup=None,
            order=2,
            n_invariant=(m - 1) * tested,
            p_value=float(p_values[i, j]),
            probability=math.nan,
            accepted=block_of[i] == block_of[j],
        )
        for i in range(m)
        for j in range(i + 1, m)
    )


def _young(group: Group, blocks: Blocks) -> Group:
    """All permutations within blocks."""
    if len(blocks) == 1:
        return group
    generators = [_cycle(group.size, block[:2]) for block in blocks if len(block) > 1]
    generators += [_cycle(group.size, block) for block in blocks if len(block) > 2]
    name = " × ".join(f"S{len(block)}" for block in sorted(blocks, key=len, reverse=True) if len(block) > 1)
    return Group(generators, name=name or None, size=group.size)


def _cycle(size: int, block: list[int]) -> Isometry:
    image = list(range(size))
    for i, j in zip(block, block[1:] + block[:1], strict=True):
        image[i] = j
    return permutation(image)
