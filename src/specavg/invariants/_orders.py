"""Other orders of the same functions: few coordinates, particles or factors first."""

from __future__ import annotations

from specavg.spaces import MixedTorus, Power, Product, Space, Torus, Warped

__all__ = ["mixed_spaces"]

_MANY_COORDINATES = 4
_STEEPNESSES = (4, 64)


def mixed_spaces(space: Space) -> list[Space]:
    """The same space with functions of few coordinates, particles or factors first, where that is worth a try.

    One for what interacts in pairs and triples, one for what hardly interacts. Up to three dimensions a basis of
    moderate size has high frequencies of a single coordinate anyway.

    Examples
    --------
    >>> import specavg as sa
    >>> mixed_spaces(sa.Torus(10))
    [MixedTorus(Torus(10)), MixedTorus(Torus(10), steepness=64)]
    >>> mixed_spaces(sa.Product(sa.Power(sa.Sphere(3), 5), sa.Circle()))[0]
    Product(Power(Warped(Sphere(3)), 5), Warped(Circle()))
    """
    several = (
        (isinstance(space, Torus) and space.lattice is None)
        or (isinstance(space, Power) and space.copies > 1)
        or (isinstance(space, Product) and len(space.factors) > 1)
    )
    if not several or space.dim < _MANY_COORDINATES or space.mixed:
        return []
    return [_mixed(space, steepness) for steepness in _STEEPNESSES]


def _mixed(space: Space, steepness: int) -> Space:
    if isinstance(space, Torus) and space.lattice is None and space.dim > 1:
        return MixedTorus(space, steepness)
    if isinstance(space, Power):
        return Power(Warped(space.base, steepness), space.copies)
    if isinstance(space, Product):
        return Product(*(_mixed(factor, steepness) for factor in space.factors))
    return Warped(space, steepness)
