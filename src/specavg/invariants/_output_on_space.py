"""What a named output means on a space: vectors have Cartesian components, whatever coordinates its points have."""

from __future__ import annotations

from typing import Any

from specavg.groups import Group, Representation
from specavg.groups._linear_part import linear_part
from specavg.groups._named_outputs import representation_by
from specavg.groups._tangent_vectors import TANGENT_KINDS
from specavg.isometries import Copies, Factors, Isometry
from specavg.isometries.fields import FactorsField
from specavg.spaces import Power, Product, Space, Sphere, Torus


def output_representation(
    space: Space, group: Group, output: str | Representation, *, among: Group | None = None
) -> Representation:
    """The representation that `output` means for a group on a space.

    Vectors on a lattice have Cartesian components; each copy and each factor of a space has a lattice of its own. Where
    one factor of a product moves, they are vectors of that one: under the group, or under `among`, to which it belongs.
    """
    tangent = output.tangent if isinstance(output, Representation) else output in tuple(TANGENT_KINDS)
    if tangent and space != Sphere(3):
        raise ValueError(f"tangent vector fields are known on Sphere(3), not on {space!r}. {_instead(space)}")
    i = _moving_factor(among or group) if isinstance(space, Product) and isinstance(output, str) else None
    if i is None or not isinstance(space, Product):
        return representation_by(group, output, lambda g: linear_part(_of_cartesian_vectors(space, g)))
    generators: list[Any] = [*group.generators, *group.fields]
    parts = [g.parts[i] for g in generators]
    alone = Group(parts[: len(group.generators)], parts[len(group.generators) :])
    rho = output_representation(space.factors[i], alone, output)
    return Representation(group, rho.images, rho.field_images)


def _of_cartesian_vectors(space: Space, g: Isometry) -> Isometry:
    """`g` with the matrix that moves Cartesian vectors in place of each part that moves fractional coordinates."""
    if isinstance(space, Power) and isinstance(g, Copies):
        parts = {part: _of_cartesian_vectors(space.base, part) for part in set(g.parts)}
        return Copies(g.image, tuple(parts[part] for part in g.parts))
    if isinstance(space, Product) and isinstance(g, Factors):
        return Factors(tuple(map(_of_cartesian_vectors, space.factors, g.parts)))
    return g if space.lattice is None else linear_part(g, space.lattice)


def _moving_factor(group: Group) -> int | None:
    """The one factor that a group of maps factor by factor moves; None where several move, or none."""
    if not all(isinstance(g, Factors | FactorsField) for g in (*group.generators, *group.fields)):
        return None
    maps: list[Any] = [g.parts for g in group.generators if isinstance(g, Factors)]
    fields = [f.parts for f in group.fields if isinstance(f, FactorsField)]
    moving = {i for parts in maps for i, part in enumerate(parts) if not part.is_identity}
    moving |= {i for parts in fields for i, part in enumerate(parts) if part is not None and not part.is_zero}
    return moving.pop() if len(moving) == 1 else None


def _instead(space: Space) -> str:
    """Advice for an error: the output to use on spaces without tangent vectors."""
    if isinstance(space, Torus):
        return "On a torus every vector is tangent: use 'vector'"
    if space == Sphere(2):
        return "On a circle a tangent vector is one number, its component along (−y, x): use 'pseudoscalar'"
    if isinstance(space, Sphere):
        return (
            "In more dimensions fields without divergence are no turned gradients of a function: use 'vector', and "
            "take the part along x off its predictions"
        )
    return "Use 'vector'"
