"""Which maps are isometries of a torus, and what is the matter with those that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specavg.isometries import Affine, Copies, Isometry, SignedPermutation, flatten

if TYPE_CHECKING:
    from specavg.spaces._torus import Torus

_ROUNDED = 1e-2  # a smaller change of the metric comes from digits that are missing
METRIC_TOLERANCE = 1e-9  # relative change of a scalar product of lattice vectors: cells are published with ten digits


def checked_torus_isometry(space: Torus, g: Isometry) -> SignedPermutation | Affine:
    """`g` as an integer matrix with a shift; an error that says why if it is not an isometry of `space`."""
    g = flatten(g)
    if isinstance(g, Copies):
        each, period = g.parts[0].size, f", period={space.period[0]:g}"
        angles = f"Power(Circle(), {g.size}) for angles in radians, or " if each == 1 else ""
        remedy = f"Use {angles}Power(Torus({each}{period}), {g.size}), whose points have "
        if each * g.size == space.dim:
            remedy += "the same columns."
        else:
            remedy += f"{each * g.size} columns, {each} for each copy; points of {space!r} have {space.dim}."
            if space.dim % g.size == 0:
                k = space.dim // g.size
                remedy += f" For copies with {k} coordinates, Power(Torus({k}{period}), {g.size}), take a group of {k}."
        raise ValueError(f"{g!r} acts on {g.size} copies of a space, and {space!r} is one space. {remedy}")
    if not isinstance(g, SignedPermutation | Affine):
        raise ValueError(
            f"{g!r} does not act on {space!r}: the isometries of a torus are integer matrices with shifts "
            "(isometries.permutation, signed_permutation, shift, affine)."
        )
    if g.size != space.dim:
        raise ValueError(f"{g!r} acts on {g.size} coordinates; {space!r} has {space.dim}")
    stretch = space.cell.stretch(g)
    if stretch > METRIC_TOLERANCE:
        raise ValueError(
            f"{g!r} is not an isometry of {space!r}: AᵀMA differs from the metric M by {stretch:.2g} of its "
            f"size (tolerance {METRIC_TOLERANCE:.0e}). Exact invariance needs isometries: give coordinates "
            "that are exchanged the same period, or a lattice in which the map is an isometry."
            + ("" if space.lattice is None else _about_cells(stretch))
        )
    return g


def _about_cells(stretch: float) -> str:
    """What is mostly the matter with a lattice that the operations of a space group do not keep."""
    if stretch < _ROUNDED:
        return (
            " The lattice looks rounded: pass more digits (1.6 * 3**0.5, not 2.771), or let crystals.positions mend it."
        )
    return (
        " Space and plane groups need the conventional cell of their setting: γ = 120°, not 60°, for hexagonal and "
        "trigonal ones, unique axis b for monoclinic ones (space_group(14, setting='c1') has c), and not the primitive "
        "cell of a centred lattice. crystals.positions takes any of them; wave vectors, whose cell has 60° where the "
        "crystal's has 120°, are those of crystals.wave_vectors."
    )
