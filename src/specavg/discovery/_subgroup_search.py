"""Which subgroup do the data allow? The posterior probability of every subgroup, and the one to return."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.discovery._discovery import Candidate, Discovery, group_label, unseen_function
from specavg.discovery._evidence import (
    HONEST,
    Decay,
    Subspace,
    best_decay,
    chosen_in_turn,
    log_evidence,
    p_values_outside,
)
from specavg.discovery._samples import MOST_FUNCTIONS, PER_FUNCTION, Samples
from specavg.discovery._subgroups import Lattice, lattice
from specavg.estimators._finer_detail import some_samples
from specavg.estimators._finer_functions import FinerFunctions, surely_better
from specavg.estimators._nested_columns import Columns
from specavg.groups import Group
from specavg.invariants import invariant_basis
from specavg.regression._information import Information
from specavg.regression._nested_models import Models
from specavg.spaces import Eigenspace

# Subgroups that are tested with finer functions, the largest first. Of the 420 subgroups of m-3m with mmm 5 have no
# function up to degree 3, and 16 up to degree 2; 94 tests took 40 s on Sphere(4), and the first 8 of them 0.2 to 0.6 s.
_MOST_TESTED = 8
_NOTHING_LEFT = 1e-6  # of the variance of y: finer detail has a thousandth of a standard deviation at most


def search_subgroups(samples: Samples, group: Group, level: float) -> Discovery:
    """Compare all subgroups of a small group."""
    subgroups = lattice(samples.space, group)
    eigenspaces = samples.compared.eigenspaces
    information = samples.information(samples.space.functions(eigenspaces).evaluate)
    subspaces = _fixed(subgroups, eigenspaces)
    found = _posterior(information, subgroups, subspaces)
    last = found.decay.last
    p_values = p_values_outside(information, subspaces, last)
    probable = found.probable(subgroups, level)
    if p_values[probable[0]] < HONEST * level:
        again, _ = _score_test(samples, eigenspaces[:last], subgroups.group(probable[0]))
        below = subgroups.inside[:, probable[0]]  # what does not refute a group does not refute its subgroups
        p_values[below] = np.maximum(p_values[below], again)
    choice, notes = next(i for i in probable if not p_values[i] < HONEST * level), ()
    probabilities = found.allowed
    something_left = last == len(eigenspaces) and information.signal_share < 1 - _NOTHING_LEFT
    if found.evidence < -np.log(level):
        choice = 0  # the trivial subgroup
        notes = (unseen_function(information),)
    elif finer := _with_finer_functions(samples, subgroups, subspaces, choice, something_left, level):
        choice, possible, notes = finer
        for i, p_value in possible.items():
            below = subgroups.inside[:, i]
            p_values[below] = np.fmax(p_values[below], p_value)
        probabilities = np.full(len(probabilities), np.nan)  # they take the function for one of those compared
    elif something_left:
        notes = (
            f"The finest functions that {information.count} samples can bear still matter: finer detail that does not "
            "stand out from the noise was not compared, and may break the symmetry.",
        )
    table = tuple(
        Candidate(
            element=None,
            subgroup=subgroups.group(i),
            order=int(subgroups.orders[i]),
            n_invariant=subspaces[i].up_to(last).shape[1],
            p_value=float(p_values[i]),
            probability=float(probabilities[i]),
            accepted=bool(subgroups.inside[i, choice]),
        )
        for i in range(len(subgroups.orders))
    )
    same = np.flatnonzero(found.closures == choice).tolist() if choice else []
    return Discovery(
        samples=samples,
        group=subgroups.group(choice),
        table=table,
        probability=float(probabilities[choice]),
        explained=information.signal_share,
        n_functions=len(information.b),
        untested=samples.compared.untested,
        indistinguishable=tuple(subgroups.group(i) for i in same if i != choice),
        notes=notes,
        method="subgroups",
    )


@lru_cache(maxsize=4)
def _fixed(subgroups: Lattice, eigenspaces: tuple[Eigenspace, ...]) -> list[Subspace]:
    return subgroups.fixed(eigenspaces)


@final
@dataclass(frozen=True, eq=False)
class _Posterior:
    """How probable each subgroup of a lattice is as the symmetry of the function.

    Subgroups that leave the same functions alone are one hypothesis, for which the largest of them stands.

    Attributes
    ----------
    decay : Decay
    closures : ndarray of shape (subgroups,)
        The largest subgroup with the same invariant functions up to the level `decay.last`.
    allowed : ndarray of shape (subgroups,)
        The probability that the function has at least this symmetry.
    evidence : float
        The largest log evidence, against a function that is constant.
    """

    decay: Decay
    closures: NDArray[np.intp]
    allowed: Array
    evidence: float

    def probable(self, lattice: Lattice, level: float) -> list[int]:
        """The subgroups that are symmetries with probability at least 1 − level, the largest first."""
        own = self.closures == np.arange(len(self.closures))
        enough = np.flatnonzero((self.allowed >= 1 - level) & own)
        return sorted(enough.tolist(), key=lambda i: (-lattice.orders[i], -self.allowed[i]))


def _score_test(samples: Samples, eigenspaces: tuple[Eigenspace, ...], group: Group) -> tuple[float, bool]:
    """The p-value of `symmetry_test`, and whether the points are spread evenly over orbits.

    The test reads the data again and fits finer invariant functions too.

    Wald's test takes what all functions leave for noise. Where there is none, this is less than what the invariant
    functions miss, and a true symmetry may be refuted; the score test takes what the invariant functions leave.
    """
    columns = Columns.of(samples.space, group, samples.count, eigenspaces)
    models = Models(columns.evaluate, columns.pieces(samples.read()))
    span = columns.span(group)
    return models.compare([span], columns.pieces(samples.read()))[0].p_value, models.are_even(span)


def _further_explain(samples: Samples, eigenspaces: tuple[Eigenspace, ...], group: Group) -> bool:
    """Whether further functions with a symmetry explain more of y, beside all those compared, than chance does."""
    columns = Columns.of(samples.space, group, samples.count, eigenspaces)
    if not len(columns.beyond):
        return False
    return columns.explained(Models(columns.evaluate, columns.pieces(samples.read())))[1] > 0


def _with_finer_functions(
    samples: Samples, subgroups: Lattice, subspaces: list[Subspace], choice: int, something_left: bool, level: float
) -> tuple[int, dict[int, float], tuple[str, ...]] | None:
    """What finer functions make of the `choice`: the better one, the p-values of those that are possible, and notes.

    On crowded points functions without a symmetry imitate finer ones that have it, and where points are spread unevenly
    over orbits, what the functions compared miss is fitted by functions without the symmetry: what they say against
    a subgroup is then no evidence. Where it has none of them its evidence is that of a constant. The `choice` and what
    lies in it are not asked; of many others the largest are. None if all of them are refuted.
    """
    whole, eigenspaces = len(subspaces) - 1, samples.compared.eigenspaces
    larger = np.flatnonzero(~subgroups.inside[:, choice])
    if not len(larger):
        return None
    missed = _further_explain(samples, eigenspaces, subgroups.group(whole))
    possible: dict[int, float] = {}
    uneven: set[int] = set()
    for i in larger[np.argsort(-subgroups.orders[larger], kind="stable")][:_MOST_TESTED].tolist():
        if not (missed or something_left or not subspaces[i].Q.shape[1]):
            continue
        p_value, even = _score_test(samples, eigenspaces, subgroups.group(i))
        if missed and not even:
            uneven.add(i)
        if not p_value < HONEST * level or i in uneven:
            possible[i] = p_value
    if not possible:
        return None
    largest = next(iter(possible))
    doubt = _cannot_exclude(
        samples, subgroups.group(largest), possible[largest], subspaces[largest].Q.shape[1], largest in uneven
    )
    if not missed:
        return choice, possible, (doubt,)
    finer = FinerFunctions(samples.space, *some_samples(samples.read()))
    densities = {i: finer.log_densities(subgroups.group(i)) for i in (*possible, choice)}
    for i in possible:
        better = surely_better(densities[i], densities[choice], level)
        if better and not any(surely_better(other, densities[i], level) for other in densities.values()):
            note = _better(subgroups.group(choice), subgroups.group(i))
            return i, possible, (note,) if i == largest else (note, doubt)
    return choice, possible, (doubt,)


def _better(smaller: Group, larger: Group) -> str:
    """The note of a result that finer functions have enlarged."""
    return (
        f"Finer functions decide: the functions compared alone would give {group_label(smaller)}, of order "
        f"{smaller.order:.6g}, but they miss a part of y, and finer ones with the symmetry of {group_label(larger)} "
        "predict y better. No probability is given."
    )


def _cannot_exclude(samples: Samples, group: Group, p_value: float, n_invariant: int, uneven: bool) -> str:
    """The note of a result that may be too small: `group`, with so many functions among those compared, is possible."""
    if uneven and n_invariant:
        return (
            f"{group_label(group)}, of order {group.order:.6g}, cannot be excluded: the points are spread unevenly "
            "over its orbits, and the functions compared miss a part of y that finer ones with this symmetry explain, "
            "which speaks against a true symmetry too. No probability is given: points spread evenly would tell."
        )
    none, more = "", "more samples, or points that are spread more evenly, would tell"
    if not n_invariant:
        none, count = " has no function but the constant among those compared, and", 0
        more = f"its first functions are finer than the first {MOST_FUNCTIONS}, which is as many as are compared"
        for row in invariant_basis(samples.space, group, max_dim=1 + MOST_FUNCTIONS).table:
            count += row.dim
            if row.invariant_dim and row.eigenvalue > 0:
                more = f"about {PER_FUNCTION * (count - 1):,} samples bear its first functions"
                break
    return (
        f"{group_label(group)}, of order {group.order:.6g},{none} cannot be excluded: finer functions with this "
        f"symmetry explain y as well (p = {p_value:.2g}). The symmetry may be larger than the one above, or another "
        f"one, and no probability is given: {more}."
    )


def _posterior(information: Information, lattice: Lattice, subspaces: list[Subspace]) -> _Posterior:
    """The posterior over the subgroups of a lattice.

    The prior probability that the symmetry has some order is proportional to the square of this order, and all
    subgroups of one order are equally probable: however many small ones there are, they do not outweigh a large one.
    (Of 80 functions with the symmetry of subgroups of hyperoctahedral(4), 1000 samples find 95 % with it, and 81 % with
    a prior proportional to the order and the same for every class; 2 and 1 of them too large.) The decay is that of the
    largest evidence, with the subgroup that is most probable with it.
    """
    alike = np.bincount(lattice.orders)[lattice.orders]  # subgroups of the same order
    prior = np.log(lattice.orders**2 / alike)
    every = np.arange(len(prior))

    def evidence(decay: Decay) -> tuple[NDArray[np.intp], Array]:
        """The closure of each subgroup, and the log evidence of each that is its own."""
        closures = _closures(lattice, subspaces, decay.last)
        found = np.full(len(prior), -np.inf)
        for i in np.flatnonzero(closures == every).tolist():
            levels = subspaces[i].levels[subspaces[i].levels <= decay.last]
            found[i] = log_evidence(information.on(subspaces[i].up_to(decay.last)), levels, decay)
        return closures, found

    def best_decay_for(found: tuple[NDArray[np.intp], Array]) -> Decay:
        best = subspaces[int(np.argmax(found[1] + prior))]
        return best_decay(information.on(best.Q), best.levels)

    trivial = np.where(every == 0, 0.0, -np.inf)  # subgroup 0
    (closures, found), decay = chosen_in_turn((every, trivial), best_decay_for, evidence)
    probabilities = np.exp(found + prior - (found + prior).max())
    probabilities /= probabilities.sum()
    return _Posterior(decay, closures, lattice.inside @ probabilities, float(found.max()))


def _closures(lattice: Lattice, subspaces: list[Subspace], last: int) -> NDArray[np.intp]:
    """For each subgroup the largest subgroup that contains it and has as many invariant functions up to a level."""
    dims = np.array([int(np.sum(s.levels <= last)) for s in subspaces])
    same = lattice.inside & (dims[:, None] == dims)
    return np.argmax(np.where(same, lattice.orders, 0), axis=1)
