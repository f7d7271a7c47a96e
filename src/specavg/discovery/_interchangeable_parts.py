"""Which coordinates or copies are interchangeable? Transpositions of a large symmetric group, closed to blocks.

Transpositions that are symmetries generate all permutations within blocks of parts (a Young subgroup), so a partition
is looked for. The coefficients of functions of single parts must be equal within a block. Blocks are merged from single
parts, the nearest two first, as long as the evidence grows; a part that might as well be elsewhere is left alone.
Where there are samples enough, products with sums over the blocks found are compared too, and may refute a block.
"""

from __future__ import annotations

import math

import numpy as np

from specavg._arrays import Array
from specavg.discovery._discovery import Candidate, Discovery, unseen_function
from specavg.discovery._evidence import HONEST, chosen_in_turn
from specavg.discovery._one_part_functions import OnePartFunctions, one_part_functions, with_pairs
from specavg.discovery._partitions_of_parts import Blocks, Parts
from specavg.discovery._samples import PER_FUNCTION, Samples
from specavg.estimators._finer_detail import FURTHEST, blocks_to_compare, some_samples
from specavg.groups import Group
from specavg.isometries import Isometry, permutation
from specavg.regression._nested_models import Models

_MOST_FUNCTIONS = 400  # functions compared, at most: each step decomposes their Gram matrix, a second or two in all


def search_transpositions(samples: Samples, group: Group, level: float) -> Discovery:
    """The blocks of interchangeable parts under a symmetric group."""
    most = min(_MOST_FUNCTIONS, samples.count // PER_FUNCTION)
    functions = one_part_functions(samples.space, most)
    if functions is None:
        raise ValueError(
            f"{samples.count} samples are too few to tell the {group.size} parts of {samples.space!r} apart: give at "
            f"least {2 * PER_FUNCTION * group.size}, or a group of fewer elements"
        )
    functions, untested = _with_finer_degrees(samples, functions, most)
    information = samples.information(lambda X: functions.evaluate(X).reshape(len(X), -1))
    parts = Parts(information, functions.parts, functions.levels)
    singles: Blocks = [[i] for i in range(functions.parts)]
    blocks, decay = chosen_in_turn(singles, parts.best_decay, lambda d: parts.reassigned(parts.merged(d), d))
    blocks = parts.homogeneous(blocks, decay, level)
    notes: list[str] = []
    if parts.evidence(blocks, decay) < -math.log(level):
        blocks, doubt = singles, 0.0
        notes.append(unseen_function(information))
    else:
        blocks, doubt = parts.without_doubt(blocks, decay, level)
    alike, pairs = _alike_in_pairs(samples, functions, blocks, most, level)
    notes.insert(0, f"Functions of single parts were compared, {len(functions.levels)} of each part, {pairs}.")
    if alike != blocks:
        notes.append(
            "Blocks that functions of single parts allow are refuted by functions of pairs: they are left out."
        )
        blocks = alike
    return Discovery(
        samples=samples,
        group=_young(group, blocks),
        table=_table(*parts.distances(singles, decay.last), information.freedom, blocks),
        probability=1 - doubt,
        explained=information.signal_share,
        n_functions=len(information.b),
        untested=untested,
        notes=tuple(notes),
        method="transpositions",
    )


def _with_finer_degrees(samples: Samples, first: OnePartFunctions, most: int) -> tuple[OnePartFunctions, float]:
    """The functions of the first degrees and of finer ones that stand out, and the share of others that do."""
    every = one_part_functions(samples.space, max(FURTHEST, most)) or first
    sizes = every.parts * np.bincount(every.levels)[1:]
    X, y, weights = some_samples(samples.read())
    kept, untested, _ = blocks_to_compare(every.by_level(X), sizes.tolist(), int(first.levels.max()), most, y, weights)
    return every.of_levels([1 + i for i in kept]), untested


def _alike_in_pairs(
    samples: Samples, functions: OnePartFunctions, blocks: Blocks, most: int, level: float
) -> tuple[Blocks, str]:
    """The blocks whose parts are alike in functions of pairs too, and what was compared, in words."""
    coarse = one_part_functions(samples.space, functions.parts * int(np.sum(functions.levels <= 2)))
    large = sorted((block for block in blocks if len(block) > 1), key=len, reverse=True)
    if coarse is None or not large:
        return blocks, "and no functions of pairs"
    m, first = coarse.parts, int(np.sum(coarse.levels == 1))
    sums = int((most / m - len(coarse.levels)) // first**2)  # how many sums over blocks there may be
    if sums < 1:
        return blocks, "and no functions of pairs"
    named = large[: sums - 1]  # any union of blocks will do: what is not named is one
    rest = sorted(set(range(m)).difference(*named))
    pairs = with_pairs(coarse, [*named, rest] if rest else named)
    k = len(pairs.levels)

    def columns(X: Array) -> Array:
        return np.column_stack([np.ones(len(X)), pairs.evaluate(X).reshape(len(X), -1)])

    models = Models(columns, samples.read())
    tests = models.compare([_tied(block, m, k) for block in large], samples.read())
    refuted = [block for block, test in zip(large, tests, strict=True) if test.p_value < level * HONEST]
    kept = [block for block in blocks if block not in refuted]
    return sorted(kept + [[i] for block in refuted for i in block]), f"and {k - len(coarse.levels)} of its pairs"


def _tied(block: list[int], m: int, k: int) -> Array:
    """Combinations of the constant and of k functions of each of m parts, those of a block having one coefficient."""
    first, others = block[0], [i for i in range(m) if i not in block[1:]]
    tie = np.eye(m)[:, others]
    tie[block, others.index(first)] = 1
    whole = np.zeros((1 + m * k, 1 + len(others) * k))
    whole[0, 0], whole[1:, 1:] = 1, np.kron(tie, np.eye(k))
    return whole


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
