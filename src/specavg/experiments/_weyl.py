"""Weyl's law and its invariant version: how many eigenfunctions there are, and how many survive.

D_λ counts all eigenfunctions with eigenvalue up to λ, D_{λ,G} those invariant under G. Weyl's law says D_λ ~ ω_d vol(M)
λ^{d/2} / (2π)^d; with symmetry vol(M/G) = vol(M)/|G| takes the place of vol(M).

The limit is sensitive to how it is taken: with the 1/√λ term alone, an earlier run (S³ to λ = 400) gave 0.83 on S³,
where reflections weigh most, and 0.98 to 1.00 elsewhere. A limit within 5 % of one counts as agreement.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg import groups, theory
from specavg.experiments._figure_style import PALETTE, REFERENCE, new_figure
from specavg.experiments._result import Experiment, Result, Track
from specavg.invariants import invariant_basis
from specavg.spaces import Sphere, Torus

NAME = "weyl"

# (title, space, group, largest eigenvalue in quick and in full runs)
CASES = (
    ("T², signed permutations", Torus(2), groups.hyperoctahedral(2), 4e4, 4e4),
    ("T³, permutations", Torus(3), groups.symmetric(3), 1.5e3, 1.5e3),
    ("S², octahedral rotations", Sphere(3), groups.point_group("O"), 900.0, 2500.0),
    ("S³, permutations", Sphere(4), groups.symmetric(4), 400.0, 900.0),
)


def run(quick: bool, track: Track) -> Result:
    """D_λ and D_{λ,G} against ω_d vol(M) λ^{d/2}/(2π)^d and the same with vol(M/G)."""
    result = Result.of(__doc__)
    figure, axes = new_figure(2, 2, width=9.6, height=3.4)
    rows = []
    for (title, space, group, small, large), ax in zip(track(CASES, "Weyl's law"), axes.flat, strict=True):
        basis = invariant_basis(space, group, max_eigenvalue=small if quick else large)
        eigenvalues = np.array([row.eigenvalue for row in basis.table])[1:]
        counts = np.cumsum([row.dim for row in basis.table])[1:]
        survivors = np.cumsum([row.invariant_dim for row in basis.table])[1:]
        whole = theory.weyl_count(space, eigenvalues)
        part = np.asarray(theory.invariant_weyl_count(space, group, eigenvalues))
        limit = _limit(eigenvalues, survivors / part)
        rows.append([title, f"{group.finite_order}", f"{eigenvalues[-1]:.4g}",
                     f"{counts[-1]}", f"{counts[-1] / whole[-1]:.3f}",
                     f"{survivors[-1]}", f"{survivors[-1] / part[-1]:.3f}", f"{limit:.3f}"])  # fmt: skip
        holds = abs(counts[-1] / whole[-1] - 1) < 0.1 and abs(limit - 1) < 0.05
        result.claim(
            f"Weyl's law, with and without symmetry — {title}.",
            f"At λ = {eigenvalues[-1]:.4g}: D_λ is {counts[-1] / whole[-1]:.3f} and D_(λ,G) "
            f"{survivors[-1] / part[-1]:.3f} of what the law says. Extrapolated to λ → ∞, with terms 1/√λ and 1/λ "
            f"for the boundary of the fundamental domain, the second ratio tends to {limit:.3f}.",
            bool(holds),
        )
        ax.step(eigenvalues, counts, where="post", color=PALETTE[0], label="all functions")
        ax.step(eigenvalues, survivors, where="post", color=PALETTE[1], label="invariant ones")
        ax.plot(eigenvalues, whole, "--", color=REFERENCE, lw=1.1, label="Weyl's law")
        ax.plot(eigenvalues, part, "--", color=REFERENCE, lw=1.1)
        ax.set(xscale="log", yscale="log", xlabel="eigenvalue λ", title=f"{title}, |G| = {group.finite_order}")
        ax.legend(loc="upper left")
        for quantity, values in (("D_lambda", counts), ("D_lambda_G", survivors)):
            for eigenvalue, value in zip(eigenvalues, values, strict=True):
                settings = {"space": repr(space), "group": repr(group), "eigenvalue": float(eigenvalue)}
                result.record(NAME, title, quantity, float(value), settings=settings)
    for ax in axes[:, 0]:
        ax.set_ylabel("number of functions up to λ")
    result.figure(NAME, figure, "Steps: counted; dashed: Weyl's law with vol(M) and with vol(M/G).")
    header = ["case", "|G|", "λ", "D_λ", "D_λ / law", "D_λ,G", "D_λ,G / law", "limit of D_λ,G / law"]
    result.table("Counts at the largest λ", header, rows)
    return result


def _limit(eigenvalues: Any, ratio: Any) -> float:
    """Where the ratio tends to, from a polynomial in 1/√λ.

    Reflections give the fundamental domain a boundary, which adds a term of order λ^{(d−1)/2} to the count, its
    edges one of order λ^{(d−2)/2}: the ratio is 1 + a/√λ + b/λ + …
    """
    start = len(eigenvalues) // 4
    return float(np.polyfit(1 / np.sqrt(eigenvalues[start:]), ratio[start:], 2)[-1])


EXPERIMENT = Experiment(NAME, "Weyl's law and its invariant version", run)
