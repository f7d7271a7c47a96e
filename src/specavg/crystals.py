"""A crystal in one call: the space and the group of functions of position, and of functions of wave vectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.groups import Group
from specavg.groups._cell_symmetry import cell_symmetry
from specavg.spaces import Torus

__all__ = ["Crystal", "lattice", "positions", "wave_vectors"]
_EXACT = {60.0: 0.5, 90.0: 0.0, 120.0: -0.5}  # cosines that symmetry needs to the last bit


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
        Symbol and number of the crystal's space group, or that of a plane's plane group, and whether unlike magnetic
        moments were told apart.

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
        kind; a fourth part may hold the magnetic moment of each atom. Or the ``Atoms`` of ASE. Atoms with different
        moments are different kinds, and `Crystal.name` says so: the density of spins has the symmetry of these kinds.
        For functions that do not depend on spins leave the moments out. Of a plane of atoms (graphene, a surface seen
        from above), two lattice vectors and positions of two numbers: the group is then a plane group. The origin
        must lie on the symmetry elements; if it does not, an error says what to subtract.
    symprec : float, default 1e-5
        How far atoms may lie from symmetric places, in the unit of the lattice. The lattice itself is made exactly
        symmetric: files give few digits, and a group must consist of isometries. Where 0.03 finds more symmetry, or
        the transposed lattice has more, a warning names both groups.

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
    vectors, group, name = cell_symmetry(cell, symprec=symprec)
    return Crystal(Torus(lattice=vectors), group, name)


def wave_vectors(cell: Any, *, time_reversal: bool = True, symprec: float = 1e-5) -> Crystal:
    """The space and the group of functions of wave vectors: bands of electrons and phonons.

    Parameters
    ----------
    cell : (lattice, positions, numbers)
        As in `positions`; a primitive cell, of the magnetic crystal if there are moments.
    time_reversal : bool, default True
        Add k ↦ −k, which holds for phonons and for electrons without magnetism, or with moments along one axis and
        without spin-orbit coupling.
    symprec : float, default 1e-5

    Returns
    -------
    Crystal
        On the torus of the reciprocal cell; points are fractions of its vectors. Cartesian wave vectors k in 1/Å, with
        their 2π, become such by ``k @ np.linalg.inv(space.lattice) / (2 * np.pi)``. The lattice has no 2π: dE/dk for
        these k is ``model.gradient(points) @ np.linalg.inv(space.lattice).T / (2 * np.pi)``.

    Examples
    --------
    >>> zincblende = ([[0, 2.8, 2.8], [2.8, 0, 2.8], [2.8, 2.8, 0]], [[0, 0, 0], [0.25, 0.25, 0.25]], [31, 33])
    >>> wave_vectors(zincblende).group.order, wave_vectors(zincblende, time_reversal=False).group.order
    (48, 24)
    >>> graphene = ([[2.46, 0], [-1.23, 2.46 * 0.75**0.5]], [[1 / 3, 2 / 3], [2 / 3, 1 / 3]], [6, 6])
    >>> wave_vectors(graphene).name, wave_vectors(graphene).group.order
    ('p6mm', 12)

    The velocity dE/dk of a tight-binding band of an fcc crystal, E = −Σ cos k·R over its twelve neighbours R:

    >>> import specavg as sa
    >>> fcc = np.array([[0, 2.0, 2.0], [2.0, 0, 2.0], [2.0, 2.0, 0]])
    >>> space, group = wave_vectors((fcc, [[0, 0, 0]], [29]))
    >>> half = np.vstack([fcc, fcc - np.roll(fcc, 1, axis=0)])  # one of each pair ±R
    >>> X = space.sample(300, random_state=0)
    >>> k = 2 * np.pi * X @ space.lattice
    >>> model = sa.InvariantKernelRidge(space, group).fit(X, -2 * np.cos(k @ half.T).sum(axis=1))
    >>> velocity = model.gradient(X) @ np.linalg.inv(space.lattice).T / (2 * np.pi)
    >>> bool(np.allclose(velocity, 2 * np.sin(k @ half.T) @ half, atol=1e-3))
    True
    """
    vectors, group, name = cell_symmetry(cell, symprec=symprec, wave_vectors=True, time_reversal=time_reversal)
    return Crystal(Torus(lattice=vectors), group, name)


def lattice(
    a: float, b: float, c: float, alpha: float = 90.0, beta: float = 90.0, gamma: float = 90.0
) -> NDArray[np.float64]:
    """Lattice vectors as rows, from the parameters of a cell: the first along x, the second in the plane of x and y.

    Parameters
    ----------
    a, b, c : float
        Lengths of the edges.
    alpha, beta, gamma : float, default 90
        Angles in degrees: between b and c, a and c, a and b. One below π is questioned: it looks like radians.

    Returns
    -------
    ndarray of shape (3, 3)
        For ``Torus(lattice=...)`` and for the first part of a cell.

    Examples
    --------
    >>> lattice(3.2, 3.2, 5.1, gamma=120).round(3)
    array([[ 3.2  ,  0.   ,  0.   ],
           [-1.6  ,  2.771,  0.   ],
           [ 0.   ,  0.   ,  5.1  ]])
    """
    if not all(0 < edge < np.inf for edge in (a, b, c)):
        raise ValueError(f"the edges of a cell are positive lengths; got {a!r}, {b!r} and {c!r}")
    angles = (alpha, beta, gamma)
    x, y, z = (_EXACT.get(float(angle), float(np.cos(np.radians(angle)))) for angle in angles)
    volume = 1 - x * x - y * y - z * z + 2 * x * y * z  # squared, of the cell with edges of one
    if not all(0 < angle < 180 for angle in angles) or not volume > 0:
        hint = " Are they in radians?" if max(angles) < np.pi else ""
        raise ValueError(
            f"no cell has the angles {alpha:g}, {beta:g} and {gamma:g} degrees: each must be less than the sum of "
            f"the other two, and their sum less than 360.{hint}"
        )
    if min(angles) < np.pi:
        warnings.warn(
            f"the angles {alpha:g}, {beta:g} and {gamma:g} are degrees, and one of {min(angles):.4g}° makes a very "
            "flat cell. Are they radians? Then pass np.degrees of them.",
            stacklevel=2,
        )
    up = float(np.sqrt(1 - z * z))
    rows = np.array([[1.0, 0.0, 0.0], [z, up, 0.0], [y, (x - y * z) / up, np.sqrt(volume) / up]])
    return rows * np.array([[a], [b], [c]])


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
