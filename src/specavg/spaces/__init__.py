"""Spaces: where the data live."""

from specavg.spaces._mixed_torus import MixedTorus
from specavg.spaces._power import Power
from specavg.spaces._product import Product
from specavg.spaces._rotations import Rotations, rotations_from_bunge, rotations_from_quaternions
from specavg.spaces._space import Eigenspace, Space
from specavg.spaces._sphere import Sphere
from specavg.spaces._stiefel import Stiefel
from specavg.spaces._torus import Circle, Torus
from specavg.spaces._warped import Warped

__all__ = [
    "Circle",
    "Eigenspace",
    "MixedTorus",
    "Power",
    "Product",
    "Rotations",
    "Space",
    "Sphere",
    "Stiefel",
    "Torus",
    "Warped",
    "rotations_from_bunge",
    "rotations_from_quaternions",
]
