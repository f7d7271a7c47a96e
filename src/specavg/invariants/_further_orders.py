"""Orders beside that of eigenvalues that are worth a try on a space."""

from __future__ import annotations

from specavg.spaces import Power, Product, Space, Torus
from specavg.spaces._orders import FewCoordinates, Order

__all__ = ["further_orders"]

_MANY_COORDINATES = 4  # up to three dimensions a basis of moderate size has high frequencies of one coordinate anyway
_STEEPNESSES = (4, 64)  # for what interacts in pairs and triples, and for what hardly interacts


def further_orders(space: Space) -> tuple[Order, ...]:
    """Orders with few coordinates, copies or factors first, where there are several, in four and more dimensions.

    Examples
    --------
    >>> import specavg as sa
    >>> further_orders(sa.Torus(10))
    (FewCoordinates(steepness=4), FewCoordinates(steepness=64))
    >>> further_orders(sa.Sphere(6))
    ()
    """
    several = (
        (isinstance(space, Torus) and space.lattice is None)
        or (isinstance(space, Power) and space.copies > 1)
        or (isinstance(space, Product) and len(space.factors) > 1)
    )
    if not several or space.dim < _MANY_COORDINATES:
        return ()
    return tuple(FewCoordinates(steepness) for steepness in _STEEPNESSES)
