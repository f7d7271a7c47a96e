"""Spaces: where the data live."""

from specavg.spaces._eigenspace import Eigenspace
from specavg.spaces._interval import Interval
from specavg.spaces._lonlat import directions_from_lonlat, east_and_north, lonlat_from_directions
from specavg.spaces._miller import rotations_from_miller
from specavg.spaces._power import Power
from specavg.spaces._product import Product
from specavg.spaces._rotations import Rotations, rotations_from_bunge, rotations_from_quaternions, rotations_from_scipy
from specavg.spaces._space import Space
from specavg.spaces._sphere import Sphere
from specavg.spaces._stiefel import Stiefel
from specavg.spaces._torus import Circle, Torus, default_space

__all__ = [
    "Circle",
    "Eigenspace",
    "Interval",
    "Power",
    "Product",
    "Rotations",
    "Space",
    "Sphere",
    "Stiefel",
    "Torus",
    "default_space",
    "directions_from_lonlat",
    "east_and_north",
    "lonlat_from_directions",
    "rotations_from_bunge",
    "rotations_from_miller",
    "rotations_from_quaternions",
    "rotations_from_scipy",
]
