"""A crystal in one call: the space and the group of functions of position, and of functions of wave vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from specavg.groups import Group
from specavg.groups._cell_symmetry import cell_symmetry
from specavg.spaces import Torus

__all__ = ["Crystal", "positions", "wave_vectors"]


@final
@dataclass(frozen=True)
class Crystal:
    """Where functions of a crystal live and what leaves them alone; unpacks as ``space, group = ...``.

    Attributes
    ----------
    space : Torus
        Of the cell; points are fractional coordinates.
    group : Group
    name : str
        Symbol and number of the crystal's space group.

    Examples
    --------
    >>> salt = ([[4, 0, 0], [0, 4, 0], [0, 0, 4]], [[0, 0, 0], [0.5, 0.5, 0.5]], [55, 17])  # caesium chloride
    >>> positions(salt)
    <Crystal: Pm-3m (221), group of order 48 on Torus(lattice=[[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]])>
    >>> space, group = positions(salt)
    >>> group.order
    48
    """

    space: Torus
    group: Group
    name: str = ""

    def __repr__(self) -> str:
        return f"<Crystal: {self.name}, group of order {self.group.order} on {self.space!r}>"

    def __iter__(self) -> Any:
        return iter((self.space, self.group))

    def __getitem__(self, index: int) -> Torus | Group:
        return (self.space, self.group)[index]


def positions(cell: Any, *, symprec: float = 1e-5) -> Crystal:
    """The space and the group of functions of position in a crystal: densities, potentials of a guest atom.

    Parameters
    ----------
    cell : (lattice, positions, numbers)
        As spglib has it: lattice vectors as rows, fractional coordinates of the atoms, one number (or name) for each
        kind. Or the ``Atoms`` of ASE.
    symprec : float, default 1e-5
        How far atoms may lie from symmetric places, in the unit of the lattice. The lattice itself is made exactly
        symmetric: files give few digits, and a group must consist of isometries. Where 1e-2 finds more symmetry, a
        warning names both groups.

    Returns
    -------
    Crystal
        On the torus of the given cell.

    Examples
    --------
    >>> import specavg as sa
    >>> diamond = [[0, 0, 0], [0.25, 0.25, 0.25]]
    >>> space, group = positions(([[0, 1.78, 1.78], [1.78, 0, 1.78], [1.78, 1.78, 0]], diamond, [6, 6]))
    >>> group.order, sa.invariant_basis(space, group, max_dim=100).dim
    (48, 7)
    """
    lattice, group, name = cell_symmetry(cell, symprec=symprec)
    return Crystal(Torus(lattice=lattice), group, name)


def wave_vectors(cell: Any, *, time_reversal: bool = True, symprec: float = 1e-5) -> Crystal:
    """The space and the group of functions of wave vectors: bands of electrons and phonons.

    Parameters
    ----------
    cell : (lattice, positions, numbers)
        As in `positions`; a primitive cell.
    time_reversal : bool, default True
        Add k ↦ −k, which holds for phonons and for electrons without magnetism.
    symprec : float, default 1e-5

    Returns
    -------
    Crystal
        On the torus of the reciprocal cell; points are fractions of its vectors.

    Examples
    --------
    >>> zincblende = ([[0, 2.8, 2.8], [2.8, 0, 2.8], [2.8, 2.8, 0]], [[0, 0, 0], [0.25, 0.25, 0.25]], [31, 33])
    >>> wave_vectors(zincblende).group.order, wave_vectors(zincblende, time_reversal=False).group.order
    (48, 24)
    """
    lattice, group, name = cell_symmetry(cell, symprec=symprec, wave_vectors=True, time_reversal=time_reversal)
    return Crystal(Torus(lattice=lattice), group, name)


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
