"""One eigenspace of the Laplacian, and when two eigenvalues are one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

SAME_EIGENVALUE = 1e-8  # relative; looser than any check of an isometry, so that no orbit is split between eigenspaces


@dataclass(frozen=True)
class Eigenspace:
    """One eigenspace V_λ of the Laplacian.

    Attributes
    ----------
    eigenvalue : float
        λ.
    dim : int
        The multiplicity m_λ.
    label : hashable
        What the space needs to find it again: a degree, a set of frequencies, the types of its copies, ...

    Examples
    --------
    >>> from itertools import islice
    >>> import specavg as sa
    >>> list(islice(sa.Sphere(3).eigenspaces(), 3))
    [Eigenspace(eigenvalue=0.0, dim=1), Eigenspace(eigenvalue=2.0, dim=3), Eigenspace(eigenvalue=6.0, dim=5)]
    """

    eigenvalue: float
    dim: int
    # Resolvers look eigenspaces up a hundred times each, labels are long, and few eigenspaces share both numbers.
    label: Hashable = field(repr=False, hash=False)


Weighted = Sequence[tuple[Eigenspace, float]]
"""Eigenspaces, each with a weight."""


def columns_of(eigenspaces: Iterable[Eigenspace]) -> dict[Eigenspace, range]:
    """The columns that the functions of each eigenspace have when different eigenspaces are listed in this order."""
    columns, end = dict.fromkeys(eigenspaces, range(0)), 0
    for V in columns:
        columns[V] = range(end, end := end + V.dim)
    return columns


def degree_label(eigenspace: Eigenspace) -> int:
    """The degree by which spheres, rotations and intervals find an eigenspace again."""
    assert isinstance(eigenspace.label, int)
    return eigenspace.label
