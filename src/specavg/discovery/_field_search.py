"""Which fields leave the function alone? Subalgebras of the continuous part of a group, compared by evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.discovery._discovery import UNSEARCHED, Candidate, Discovery, unseen_function
from specavg.discovery._evidence import HONEST, Decay, Subspace, best_decay, chosen_in_turn, left_alone, log_evidence
from specavg.discovery._field_names import direction_label
from specavg.discovery._linked_subalgebras import LinkedSubalgebras
from specavg.discovery._samples import Samples
from specavg.discovery._subalgebras import AlgebraParts, Subalgebra
from specavg.estimators._one_thread import one_thread
from specavg.groups import Group
from specavg.groups.families import OrthogonalGroup
from specavg.isometries import Isometry, orthogonal
from specavg.regression._information import Information
from specavg.spaces import Eigenspace, Space

_FIXED = 1e-6  # eigenvalues of dDᵀdD below this are zero: they are squares of integers, rounded to 1e-12
_NO_MORE = 1e-3  # gain of twice the log likelihood that counts as none: a coefficient that fits noise gains about 1
_PAIRED = 4  # isometries that the data refuse of which products are tried: no point group has more generators
_POLISHED = 3  # candidates whose directions are adjusted to the data: the right one is among the first, or none is


def search_fields(samples: Samples, group: Group, level: float) -> Discovery:
    """The largest subalgebra that the data allow, then the generators that go with it."""
    algebra = AlgebraParts(group.algebra.fields)
    eigenspaces = samples.compared.eigenspaces
    information = samples.information(samples.space.functions(eigenspaces).evaluate)
    derivatives = _Derivatives(samples.space, algebra, eigenspaces)

    def best_decay_for(trials: list[_Trial]) -> Decay:
        best = max(trials, key=lambda trial: trial.score).subspace if trials else derivatives.everything
        return best_decay(information.on(best.Q), best.levels)

    with one_thread(len(information.b)):  # what is searched are matrices of so many functions
        trials, decay = chosen_in_turn(
            [], best_decay_for, lambda decay: _Comparison(information, derivatives, decay).trials()
        )
        choice, probability = _largest(trials, level)
        notes: list[str] = []
        if (unsearched := derivatives.linked.unsearched) and choice.algebra.dim < len(algebra.basis):
            notes.append(
                f"{UNSEARCHED}: {unsearched}. For a field that you suspect, ask symmetry_test, or give the group "
                "that it generates."
            )
        generators, all_kept = list[Isometry](), False
        along_axes = _has_mirrors(group, choice)
        if max(trial.score for trial in trials) < -math.log(level):
            choice, probability = next(t for t in trials if t.algebra.dim == 0), math.nan
            notes.append(unseen_function(information))
        else:
            generators, all_kept = _Comparison(information, derivatives, decay).generators(group, choice, level)
        if along_axes and choice.algebra.dim:
            notes.append("Finite symmetries beside the fields were compared for reflections along the axes found only.")
        elif group.generators and not math.isnan(probability):
            notes.append(
                f"Of finite symmetries, the {len(group.generators)} generators given were compared, and products of "
                f"two that fail: the data allow {len(generators)} of these."
            )
        if not choice.algebra.dim:
            notes.append("Finite subgroups were not searched: give a finite group to search those.")
    fields = choice.algebra.fields(algebra.basis)
    whole = choice.algebra.dim == len(algebra.basis) and all_kept
    name = _name(choice, generators if along_axes else ())
    if name and generators and not along_axes:
        name += ", with finite generators"
    found = group if whole else Group(generators, fields, name, size=group.size)
    return Discovery(
        samples=samples,
        group=found,
        table=tuple(trial.row(group, algebra, choice, decay) for trial in trials),
        probability=probability,
        explained=information.signal_share,
        n_functions=len(information.b),
        untested=samples.compared.untested,
        notes=tuple(notes),
        method="fields",
        fields=fields,
    )


@final
@dataclass(frozen=True, eq=False)
class _Derivatives:
    """Derivatives dD of the basis fields on each eigenspace, and what combinations of them leave alone."""

    space: Space
    algebra: AlgebraParts
    eigenspaces: tuple[Eigenspace, ...]

    @cached_property
    def blocks(self) -> list[Array]:
        """The matrices dD of every basis field, an eigenspace at a time."""  # (r, m, m)
        fields = self.algebra.basis
        return [np.stack([self.space.infinitesimal(f, V) for f in fields]) for V in self.eigenspaces]

    @cached_property
    def linked(self) -> LinkedSubalgebras:
        """The linked subalgebras."""
        return LinkedSubalgebras(self.algebra)

    @cached_property
    def everything(self) -> Subspace:
        """All functions."""
        return Subspace.of([np.eye(V.dim) for V in self.eigenspaces])

    def fixed(self, C: NDArray[np.generic]) -> Subspace:
        """The functions that the fields Σ_i C_ik ξ_i leave alone."""
        found: list[Array] = []
        for D in self.blocks:
            moved = np.einsum("ik,iab->kab", np.asarray(C, dtype=float), D).reshape(-1, D.shape[1])
            values, vectors = np.linalg.eigh(moved.T @ moved)
            found.append(vectors[:, values < _FIXED])
        return Subspace.of(found)

    def fixed_by(self, g: Isometry, subspace: Subspace) -> Subspace:
        """The functions of a subspace that an isometry leaves alone."""
        found: list[Array] = []
        start = 0
        for k, V in enumerate(self.eigenspaces, start=1):
            Q = subspace.Q[start : start + V.dim, subspace.levels == k]
            start += V.dim
            found.append(Q @ left_alone(Q, self.space.representation(g, V)))
        return Subspace.of(found)

    def weights(self) -> Array:
        """How fast each function changes along each field, up to a sign, if the field pairs it with one other."""
        rows: list[Array] = []
        for D in self.blocks:
            partners = np.argmax(np.sum(D**2, axis=0), axis=0)
            rows += [D[:, partner, k] for k, partner in enumerate(partners)]
        return np.stack(rows)

    def form(self, coef: Array, V: Array) -> Array:
        """⟨ξ_i f, ξ_j f⟩ for f with coefficients `coef`, without what their errors of covariance V add on average."""
        total = np.zeros((len(self.algebra.basis),) * 2)
        start = 0
        for D in self.blocks:
            part = slice(start, start := start + D.shape[1])
            moved = np.einsum("iab,b->ia", D, coef[part])
            total += moved @ moved.T - np.einsum("iab,bc,jac->ij", D, V[part, part], D, optimize=True)
        return total


@final
@dataclass(frozen=True, eq=False)
class _Trial:
    """A subalgebra, the functions it leaves alone, its log evidence, what is left unexplained, and the p-value."""

    algebra: Subalgebra
    subspace: Subspace
    score: float
    outside: float
    p_value: float

    def as_good_as(self, other: _Trial) -> bool:
        """Whether a larger subalgebra leaves as many functions alone that explain as much."""
        same = self.subspace.Q.shape == other.subspace.Q.shape and abs(self.outside - other.outside) < _NO_MORE
        return same and self.algebra.dim > other.algebra.dim

    def row(self, group: Group, parts: AlgebraParts, choice: _Trial, decay: Decay) -> Candidate:
        """A row of the table."""
        subgroup = Group([], self.algebra.fields(parts.basis), _name(self), size=group.size)
        k = self.subspace.up_to(decay.last).shape[1]
        inside = self is choice or self.algebra.dim == 0
        return Candidate(None, subgroup, None, k, self.p_value, math.nan, inside)


@final
@dataclass(frozen=True, eq=False)
class _Comparison:
    """The comparison of subalgebras with one prior of the coefficients."""

    information: Information
    derivatives: _Derivatives
    decay: Decay

    @cached_property
    def _known(self) -> float:
        """How much of the data all functions together explain, as twice a log likelihood."""
        return self.information.on(self.derivatives.everything.up_to(self.decay.last)).explained()

    def trials(self) -> list[_Trial]:
        """All candidates; the best of those with free directions have them adjusted to the data."""
        information, derivatives = self.information, self.derivatives
        kept = derivatives.everything.levels <= self.decay.last
        V = np.zeros_like(information.A)
        V[np.ix_(kept, kept)] = np.linalg.pinv(information.A[np.ix_(kept, kept)], rcond=1e-10, hermitian=True)
        coef = V @ information.b
        sizes = np.where(kept, coef**2 / np.maximum(np.diagonal(V), 1e-300), 0.0)
        form = derivatives.form(coef, V)
        first = [self._trial(c) for c in derivatives.algebra.candidates(form, derivatives.weights(), sizes)]
        movable = sorted((t for t in first if t.algebra.moves), key=lambda t: -t.score)[:_POLISHED]
        polished: list[_Trial] = []
        for trial in movable:
            new = self._polished(trial)
            if not any(new.algebra.near(other.algebra) for other in polished):
                polished.append(new)
        if polished:
            best = max(polished, key=lambda t: t.score).algebra
            more = derivatives.algebra.with_those_beside(best)
            if more.dim > best.dim:
                polished.append(self._polished(self._trial(more)))
        for candidate in self.derivatives.linked.candidates(form):
            new = self._polished_linked(candidate)
            # The circles of a torus may leave the same functions alone as the torus does: no candidates of their own.
            if not any(new.algebra.near(other.algebra) or other.as_good_as(new) for other in first + polished):
                polished.append(new)
        return [t for t in first if t not in movable] + polished

    def _trial(self, algebra: Subalgebra) -> _Trial:
        from scipy.stats import f as distribution

        information, decay = self.information, self.decay
        subspace = self.derivatives.fixed(algebra.C)
        inside = information.on(subspace.Q)
        # Which conjugate it is was chosen with the data: half a logarithm of the number of samples each (Schwarz).
        score = log_evidence(inside, subspace.levels, decay) - algebra.moves / 2 * math.log(information.count)
        total = int(np.sum(self.derivatives.everything.levels <= decay.last))
        fixed = subspace.up_to(decay.last)
        tested = total - fixed.shape[1] - algebra.moves
        outside = max(self._known - information.on(fixed).explained(), 0.0)
        p_value = float(distribution.sf(outside / tested, tested, information.freedom)) if tested > 0 else 1.0
        return _Trial(algebra, subspace, score, outside, p_value)

    def _polished(self, trial: _Trial) -> _Trial:
        """The trial with its directions moved to where the likelihood is largest."""
        from scipy.linalg import expm

        parts, turned = self.derivatives.algebra, trial.algebra.turned
        frames = [np.linalg.qr(np.hstack([W, np.eye(len(W))]))[0][:, : len(W)] for W in turned]
        shapes = [(W.shape[1], len(W) - W.shape[1]) for W in turned]

        def moved(t: Array) -> Subalgebra:
            directions: list[Array] = []
            start = 0
            for W, frame, (q, rest) in zip(turned, frames, shapes, strict=True):
                angles = np.zeros((len(W), len(W)))
                angles[:q, q:] = t[start : start + q * rest].reshape(q, rest)
                start += q * rest
                directions.append(np.asarray((frame @ expm(angles - angles.T))[:, :q], dtype=np.float64))
            return parts.joined(trial.algebra.shifts, tuple(directions), trial.algebra.both)

        return self._trial(moved(self._least(moved, trial.algebra.moves)))

    def _polished_linked(self, algebra: Subalgebra) -> _Trial:
        linked = self.derivatives.linked
        directions = linked.directions(algebra)

        def moved(t: Array) -> Subalgebra:
            return linked.moved(algebra, directions, t)

        return self._trial(moved(self._least(moved, algebra.moves)))

    def _least(self, moved: Callable[[Array], Subalgebra], moves: int) -> Array:
        """Where the likelihood of what is moved is largest."""
        from scipy.optimize import minimize

        def lost(t: Array) -> float:
            fixed = self.derivatives.fixed(moved(t).C).up_to(self.decay.last)
            return self._known - self.information.on(fixed).explained()

        if not moves:
            return np.zeros(0)
        found = minimize(lost, np.zeros(moves), method="BFGS", options={"gtol": 1e-3})
        return np.asarray(found.x)

    def generators(self, group: Group, choice: _Trial, level: float) -> tuple[list[Isometry], bool]:
        """Isometries of the group that keep the fields found and that the data allow; whether none was left out.

        They are taken one after the other, and after them products of two that were left out: each of two may break
        the function where their product leaves it alone.
        """
        subspace, kept = choice.subspace, list[Isometry]()

        def evidence(of: Subspace) -> float:
            return log_evidence(self.information.on(of.Q), of.levels, self.decay)

        def allowed(g: Isometry) -> bool:
            nonlocal subspace
            smaller = self.derivatives.fixed_by(g, subspace)
            gain = evidence(smaller) - evidence(subspace)
            if smaller.Q.shape != subspace.Q.shape and not gain > -math.log(level):
                return False
            kept.append(g)
            subspace = smaller
            return True

        left_out = [g for g in _isometries(group, choice) if not allowed(g)]
        for a, b in combinations(left_out[:_PAIRED], 2):
            allowed(a @ b)
        return kept, not left_out


def _largest(trials: list[_Trial], level: float) -> tuple[_Trial, float]:
    """The largest subalgebra such that smaller ones have probability at most `level`, and that no test refutes."""
    scores = np.array([trial.score for trial in trials])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    dims = np.array([trial.algebra.dim for trial in trials])
    outside = np.array([trial.outside for trial in trials])
    for dim in sorted(set(dims.tolist()), reverse=True):
        best = int(max(np.flatnonzero(dims == dim), key=lambda i: scores[i]))
        # A smaller one that explains no more has the same functions, if all its conjugates are counted.
        rivals = shares[(outside < outside[best] - _NO_MORE) & (dims <= dim)].sum()
        if (rivals <= level and trials[best].p_value >= level * HONEST) or dim == 0:
            return trials[best], float(shares[dims >= dim].sum())
    raise AssertionError("nothing is always a candidate")


def _has_mirrors(group: Group, choice: _Trial) -> bool:
    """Whether directions were found that reflections, or half turns, of the group keep."""
    turned = choice.algebra.turned
    return isinstance(group.structure, OrthogonalGroup) and bool(turned) and turned[0].shape[1] > 0


def _isometries(group: Group, choice: _Trial) -> list[Isometry]:
    """Reflections of O(d), or half turns of SO(d), that keep the directions found; else the group's own generators."""
    structure = group.structure
    if not isinstance(structure, OrthogonalGroup) or not _has_mirrors(group, choice):
        return list(group.generators)
    turned = choice.algebra.turned
    W = turned[0]
    rest = np.linalg.svd(W)[0][:, W.shape[1] :].T
    rest = rest[:1] if choice.algebra.both[0] else rest  # turned into one another
    mirrors = [np.eye(len(W)) - 2 * np.outer(u, u) for u in [W[:, 0], *rest]]
    if structure.special:
        return [orthogonal(mirrors[0] @ mirror) for mirror in mirrors[1:]]
    return [orthogonal(mirror) for mirror in mirrors]


def _name(trial: _Trial, generators: Sequence[Isometry] = ()) -> str | None:
    """The name of rotations of some directions, with the mirrors and half turns that were found beside them."""
    turned, both = trial.algebra.turned, trial.algebra.both
    if len(turned) != 1 or not 2 <= turned[0].shape[1] < len(turned[0]):
        return None
    W = turned[0]
    d, q = W.shape
    beside = np.linalg.svd(W)[0][:, q:]
    if trial.algebra.dim != math.comb(q, 2) + both[0] * math.comb(d - q, 2):  # shifts too
        return None
    if d - q == 1:
        names = [f"rotations about {direction_label(beside[:, 0])}"]
    else:
        planes = [D for D in (W, *([beside] if both[0] else [])) if D.shape[1] == 2]
        names = [f"rotations in the plane of {direction_label(D[:, 0])} and {direction_label(D[:, 1])}" for D in planes]
        names += [f"rotations of {k} directions" for k in (q, both[0] * (d - q)) if k > 2]
    for g in generators:
        R = np.asarray(g(np.eye(d)), dtype=float).T  # of the rows, which are moved
        # Products of one mirror and of two, which turn back the direction or the plane of an eigenvalue of −1.
        turned_back = round((d - np.trace(R)) / 2)
        if turned_back == 1:
            names.append(f"mirror across {direction_label(np.linalg.eigh(R + R.T)[1][:, 0])}")
        elif (turned_back, d) == (2, 3):
            names.append(f"half turn about {direction_label(np.linalg.eigh(R + R.T)[1][:, -1])}")
        else:
            names.append(f"an isometry that turns back {turned_back} directions")
    return ", ".join(names)
