"""Random elements against held-out data: the third algorithm of the sequel to the paper, for comparison.

Soleymani, Tahmasebi, Jaillet and Jegelka, *Efficient Learning and Symmetry Discovery under Exact Invariances*
(COLT 2026), draw random elements of the group, fit with each of them as the only symmetry on one half of the data, and
keep those whose error on the other half exceeds that of the unconstrained fit by no more than a threshold. The group
is what they generate. Enough elements are drawn to meet a subgroup of bounded index only.
"""

from __future__ import annotations

import math

import numpy as np

from specavg._arrays import Array
from specavg._random import as_generator
from specavg.discovery._discovery import Candidate, Discovery
from specavg.discovery._samples import Samples
from specavg.groups import Group, minimal_generators
from specavg.invariants import fixed_space
from specavg.isometries import Isometry

_ELEMENTS = 100  # draws: a subgroup of index 20 is missed with probability 0.6 %


def search_random_elements(samples: Samples, group: Group, level: float, random_state: object) -> Discovery:
    """Keep random elements that do not lose on held-out data; the threshold is a standard error times a quantile."""
    from scipy.linalg import block_diag
    from scipy.stats import norm

    rng = as_generator(random_state)
    eigenspaces = samples.compared.eigenspaces
    points, targets, *weights = samples.whole()
    if weights:
        raise ValueError("method='sampling' takes no sample_weight: leave it out, or use method='auto'")
    Z = samples.space.functions(eigenspaces).evaluate(points)
    rows = rng.permutation(len(Z))
    train, test = rows[: len(Z) // 2], rows[len(Z) // 2 :]
    middle, mean = Z[train].mean(axis=0), targets[train].mean()
    F, target = Z[train] - middle, targets[train] - mean
    G, c = F.T @ F, F.T @ target

    def losses(Q: Array) -> Array:
        coef = Q @ np.linalg.lstsq(Q.T @ G @ Q, Q.T @ c, rcond=1e-12)[0]
        return (targets[test] - mean - (Z[test] - middle) @ coef) ** 2

    free = losses(np.eye(len(c)))
    table: dict[Isometry, Candidate] = {}
    for _ in range(_ELEMENTS):
        g = group.random(rng)
        if g in table or g.is_identity:
            continue
        fixed = [fixed_space([samples.space.representation(g, V)]).basis for V in eigenspaces]
        Q = np.asarray(block_diag(*fixed), dtype=np.float64)
        worse = losses(Q) - free
        error = max(float(worse.std(ddof=1)) / math.sqrt(len(test)), 1e-300)
        p_value = float(norm.sf(float(worse.mean()) / error))
        table[g] = Candidate(g, None, None, Q.shape[1], p_value, math.nan, p_value >= level)
    accepted = Group([g for g, row in table.items() if row.accepted], size=group.size)
    found = Group(minimal_generators(accepted), size=group.size)
    variance = float(targets[test].var())
    return Discovery(
        samples=samples,
        group=found,
        table=tuple(table.values()),
        explained=float(np.clip(1 - free.mean() / variance, 0.0, 1.0)) if variance > 0 else 0.0,
        n_functions=len(c),
        untested=samples.compared.untested,
        notes=(f"{len(table)} random elements were compared, each on its own.",),
        method="sampling",
    )
