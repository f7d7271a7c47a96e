"""Geometries on one orbit, the same but for motions, mirror images and permutations of like atoms, brought together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.molecules._distances import PairScale, distances
from specavg.molecules._geometries import Observed
from specavg.molecules._terms import MoleculeTerms

# Of the largest distance: by how much distances of one geometry may differ. Positions in single precision, or written
# with six digits, are off by less; geometries that are meant to differ do so by 1e-4.
_SAME = 1e-6
# Of the largest value: geometries whose invariant functions differ by more are not compared atom by atom. Functions of
# degree 3 change by a few times as much as distances do.
_CANDIDATES = 1e-5
_PRODUCTS_TOLD_APART = 5000  # of three distances, by which candidates are found: twelve atoms, some 50 ms


def each_once(data: Observed, classes: tuple[tuple[int, ...], ...]) -> Observed:
    """Each geometry once, whichever way it is turned and its like atoms are numbered; forces are turned along.

    Left in, a copy would predict the geometry that is left out, and errors would be those of data that were seen.
    """
    from scipy.spatial.distance import squareform

    r, atoms = distances(data.positions).r, data.positions.shape[1]
    values = _invariants(r, atoms, classes)
    order = np.argsort(values[:, 0], kind="stable")
    apart = np.abs(np.diff(values[order], axis=0)).max(axis=1) > _CANDIDATES * np.abs(values).max()
    if apart.all():
        return data
    kinds = np.arange(atoms)
    for like in classes:
        kinds[list(like)] = like[0]
    place, forces = np.arange(len(r)), None if data.forces is None else data.forces.copy()
    for run in np.split(order, np.flatnonzero(apart) + 1):
        firsts: list[int] = []
        for i in np.sort(run).tolist() if len(run) > 1 else ():
            for first in firsts:
                numbers = _numbering(squareform(r[i]), squareform(r[first]), kinds, _SAME * r[first].max())
                if numbers is not None:
                    place[i] = first
                    if forces is not None:
                        forces[i] = forces[i, numbers] @ _turn(data.positions[i, numbers], data.positions[first])
                    break
            else:
                firsts.append(i)
    return replace(data, forces=forces).unlike(place)


def _invariants(r: Array, atoms: int, classes: tuple[tuple[int, ...], ...]) -> Array:
    """Two numbers that are the same for all geometries of an orbit, and hardly ever for others."""  # (n, 2)
    terms = MoleculeTerms.of(atoms, classes, {min(atoms, 3): 3})  # of three atoms: which distances share an atom
    if terms.most_products > _PRODUCTS_TOLD_APART:
        terms = MoleculeTerms.of(atoms, classes, {2: 3})
    C = np.random.default_rng(OWN_SEED).normal(size=(terms.functions.dim, 2))
    return terms.functions.combine(PairScale.of(r, terms.pair_orbits)(r)[0], C)


def _numbering(D: Array, E: Array, kinds: NDArray[np.intp], near: float) -> list[int] | None:
    """The atoms of one geometry in the order of another, by their distances D and E; None if there is no such order."""

    def extended(numbers: list[int]) -> list[int] | None:
        i = len(numbers)
        if i == len(kinds):
            return numbers
        fits = (kinds == kinds[i]) & (np.abs(D[:, numbers] - E[i, :i]) <= near).all(axis=1)
        fits[numbers] = False
        found = (extended([*numbers, j]) for j in np.flatnonzero(fits).tolist())
        return next((whole for whole in found if whole is not None), None)

    return extended([])


def _turn(R: Array, S: Array) -> Array:
    """The orthogonal map Q, R Q = S but for a translation."""  # (N, 3), (N, 3) -> (3, 3)
    U, _, Vt = np.linalg.svd((R - R.mean(axis=0)).T @ (S - S.mean(axis=0)))
    return U @ Vt
