"""A potential energy surface learnt from energies and forces."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from specavg._arrays import Array
from specavg.data._given_data import question_fit
from specavg.molecules._choice_of_model import best_fit, contradiction
from specavg.molecules._distances import PairScale, distances
from specavg.molecules._equations import Equations
from specavg.molecules._terms import MoleculeTerms, like_atoms
from specavg.persistence._saved_model import Savable
from specavg.regression._target_units import Units

# Distances that are evaluated at a time. Their arrays stay in cache and need no new pages of memory: energies and
# forces of 10^4 methanes take 4.2 ms with 20,000 to 40,000, 3.6 ms with 60,000 and 9.4 ms all at once.
_DISTANCES = 50_000
_FEW_ATOMS = 6  # from this many atoms on, functions of few atoms come first: five have 10 pairs, six have 15
_MOST_FUNCTIONS = {False: 1200, True: 5000}  # by whether few atoms come first: below a minute on one core
# Products of distances, of which many permutations leave few functions: all are listed, some 10 µs each, and evaluated.
_MOST_PRODUCTS = 200_000
_MOST_WORK = 5e11  # equations × functions²: about a minute on one core
_DEGREES_TRIED = 3  # the highest that data and time allow, and two below
_COMPARED_FUNCTIONS = 500  # that tell whether forces and energies agree: a second on one core
_TOLD_APART = 3.0  # standard errors from zero, from which on a multiple of energies has a sign
_WHY_NOTHING = (
    "the energies belong to other geometries, or are mostly noise; or the atoms of R are in another order than "
    "symbols; or atoms that symbols call alike do not change places"
)


class InvariantPotential(RegressorMixin, BaseEstimator, Savable):
    """A molecule's energy as a polynomial of its distances, exactly invariant to motions and to permutations of atoms.

    Parameters
    ----------
    symbols : sequence of str
        The element of each atom, in the order of the positions. Any labels will do: atoms with the same are alike.
    degree : int or mapping of int to int, optional
        The total degree of the polynomial; or a degree for each number of atoms: ``{2: 8, 3: 6, 4: 4}`` takes
        functions of two atoms up to degree 8, of three up to 6 and of four up to 4. Default: as many functions as the
        data and about a minute allow, of few atoms first from six atoms on, and fewer if that predicts better.
    interchangeable : sequence of sequences of int, optional
        Atoms that may change places. Default: all atoms of the same element. In larger molecules list those that do so
        in your data, such as the three hydrogens of a methyl group: functions are then free to tell others apart.

    Attributes
    ----------
    coef_ : ndarray of shape (n_functions_,)
    degrees_ : tuple of (atoms, degree)
        What was chosen, or given.
    decay_, energy_weight_, penalty_ : float
        Prior standard deviation per degree, weight of energies against forces, and penalty, chosen with the degree.
    energy_error_, force_error_ : float
        Root mean square errors at geometries that were left out, one at a time; for that choice, hence low:
        with few geometries errors at new ones were 5 to 40 times as large. Keep some geometries for a test.
    lengths_ : ndarray
        The median distance of each kind of pair.

    Notes
    -----
    Each distance r becomes x = 2·2^(−r/length) − 1 in (−1, 1): every geometry has its place. Chebyshev products of
    these x, summed over the permutations, are fitted to energies and forces together by ridge regression.

    Units are yours: forces in units of energy over length.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> water = np.array([[0.0, 0.0, 0.0], [0.96, 0.0, 0.0], [-0.24, 0.93, 0.0]])
    >>> R = water + 0.1 * rng.normal(size=(40, 3, 3))
    >>> def energy(R):
    ...     a, b, c = (np.linalg.norm(R[:, i] - R[:, j], axis=1) for i, j in [(0, 1), (0, 2), (1, 2)])
    ...     return (1 - np.exp(0.96 - a)) ** 2 + (1 - np.exp(0.96 - b)) ** 2 + 0.1 * (c - 1.52) ** 2
    >>> model = InvariantPotential(["O", "H", "H"]).fit(R, energy(R))
    >>> new = water + 0.1 * rng.normal(size=(100, 3, 3))
    >>> bool(np.abs(model.predict(new) - energy(new)).max() < 0.01)
    True
    >>> bool(np.allclose(model.predict(new), model.predict(new[:, [0, 2, 1]]), rtol=1e-12))
    True
    >>> model.forces(new).shape
    (100, 3, 3)
    """

    has_basis: ClassVar[bool] = False

    def __init__(
        self,
        symbols: Sequence[str],
        *,
        degree: int | Mapping[int, int] | None = None,
        interchangeable: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.symbols = symbols
        self.degree = degree
        self.interchangeable = interchangeable

    def fit(self, R: ArrayLike, E: ArrayLike, forces: ArrayLike | None = None) -> InvariantPotential:
        """Learn from energies, and from forces if there are any.

        Parameters
        ----------
        R : array-like of shape (n, N, 3)
            Positions of the atoms, or a list of ``Atoms`` of ASE. A geometry that occurs several times counts once,
            with the mean of its energies and forces: leaving out one of two equal ones says nothing.
        E : array-like of shape (n,)
        forces : array-like of shape (n, N, 3), optional
            Minus the gradients. Gradients given by mistake are noticed, and refused; other units are warned of.

        Returns
        -------
        self
        """
        positions = self._positions(R)
        energies = np.asarray(E, dtype=np.float64)
        given = None if forces is None else np.asarray(forces, dtype=np.float64)
        n = len(positions)
        if energies.shape != (n,):
            raise ValueError(f"E must hold one energy for each of {n} geometries; its shape is {energies.shape}")
        if given is not None:
            if given.shape not in (positions.shape, (n, 3 * len(self.symbols))):
                raise ValueError(f"forces must have the shape of R, {positions.shape}; it is {given.shape}")
            given = given.reshape(positions.shape)
        _refuse_infinite("E", energies)
        if given is not None:
            _refuse_infinite("forces", given)
        positions, energies, given = _different(positions, energies, given)
        n = len(positions)
        if n < 2:
            raise ValueError(
                f"at least two different geometries are needed, to choose a penalty by leaving one out; got {n}"
            )
        classes = self._classes()
        kinds = MoleculeTerms.of(len(self.symbols), classes, 1)
        scale = PairScale.of(distances(positions).r, kinds.pair_orbits)
        terms = self._terms_for(n, given is not None, classes)
        mean = float(energies.mean())
        energies = energies - mean
        # Energies and forces of extreme size are fitted in a unit of their own: their squares are no numbers.
        observed = energies if given is None else np.append(energies, given)
        unit = float(Units.without_shift(observed[:, None]).unit[0])
        given = None if given is None else given / unit
        equations = Equations(terms.functions, scale, positions, energies / unit, given)
        degrees = terms.function_degrees
        top = int(degrees[-1])
        if given is not None:
            few = [d for d in range(2, top + 1) if (degrees <= d).sum() <= _COMPARED_FUNCTIONS]
            low = terms.up_to(few[-1] if few else min(2, top))
            _check_forces(contradiction(replace(equations, functions=low.functions), low.function_degrees))
        tried = [top] if self.degree is not None else list(range(top, max(top - _DEGREES_TRIED, 0), -1))
        found = best_fit(equations, degrees, tried)
        self.degrees_ = terms.up_to(found.degree).degrees
        self.classes_ = classes
        self.lengths_, self.mean_energy_, self.coef_ = scale.lengths, mean, unit * found.coefficients
        self.decay_, self.energy_weight_, self.penalty_ = found.decay, found.energy_weight, found.penalty
        self.energy_error_, self.force_error_ = unit * found.energy_error, unit * found.force_error
        if energies.any():
            question_fit(found.energy_error / float((energies / unit).std()), n, lambda: _WHY_NOTHING)
        self.n_functions_ = len(found.coefficients)
        self.n_features_in_ = 3 * len(self.symbols)
        self.reference_ = positions[:4].copy()  # what a saved file is checked with
        return self

    def predict(self, R: ArrayLike) -> Array:
        """Energies."""  # (n, N, 3) -> (n,)
        check_is_fitted(self)
        positions = self._positions(R)
        energies = np.empty(len(positions))
        for rows, x, _, _ in self._chunks(positions):
            energies[rows] = self._terms().functions.combine(x, self.coef_[:, None])[:, 0]
        return energies + self.mean_energy_

    def forces(self, R: ArrayLike) -> Array:
        """Forces, exactly minus the gradient of `predict`."""  # (n, N, 3) -> (n, N, 3)
        return self.energy_and_forces(R)[1]

    def energy_and_forces(self, R: ArrayLike) -> tuple[Array, Array]:
        """Both together."""  # (n, N, 3) -> (n,), (n, N, 3)
        check_is_fitted(self)
        positions = self._positions(R)
        energies, forces = np.empty(len(positions)), np.empty(positions.shape)
        for rows, x, slope, pairs in self._chunks(positions):
            functions, C = self._terms().functions, self.coef_[:, None]
            energy, gradient = functions.combine_both(x, C)
            energies[rows] = energy[:, 0]
            forces[rows] = pairs.forces_on_atoms(gradient[:, :, 0] * slope)
        return energies + self.mean_energy_, forces

    def calculator(self, *, energy_unit: float = 1.0, length_unit: float = 1.0) -> Any:
        """A calculator for ASE, for dynamics and optimisation (extra ``specavg[molecules]``).

        Parameters
        ----------
        energy_unit, length_unit : float
            The units of the data in eV and Å, which ASE uses: ``ase.units.kcal / ase.units.mol`` and 1 for kcal/mol, Å.
        """
        from specavg.molecules._ase import calculator

        check_is_fitted(self)
        return calculator(self, energy_unit, length_unit)

    def check_points(self) -> Array:
        """Geometries at which a saved model is checked when it is read."""
        return self.reference_

    def _chunks(self, positions: Array) -> Any:
        scale = PairScale(self.lengths_)
        step = max(1, _DISTANCES // len(self.lengths_))
        for start in range(0, len(positions), step):
            rows = slice(start, min(start + step, len(positions)))
            pairs = distances(positions[rows])
            yield rows, *scale(pairs.r), pairs

    def _terms(self) -> MoleculeTerms:
        return _cached_terms(len(self.symbols), self.classes_, self.degrees_)

    def _positions(self, R: Any) -> Array:
        if isinstance(self.symbols, str):
            raise ValueError(f"symbols is the text {self.symbols!r}; list the atoms, as in ['C', 'H', 'H', 'H', 'H']")
        if hasattr(R, "get_chemical_symbols"):
            raise ValueError("R is one molecule of ASE; write a list of them, as in [atoms]")
        if isinstance(R, list | tuple) and len(R) and hasattr(R[0], "get_chemical_symbols"):
            R = [self._positions_of_atoms(i, atoms) for i, atoms in enumerate(R)]
        positions, N = np.asarray(R, dtype=np.float64), len(self.symbols)
        if N < 2:
            raise ValueError(f"a molecule needs at least two atoms; symbols are {list(self.symbols)!r}")
        if positions.shape[1:] not in ((N, 3), (3 * N,)):
            hint = " One geometry is R[None]." if positions.shape == (N, 3) else ""
            raise ValueError(
                f"R must have shape (n, {N}, 3), a position for each atom; its shape is {positions.shape}.{hint}"
            )
        positions = positions.reshape(-1, N, 3)
        _refuse_infinite("R", positions)
        return positions

    def _positions_of_atoms(self, index: int, atoms: Any) -> Array:
        """The positions of a molecule of ASE; its elements are compared where `symbols` are elements too."""
        elements, symbols = atoms.get_chemical_symbols(), [str(symbol) for symbol in self.symbols]
        known = set(symbols) <= set(elements) or set(elements) <= set(symbols)
        if len(elements) != len(symbols) or (known and elements != symbols):
            raise ValueError(f"molecule {index} has the atoms {elements}, and symbols are {symbols}, in this order")
        return atoms.positions

    def _classes(self) -> tuple[tuple[int, ...], ...]:
        symbols = list(self.symbols)
        if self.interchangeable is None:
            return like_atoms(symbols)
        if any(np.ndim(c) != 1 for c in self.interchangeable):
            raise ValueError(
                f"interchangeable lists sets of atoms that change places, as in [[1, 2], [3, 4]]; got "
                f"{self.interchangeable}"
            )
        classes = tuple(tuple(int(i) for i in c) for c in self.interchangeable)
        flat = [i for c in classes for i in c]
        if len(set(flat)) != len(flat) or not all(0 <= i < len(symbols) for i in flat):
            raise ValueError(
                f"interchangeable must list atoms 0 to {len(symbols) - 1}, each once at most; got {classes}"
            )
        for c in classes:
            if len({symbols[i] for i in c}) > 1:
                raise ValueError(f"atoms {c} cannot be interchanged: they are {', '.join(symbols[i] for i in c)}")
        return classes

    def _terms_for(self, n: int, with_forces: bool, classes: tuple[tuple[int, ...], ...]) -> MoleculeTerms:
        """What was asked for, or the largest of a sequence that data and time allow."""
        N = len(self.symbols)
        if self.degree is not None:
            table: Any = self.degree if isinstance(self.degree, dict) else {N: self.degree}
            whole = all(isinstance(part, int | np.integer) for pair in table.items() for part in pair)
            if not table or not whole or any(a < 2 or d < 1 for a, d in table.items()):
                raise ValueError(
                    "degree must be at least 1, for two atoms or more, and a whole number, as in 4 or {2: 6, 3: 4}; "
                    f"got {self.degree!r}"
                )
            return _cached_terms(N, classes, MoleculeTerms.of(N, classes, table).degrees)
        few = N >= _FEW_ATOMS
        rows = n * (1 if not with_forces else max(2, 3 * N - 5))
        best, d = None, 0
        while True:
            d += 1
            table = {2: d + 4, 3: d + 2, 4: d} if few else {N: d}
            terms = MoleculeTerms.of(N, classes, table)
            most = min(rows, _MOST_FUNCTIONS[few], int((_MOST_WORK / rows) ** 0.5))
            products = terms.most_products
            if best is not None and (products > _MOST_PRODUCTS or products / terms.permutations > 4 * most):
                break
            terms = _cached_terms(N, classes, terms.degrees)
            if best is not None and terms.functions.dim > most:
                break
            best = terms
            if d >= 12:  # Chebyshev polynomials of a molecule's distances resolve everything long before
                break
        return best


def _refuse_infinite(name: str, values: Array) -> None:
    """Say which geometry has a number that is none."""  # (n, ...)
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if len(bad):
        raise ValueError(f"{name} has NaN or infinity in {len(bad)} geometries, the first is {bad[0]}")


def _different(positions: Array, energies: Array, forces: Array | None) -> tuple[Array, Array, Array | None]:
    """Each geometry once, with the mean of its energies and forces."""
    _, first, place, counts = np.unique(
        positions.reshape(len(positions), -1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) == len(positions):
        return positions, energies, forces

    def mean(values: Array) -> Array:
        sums = np.zeros((len(first), *values.shape[1:]))
        np.add.at(sums, place.ravel(), values)
        return sums / counts.reshape(-1, *[1] * (values.ndim - 1))

    return positions[first], mean(energies), None if forces is None else mean(forces)


def _check_forces(found: tuple[float, float] | None) -> None:
    """Refuse gradients in place of forces, and warn of other units and of other rows."""
    if found is None:
        return
    multiple, error = found
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
        UserWarning,
        stacklevel=3,
    )


@lru_cache(maxsize=16)
def _cached_terms(
    atoms: int, classes: tuple[tuple[int, ...], ...], degrees: tuple[tuple[int, int], ...]
) -> MoleculeTerms:
    return MoleculeTerms(atoms, classes, degrees)
