"""The laws of equivariant functions: what an equivariant basis must be, whichever solver made it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from specavg.groups import Representation
from specavg.invariants import EquivariantBasis
from specavg.invariants.solvers._solver import carriers, eigenspace_below
from specavg.isometries import Isometry
from specavg.testing._law import kept

_LISTED = 2000  # elements of a group that is listed


def check_equivariant_functions(
    basis: EquivariantBasis, *, n_elements: int = 10, random_state: Any = 0, tolerance: float = 1e-12
) -> float:
    """Law: F(gx) = ρ(g)F(x), for the generators, the flows of the fields, and random elements of finite groups.

    Parameters
    ----------
    basis : EquivariantBasis
    n_elements : int
        Random elements, besides the generators.
    random_state : int, Generator or None
    tolerance : float

    Returns
    -------
    float
        The largest |F(gx) − ρ(g)F(x)| / max|F|.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Sphere(3), sa.groups.point_group("Td"), "vector", max_eigenvalue=20)
    >>> check_equivariant_functions(basis) < 1e-12
    True
    """
    rng = np.random.default_rng(random_state)
    space, group, rho = basis.space, basis.group, basis.output
    X = space.sample(5, rng)
    before = basis.evaluate(X)
    moved = [(g, image.matrix) for g, image in zip(group.generators, rho.images, strict=True)]
    for field, image in zip(group.fields, rho.field_images, strict=True):
        t = float(rng.uniform(0.5, 1.5))
        moved.append((field.flow(t), np.asarray(expm(t * image.matrix), dtype=np.float64)))
    moved += [(g, image.matrix) for g, image in _random_elements(rho, n_elements, rng)]
    scale = max(float(np.abs(before).max(initial=0.0)), 1e-300)
    residuals = [np.abs(basis.evaluate(space.act(g, X)) - before @ R.T).max(initial=0.0) / scale for g, R in moved]
    return kept("F(gx) = ρ(g)F(x)", float(max(residuals, default=0.0)), tolerance, repr(basis))


def _random_elements(rho: Representation, count: int, rng: np.random.Generator) -> list[tuple[Isometry, Any]]:
    """Elements with their images. Of a listed group they are short words: long products of rotations lose digits."""
    if rho.group.fields:
        return []
    try:
        listed = list(rho.elements(_LISTED))
    except ValueError:  # too many
        return [rho.random(rng) for _ in range(count)]
    return [listed[i] for i in rng.integers(len(listed), size=count)]


def check_multiplicities(basis: EquivariantBasis, *, limit: int = _LISTED, tolerance: float = 1e-8) -> float:
    """Law: the number of equivariant functions of an eigenspace V is the mean over G of χ_V(g) χ_ρ(g).

    For tangent fields ρ is how the group moves their two potentials, and constants have none.

    Parameters
    ----------
    basis : EquivariantBasis
        Of a finite group of at most `limit` elements.
    limit : int
    tolerance : float

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Circle(), sa.groups.dihedral(3), "pseudoscalar", max_eigenvalue=20)
    >>> check_multiplicities(basis) < 1e-8
    True
    """
    pairs = list(basis.output.of_coefficients.elements(limit))
    worst = 0.0
    for row, carrier in zip(basis.table, carriers(basis.space, basis.order, basis.output), strict=False):
        V = eigenspace_below(carrier)
        traces = [np.trace(basis.space.representation(g, V)) * np.trace(image.matrix) for g, image in pairs]
        worst = max(worst, abs(float(np.mean(traces)) - row.invariant_dim))
    return kept("number of equivariant functions = mean of χ_V χ_ρ", worst, tolerance, repr(basis))


def check_vector_orthonormality(basis: EquivariantBasis, *, tolerance: float = 1e-11) -> float:
    """Law: the mean of F_j(x)·F_l(x) over the space is 1 for j = l and 0 otherwise.

    Parameters
    ----------
    basis : EquivariantBasis
    tolerance : float

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Torus(2), sa.groups.symmetric(2), "vector", max_eigenvalue=20)
    >>> check_vector_orthonormality(basis) < 1e-11
    True
    """
    points, weights = basis.space.ordered_quadrature(basis.order, basis.table[-1].eigenvalue)
    values = basis.evaluate(points)  # (n, dim, p)
    rows = (
        (values * np.sqrt(weights)[:, None, None]).transpose(0, 2, 1).reshape(len(points) * basis.n_outputs, basis.dim)
    )
    residual = float(np.abs(rows.T @ rows - np.eye(basis.dim)).max(initial=0.0))
    return kept("orthonormality of vector functions", residual, tolerance, repr(basis))


def check_tangency(basis: EquivariantBasis, *, random_state: Any = 0, tolerance: float = 1e-13) -> float:
    """Law: tangent fields are orthogonal to the point, x·F(x) = 0.

    Parameters
    ----------
    basis : EquivariantBasis
        With the output "tangent vector" or "axial tangent vector".
    random_state : int, Generator or None
    tolerance : float

    Returns
    -------
    float
        The largest |x·F(x)| / max|F|.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.equivariant_basis(sa.Sphere(3), sa.groups.point_group("Td"), "tangent vector", max_eigenvalue=42)
    >>> check_tangency(basis) < 1e-13
    True
    """
    X = basis.space.sample(20, random_state)
    values = basis.evaluate(X)
    scale = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    residual = float(np.abs(np.einsum("ni,nji->nj", X, values)).max(initial=0.0)) / scale
    return kept("x·F(x) = 0", residual, tolerance, repr(basis))
