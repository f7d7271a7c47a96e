"""The paper's two examples, and ρ(G) against log₂|G| over the catalogue.

Example 1: all permutations of the coordinates of S^{d−1}, from the two generators (1 2) and (1 2 … d). Example 2:
rotations of the circle by multiples of 2π/|G|, from one generator. And the number of generators of every family of the
catalogue beside log₂|G|.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from specavg import groups
from specavg._messages import size_text
from specavg.discovery._subgroup_names import POINT_GROUPS
from specavg.estimators import SpecAvgRegressor, invariance_discrepancy
from specavg.experiments._figure_style import PALETTE, REFERENCE, new_figure
from specavg.experiments._result import Experiment, Result, Track
from specavg.experiments._timing import seconds
from specavg.groups import Group
from specavg.invariants import invariant_basis
from specavg.invariants._basis import built_basis
from specavg.isometries import shift
from specavg.spaces import Circle, Sphere

NAME = "examples"


def catalogue() -> list[tuple[str, Group]]:
    """Groups of every family, small and large."""
    sizes = (2, 3, 5, 10, 30, 100, 1000)
    found: list[tuple[str, Group]] = []
    for family in (groups.symmetric, groups.alternating, groups.hyperoctahedral, groups.sign_flips,
                   groups.cyclic_shifts, groups.dihedral_shifts, groups.cyclic, groups.dihedral):  # fmt: skip
        found.extend((family.__name__, family(d)) for d in sizes if family is not groups.alternating or d > 2)
    found.extend(("point groups", groups.point_group(symbol)) for symbol in POINT_GROUPS)
    found.extend(("wreath products", groups.wreath(groups.symmetric(3), m)) for m in (2, 5, 10))
    found.extend(("direct products", groups.direct_product(groups.symmetric(4), groups.cyclic(m))) for m in (2, 6))
    return [(family, group) for family, group in found if group.finite_order > 1]


def run(quick: bool, track: Track) -> Result:
    """Both examples in numbers, and the generators of the catalogue."""
    result = Result.of(__doc__)
    _permutations(quick, track, result)
    _rotations(300 if quick else 1000, track, result)
    _generators(track, result)
    return result


def _permutations(quick: bool, track: Track, result: Result) -> None:
    rows, worst, slowest = [], 0.0, 0.0
    for d in track((3, 5, 10, 30, 100, 1000) + (() if quick else (10_000,)), "example: permutations on spheres"):
        space, group = Sphere(d), groups.symmetric(d)
        top = 4.0 * (d + 2)  # degree 4

        def build(space: Sphere = space, group: Group = group, top: float = top) -> Any:
            built_basis.cache_clear()
            return invariant_basis(space, group, max_eigenvalue=top)

        elapsed = seconds(build)
        basis = build()
        X = space.sample(200, 1)
        y = (X**3).sum(axis=1) * d
        model = SpecAvgRegressor(space, group, max_eigenvalue=top).fit(X, y)
        found = invariance_discrepancy(model, space, group, X[:20], n_elements=20, random_state=1)
        plain = invariance_discrepancy(basis.evaluate, space, group, X[:20], n_elements=20, random_state=1)
        plain_relative = float(plain) / float(np.abs(basis.evaluate(X[:20])).max())
        worst, slowest = max(worst, float(found), plain_relative), max(slowest, elapsed)
        dims = [row.invariant_dim for row in basis.table]
        total = [row.dim for row in basis.table]
        order = group.finite_order
        rows.append([str(d), size_text(order), str(len(group.generators)), f"{math.log2(order):.0f}",
                     " ".join(map(str, dims)), size_text(sum(total)), f"{elapsed:.2g} s", f"{float(found):.1g}",
                     f"{plain_relative:.1g}"])  # fmt: skip
        settings = {"d": d, "generators": len(group.generators), "degree": 4}
        for quantity, value in (("invariant dim", sum(dims)), ("basis seconds", elapsed), ("ID", float(found)),
                                ("ID without canonical points, relative", plain_relative)):  # fmt: skip
            result.record(NAME, "permutations", quantity, float(value), 200, 1, settings)
    header = ["d", "|G| = d!", "generators", "log₂|G|", "invariants of degree 0–4", "all functions", "basis",
              "ID", "ID of the basis itself, relative"]  # fmt: skip
    result.table("Permutations of the coordinates of S^(d−1)", header, rows)
    result.claim(
        "Two generators are enough for all permutations on the sphere, and the functions are exactly invariant.",
        f"Up to d = {rows[-1][0]} ({rows[-1][1]} elements): the bases take at most {slowest:.2g} s, and "
        f"no discrepancy exceeds {worst:.1g} relative to the function, also without canonical points.",
        worst <= 1e-12,
    )


def _rotations(reach: int, track: Track, result: Result) -> None:
    rows, right = [], True
    for order in track((6, 100, 10**6, 10**12), "example: rotations of the circle"):
        generator = groups.Group([shift([Fraction(1, order)])])
        by_generator = invariant_basis(Circle(), generator, max_eigenvalue=float(reach**2))
        expected = 1 + 2 * (reach // order)
        right &= by_generator.dim == expected
        rows.append([size_text(order), "1", str(expected), str(by_generator.dim)])
        settings = {"order": order, "reach": reach}
        result.record(NAME, "rotations of the circle", "invariant dim", by_generator.dim, settings=settings)
    header = ["|G|", "generators", "invariants expected", "invariants found"]
    result.table(f"The circle, frequencies up to {reach}", header, rows)
    result.claim(
        "On the circle one generator and one 2 × 2 constraint per frequency are enough.",
        "The invariants are the constant and the frequencies that |G| divides, for |G| up to 10^12"
        + (": found exactly." if right else ": NOT what was found."),
        bool(right),
    )


def _generators(track: Track, result: Result) -> None:
    figure, axes = new_figure(width=6.8, height=4.2)
    families: dict[str, list[tuple[float, int]]] = {}
    fits, total = True, 0
    for family, group in track(catalogue(), "generators of the catalogue"):
        # The catalogue's sets are minimal already where pruning would have to redo large orders.
        small = group.size <= 30
        count = len(groups.minimal_generators(group)) if small else len(group.generators)
        logarithm = math.log2(group.finite_order)
        fits &= count <= logarithm + 1e-9
        total += 1
        families.setdefault(family, []).append((logarithm, count))
        settings = {"group": repr(group), "log2_order": logarithm, "pruned": small}
        result.record(NAME, family, "generators", float(count), settings=settings)
    looks = zip([*PALETTE, "#e377c2", "#4b3fbf", "#8c6d31", "#111111"], "os^Dv<>Ph*X", strict=True)
    for place, ((family, points), (colour, marker)) in enumerate(zip(families.items(), looks, strict=True)):
        # Open markers of different sizes: none hides another.
        name, size = family.replace("_", " "), 3.5 + 0.7 * place
        axes.plot(*zip(*points, strict=True), marker, ms=size, mfc="none", mew=1.1, color=colour, label=name)
    line = np.geomspace(1, 10_000)
    axes.plot(line, line, "--", color=REFERENCE, lw=1.2, label="log₂|G|")
    axes.set(xscale="log", yscale="log", xlabel="log₂ |G|", ylabel="generators")
    axes.set_title("How many generators a group needs")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    caption = "The number of generators ρ(G) against log₂|G|: every group lies on or below the line."
    result.figure("generators", figure, caption)
    result.claim(
        "ρ(G) ≤ log₂|G| for every finite group.",
        "This is a theorem: a generator outside of a subgroup at least doubles it. The generating sets of all "
        f"{total} groups of the catalogue that were tried have it. Sign flips attain the bound; "
        "symmetric groups need two generators and cyclic groups one, however large they are."
        if fits
        else "A group of the catalogue has more generators than log₂ of its order.",
        bool(fits),
    )


EXPERIMENT = Experiment(NAME, "The paper's examples, and how many generators a group needs", run, timed=True)
