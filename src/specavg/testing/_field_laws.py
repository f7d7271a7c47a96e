"""The laws of infinitesimal isometries: how fields move the functions of a space."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.isometries import Copies, Factors, Isometry
from specavg.isometries import fields as fields_of
from specavg.isometries.fields import Field
from specavg.spaces import Eigenspace, Space
from specavg.testing._law import DIFFERENCES, central_difference, kept, largest, place, scale

TOLERANCE = 1e-12  # of the largest entry of dD
_TIME = 0.7  # where flows are compared: no fraction of a period


def check_antisymmetry(space: Space, field: Field, eigenspace: Eigenspace, *, tolerance: float = TOLERANCE) -> float:
    """Law: dD(ξ) is antisymmetric.

    Returns
    -------
    float
        The largest |dD + dDᵀ|, relative to the largest entry of dD.

    Examples
    --------
    >>> import specavg as sa
    >>> around_z = sa.isometries.fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> check_antisymmetry(sa.Sphere(3), around_z, sa.Sphere(3).eigenspace(5)) < 1e-12
    True
    """
    dD = space.infinitesimal(field, eigenspace)
    residual = largest(dD + dD.T) / scale(dD)
    return kept("dD(ξ) is antisymmetric", residual, tolerance, place(space, eigenspace, field))


def check_bracket(
    space: Space, field: Field, other: Field, eigenspace: Eigenspace, *, tolerance: float = TOLERANCE
) -> float:
    """Law: [dD(ξ), dD(η)] = dD([ξ, η]), with the bracket ξη − ηξ of derivatives.

    Returns
    -------
    float
        The largest difference, relative to the product of the largest entries.

    Examples
    --------
    >>> import specavg as sa
    >>> around_z = sa.isometries.fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> around_x = sa.isometries.fields.rotation([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
    >>> check_bracket(sa.Sphere(3), around_z, around_x, sa.Sphere(3).eigenspace(5)) < 1e-12
    True
    """
    A, B = space.infinitesimal(field, eigenspace), space.infinitesimal(other, eigenspace)
    residual = largest(A @ B - B @ A - space.infinitesimal(field.bracket(other), eigenspace)) / (scale(A) * scale(B))
    return kept("[dD(ξ), dD(η)] = dD([ξ, η])", residual, tolerance, place(space, eigenspace, field, other))


def check_flow(space: Space, field: Field, eigenspace: Eigenspace, *, tolerance: float = TOLERANCE) -> float:
    """Law: D(exp tξ) = exp(t dD(ξ)), so that dD is the derivative of D along the flow.

    Returns
    -------
    float
        The largest difference of entries at one t, relative to the largest entry of dD.

    Examples
    --------
    >>> import specavg as sa
    >>> around_z = sa.isometries.fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> check_flow(sa.Sphere(3), around_z, sa.Sphere(3).eigenspace(5)) < 1e-12
    True
    """
    dD = space.infinitesimal(field, eigenspace)
    D = space.representation(space.check_field(field).flow(_TIME), eigenspace)
    residual = largest(_exponential(_TIME * dD) - D) / scale(dD)
    return kept("D(exp tξ) = exp(t dD(ξ))", residual, tolerance, place(space, eigenspace, field))


def check_velocity(
    space: Space, field: Field, eigenspace: Eigenspace, *, random_state: Any = 0, tolerance: float = DIFFERENCES
) -> float:
    """Law: ξ·φ = dD(ξ)ᵀ φ, the left side from central differences along the flow.

    Returns
    -------
    float
        The largest difference over random points, relative to the largest |φ| and the largest entry of dD.

    Examples
    --------
    >>> import specavg as sa
    >>> around_z = sa.isometries.fields.rotation([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
    >>> check_velocity(sa.Sphere(3), around_z, sa.Sphere(3).eigenspace(5)) < 1e-9
    True
    """
    X = space.sample(10, random_state)
    values, dD = space.evaluate(eigenspace, X), space.infinitesimal(field, eigenspace)
    checked = space.check_field(field)
    step = 0.1 / max(1.0, float(np.linalg.norm(dD, 2)))  # a fraction of the shortest wave along the flow

    def moved(t: float) -> Array:
        return space.evaluate(eigenspace, space.act(checked.flow(t), X))

    slope = central_difference(moved, step)
    residual = largest(slope - values @ dD) / (scale(values) * scale(dD))
    return kept("ξ·φ = dD(ξ)ᵀφ", residual, tolerance, place(space, eigenspace, field))


def random_fields(space: Space, random_state: Any = 0) -> list[Field]:
    """A few random fields of a space of the library, of every kind that it has; none where it has none.

    Examples
    --------
    >>> import specavg as sa
    >>> [type(field).__name__ for field in random_fields(sa.Torus(2))]
    ['ShiftField', 'ShiftField']
    """
    rng = np.random.default_rng(random_state)
    return [field for _ in range(2) for field in _candidates(space, space.identity, rng)]


def _candidates(space: Space, identity: Isometry, rng: np.random.Generator) -> list[Field]:
    if isinstance(identity, Factors):
        parts = [random_fields(factor, rng) for factor in space.factors]  # pyright: ignore[reportAttributeAccessIssue]
        return [fields_of.factors([part[0] if part else None for part in parts])] if any(parts) else []
    if isinstance(identity, Copies):
        base: list[Field] = [f for _ in range(identity.size) for f in random_fields(space.base, rng)[:1]]  # pyright: ignore[reportAttributeAccessIssue]
        return [fields_of.copies([*base[:-1], None] if len(base) > 2 else base)] if base else []
    d = identity.size
    tried: list[Field] = [
        fields_of.shift(rng.choice([-2, -1, 1, 2], size=d).tolist()),
        fields_of.rotation(_skew(d, rng)),
    ]
    if len(space.shape) == 2:
        tried.append(fields_of.left_right(_skew(space.shape[0], rng), _skew(space.shape[1], rng)))
    return [field for field in tried if _fits(space, field)]


def _fits(space: Space, field: Field) -> bool:
    try:
        space.check_field(field)
    except ValueError:
        return False
    return not field.is_zero


def _skew(d: int, rng: np.random.Generator) -> Array:
    A = rng.standard_normal((d, d))
    return (A - A.T) / 2


def _exponential(A: Array) -> Array:
    """exp(A) of an antisymmetric matrix, orthogonal to rounding; scaling and squaring lost 1.6e-13 at |A| = 16."""
    angles, vectors = np.linalg.eigh(1j * (A - A.T) / 2)
    return np.real((vectors * np.exp(-1j * angles)) @ vectors.conj().T)
