"""Many cheap problems to choose rules on, and a table of all that a default model could have chosen for one of them.

Tori, lattices of all shapes, spheres, rotations, frames, powers, products and boxes; wells, exponentials, poles, kinks,
creases and steps; 30 to 300 rows, with and without noise. No target is one of README's. `trials` lists every spectrum
with every penalty of one draw, with its scores and its test error: a rule of choice is then compared on hundreds of
draws in seconds, without a fit. What was tried is in docs/defaults.md ("The score").
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import specavg as sa
from benchmarks.accuracy_sets import ProblemSet, cubic_group, embedded, signs_and_exchanges
from benchmarks.analytic_collections import HEXAGONAL, star_sum
from specavg import groups, isometries
from specavg.estimators._number_of_functions import affordable_dim
from specavg.estimators._searched_basis import competing_bases
from specavg.regression._feature_path import FeatureProblem
from specavg.regression._tried_spectra import relative_scale

__all__ = ["design", "standing_out", "trials"]

Array = NDArray[np.float64]
FIRST_DRAW = 100  # draws 0 to 7 are those that README's sets are reported with
PENALTIES = 10.0 ** np.arange(1.5, -18.5, -0.5)  # of the top, as the default has them

# Of v, three random directions of the embedding at all images of a point: means over the group, or maxima.
_KINDS: dict[str, tuple[Callable[[Array], Array], Callable[..., Array]]] = {
    "exp1": (lambda v: np.exp(v[..., 0]), np.mean),
    "exp2": (lambda v: np.exp(1.6 * v[..., 0]) + 0.5 * np.exp(v[..., 1]), np.mean),
    "two": (lambda v: np.exp(np.sin(1.5 * v[..., 0])) + 0.3 * np.cos(2 * v[..., 1]), np.mean),
    "pole": (lambda v: 1 / (0.5 + (v[..., 0] - 0.3) ** 2), np.mean),
    "poly": (lambda v: v[..., 0] * v[..., 1] + 0.4 * v[..., 2] ** 3 + 0.2 * v[..., 0] ** 4, np.mean),
    "kink": (lambda v: v[..., 0], np.max),
    "crease": (lambda v: np.abs(v[..., 0] - 0.4) + 0.5 * v[..., 1] * v[..., 2], np.mean),
    "step": (lambda v: np.tanh(4 * (v[..., 0] - 0.7)), np.mean),
}
# e^(aσ), σ the mean of the cosines of the shortest waves. With a = 3 the target is the kernel of the peer with one of
# its widths, at one point: both depths lie between its widths.
_WELLS = {"wide well": 3.7, "well": 5.4, "narrow well": 8.0}


def _reduced(space: Any, group: Any, kind: str, seed: int) -> Callable[[Array], Array]:
    of, over = _KINDS[kind]
    E = embedded(space, space.sample(2000, 0))
    w = np.random.default_rng([seed, 4711]).normal(size=(E.shape[1], 3))
    w /= np.std(E @ w, axis=0)

    def target(X: Array) -> Array:
        images = [embedded(space, space.act(g, X)) @ w for g in group.elements()]
        return over(of(np.stack(images, axis=1)), axis=1)

    return target


def _target(space: Any, group: Any, kind: str, seed: int) -> Callable[[Array], Array]:
    if kind not in _WELLS:
        return _reduced(space, group, kind, seed)
    depth = _WELLS[kind]
    if space.lattice is not None:
        return lambda X: np.exp(depth * star_sum(space, X))
    return lambda X: np.exp(depth * np.cos(2 * np.pi * X / space.period).mean(axis=1))


def _fixing_origin(*matrices: Any) -> Any:
    """The group of a lattice that integer matrices generate, in fractional coordinates."""
    moves = [np.asarray(M, dtype=int) for M in matrices]
    return groups.Group([isometries.affine(M.tolist(), [0] * len(M)) for M in moves], "fixing the origin")


def _lattices() -> Iterator[tuple[str, Any, Any, str]]:
    def lattice(*rows: Any) -> Any:
        return sa.Torus(lattice=np.array(rows))

    def layers(c: float) -> Any:
        return lattice(*([*row, 0.0] for row in HEXAGONAL), [0, 0, c])

    plane, solid = (_fixing_origin(-np.eye(d)) for d in (2, 3))
    fourfold, ring = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.eye(3)[[2, 0, 1]]
    fcc = lattice([0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0])
    bcc = lattice([-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5])
    sixfold, half = [[1, -1, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, -1]]
    wells = "wide well 100 0, well 100 0"
    yield "rectangular", lattice([1, 0], [0, 1.7]), plane, "wide well 30 0, well 100 0, crease 100 0.05"
    yield "hexagonal", lattice(*HEXAGONAL), _fixing_origin([[0, -1], [1, -1]]), "well 30 0, exp2 100 0, kink 300 0"
    yield "oblique", lattice([1, 0], [0.35, 0.8]), plane, "wide well 100 0, narrow well 100 0, pole 30 0"
    rhombic = _fixing_origin(-np.eye(2), [[0, 1], [1, 0]])
    yield "rhombic", lattice([1, 0.4], [1, -0.4]), rhombic, "wide well 100 0, well 30 0, narrow well 100 0.02"
    yield "tetragonal", lattice(*np.diag([1, 1, 1.4])), _fixing_origin(fourfold, -np.eye(3)), f"{wells}, crease 100 0"
    yield "orthorhombic", lattice(*np.diag([1, 1.2, 0.8])), solid, "wide well 100 0, well 100 0.05, exp1 200 0"
    rhombohedral = lattice([1, 0.25, 0.25], [0.25, 1, 0.25], [0.25, 0.25, 1])
    yield "rhombohedral", rhombohedral, _fixing_origin(ring, -np.eye(3)), "wide well 100 0, well 200 0, kink 100 0"
    yield "bcc, cubic", bcc, cubic_group(bcc), "wide well 30 0, narrow well 100 0, pole 100 0"
    yield "bcc", bcc, solid, "wide well 100 0, well 200 0"
    yield "fcc, cubic", fcc, cubic_group(fcc), "well 30 0, exp2 100 0, narrow well 100 0.01"
    yield "fcc", fcc, solid, "wide well 100 0, well 200 0, narrow well 100 0"
    yield "layers 1.25", layers(1.25), solid, "wide well 100 0, well 200 0, narrow well 100 0, crease 100 0.1"
    yield "layers 0.9", layers(0.9), _fixing_origin(sixfold), f"{wells}, exp1 100 0"
    yield "layers 1.1", layers(1.1), _fixing_origin(half), "well 200 0, exp1 100 0"


def _others() -> Iterator[tuple[str, Any, Any, str]]:
    S2, SO3 = sa.Sphere(3), sa.spaces.Rotations()
    T, point, turns, frames = sa.Torus, groups.point_group, groups.crystal_symmetry, sa.spaces.Stiefel
    trivial = "exp1 30 0, wide well 30 0, poly 30 0.05, crease 100 0, well 100 0.01, exp1 30 0.02"
    yield "S¹, D₄", sa.Circle(), groups.dihedral(4), "kink 30 0.05, pole 30 0, step 30 0.3"
    yield "T², trivial", T(2), groups.trivial(2), trivial
    yield "T², S₂", T(2), groups.symmetric(2), "exp2 30 0, step 100 0.1, well 30 0"
    yield "T³, flips", T(3), groups.sign_flips(3), "exp1 100 0, kink 100 0, well 100 0"
    yield "T³, trivial", T(3), groups.trivial(3), "exp1 100 0, two 100 0.3, wide well 30 0"
    yield "T⁴, Z₄", T(4), groups.cyclic_shifts(4), "wide well 100 0, kink 100 0, two 200 0"
    yield "T⁵, S₅", T(5), groups.symmetric(5), "two 100 0, wide well 100 0.02, poly 30 0"
    yield "T⁵, D₅", T(5), groups.dihedral_shifts(5), "crease 100 0, two 300 0, kink 200 0.1"
    yield "T⁶, flips", T(6), groups.sign_flips(6), "two 100 0, crease 200 0.3, poly 200 0"
    yield "S², C₁", S2, point("C1"), "exp1 30 0, crease 100 0, poly 30 0.1"
    yield "S², C4v", S2, point("C4v"), "exp2 30 0, kink 100 0, step 300 0.05"
    yield "S², T", S2, point("T"), "pole 30 0, exp1 100 0.3, kink 30 0.05"
    yield "S², Oh", S2, point("Oh"), "crease 30 0, exp2 30 0, two 100 0"
    yield "S³, S₄", sa.Sphere(4), groups.symmetric(4), "exp1 100 0, kink 100 0.1, pole 30 0"
    yield "S⁵, S₆", sa.Sphere(6), groups.symmetric(6), "crease 100 0, exp2 100 0.02"
    yield "SO(3), D3", SO3, turns("D3", "C1"), "exp1 100 0, kink 100 0, two 100 0.1"
    yield "SO(3), D2, C2", SO3, turns("D2", "C2"), "exp2 100 0, step 100 0"
    yield "V(3, 2)", frames(3, 2), signs_and_exchanges(3, 2), "exp1 30 0, exp2 100 0, kink 100 0, poly 100 0.1"
    yield "V(4, 3)", frames(4, 3), signs_and_exchanges(4, 3), "exp1 100 0, crease 100 0"
    yield "V(5, 2)", frames(5, 2), signs_and_exchanges(5, 2), "exp1 100 0, two 100 0.05"
    yield "(S²)²", sa.Power(S2, 2), groups.symmetric(2), "exp1 100 0, kink 100 0, poly 100 0.1"
    yield "(S²)³", sa.Power(S2, 3), groups.symmetric(3), "kink 100 0, two 200 0, poly 100 0.2"
    yield "[−1, 1]²", sa.Power(sa.Interval(), 2), groups.symmetric(2), "exp2 30 0, step 100 0.05, kink 100 0"
    rotor = groups.direct_product(groups.sign_flips(1), point("C3"))
    yield "S¹×S²", sa.Product(T(1), S2), rotor, "exp1 100 0, two 100 0.1"


def design() -> list[ProblemSet]:
    """All problems; a name ends with the number of rows and the noise."""
    problems: list[ProblemSet] = []
    for name, space, group, lines in (*_lattices(), *_others()):
        for line in lines.split(", "):
            kind, n, noise = line.rsplit(" ", 2)
            target = _target(space, group, kind, zlib.crc32(f"{name} {kind}".encode()))
            whole = f"{kind}, {name}, {n}, {noise}"
            problems.append(ProblemSet(whole, space, group, int(n), target, noise=float(noise)))
    return problems


def standing_out() -> list[ProblemSet]:
    """Smooth targets of variance one, and one function far down the spectrum beside them."""
    S2, T = sa.Sphere(3), sa.Torus
    hexagonal, turns, oh = T(lattice=HEXAGONAL), _fixing_origin([[0, -1], [1, -1]]), groups.point_group("Oh")

    def function(space: Any, group: Any, number: int) -> Callable[[Array], Array]:
        basis = sa.invariant_basis(space, group, max_invariant_dim=2 * number + 9)  # whole eigenspaces
        return lambda X: basis.evaluate(X)[:, number]

    def wells(X: Array) -> Array:
        return np.exp(np.cos(np.pi * X).sum(axis=1))

    def square(X: Array) -> Array:
        c, d = (np.cos(k * np.pi * X) for k in (5, 3))
        return c[:, 0] * d[:, 1] + d[:, 0] * c[:, 1]

    def product(X: Array) -> Array:
        return np.cos(np.pi * X).prod(axis=1)

    def pairs(X: Array) -> Array:
        return np.exp(0.8 * np.cos(np.pi * (X - np.roll(X, 1, axis=1)))).sum(axis=1)

    c3v, exp1 = groups.point_group("C3v"), "exp1"
    cases: list[tuple[str, Any, Any, Any, Any, int]] = [
        ("ring of five", T(5), groups.dihedral_shifts(5), pairs, lambda X: np.cos(np.pi * X.sum(axis=1)), 1),
        ("T⁴, S₄", T(4), groups.symmetric(4), lambda X: np.exp(np.cos(np.pi * X)).sum(axis=1), product, 1),
        ("T³, flips", T(3), groups.sign_flips(3), wells, function(T(3), groups.sign_flips(3), 73), 1),
        ("S², Oh, early", S2, oh, lambda X: np.exp(1.5 * (X**4).sum(axis=1)), function(S2, oh, 3), 2),
        ("S², Oh, late", S2, oh, lambda X: np.exp(1.5 * (X**4).sum(axis=1)), function(S2, oh, 6), 2),
        ("S², C3v", S2, c3v, _reduced(S2, c3v, exp1, 3), function(S2, c3v, 13), 1),
        ("hexagonal", hexagonal, turns, _reduced(hexagonal, turns, exp1, 5), function(hexagonal, turns, 30), 1),
        ("T², B₂", T(2), groups.hyperoctahedral(2), wells, square, 2),
    ]
    problems: list[ProblemSet] = []
    for name, space, group, base, wave, fewer in cases:
        Z = space.sample(3000, random_state=7)
        b, w = base(Z).std(), wave(Z).std()
        for n, size, noise in ((200, 0.3, 0.0), (300, 0.15, 0.0), (100, 0.4, 0.1), (200, 0.3, 0.3)):
            target = lambda X, f=base, g=wave, b=b, w=w, s=size: f(X) / b + s * g(X) / w  # noqa: E731
            problems.append(ProblemSet(f"{name}, {size} of it", space, group, n // fewer, target, noise=noise))
    return problems


def trials(problem: ProblemSet, seed: int, n_test: int = 300) -> list[tuple[Any, Any, Array]]:
    """Every order of functions and spectrum of one draw, with a table of all penalties.

    Columns: α over the top, the leave-one-out error, density and evidence of `Trial`, and the root mean squared error
    at test points, in standard deviations of the target there.
    """  # (A, 5) for each
    X, y, Z, truth = problem.split(seed, n_test)
    model: Any = sa.InvariantKernelRidge(problem.space, problem.group)
    points, places = model._canonical(X), model._canonical(Z)
    found: list[tuple[Any, Any, Array]] = []
    for _, basis in competing_bases(model._bases(points, model._order(), None), affordable_dim(len(X))):
        fitted = FeatureProblem(basis.evaluate(points)[:, 1:], y[:, None], np.ones(len(X)))
        tested = basis.evaluate(places)[:, 1:]
        for spectrum in model._candidates(basis):
            path = fitted.path(relative_scale(spectrum, basis, tested.shape[1])[0])
            alphas, s = path.top * PENALTIES, path.s[:, None]
            scores = path.scores(alphas)
            C = path.scale[:, None] * path.combined_directions(s / (s**2 + alphas) * path.c)
            values = fitted.mean_targets + (tested - fitted.mean_features) @ C
            wrong = fitted.units.unit * values + fitted.units.shift - truth[:, None]
            error = np.sqrt(np.mean(wrong**2, axis=0)) / truth.std()
            columns = (PENALTIES, np.sqrt(scores.error), scores.density, scores.evidence, error)
            found.append((basis.order, spectrum, np.column_stack(np.broadcast_arrays(*columns))))
    return found
