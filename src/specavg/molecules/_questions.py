"""Questions about energies and forces of molecules that contradict each other, physics or the names of the atoms."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.data._gradient_moments import Multiple
from specavg.data._questioned_fit import FAR_BETTER, POOR, question_fit
from specavg.molecules._candidate_fit import Fit
from specavg.molecules._distances import pairs_of
from specavg.molecules._elements import RADII, elements_of

_TOLD_APART = 3.0  # standard errors from zero, from which on a multiple of energies has a sign
_RIGID = 0.1  # of the size of forces: the part that moves whole molecules; grids of programs leave about 0.01
_UNEXPLAINED = 0.9  # error of forces over their size: four fifths of their squares are then unexplained
_FAR_OUT = 20.0  # median errors: of 10^9 normal errors none is so large
_FEW_GEOMETRIES = 30  # fewer are told that they explain nothing if their mean predicts better; `question_fit` asks more
_FEWEST = 10  # geometries, of which a median and a size of errors say something
_BOND = (0.75, 1.3)  # in sums of covalent radii: N≡N has 0.77, and C-H taken for C-C 0.72; longer ones are no bonds
_BRIDGE = 1.45  # the same of hydrogen with another: F-H-F has 1.31, N-H-N 1.28; H taken for O in water has 1.56
_UNITS = (1.0, 0.529177, 10.0)  # Å of units of length in use: names that fit in one of them are not questioned
_MANY_ATOMS = 30  # up to which other orders of the atoms are tried: a second
_WHY_NOTHING = (
    "the energies belong to other geometries, or are mostly noise; or the atoms of R are in another order than "
    "symbols; or atoms that symbols call alike do not change places; or the target tells mirror images apart, which "
    "have the same distances"
)


def question_labels(labels: list[str]) -> None:
    """Warn of labels that differ by case only: their atoms are not alike."""
    written: dict[str, str] = {}
    for label in labels:
        other = written.setdefault(label.lower(), label)
        if other != label:
            warnings.warn(
                f"the symbols {other!r} and {label!r} differ by case only, and their atoms are taken for different "
                f"kinds, which do not change places. If they are alike, write {other!r} for both.",
                stacklevel=3,
            )
            return


def question_rigid_part(positions: Array, forces: Array) -> bool:
    """Warn where forces push or turn whole molecules; those of an isolated molecule do neither."""  # (n, N, 3)
    size = float(np.sum(forces**2))
    if not size > 0:
        return False
    net = forces.sum(axis=1)
    pushed = float(np.sum(net**2)) / forces.shape[1]
    R = positions - positions.mean(axis=1, keepdims=True)
    torque = np.cross(R, forces).sum(axis=1)
    squares = np.einsum("nai,naj->nij", R, R)
    inertia = np.trace(squares, axis1=1, axis2=2)[:, None, None] * np.eye(3) - squares
    turned = float(np.einsum("ni,nij,nj->", torque, np.linalg.pinv(inertia, rcond=1e-9, hermitian=True), torque))
    parts = [(np.sqrt(pushed / size), "net force", "pushes"), (np.sqrt(turned / size), "net torque", "turns")]
    found = [f"a {name} (the part that {moves} a whole molecule is {part:.2g} of their size)"
             for part, name, moves in parts if part > _RIGID]  # fmt: skip
    if found:
        warnings.warn(
            f"the forces have {' and '.join(found)}; those on an isolated molecule have none. Are the atoms of the "
            "forces in the order of R, the rows those of R, and the axes those of R? Or do fields, neighbours, or "
            "atoms held fixed pull?",
            stacklevel=3,
        )
    return bool(found)


def question_like_atoms(error: float, spread: float, pairs: Callable[[], float], without: Callable[[], float]) -> None:
    """Warn where energies depend on which of several like atoms is where.

    Parameters
    ----------
    error, spread : float
        Of the energies.
    pairs, without : callable
        The errors of fits of pairs of atoms, in which like ones change places, and in which none do. Few energies, or
        a low degree, may be fitted better by pairs, whether atoms change places or not.
    """
    if not spread > 0 or not error > POOR * spread:
        return
    other = without()
    if not other < FAR_BETTER * error:
        return
    exchanged = pairs()  # where it is small, the exchange is no reason for a poor fit: two tiny errors say nothing
    if exchanged > POOR * spread and other < FAR_BETTER * exchanged:
        warnings.warn(
            f"the error of energies at geometries left out is {error:.3g}, and {other:.3g} in a fit of pairs of atoms "
            "in which none change places: the energies seem to depend on which of several like atoms is where. Give "
            "those that do change places, interchangeable=[...], or none, interchangeable=[].",
            stacklevel=3,
        )


def check_multiple(found: Multiple | None) -> bool:
    """Refuse gradients in place of forces, and warn of other units and of other rows."""
    if found is None:
        return False
    multiple, error, _ = found
    if multiple < -_TOLD_APART * error:
        raise ValueError(
            f"the forces have the wrong sign: the energies are {multiple:.3g} ± {error:.1g} times those that the "
            "forces alone predict. These seem to be gradients; pass forces=-gradients."
        )
    reason = (
        "Are forces in the unit of energy over the unit of length? (1 Hartree is 27.2 eV or 627.5 kcal/mol, 1 bohr is "
        "0.529 Å.)"
        if multiple > _TOLD_APART * error
        else "Do the energies belong to these geometries, in the same order?"
    )
    warnings.warn(
        f"the energies are {multiple:.3g} ± {error:.1g} times those that the forces alone predict, and should be 1 "
        f"times: one of the two is wrong. {reason}",
        stacklevel=3,
    )
    return True


def question_errors(fit: Fit, energies: Array, forces: Array | None, unit: float, *, known: bool) -> None:
    """Warn of geometries that stand far out, else of fits that explain nothing of the energies or of the forces.

    Parameters
    ----------
    fit : Fit
        With the errors at each geometry that was left out.
    energies : ndarray of shape (n,)
        All NaN where there are forces alone.
    forces : ndarray of shape (n, N, 3), optional
    unit : float
        Of all of these, for the numbers that are shown.
    known : bool
        Whether something wrong was found in the forces already.
    """
    root = np.sqrt(fit.weights / np.median(fit.weights))
    alone = bool(np.isnan(energies).all())
    spread = 1.4826 * float(np.median(np.abs(energies - np.median(energies))))  # the standard deviation of most
    if not alone and _question_far("energy of", fit.rows, np.abs(fit.energies_left), root, spread, unit):
        return
    if not alone and energies.any():
        n, spread = len(energies), float(energies.std())
        question_fit(fit.energy_error / spread, n, lambda: _WHY_NOTHING)
        mean = spread * n / (n - 1)  # root mean square of what the mean of the others is wrong by
        if n < _FEW_GEOMETRIES and fit.energy_error >= mean and not known:
            warnings.warn(
                f"the potential explains nothing: predicted from the others, energies are wrong by "
                f"{unit * fit.energy_error:.3g}, and their mean by {unit * mean:.3g}. {n} geometries are too few.",
                stacklevel=3,
            )
    if forces is None or known:
        return
    sizes = np.sqrt(np.mean(forces**2, axis=(1, 2)))
    has = np.isfinite(fit.forces_left)
    size = float(np.nanmedian(sizes))
    if _question_far("force on", fit.rows[has], fit.forces_left[has], root[has], size, unit):
        return
    size = float(np.sqrt(np.nanmean(sizes**2)))
    if len(energies) >= _FEWEST and fit.force_error > _UNEXPLAINED * size:
        warnings.warn(
            f"the forces are hardly explained: at geometries left out the error is {unit * fit.force_error:.3g}, and "
            f"their size is {unit * size:.3g}. Do they belong to these geometries and atoms, in this order? Or are "
            "they mostly noise, or the geometries too few?",
            stacklevel=3,
        )


def _question_far(what: str, rows: NDArray[np.intp], errors: Array, root: Array, least: float, unit: float) -> bool:
    """Name geometries whose errors, times the roots of their weights, are far above the median and above `least`."""
    if len(errors) < _FEWEST:
        return False
    typical = float(np.median(errors * root))
    far = np.flatnonzero(errors * root > max(_FAR_OUT * typical, least))
    if not len(far):
        return False
    worst, *others = far[errors[far].argsort()[::-1]]
    more = f" (and {len(others)} more: {', '.join(str(rows[i]) for i in others[:5])})" if others else ""
    warnings.warn(
        f"the {what} geometry {rows[worst]}{more} stands far out: predicted from the others it is wrong by "
        f"{unit * errors[worst]:.3g}, the median geometry by {unit * typical:.3g}. One wrong row can spoil a fit. "
        "If it is right, geometries like it are too few.",
        stacklevel=4,
    )
    return True


def question_order(labels: list[str], r: Array) -> None:
    """Warn where the lengths of bonds say that the atoms are in another order than their names."""  # r (n, m)
    elements = elements_of(labels)
    if elements is None or not set(elements) <= set(RADII) or len(set(elements)) < 2 or len(labels) > _MANY_ATOMS:
        return
    first, second = pairs_of(len(labels)).T
    D = np.zeros((len(labels), len(labels)))
    D[first, second] = D[second, first] = np.median(r, axis=0)
    radii = np.array([RADII[element] for element in elements])
    order = _without_strain(radii, D) if all(_strain(radii, unit * D) for unit in _UNITS) else None
    if order is not None:  # in Å: among several units almost any distances fit some order
        warnings.warn(
            f"the atoms of R seem to be in another order than symbols: as {' '.join(labels)} they do not have the "
            f"lengths of bonds (in Å), and as {' '.join(labels[i] for i in order)} they have.",
            stacklevel=3,
        )


def _strain(radii: Array, D: Array) -> int:
    """Pairs that are too near, and pieces beyond the first that no bond holds together."""
    from scipy.sparse.csgraph import connected_components

    ratio = D / (radii[:, None] + radii)
    hydrogen = radii == RADII["H"]
    longest = np.where(hydrogen[:, None] != hydrogen, _BRIDGE, _BOND[1])
    near = np.count_nonzero(np.triu(ratio < _BOND[0], 1))
    return int(near + connected_components(ratio < longest, directed=False)[0] - 1)


def _without_strain(radii: Array, D: Array) -> list[int] | None:
    """An order of the names in which nothing is too near or apart, by exchanging two at a time."""
    order = list(range(len(radii)))
    strain = _strain(radii, D)
    while strain:
        swaps = []
        for i, j in pairs_of(len(radii)):
            if radii[order[i]] != radii[order[j]]:
                swapped = order.copy()
                swapped[i], swapped[j] = order[j], order[i]
                swaps.append((_strain(radii[swapped], D), swapped))
        best, order = min(swaps, key=lambda swap: swap[0])
        if best >= strain:
            return None
        strain = best
    return order
