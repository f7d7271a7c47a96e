"""Projectors on the invariants of one eigenspace, by ways that no solver of the library uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._config import require_memory
from specavg.groups import Group
from specavg.groups.recognition._actions import faithful_action
from specavg.invariants._certified_null_space import UnclearRank
from specavg.spaces import Eigenspace, Space

# Singular values of B up to the first number (times √m) are rounding. From the second on their squares, 1e-10, are far
# above the rounding of BBᵀ; between the two the formula decides nothing.
_ROUNDING, _CLEAR = 3e-14, 1e-5
_ELEMENTS = 12  # random elements: the largest eigenvalue below 1 of their average was 0.9 or less in all cases tried


def average_projector(space: Space, group: Group, eigenspace: Eigenspace, limit: int = 10_000) -> Array:
    """P = (1/|G|) Σ D(g) over the listed group; the Haar average where the group has a continuous part.

    With a continuous part, P is the limit of powers of the average M over a few random elements and their inverses,
    which generate a dense subgroup: the projector on the eigenvalue 1 of M.

    Parameters
    ----------
    space : Space
    group : Group
    eigenspace : Eigenspace
    limit : int
        Refuse groups of more elements than this.

    Returns
    -------
    ndarray of shape (m, m)

    Examples
    --------
    >>> import specavg as sa
    >>> P = average_projector(sa.Sphere(3), sa.groups.point_group("Oh"), sa.Sphere(3).eigenspace(4))
    >>> round(float(P.trace()), 12)  # the cubic harmonic
    1.0
    """
    if group.fields:
        return _haar_projector(space, group, eigenspace)
    P, count = np.zeros((eigenspace.dim, eigenspace.dim)), 0
    for g in group.elements(limit=limit):
        P += space.representation(g, eigenspace)
        count += 1
    return P / count


def _haar_projector(space: Space, group: Group, eigenspace: Eigenspace) -> Array:
    rng = np.random.default_rng(0)
    M = np.mean([space.representation(group.random(rng), eigenspace) for _ in range(_ELEMENTS)], axis=0)
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    one = values > 1 - 1e-12
    if np.any(~one & (values > 1 - _CLEAR)):
        raise UnclearRank(
            f"the average over {_ELEMENTS} random elements has an eigenvalue of 1 - {1 - values.max():.1e}"
        )
    return vectors[:, one] @ vectors[:, one].T


def chain_projector(space: Space, group: Group, eigenspace: Eigenspace) -> Array:
    """P = T_1 T_2 … T_k along a stabiliser chain, T_i the average of D over transversal i.

    Sympy finds the chain, in a faithful permutation action of the group. An element is u_k ∘ … ∘ u_1 with
    u_k of the deepest stabiliser, and D(gh) = D(h) D(g): so the deepest average is applied first, and the
    other order is not the projector. It takes Σ|U_i| matrices, not |G|: 54 for the 10! elements of S_10.

    Returns
    -------
    ndarray of shape (m, m)

    Raises
    ------
    ValueError
        If the group has fields: no stabiliser chain holds them. `average_projector` and `paper_projector` take such a
        group.

    Examples
    --------
    >>> import specavg as sa
    >>> P = chain_projector(sa.Sphere(10), sa.groups.symmetric(10), sa.Sphere(10).eigenspace(2))
    >>> round(float(P.trace()), 12)
    1.0
    """
    from sympy.combinatorics import Permutation, PermutationGroup

    if group.fields:
        count = len(group.fields)
        raise ValueError(
            f"chain_projector needs a finite group: {group!r} has {count} field{'s' * (count > 1)}, which no "
            "stabiliser chain holds. Use average_projector or paper_projector"
        )
    P = np.eye(eigenspace.dim)
    if not group.generators:
        return P
    action = faithful_action(group.generators)
    moves = [Permutation(action.permutation(g).tolist()) for g in group.generators]
    chain: Any = PermutationGroup(moves)
    for transversal in chain.basic_transversals:
        T = np.zeros_like(P)
        for u in transversal.values():
            image = np.array(u.array_form, dtype=np.intp)
            T += space.representation(action.isometry(image), eigenspace)
        P = P @ (T / len(transversal))
    return P


def paper_projector(space: Space, group: Group, eigenspace: Eigenspace) -> Array:
    """P = I − Bᵀ(BBᵀ)†B with B the stacked D(g) − I (and dD(ξ)): the paper's formula, as it stands.

    BBᵀ has |S|m rows and squares the singular values, so this is a check for small eigenspaces and not a
    solver.

    Returns
    -------
    ndarray of shape (m, m)

    Raises
    ------
    ValueError
        If a singular value of B is too small to survive the squaring, and too large to be zero.

    Examples
    --------
    >>> import specavg as sa
    >>> circle = sa.Circle()
    >>> V = next(V for V in circle.eigenspaces() if V.eigenvalue == 9)
    >>> paper_projector(circle, sa.groups.dihedral(3), V).round(12) + 0.0
    array([[1., 0.],
           [0., 0.]])
    """
    m, generators, fields = eigenspace.dim, group.generators, group.fields
    if not generators and not fields:
        return np.eye(m)
    require_memory(
        8.0 * 6 * ((len(generators) + len(fields)) * m) ** 2,
        f"the paper's formula with |S| = {len(generators) + len(fields)}, m = {m}",
        "Use a smaller eigenspace.",
    )
    moved = [space.representation(g, eigenspace) - np.eye(m) for g in generators]
    B = np.concatenate([*moved, *(space.infinitesimal(f, eigenspace) for f in fields)])
    values = np.linalg.svd(B, compute_uv=False)
    doubtful = values[(values > _ROUNDING * np.sqrt(m)) & (values < _CLEAR)]
    if doubtful.size:
        raise UnclearRank(
            f"B has a singular value of {doubtful.min():.2g}: its square cannot be told from rounding in BBᵀ"
        )
    # (BBᵀ)†: the scale of B is 1 whatever the group, so that zero is absolute and never relative to the largest.
    squares, vectors = np.linalg.eigh(B @ B.T)
    inverse = np.where(squares > _CLEAR**2 / 4, 1.0 / np.maximum(squares, _CLEAR**2 / 4), 0.0)
    return np.eye(m) - B.T @ ((vectors * inverse) @ (vectors.T @ B))
