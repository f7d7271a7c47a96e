"""Which elements leave the function alone? For finite groups with too many subgroups to compare them all.

A symmetry is built from its elements, one after the other: of all of them, the one with which the evidence grows most.
The functions that stay are those of the last step that the element leaves alone, so no subgroup is ever listed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from specavg._arrays import Array
from specavg.discovery._candidate_elements import CandidateElements
from specavg.discovery._discovery import Candidate, Discovery, unseen_function
from specavg.discovery._evidence import (
    HONEST,
    Decay,
    Subspace,
    best_decay,
    chosen_in_turn,
    left_alone,
    log_evidence,
    p_values_outside,
)
from specavg.discovery._samples import Samples
from specavg.groups import Group
from specavg.isometries import Isometry
from specavg.regression._information import Information


def search_elements(samples: Samples, group: Group, level: float) -> Discovery:
    """The symmetry that single elements build up."""
    eigenspaces = samples.band()
    information = samples.information(samples.space.functions(eigenspaces).evaluate)
    candidates = CandidateElements.of(samples.space, group, eigenspaces)
    search = _Search(information, candidates, level)
    path, decay = chosen_in_turn(
        search.start, lambda p: best_decay(information.on(p.subspace.Q), p.subspace.levels), search.path
    )
    notes = [_compared(group, candidates)]
    accepted = path.contains(candidates, decay.last)
    if max(path.evidence) < -math.log(level):
        path, accepted = _Path(path.evidence[:1], (), ()), [False] * len(accepted)
        notes.append(unseen_function(information))
    steps = [candidates.elements[i] for i in path.steps]
    others = [g for g, yes in zip(candidates.elements, accepted, strict=True) if yes]
    found, least = _generated(group, [*steps, *others]), _generated(group, steps)
    rows = zip(candidates.elements, search.own, search.p_values(decay.last), accepted, strict=True)
    return Discovery(
        samples=samples,
        group=found,
        table=tuple(Candidate(g, None, None, s.up_to(decay.last).shape[1], p, math.nan, yes) for g, s, p, yes in rows),
        probability=path.probability,
        explained=information.signal_share,
        n_functions=search.everything.up_to(decay.last).shape[1],
        indistinguishable=(least,) if least.order < found.order else (),
        notes=tuple(notes),
        method="elements",
    )


@final
@dataclass(frozen=True, eq=False)
class _Path:
    """Elements accepted one after the other.

    Attributes
    ----------
    evidence : tuple of float
        The log evidence before the first of them, and after each.
    steps : tuple of int
    blocks : tuple of ndarray of shape (m, k)
        Combinations of functions that they leave alone, an eigenspace at a time.
    """

    evidence: tuple[float, ...]
    steps: tuple[int, ...]
    blocks: tuple[Array, ...]

    @property
    def subspace(self) -> Subspace:
        """All the combinations."""
        return Subspace.of(self.blocks)

    @property
    def probability(self) -> float:
        """Of the last step, if one of the groups on the path is the symmetry, all of them equally probable before."""
        return float(1 / np.exp(np.array(self.evidence) - self.evidence[-1]).sum())

    def contains(self, candidates: CandidateElements, last: int) -> list[bool]:
        """Whether each candidate leaves alone all that is left of the functions up to a level."""
        levels = list(zip(self.blocks[:last], candidates.matrices[:last], strict=True))
        return [
            all(left_alone(Q, D[i]).shape[1] == Q.shape[1] for Q, D in levels) for i in range(len(candidates.elements))
        ]


@final
@dataclass(frozen=True, eq=False)
class _Search:
    """The data, the candidates, and the probability of a false symmetry that is tolerated."""

    information: Information
    candidates: CandidateElements
    level: float

    @cached_property
    def start(self) -> _Path:
        """No element, which leaves everything alone."""
        return _Path((), (), tuple(np.eye(D.shape[1]) for D in self.candidates.matrices))

    @cached_property
    def everything(self) -> Subspace:
        """All functions."""
        return self.start.subspace

    @cached_property
    def own(self) -> list[Subspace]:
        """What each candidate leaves alone."""
        count = range(len(self.candidates.elements))
        return [Subspace.of([left_alone(np.eye(D.shape[1]), D[i]) for D in self.candidates.matrices]) for i in count]

    def p_values(self, last: int) -> list[float]:
        """Of each candidate alone."""
        return p_values_outside(self.information, [self.everything, *self.own], last)[1:].tolist()

    def path(self, decay: Decay) -> _Path:
        """Steps as long as the symmetry with the element is probable enough against that without it.

        The probability before the data is proportional to the order, which an element doubles at least. An element
        that a test refutes is never taken, nor one with which the symmetry is refuted.
        """
        least = HONEST * self.level
        left = [i for i, p in enumerate(self.p_values(decay.last)) if not p < least]
        inside = self.information
        path = _Path((log_evidence(inside, self.everything.levels, decay),), (), self.start.blocks)
        while True:
            trials = {i: self._smaller(path, i) for i in left}
            trials = {i: s for i, s in trials.items() if s.Q.shape[0] > s.Q.shape[1]}  # others are contained already
            scores = {i: log_evidence(inside.on(s.Q), s.levels, decay) for i, s in trials.items()}
            left = [i for i, score in scores.items() if score > path.evidence[-1] - math.log(self.level)]
            left.sort(key=lambda i: -scores[i])
            for i in left:
                blocks = tuple(
                    Q @ left_alone(Q, D[i]) for Q, D in zip(path.blocks, self.candidates.matrices, strict=True)
                )
                new = Subspace.of(blocks)
                if not p_values_outside(self.information, [self.everything, new], decay.last)[1] < least:
                    path = _Path((*path.evidence, scores[i]), (*path.steps, i), blocks)
                    inside = self.information.on(new.Q)
                    break
            else:
                return path

    def _smaller(self, path: _Path, i: int) -> Subspace:
        """What an element leaves alone of what a path does, in coordinates of the latter."""
        pairs = zip(path.blocks, self.candidates.matrices, strict=True)
        return Subspace.of([left_alone(Q, D[i]) for Q, D in pairs])


def _generated(group: Group, elements: list[Isometry]) -> Group:
    """The group that elements generate, with the first of them that are enough."""
    order = Group(elements, size=group.size).order
    if order == group.order:
        return group
    found = Group([], size=group.size)
    for g in elements:
        if found.order == order:
            break
        more = Group([*found.generators, g], size=group.size)
        found = more if more.order > found.order else found
    return found


def _compared(group: Group, candidates: CandidateElements) -> str:
    which = "a generator of each cyclic subgroup" if candidates.complete else f"not all of the {group.order:.6g}"
    return (
        f"{len(candidates.elements)} elements were compared, {which}; the symmetry was built from them one after the "
        "other, so a larger one may have been missed."
    )
