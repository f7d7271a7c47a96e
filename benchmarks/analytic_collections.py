"""Two collections of analytic and kinked targets made of few waves: one to choose rules on, one to look at once.

Wells around the sites of lattices, poles near the space, products of wells: functions whose coefficients decrease like
those of the exponential of a wave. The spectrum "von mises" and its grid were chosen on `few_waves`; `other_waves`
shares no pair of a space and a group with it and is for a last look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import specavg as sa
from benchmarks.accuracy_sets import ProblemSet, cubic_group, embedded, signs_and_exchanges
from specavg import groups, isometries

__all__ = ["HEXAGONAL", "few_waves", "hexagonal_group", "other_waves", "star_sum"]

Array = NDArray[np.float64]
HEXAGONAL = [[1.0, 0.0], [-0.5, 0.75**0.5]]


def hexagonal_group(mirror: bool = True) -> Any:
    """The turns by a sixth of a hexagonal lattice of the plane, and its mirrors."""
    turn = isometries.affine([[1, -1], [1, 0]], [0, 0])
    exchange = isometries.affine([[0, 1], [1, 0]], [0, 0])
    return groups.Group([turn, exchange] if mirror else [turn], "p6m" if mirror else "p6")


def star_sum(space: Any, X: Array) -> Array:
    """The sum of the cosines of the shortest dual vectors that span the space, over their number."""
    at_zero = embedded(space, np.zeros((1, space.n_features)))[0]
    return embedded(space, X) @ at_zero / (at_zero @ at_zero)


def _averaged(space: Any, group: Any, seed: int, kind: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The mean over the group of `kind` of a random direction of the embedding, of unit variance."""
    rng = np.random.default_rng([seed, 77])
    E = embedded(space, space.sample(2000, 0))
    w = rng.normal(size=E.shape[1])
    w /= np.std(E @ w)

    def target(X: Array) -> Array:
        return np.mean([kind(embedded(space, space.act(g, X)) @ w) for g in group.elements()], axis=0)

    return target


def _axes(X: Array, axes: Any, sharpness: float) -> Array:
    return np.exp(sharpness * (X @ np.array(axes, dtype=float).T - 1)).sum(axis=1)


_CUBE_AXES = np.concatenate([np.eye(3), -np.eye(3)])
_CORNERS = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / 3**0.5


def few_waves() -> list[ProblemSet]:
    """Problems to choose on."""
    S2, SO3, T2, T3, T4 = sa.Sphere(3), sa.spaces.Rotations(), sa.Torus(2), sa.Torus(3), sa.Torus(4)
    H, p6m = sa.Torus(lattice=HEXAGONAL), hexagonal_group()
    cubic, fcc = sa.Torus(lattice=np.eye(3)), sa.Torus(lattice=[[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    pm3m, fm3m = groups.space_group(221), cubic_group(fcc)
    rotor = sa.Product(sa.Torus(1), S2)
    turns = groups.direct_product(groups.dihedral(2), groups.point_group("D3"))
    D4 = groups.crystal_symmetry("D4", "C1")
    box = sa.Power(sa.Interval(), 2)
    c = lambda X: np.cos(np.pi * X)  # noqa: E731
    return [
        ProblemSet("hexagonal wells", H, p6m, 100, lambda X: np.exp(6 * star_sum(H, X))),
        ProblemSet("hexagonal wells, few", H, p6m, 30, lambda X: np.exp(3 * star_sum(H, X))),
        ProblemSet("hexagonal log wells", H, p6m, 100, lambda X: -np.log(0.1 + np.exp(4 * star_sum(H, X) - 4))),
        ProblemSet("square poles", T2, groups.hyperoctahedral(2), 100, lambda X: 1 / (2.6 - c(X).sum(axis=1))),
        ProblemSet("cubic wells", cubic, pm3m, 200, lambda X: np.exp(4 * star_sum(cubic, X))),
        ProblemSet("fcc wells", fcc, fm3m, 100, lambda X: np.exp(4 * star_sum(fcc, X))),
        ProblemSet("T³ wells, noise", T3, groups.symmetric(3), 100, lambda X: np.exp(c(X).sum(axis=1)), noise=0.05),
        ProblemSet("T⁴ wells", T4, groups.symmetric(4), 100, lambda X: np.exp(0.5 * c(X).sum(axis=1))),
        ProblemSet("S² axes", S2, groups.point_group("Oh"), 100, lambda X: _axes(X, _CUBE_AXES, 4.0)),
        ProblemSet("S² log wells", S2, groups.point_group("Td"), 100, lambda X: -np.log(_axes(X, _CORNERS, 5.0))),
        ProblemSet(
            "S² poles, few", S2, groups.point_group("Oh"), 30, lambda X: (1 / (1.2 - np.abs(X) ** 2)).sum(axis=1)
        ),
        ProblemSet("SO(3) wells", SO3, D4, 100, _averaged(SO3, D4, 1, lambda v: np.exp(v))),
        ProblemSet("two directions", sa.Power(S2, 2), groups.symmetric(2), 100, _two_directions),
        ProblemSet("rotor wells", rotor, turns, 300, _averaged(rotor, turns, 2, lambda v: np.exp(v))),
        ProblemSet("box poles", box, groups.symmetric(2), 100, lambda X: 1 / (1.3 - X[:, 0] * X[:, 1])),
        ProblemSet("circle poles, few", sa.Circle(), groups.dihedral(3), 30, lambda X: 1 / (1.1 - np.cos(3 * X[:, 0]))),
        ProblemSet("hexagonal creases", H, p6m, 300, lambda X: np.abs(star_sum(H, X) - 0.2)),
        ProblemSet("hexagonal wells, noise", H, p6m, 100, lambda X: np.exp(4 * star_sum(H, X)), noise=0.3),
    ]


def _two_directions(X: Array) -> Array:
    a, b = X[:, :3], X[:, 3:]
    return np.exp(1.5 * (a * b).sum(axis=1)) + np.exp(a[:, 2]) + np.exp(b[:, 2])


def other_waves() -> list[ProblemSet]:
    """Problems for a last look: other pairs of a space and a group, other targets."""
    S2, S3, SO3 = sa.Sphere(3), sa.Sphere(4), sa.spaces.Rotations()
    H, p6 = sa.Torus(lattice=HEXAGONAL), hexagonal_group(mirror=False)
    bcc = sa.Torus(lattice=[[-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5]])
    cube = cubic_group(bcc)
    layers = sa.Torus(lattice=[[1, 0, 0], [-0.5, 0.75**0.5, 0], [0, 0, 1.3]])
    oblique = sa.Torus(lattice=[[1.0, 0.0], [0.3, 1.2]])
    inversion = groups.Group([isometries.affine([[-1, 0], [0, -1]], [0, 0])], "p2")
    T2, T3, T6 = sa.Torus(2), sa.Torus(3), sa.Torus(6)
    O = groups.crystal_symmetry("O", "C1")
    three, ring = sa.Power(S2, 3), groups.dihedral_shifts(6)
    tube = sa.Product(sa.Torus(2), sa.Interval(0.0, 1.0))
    ends = groups.direct_product(groups.hyperoctahedral(2), groups.trivial(1))
    frames, signs = sa.spaces.Stiefel(3, 2), signs_and_exchanges(3, 2)
    wave = lambda X: np.cos(2 * np.pi * X)  # noqa: E731
    return [
        ProblemSet("hexagonal vortices", H, p6, 100, _averaged(H, p6, 5, lambda v: np.exp(1.5 * v))),
        ProblemSet("hexagonal poles", H, p6, 200, lambda X: 1 / (1.3 - star_sum(H, X))),
        ProblemSet("bcc wells", bcc, cube, 100, lambda X: np.exp(5 * star_sum(bcc, X))),
        ProblemSet("layers", layers, groups.space_group(191), 200, lambda X: np.exp(4 * star_sum(layers, X))),
        ProblemSet(
            "oblique wells", oblique, inversion, 100, lambda X: np.exp(wave(X).sum(axis=1) + wave(X).prod(axis=1))
        ),
        ProblemSet(
            "T² wells, trivial, few", T2, groups.trivial(2), 30, lambda X: np.exp(np.cos(np.pi * X).sum(axis=1))
        ),
        ProblemSet("T³ product of wells", T3, groups.hyperoctahedral(3), 100, _product_of_wells),
        ProblemSet(
            "T⁶ ring", T6, ring, 300, lambda X: np.exp(0.4 * np.cos(np.pi * (X - np.roll(X, 1, axis=1))).sum(axis=1))
        ),
        ProblemSet("S³ wells", S3, groups.hyperoctahedral(4), 100, lambda X: np.exp(3 * X**2).sum(axis=1)),
        ProblemSet(
            "S² Ih wells, noise",
            S2,
            groups.point_group("Ih"),
            100,
            _averaged(S2, groups.point_group("Ih"), 6, np.exp),
            noise=0.1,
        ),
        ProblemSet(
            "S² D2d poles", S2, groups.point_group("D2d"), 200, lambda X: 1 / (1.2 + X[:, 0] * X[:, 1] * X[:, 2])
        ),
        ProblemSet("SO(3) O wells", SO3, O, 200, _averaged(SO3, O, 7, lambda v: np.exp(1.5 * v))),
        ProblemSet(
            "three directions", three, groups.symmetric(3), 100, _averaged(three, groups.symmetric(3), 8, np.exp)
        ),
        ProblemSet("tube", tube, ends, 200, _averaged(tube, ends, 9, np.exp)),
        ProblemSet("frames", frames, signs, 100, _averaged(frames, signs, 10, np.exp)),
        ProblemSet("oblique creases", oblique, inversion, 200, lambda X: np.abs(wave(X).sum(axis=1))),
        ProblemSet(
            "S³ wells, few, noise", S3, groups.hyperoctahedral(4), 30, lambda X: np.exp(2 * X**4).sum(axis=1), noise=0.1
        ),
    ]


def _product_of_wells(X: Array) -> Array:
    return np.prod(1 / (1.4 - np.cos(np.pi * X)), axis=1)
