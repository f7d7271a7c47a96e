"""What a named output means on a space: vectors have Cartesian components, whatever coordinates its points have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from specavg.groups import Group, Representation
from specavg.groups._linear_part import linear_part
from specavg.groups._named_outputs import representation_by
from specavg.groups._tangent_vectors import TANGENT_KINDS
from specavg.isometries import Copies, Factors, Isometry
from specavg.isometries.fields import CopiesField, FactorsField, Field
from specavg.spaces import Power, Product, Space, Sphere, Torus


def output_representation(
    space: Space, group: Group, output: str | Representation, *, among: Group | None = None
) -> Representation:
    """The representation that `output` means for a group on a space.

    Vectors on a lattice have Cartesian components; each copy and each factor of a space has a lattice of its own. Where
    some factors of a product move, they are vectors of those: under the group, or under `among`, to which it belongs.
    """
    tangent = output.tangent if isinstance(output, Representation) else output in tuple(TANGENT_KINDS)
    if tangent and space != Sphere(3):
        raise ValueError(f"tangent vector fields are known on Sphere(3), not on {space!r}. {_instead(space)}")
    by_name = isinstance(output, str) and isinstance(space, Power | Product)
    moving, kept = _without_still_factors(space, _maps(among or group)) if by_name else (space, _itself)
    if moving == space:
        return representation_by(group, output, lambda g: linear_part(_of_cartesian_vectors(space, g)))
    alone = Group(list(map(kept, group.generators)), list(map(kept, group.fields)))
    rho = representation_by(alone, output, lambda g: linear_part(_of_cartesian_vectors(moving, g)))
    return Representation(group, rho.images, rho.field_images)


def _of_cartesian_vectors(space: Space, g: Isometry) -> Isometry:
    """`g` with the matrix that moves Cartesian vectors in place of each part that moves fractional coordinates."""
    if isinstance(space, Power) and isinstance(g, Copies):
        parts = {part: _of_cartesian_vectors(space.base, part) for part in set(g.parts)}
        return Copies(g.image, tuple(parts[part] for part in g.parts))
    if isinstance(space, Product) and isinstance(g, Factors):
        return Factors(tuple(map(_of_cartesian_vectors, space.factors, g.parts)))
    return g if space.lattice is None else linear_part(g, space.lattice)


def _without_still_factors(space: Space, maps: list[Any]) -> tuple[Space, Callable[[Any], Any]]:
    """The space without the factors that none of the maps and fields moves, and what is left of a map or field on it.

    Factors of copies that move together are left out of every copy. Where nothing moves, all is left as it is.
    """
    if isinstance(space, Power) and maps and all(isinstance(g, Copies | CopiesField) for g in maps):
        base, kept = _without_still_factors(space.base, list(dict.fromkeys(part for g in maps for part in g.parts)))
        return (space, _itself) if base == space.base else (Power(base, space.copies), partial(_each_copy, kept))
    if not isinstance(space, Product) or not all(isinstance(g, Factors | FactorsField) for g in maps):
        return space, _itself
    parts = [[g.parts[i] for g in maps if _moves(g.parts[i])] for i in range(len(space.factors))]
    moving = [i for i, moved in enumerate(parts) if moved]
    if len(moving) == 1:
        factor, kept = _without_still_factors(space.factors[moving[0]], parts[moving[0]])
        return factor, lambda g: kept(g.parts[moving[0]])
    if len(moving) in (0, len(parts)):
        return space, _itself
    return Product(*(space.factors[i] for i in moving)), lambda g: type(g)(tuple(g.parts[i] for i in moving))


def _maps(group: Group) -> list[Any]:
    return [*group.generators, *group.fields]


def _moves(part: Isometry | Field | None) -> bool:
    return part is not None and not (part.is_identity if isinstance(part, Isometry) else part.is_zero)


def _itself(g: Any) -> Any:
    return g


def _each_copy(kept: Callable[[Any], Any], g: Copies | CopiesField) -> Copies | CopiesField:
    parts = tuple(map(kept, g.parts))
    return Copies(g.image, parts) if isinstance(g, Copies) else CopiesField(parts)


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
