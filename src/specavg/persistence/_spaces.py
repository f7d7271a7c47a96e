"""Spaces in plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.persistence._fields import DescriptionError, Fields
from specavg.spaces import MixedTorus, Power, Product, Rotations, Space, Sphere, Stiefel, Torus, Warped

__all__ = ["describe_space", "read_space"]

_KINDS = "torus, mixed torus, sphere, rotations, stiefel, product, power, warped"


def describe_space(space: Space) -> dict[str, Any]:
    """`space` in plain values.

    Examples
    --------
    >>> import specavg as sa
    >>> describe_space(sa.Power(sa.Sphere(3), 4))
    {'kind': 'power', 'base': {'kind': 'sphere', 'coordinates': 3}, 'copies': 4}
    """
    if isinstance(space, Torus):
        if space.lattice is not None:
            return {"kind": "torus", "lattice": space.lattice.tolist()}
        return {"kind": "torus", "dim": space.dim, "period": space.period.tolist()}
    if isinstance(space, MixedTorus):
        return {"kind": "mixed torus", "torus": describe_space(space.torus), "steepness": space.steepness}
    if isinstance(space, Sphere):
        return {"kind": "sphere", "coordinates": space.n_features}
    if isinstance(space, Rotations):
        return {"kind": "rotations"}
    if isinstance(space, Stiefel):
        return {"kind": "stiefel", "rows": space.shape[0], "columns": space.shape[1]}
    if isinstance(space, Product):
        return {"kind": "product", "factors": [describe_space(factor) for factor in space.factors]}
    if isinstance(space, Power):
        return {"kind": "power", "base": describe_space(space.base), "copies": space.copies}
    if isinstance(space, Warped):
        return {"kind": "warped", "space": describe_space(space.base), "steepness": space.steepness}
    raise DescriptionError(
        f"{space!r} cannot be described: only the library's own spaces ({_KINDS}) can be saved. "
        "Use pickle or joblib for a model on a space of your own."
    )


def read_space(value: Any, place: str = "space", depth: int = 0) -> Space:
    """The space that a description means.

    Examples
    --------
    >>> read_space({"kind": "torus", "dim": 2, "period": 1.0})
    Torus(2, period=1.0)
    """
    fields = Fields(value, place, depth)
    kind = fields.text("kind")
    try:
        space = _read(kind, fields)
    except DescriptionError:
        raise
    except (ValueError, TypeError) as error:
        raise DescriptionError(f"{place}: {error}") from None
    fields.end()
    return space


def _read(kind: str, fields: Fields) -> Space:
    if kind == "torus":
        return _torus(fields)
    if kind == "mixed torus":
        torus = fields.one("torus", read_space)
        return MixedTorus(torus, fields.integer("steepness", 1))  # pyright: ignore[reportArgumentType]
    if kind == "sphere":
        return Sphere(fields.integer("coordinates", 2))
    if kind == "rotations":
        return Rotations()
    if kind == "stiefel":
        return Stiefel(fields.integer("rows", 1, 10_000), fields.integer("columns", 1, 10_000))
    if kind == "product":
        return Product(*fields.each("factors", read_space))
    if kind == "power":
        return Power(fields.one("base", read_space), fields.integer("copies"))
    if kind == "warped":
        return Warped(fields.one("space", read_space), fields.number("steepness"))
    raise DescriptionError(f"{fields.place}.kind {kind!r} is not known; it must be one of {_KINDS}")


def _torus(fields: Fields) -> Torus:
    if fields.has("lattice"):
        return Torus(lattice=fields.matrix("lattice"))
    dim = fields.integer("dim", 1, 20_000)
    if not fields.has("period"):
        fields.skip("period")
        return Torus(dim)
    periods = fields.take("period")
    if not isinstance(periods, list):
        return Torus(dim, period=Fields({"period": periods}, fields.place).number("period"))
    values = np.array(Fields({"period": periods}, fields.place).numbers("period"))
    return Torus(dim, period=values)
