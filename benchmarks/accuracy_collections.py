"""Two collections of synthetic problems, made by one recipe: one to choose rules on, one to check them once.

A target is a random function of the embedded points, reduced over the images under the group. `development` and
`held_out` share no space, no group of a space and no kind of target. Choices in the regression may be measured on the
first as often as wanted. The second is for a last look: a change that was made after seeing it has to say so. It was
looked at once, with one draw of each problem: docs/defaults.md has the numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import specavg as sa
from benchmarks.accuracy_sets import ProblemSet, embedded, signs_and_exchanges
from specavg import groups

__all__ = ["development", "held_out"]

Array = NDArray[np.float64]
Kind = Callable[[Array], Array]  # values w·E(gx) of all images, shape (n, |G|), to targets of shape (n,)

NOISES = (0.0, 0.01, 0.1, 1.0)  # in standard deviations of the target
SIZES = (30, 100, 300)  # training points, in turns


def _reduced(name: str, space: Any, group: Any, kind: Kind) -> Callable[[Array], Array]:
    """The target: `kind` of one random direction w of the embedding, scaled so that w·E(x) has variance one."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    E = embedded(space, space.sample(2000, 0))
    w = rng.normal(size=E.shape[1])
    w /= np.std(E @ w)

    def target(X: Array) -> Array:
        return kind(np.stack([embedded(space, space.act(g, X)) @ w for g in group.elements()], axis=1))

    return target


def _collection(
    cases: Sequence[tuple[str, Any, Any]], kinds: dict[str, Kind], sizes: Sequence[int] = SIZES
) -> list[ProblemSet]:
    """Every case with every kind and every noise; sizes in turns, so that each meets all kinds and noises."""
    problems: list[ProblemSet] = []
    for i, (case, space, group) in enumerate(cases):
        for j, (kind, reduce) in enumerate(kinds.items()):
            for k, noise in enumerate(NOISES):
                name, n = f"{kind}, {case}, noise {noise:g}", sizes[(i + j + k) % len(sizes)]
                target = _reduced(f"{kind}, {case}", space, group, reduce)
                problems.append(ProblemSet(name, space, group, n, target, noise=noise))
    return problems


def development(sizes: Sequence[int] = SIZES) -> list[ProblemSet]:
    """Problems to choose rules on: smooth, kinked and rough targets."""
    S2, SO3, box = sa.Sphere(3), sa.spaces.Rotations(), sa.Power(sa.Interval(), 3)
    cases = [
        ("T², B₂", sa.Torus(2), groups.hyperoctahedral(2)),
        ("T³, Z₃", sa.Torus(3), groups.cyclic_shifts(3)),
        ("T⁴, S₄", sa.Torus(4), groups.symmetric(4)),
        ("T⁶, D₆", sa.Torus(6), groups.dihedral_shifts(6)),
        ("S², Oh", S2, groups.point_group("Oh")),
        ("S², C3v", S2, groups.point_group("C3v")),
        ("S³, B₄", sa.Sphere(4), groups.hyperoctahedral(4)),
        ("SO(3), D4", SO3, groups.crystal_symmetry("D4", "C1")),
        ("S¹×S²", sa.Product(sa.Torus(1), S2), groups.direct_product(groups.dihedral(2), groups.point_group("D3"))),
        ("(S²)², S₂", sa.Power(S2, 2), groups.symmetric(2)),
        ("[−1, 1]³, S₃", box, groups.symmetric(3)),
        ("V(4, 2)", sa.spaces.Stiefel(4, 2), signs_and_exchanges(4, 2)),
    ]
    kinds: dict[str, Kind] = {
        "smooth": lambda v: np.mean(np.exp(v), axis=1),
        "kinked": lambda v: np.max(v, axis=1),
        "rough": lambda v: np.mean(np.tanh(8 * (v - 0.5)), axis=1),
    }
    return _collection(cases, kinds, sizes)


def held_out(sizes: Sequence[int] = SIZES) -> list[ProblemSet]:
    """Problems for a last look: other spaces, groups and kinds."""
    S2, SO3 = sa.Sphere(3), sa.spaces.Rotations()
    hexagonal = sa.Torus(lattice=[[1, 0, 0], [-0.5, 0.75**0.5, 0], [0, 0, 1.3]])
    cases = [
        ("S¹, D₃", sa.Circle(), groups.dihedral(3)),
        ("T², trivial", sa.Torus(2), groups.trivial(2)),
        ("T³, S₃", sa.Torus(3), groups.symmetric(3)),
        ("hexagonal cell", hexagonal, groups.space_group(177)),
        ("T⁵, Z₅", sa.Torus(5), groups.cyclic_shifts(5)),
        ("S², I", S2, groups.point_group("I")),
        ("S², D2d", S2, groups.point_group("D2d")),
        ("S⁴, A₅", sa.Sphere(5), groups.alternating(5)),
        ("SO(3), D6", SO3, groups.crystal_symmetry("D6", "C1")),
        (
            "S²×[0, 1]",
            sa.Product(S2, sa.Interval(0.0, 1.0)),
            groups.direct_product(groups.point_group("Td"), groups.trivial(1)),
        ),
        ("(S²)³, S₃", sa.Power(S2, 3), groups.symmetric(3)),
        ("[0, 2]², S₂", sa.Power(sa.Interval(0.0, 2.0), 2), groups.symmetric(2)),
    ]
    kinds: dict[str, Kind] = {
        "poles": lambda v: np.mean(1 / (1 + v**2), axis=1),
        "creased": lambda v: np.mean(np.abs(v - 0.3), axis=1),
        "cusped": lambda v: np.mean(np.sqrt(np.abs(v)), axis=1),
    }
    return _collection(cases, kinds, sizes)
