"""What users hand over for geometries: arrays, or molecules of ASE, which a periodic cell may have cut apart."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array, check_real
from specavg.molecules._elements import elements_of

# Of the standard deviation of energies that molecules hold: those given differ from them by a constant if by no more
# than that. Rounding to four digits is as large; other units and other methods make a hundred times as much.
_SHIFTED = 1e-4
# Spread of the energies of one geometry that occurs several times, in standard deviations of all energies, from which
# on repeats contradict each other: that of two data sets of the same geometries whose references differ by 0.76
# deviations of one, or of noise with a quarter of the variance. Repeats of a program differ by less than 1e-6.
_CONTRADICTING = 0.5
_EQUAL = ("", "")
_MOVED = (
    " but for motions, mirror images and permutations of like atoms",
    ", or do mirror images or like atoms differ",
)
_NO_ENERGY = (
    ": each geometry needs its energy, forces may be missing. Leave these geometries out, R[np.isfinite(E)] and all "
    "else alike; or learn from the forces of all alone, fit(R, None, forces)"
)
_NO_FORCES = ("positions", "momenta")  # what ASE itself keeps of each atom, three numbers each


def read_all(R: Any) -> str:
    """What to do where one molecule stands for all of a file."""
    return " ase.io.read(path) reads only the last; all are ase.io.read(path, ':')." if _is_one(R) else ""


def _is_one(R: Any) -> bool:
    return hasattr(R, "get_chemical_symbols")


def molecules_in(R: Any) -> list[Any] | None:
    """The ``Atoms`` of a list, of one of ASE's trajectories or of a single molecule; None for numbers."""
    if _is_one(R):
        return [R]
    listed = isinstance(R, list | tuple) or type(R).__module__.startswith("ase.")
    return list(R) if listed and len(R) and hasattr(R[0], "get_chemical_symbols") else None


def listed(values: Any) -> Any:
    """What an iterator gives, such as ``ase.io.iread``, as a list; anything else as it is."""
    return list(values) if isinstance(values, Iterator) else values


def _real(name: str, values: Any) -> Array:
    """`values` as real numbers."""
    given = np.asarray(listed(values))
    check_real(given, name)
    return np.asarray(given, dtype=np.float64)


def positions_of(R: Any, labels: list[str]) -> Array:
    """The positions of the atoms, checked; molecules that a periodic cell cut apart are made whole."""  # (n, N, 3)
    R = listed(R)
    if isinstance(R, str | PathLike):
        raise ValueError(f"R is the path {str(R)!r}, and must hold positions: read it with ase.io.read(path, ':')")
    N, molecules = len(labels), molecules_in(R)
    if N < 2:
        raise ValueError(f"a molecule needs at least two atoms; symbols are {labels!r}")
    if molecules is not None:
        R = [_positions_of_one(i, atoms, labels) for i, atoms in enumerate(molecules)]
    if isinstance(R, list | tuple) and any(np.ndim(piece) == 3 for piece in R):
        raise ValueError(f"R is a list of {len(R)} pieces: join them with np.concatenate, R, E and forces alike")
    try:
        positions = _real("R", R)
    except ValueError:
        _refuse_other_numbers_of_atoms(R, N)
        raise
    if positions.shape[1:] not in ((N, 3), (3 * N,)):
        hint = " One geometry is R[None]." if positions.shape == (N, 3) else ""
        raise ValueError(
            f"R must have shape (n, {N}, 3), a position for each atom; its shape is {positions.shape}.{hint}"
        )
    if not len(positions):
        raise ValueError(f"R has no geometries; its shape is {positions.shape}")
    positions = positions.reshape(-1, N, 3)
    _refuse_infinite("R", positions)
    return positions


def _refuse_other_numbers_of_atoms(R: Any, N: int) -> None:
    """Say which geometry has another number of atoms: NumPy does not."""
    for i, geometry in enumerate(R):
        if hasattr(geometry, "__len__") and len(geometry) != N:
            raise ValueError(f"geometry {i} has {len(geometry)} atoms, and symbols are {N}")


@dataclass(frozen=True, eq=False)
class Observed:
    """What a potential is learnt from: different geometries, each with an energy, or all with forces alone."""

    positions: Array  # (n, N, 3)
    energies: Array  # (n,), all NaN where there are forces alone
    forces: Array | None  # (n, N, 3), NaN where they are missing
    weights: Array  # (n,), positive
    rows: NDArray[np.intp]  # (n,): where the geometries stand in what was given

    @classmethod
    def of(cls, R: Any, E: Any, forces: Any, weights: Any, labels: list[str]) -> Observed:
        """From what users give, checked."""
        R = listed(R)
        positions = positions_of(R, labels)
        if E is None:
            E, forces = _held_by(R, forces)
        n, alone = len(positions), E is None
        energies = np.full(n, np.nan) if E is None else _real("E", E)
        if energies.shape == (n, 1):
            energies = energies[:, 0]
        if energies.shape != (n,):
            raise ValueError(
                f"E must hold one energy for each of {n} geometries; its shape is {energies.shape}.{read_all(R)}"
            )
        _refuse_infinite("E", np.zeros(n) if alone else energies, _NO_ENERGY)
        if not alone and forces is None:
            forces = _forces_that_belong(molecules_in(R) or [], energies)
        given = None if forces is None else _checked_forces(_real("forces", forces), positions)
        w = _checked_weights(weights, n)
        rows = np.flatnonzero(w > 0)
        given = None if given is None or np.isnan(given[rows]).all() else given[rows]
        if alone and given is None:
            raise ValueError("there are neither energies nor forces: give E, or forces of some geometries")
        return cls(positions[rows], energies[rows], given, w[rows], rows).different()

    def different(self) -> Observed:
        """Each geometry once, with the weighted means of energies and of forces, and the mean of weights."""
        flat = self.positions.reshape(len(self.positions), -1)
        return self._merged(np.unique(flat, axis=0, return_inverse=True)[1].ravel(), _EQUAL)

    def unlike(self, place: NDArray[np.intp]) -> Observed:
        """The same of geometries on one orbit, `place` the first of it: forces are turned as those of the first are."""
        return self._merged(place, _MOVED)

    def _merged(self, place: NDArray[np.intp], how: tuple[str, str]) -> Observed:
        """One geometry for each place; `how` says in which way they are the same, and what else may differ."""
        _, first, place, counts = np.unique(place, return_index=True, return_inverse=True, return_counts=True)
        if len(first) == len(place):
            return self

        def sums(values: Array) -> Array:
            out = np.zeros((len(first), *values.shape[1:]))
            np.add.at(out, place, values)
            return out

        w, forces = self.weights, None
        if self.forces is not None:
            known = w[:, None, None] * np.isfinite(self.forces)
            total = sums(known)
            forces = np.where(
                total > 0, sums(known * np.nan_to_num(self.forces)) / np.where(total > 0, total, 1), np.nan
            )
        energies = sums(w * self.energies) / sums(w)
        self._question_repeats(place, energies, *how)
        return Observed(self.positions[first], energies, forces, sums(w) / counts, self.rows[first])

    def _question_repeats(self, place: NDArray[np.intp], means: Array, how: str, or_else: str) -> None:
        """Warn where energies of equal geometries differ as those of different ones do."""  # (n,), (n,)
        w, E = self.weights, self.energies
        apart, mean = E - means[place], np.average(E, weights=w)
        within = np.sum(w * apart**2) / (len(E) - len(means))
        spread = np.sum(w * (E - mean) ** 2) / (len(E) - 1)
        if not within > _CONTRADICTING**2 * spread:  # NaN with forces alone
            return
        same = np.flatnonzero(place == place[np.abs(apart).argmax()])
        low, high = same[E[same].argmin()], same[E[same].argmax()]
        warnings.warn(
            f"geometries {self.rows[low]} and {self.rows[high]} are the same{how}, and their energies {E[low]:.6g} and "
            f"{E[high]:.6g} differ by {E[high] - E[low]:.3g}; the standard deviation of all energies is {E.std():.3g}. "
            f"{np.count_nonzero(np.bincount(place) > 1)} geometries occur several times, and the means of their "
            f"energies are taken. Are these two levels of theory, or two reference energies{or_else}? Then fit one "
            "level alone, or subtract from each energy its own reference.",
            stacklevel=6,
        )


def _checked_forces(forces: Array, positions: Array) -> Array:
    n, N = positions.shape[:2]
    if forces.shape not in (positions.shape, (n, 3 * N)):
        raise ValueError(f"forces must have the shape of R, {positions.shape}; it is {forces.shape}")
    forces = forces.reshape(positions.shape)
    missing = np.isnan(forces).all(axis=(1, 2), keepdims=True)
    _refuse_infinite("forces", np.where(missing, 0.0, forces), "; forces that are missing have NaN for all atoms")
    return forces


def _checked_weights(given: Any, n: int) -> Array:
    weights = np.ones(n) if given is None else np.asarray(given, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        raise ValueError(
            f"sample_weight must hold a number, zero or positive, for each of {n} geometries; its shape is "
            f"{weights.shape}, its smallest {weights.min(initial=np.inf):.3g}"
        )
    return weights


def _held_by(R: Any, forces: Any) -> tuple[Array | None, Any]:
    """The energies that ``Atoms`` carry, and forces: those given, else those carried, NaN where they are missing.

    No energies where no molecule has one, and there are forces.
    """
    molecules = molecules_in(R)
    if molecules is None:
        if forces is None:
            raise ValueError(
                "E is missing: give an energy for each geometry, forces, or Atoms of ASE whose calculators hold them"
            )
        return None, forces
    known = [_known(atoms, "energy") for atoms in molecules]
    forces = _held_forces(molecules) if forces is None else forces
    without = [i for i, energy in enumerate(known) if energy is None]
    if len(without) == len(known) and forces is not None:
        return None, forces
    if without:
        raise ValueError(_why_no_energy(molecules, without[0]))
    return np.array(known, dtype=np.float64), forces


def _why_no_energy(molecules: list[Any], index: int) -> str:
    """What a calculator lacks, and where energies may be instead."""
    atoms = molecules[index]
    shared = sum(other.calc is atoms.calc for other in molecules) if atoms.calc is not None else 1
    holds = f"is shared by {shared} molecules, and holds" if shared > 1 else "holds"
    energies = [name for name, value in atoms.info.items() if isinstance(value, Real)]
    forces = [name for name, values in atoms.arrays.items() if name not in _NO_FORCES and np.shape(values)[1:] == (3,)]
    found = [f"info[{name!r}]" for name in energies] + [f"arrays[{name!r}]" for name in forces]
    there = f" There are {', '.join(found)}." if found else ""
    return (
        f"molecule {index} carries no energy: its calculator is {type(atoms.calc).__name__}, which {holds} none for "
        f"these positions.{there} Give energies and forces by hand, fit(R, [atoms.info['...'] for atoms in R], "
        "[atoms.arrays['...'] for atoms in R]); or let each molecule hold its own, atoms.calc = "
        "SinglePointCalculator(atoms, energy=..., forces=...). Forces alone are fit(R, None, forces)."
    )


def _held_forces(molecules: list[Any]) -> Array | None:
    """The forces that ``Atoms`` carry, NaN where they are missing; None where all are."""  # (n, N, 3)
    pulls = [_known(atoms, "forces") for atoms in molecules]
    if all(pull is None for pull in pulls):
        return None
    missing = np.full((len(molecules[0]), 3), np.nan)
    return np.array([missing if pull is None else pull for pull in pulls])


def _forces_that_belong(molecules: list[Any], energies: Array) -> Array | None:
    """The forces that ``Atoms`` carry, if the energies given are those that they carry up to a constant.

    Then the forces are minus their gradients, in their units. Otherwise a warning says that they are not used.
    """
    forces = _held_forces(molecules)
    if forces is None:
        return None
    held = np.array([np.nan if (e := _known(atoms, "energy")) is None else e for atoms in molecules], dtype=np.float64)
    both = np.isfinite(held)
    apart = energies[both] - held[both]
    if both.sum() > 1 and np.ptp(apart) <= _SHIFTED * held[both].std():
        return forces
    why = (
        f"the energies given differ from those that they hold by {apart.min():.3g} to {apart.max():.3g}, and not by a "
        "constant"
        if both.any()
        else "they hold no energies that would tell whether these forces belong to those given"
    )
    warnings.warn(
        f"the Atoms hold forces, which are not used: {why}. If they are minus the gradients of these energies, in the "
        "same units, pass forces=[atoms.get_forces(apply_constraint=False) for atoms in R]; for energies alone, give "
        "R as an array of positions.",
        stacklevel=4,
    )
    return None


def _refuse_infinite(name: str, values: Array, hint: str = "") -> None:
    """Say which geometry has a number that is none."""  # (n, ...)
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(bad):
        raise ValueError(f"{name} has NaN or infinity in {len(bad)} geometries, the first is {bad[0]}{hint}")


def _known(atoms: Any, name: str) -> Any:
    """What a calculator holds; nothing is computed, and forces are those before constraints."""
    return None if atoms.calc is None else atoms.calc.get_property(name, atoms, allow_calculation=False)


def _positions_of_one(index: int, atoms: Any, labels: list[str]) -> Array:
    """The positions of a molecule of ASE; its elements are compared where all labels are elements too."""
    elements = atoms.get_chemical_symbols()
    if len(elements) != len(labels) or elements_of(labels) not in (None, elements):
        raise ValueError(f"molecule {index} has the atoms {elements}, and symbols are {labels}, in this order")
    whole = _whole(atoms)
    if whole is None:
        raise ValueError(
            f"molecule {index} lies in a periodic cell in which it cannot be told from its images: an atom of an "
            "image is as near as atoms of the molecule are to each other. A potential is one of a single molecule in "
            "empty space. Take a larger cell, or give the positions of whole molecules as an array."
        )
    return whole


def _whole(atoms: Any) -> Array | None:
    """The molecule in one piece, from atom to nearest atom; None where an image is as near.

    In the crystal of all images, join atoms as far apart as the longest step of the shortest tree through the molecule.
    What hangs together then is either the molecule, the same for every choice of images, or all of the crystal.
    """
    R, cell = np.array(atoms.get_positions()), np.asarray(atoms.cell)
    periodic = cell[np.asarray(atoms.pbc) & cell.any(axis=1)]
    if not len(periodic) or len(R) < 2:
        return R
    shortest = 1.0 / np.linalg.norm(np.linalg.pinv(periodic), axis=0).max()  # no lattice vector is shorter
    if np.linalg.norm(np.ptp(R, axis=0)) < 0.5 * shortest:  # every distance is that of nearest images
        return R
    apart = atoms.get_all_distances(mic=True, vector=True)  # (N, N, 3), from the first index to the second
    r = np.linalg.norm(apart, axis=2)
    whole, reached, longest = R.copy(), np.arange(len(R)) == 0, 0.0
    while not reached.all():
        steps = np.where(reached[:, None] & ~reached, r, np.inf)
        i, j = np.unravel_index(steps.argmin(), steps.shape)
        whole[j], reached[j], longest = whole[i] + apart[i, j], True, max(longest, float(r[i, j]))
    lists: Any = import_module("ase.neighborlist")
    i, j, vector = lists.neighbor_list("ijD", atoms, longest * (1 + 1e-6))
    return whole if np.abs(whole[j] - whole[i] - vector).max() < 1e-6 * longest else None
