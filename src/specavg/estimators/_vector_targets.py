"""Targets that look like vectors, given to a model whose predictions do not move."""

from __future__ import annotations

import warnings

from specavg.groups import representation
from specavg.invariants import InvariantBasis
from specavg.spaces import Torus

__all__ = ["warn_of_vectors"]

_UNEXPLAINED = 0.7  # of the standard deviation: invariant functions that fit explain more than half of the variance


def warn_of_vectors(basis: InvariantBasis, outputs: tuple[int, ...], error: float) -> None:
    """Warn where y has as many columns as a vector that the group moves, and invariant functions explain little of it.

    Parameters
    ----------
    basis : InvariantBasis
    outputs : tuple of int
        The shape of one target.
    error : float
        Leave-one-out error in standard deviations of the targets.
    """
    if not outputs or outputs[0] < 2 or error < _UNEXPLAINED:
        return
    space, group = basis.space, basis.group
    try:
        vector = representation(group, "vector", lattice=space.lattice if isinstance(space, Torus) else None)
    except ValueError:  # no single matrix moves a vector here
        return
    if vector.dim == outputs[0] and not vector.is_trivial:
        warnings.warn(
            f"y has {outputs[0]} columns, as many as a vector that {group!r} moves, and invariant functions explain "
            f"little of it (leave-one-out error {error:.2g} standard deviations). If y moves with the points, use "
            "EquivariantKernelRidge(space, group, 'vector').",
            UserWarning,
            stacklevel=3,
        )
