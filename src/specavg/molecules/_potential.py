"""A potential energy surface learnt from energies and forces."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from specavg._arrays import Array
from specavg._known_arguments import KnownArguments
from specavg.molecules import _questions as ask
from specavg.molecules._candidate_fit import prior_deviations
from specavg.molecules._choice_of_model import MOST_WITH_ERROR_BARS, best_fit, contradiction, require_room
from specavg.molecules._distances import Pairs, PairScale, distances, over_orbits, pairs_of
from specavg.molecules._elements import labels_of
from specavg.molecules._energy_posterior import EnergyPosterior
from specavg.molecules._equations import Equations
from specavg.molecules._geometries import Observed, listed, positions_of, read_all
from specavg.molecules._repeated_geometries import each_once
from specavg.molecules._terms import MoleculeTerms, like_atoms
from specavg.persistence._savable import Savable
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
# Degrees that are compared with those, from many atoms on: of clusters all products are listed, and each further atom
# leaves two degrees less. Potentials of steep pairs want many: of 13 atoms of Lennard-Jones, 60 geometries, errors of
# forces were 0.77 with degrees 8, 6 and 4, and 0.011 and 0.013 with these.
_STEEP: tuple[dict[int, int], ...] = ({2: 20}, {2: 18, 3: 6})
# Functions of these, at most, or part of the others: 145 of two ammonias took 0.3 s beside 12 s. Of ethanol, where such
# degrees are three times worse, there are 341, and they would take a third of the time.
_STEEP_FUNCTIONS, _STEEP_PART = 200, 0.125
_COMPARED_FUNCTIONS = 500  # that tell whether forces and energies agree: a second on one core
_PAIRS = {2: 4}  # degrees of the fit that says whether like atoms change places: some milliseconds for ten atoms
# Widths of the range of a distance in the data, beyond which predictions are questioned; and part of the smallest,
# below which they are in any case: below a range from 0.8 to 8 Å there is no room for its width.
_OUTSIDE, _CLOSER = 1.0, 0.5


class InvariantPotential(KnownArguments, RegressorMixin, BaseEstimator, Savable):
    """A molecule's energy as a polynomial of its distances, exactly invariant to motions and to permutations of atoms.

    Functions of distances are the same for mirror images, as energies are; a property that tells the hands of a chiral
    molecule apart is none of them.

    Parameters
    ----------
    symbols : sequence of str or int, or Atoms of ASE
        The element of each atom, or its atomic number, in the order of the positions. Any labels will do: atoms with
        the same are alike. Of ``Atoms`` the chemical symbols are kept. Elements, in upper or lower case, are compared
        with those of ``Atoms`` in ``fit`` and ``predict``.
    degree : int or mapping of int to int, optional
        The total degree of the polynomial; or a degree for each number of atoms: ``{2: 8, 3: 6, 4: 4}`` takes
        functions of two atoms up to degree 8, of three up to 6 and of four up to 4. Default: as many functions as the
        data and about a minute allow, of few atoms first from six atoms on, and fewer if that predicts better. For
        clusters, whose products of many distances leave low degrees only, ``{2: 20}`` and ``{2: 18, 3: 6}`` are
        compared too.
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
        Root mean square errors at geometries that were left out, one at a time, of choices that did not see them:
        errors at 300 new geometries of methane were 0.3 to 4 times as large after 5 to 40 geometries. Of geometries
        among the data: outside of their distances errors grow by orders of magnitude, as ``predict(R,
        return_std=True)`` tells. NaN without energies, or without forces.
    lengths_ : ndarray
        The median distance of each kind of pair.
    ranges_ : ndarray of shape (2, n_pairs)
        The smallest and largest distance of each kind of pair. Predictions are questioned where a distance lies outside
        by more than the width of its range, or is less than half of the smallest.

    Notes
    -----
    Each distance r becomes x = 2·2^(−r/length) − 1 in (−1, 1): every geometry has its place. Chebyshev products of
    these x, summed over the permutations, are fitted to energies and forces together by ridge regression.

    Energies and forces count by their precision, which their residuals tell. Of 60 geometries of water the error of
    forces from both is that of the better one alone, or twice it: with energies printed to 10⁻³ and exact forces 4·10⁻⁵
    (10⁻² from energies alone), with noise of 10⁻² in the forces and exact energies 1.4·10⁻⁴ (10⁻² from forces alone).

    Units are yours: forces in units of energy over length.

    ``predict(R, return_std=True)`` gives standard deviations of energies, calibrated as in `InvariantKernelRidge`: by
    what was left out, by how much was chosen, and by the roughness that no function shows. Of energies of methane 99,
    96, 92, 94 and 92 % lay in 90 % intervals after 10, 20, 50, 100 and 200 geometries with forces (means of eight
    draws; 83 % in the worst), and of ethanol 96 and 94 % after 20 and 50. Of methane without forces 98, 86, 77, 87 and
    90 % lay in them after 20, 50, 100, 300 and 1000 geometries (60 % in the worst draw), and anything from none to all
    after 10: where energies alone are few, intervals can be too narrow. Forces have no deviations.

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
    >>> energies, std = model.predict(new, return_std=True)
    >>> bool(np.mean(np.abs(energies - energy(new)) < 1.645 * std) > 0.8)
    True
    >>> model.forces(new).shape
    (100, 3, 3)
    """

    has_basis: ClassVar[bool] = False
    saved_private: ClassVar[tuple[str, ...]] = ("_posterior",)
    saved_records: ClassVar[tuple[type, ...]] = (EnergyPosterior,)
    _posterior: EnergyPosterior | None

    def __init__(
        self,
        symbols: Any,
        *,
        degree: int | Mapping[int, int] | None = None,
        interchangeable: Sequence[Sequence[int]] | None = None,
    ) -> None:
        # Symbols are plain texts that a file can hold; lists are kept as they are, as scikit-learn's clone wants it.
        self.symbols = labels_of(symbols) if hasattr(symbols, "get_chemical_symbols") else listed(symbols)
        self.degree = degree
        self.interchangeable = interchangeable

    def fit(
        self,
        R: Any,
        E: ArrayLike | None = None,
        forces: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> InvariantPotential:
        """Learn from energies, from energies and forces, or from forces alone.

        Parameters
        ----------
        R : array-like of shape (n, N, 3)
            Positions of the atoms, or ``Atoms`` of ASE, in a list or as ``ase.io.iread`` gives them. A molecule that a
            periodic cell cuts apart is made whole. A geometry that occurs several times counts once, with the mean of
            its energies and forces: leaving out one of two equal ones says nothing. Energies of such geometries that
            contradict each other are warned of. Geometries are the same if some order of like atoms makes all
            distances equal to a millionth of the largest: moved, turned, mirrored and renumbered ones are.
        E : array-like of shape (n,), optional
            Default: the energies, and forces, that the calculators of the ``Atoms`` hold. With forces alone,
            ``fit(R, None, forces)`` or held by calculators without energies, the mean energy of the geometries is set
            to zero: forces leave it open. With energies that differ from those held by a constant, such as
            ``E - E.mean()``, the forces held are used; with others, in another unit or of another method, they are not,
            and a warning says so.
        forces : array-like of shape (n, N, 3), optional
            Minus the gradients; NaN for all atoms of a geometry whose forces are missing. Gradients given by mistake
            are noticed, and refused; other units, atoms in another order and turned axes are warned of.
        sample_weight : array-like of shape (n,), optional
            Relative precisions (1/σ²) of the geometries; those of weight zero are left out.

        Returns
        -------
        self
        """
        labels = labels_of(self.symbols)
        ask.question_labels(labels)
        classes = self._classes(labels)
        data = each_once(Observed.of(R, E, forces, sample_weight, labels), classes)
        positions, given, n = data.positions, data.forces, len(data.positions)
        if n < 2:
            raise ValueError(
                f"at least two different geometries are needed, to choose a penalty by leaving one out; got {n}."
                f"{read_all(R)}"
            )
        kinds = MoleculeTerms.of(len(labels), classes, 1)
        r = distances(positions).r
        ask.question_order(labels, r)
        scale = PairScale.of(r, kinds.pair_orbits)
        terms = self._terms_for(n, given is not None, classes)
        alone = bool(np.isnan(data.energies).all())
        mean = 0.0 if alone else float(np.average(data.energies, weights=data.weights))
        energies = data.energies - mean
        # Energies and forces of extreme size are fitted in a unit of their own: their squares are no numbers.
        observed = energies if given is None else np.append(energies, given)
        unit = float(Units.without_shift(observed[np.isfinite(observed), None]).unit[0])
        energies, given = energies / unit, None if given is None else given / unit
        equations = Equations(terms.functions, scale, positions, energies, given, data.weights, data.rows)
        degrees = terms.function_degrees
        top, wrong = int(degrees[-1]), False
        if given is not None:
            wrong = ask.question_rigid_part(positions[equations.has_forces], given[equations.has_forces])
            few = [d for d in range(2, top + 1) if (degrees <= d).sum() <= _COMPARED_FUNCTIONS]
            low = terms.up_to(few[-1] if few else min(2, top))
            alike = replace(equations, functions=low.functions, weights=np.ones(n))
            wrong |= not alone and ask.check_multiple(contradiction(alike, low.function_degrees))
        tried = [top] if self.degree is not None else list(range(top, max(top - _DEGREES_TRIED, 0), -1))
        found = best_fit(equations, degrees, tried)
        for other in self._steep_terms(terms) if self.degree is None else ():
            others = other.function_degrees
            fit = best_fit(replace(equations, functions=other.functions), others, [int(others[-1])])
            if fit.score < found.score:
                found, terms, degrees = fit, other, others
        self.degrees_ = terms.up_to(found.degree).degrees
        self.classes_ = classes
        self.lengths_, self.mean_energy_, self.coef_ = scale.lengths, mean, unit * found.coefficients
        self.ranges_ = np.stack([over_orbits(extreme, r, kinds.pair_orbits) for extreme in (np.min, np.max)])
        self.decay_, self.energy_weight_, self.penalty_ = found.decay, found.energy_weight, found.penalty
        self.energy_error_, self.force_error_ = unit * found.energy_error, unit * found.force_error
        prior = prior_deviations(degrees[: len(found.coefficients)], found.decay)
        inner = max(3 * len(labels) - 6, 1)
        self._posterior = None if alone else EnergyPosterior.of(found, prior, unit, inner)
        if alone:
            self.mean_energy_ = -float(np.average(self._evaluated(positions)[0], weights=data.weights))
        ask.question_errors(found, energies, given, unit, known=wrong)
        if any(len(c) > 1 for c in classes) and not alone and not wrong and self.degree != _PAIRS:
            pairs = (partial(self._error_of_pairs, data, like) for like in (self.interchangeable, []))
            ask.question_like_atoms(self.energy_error_, unit * float(energies.std()), *pairs)
        self.n_functions_ = len(found.coefficients)
        self.n_features_in_ = 3 * len(self.symbols)
        self.reference_ = positions[:4].copy()  # what a saved file is checked with
        return self

    @overload
    def predict(self, R: Any, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, R: Any, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, R: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Energies.

        Parameters
        ----------
        R : array-like of shape (n, N, 3)
            Or ``Atoms`` of ASE, one or a list.
        return_std : bool, default False
            Whether to return the standard deviation of each energy too (see the notes of the class). Potentials of
            more than 3000 functions, and those fitted to forces alone, have none.

        Returns
        -------
        energies : ndarray of shape (n,)
        std : ndarray of shape (n,)
            Only if `return_std`.
        """
        positions, outside = self._asked(R), None
        posterior = self._error_bars() if return_std else None
        energies, deviations = np.empty(len(positions)), np.empty(len(positions))
        for rows, x, _, pairs in self._chunks(positions):
            energies[rows] = self._terms().functions.combine(x, self.coef_[:, None])[:, 0]
            if posterior is not None:
                deviations[rows] = posterior.deviation(self._terms().functions.values(x))
            outside = outside or self._outside(pairs, rows.start)
        if outside:
            warnings.warn(outside, stacklevel=2)
        energies += self.mean_energy_
        return energies if posterior is None else (energies, deviations)

    def forces(self, R: Any) -> Array:
        """Forces, exactly minus the gradient of `predict`."""  # (n, N, 3) -> (n, N, 3)
        return self.energy_and_forces(R)[1]

    def energy_and_forces(self, R: Any) -> tuple[Array, Array]:
        """Both together."""  # (n, N, 3) -> (n,), (n, N, 3)
        energies, forces, outside = self._evaluated(self._asked(R))
        if outside:
            warnings.warn(outside, stacklevel=2)
        return energies, forces

    def calculator(self, energy_unit: float = 1.0, length_unit: float = 1.0) -> Any:
        """A calculator for ASE, for dynamics and optimisation (extra ``specavg[molecules]``).

        Parameters
        ----------
        energy_unit, length_unit : float
            The units of the data in eV and Å, which ASE uses: ``ase.units.kcal / ase.units.mol`` and 1 for kcal/mol, Å.
        """
        from specavg.molecules._ase import calculator

        check_is_fitted(self)
        return calculator(self, energy_unit, length_unit)

    def _error_of_pairs(self, data: Observed, interchangeable: Any) -> float:
        """The error of energies of a fit of pairs of atoms, of which `interchangeable` ones change places."""
        plain = InvariantPotential(labels_of(self.symbols), degree=_PAIRS, interchangeable=interchangeable)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain.fit(data.positions, data.energies, data.forces, data.weights).energy_error_

    def check_points(self) -> Array:
        """Geometries at which a saved model is checked when it is read."""
        return self.reference_

    def _asked(self, R: Any) -> Array:
        check_is_fitted(self)
        return positions_of(R, labels_of(self.symbols))

    def _error_bars(self) -> EnergyPosterior:
        posterior = getattr(self, "_posterior", None)  # files of earlier versions have none
        if posterior is not None:
            return posterior
        if np.isnan(self.energy_error_):
            raise ValueError(
                "there are no error bars of energies: the potential was fitted to forces alone, which leave their mean "
                "open. Give energies too, fit(R, E, forces)"
            )
        if self.n_functions_ <= MOST_WITH_ERROR_BARS:
            raise ValueError("there are no error bars in this model: an earlier version saved it. Fit it again")
        raise ValueError(
            f"there are no error bars: they are kept for up to {MOST_WITH_ERROR_BARS} functions, and this potential "
            f"has {self.n_functions_}. Give a smaller degree (it is now {dict(self.degrees_)})"
        )

    def _chunks(self, positions: Array) -> Iterator[tuple[slice, Array, Array, Pairs]]:
        scale = PairScale(self.lengths_)
        step = max(1, _DISTANCES // len(self.lengths_))
        for start in range(0, len(positions), step):
            rows = slice(start, min(start + step, len(positions)))
            pairs = distances(positions[rows], start, self.lengths_)
            x, slope = scale(pairs.r)
            yield rows, x, slope, pairs

    def _evaluated(self, positions: Array) -> tuple[Array, Array, str | None]:
        """Energies, forces, and what is to be said of a geometry far outside of the data."""
        energies, forces, outside = np.empty(len(positions)), np.empty(positions.shape), None
        for rows, x, slope, pairs in self._chunks(positions):
            functions, C = self._terms().functions, self.coef_[:, None]
            energy, gradient = functions.combine_both(x, C)
            energies[rows] = energy[:, 0]
            forces[rows] = pairs.forces_on_atoms(gradient[:, :, 0] * slope)
            outside = outside or self._outside(pairs, rows.start)
        return energies + self.mean_energy_, forces, outside

    def _outside(self, pairs: Pairs, start: int) -> str | None:
        """What is to be said where a distance is far outside of the data: polynomials go astray there."""
        low, high = self.ranges_
        width = _OUTSIDE * (high - low)
        bottom = np.maximum(low - width, _CLOSER * low)
        near, far = bottom - pairs.r.min(axis=0), pairs.r.max(axis=0) - high - width
        pair = int(np.maximum(near, far).argmax())
        if max(near[pair], far[pair]) <= 0:
            return None
        r = pairs.r[:, pair]
        row = int(r.argmin() if near[pair] > far[pair] else r.argmax())
        first, second = pairs_of(len(self.symbols))[pair]
        return (
            f"geometry {start + row} is far outside of the data: its atoms {first} and {second} are {r[row]:.3g} "
            f"apart, and such atoms are {low[pair]:.3g} to {high[pair]:.3g} apart there. Its energy may mean nothing. "
            "Is it in the unit of length of the data?"
        )

    def _terms(self) -> MoleculeTerms:
        return _cached_terms(len(self.symbols), self.classes_, self.degrees_)

    def _classes(self, symbols: list[str]) -> tuple[tuple[int, ...], ...]:
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
        rows = n * (1 if not with_forces else max(2, 3 * N - 5))
        if self.degree is not None:
            table: Any = self.degree if isinstance(self.degree, dict) else {N: self.degree}
            parts = [part for pair in table.items() for part in pair]
            whole = all(isinstance(part, int | np.integer) and not isinstance(part, bool) for part in parts)
            if not table or not whole or any(a < 2 or d < 1 for a, d in table.items()):
                raise ValueError(
                    "degree must be at least 1, for two atoms or more, and a whole number, as in 4 or {2: 6, 3: 4}; "
                    f"got {self.degree!r}"
                )
            terms = MoleculeTerms.of(N, classes, table)
            least, products = terms.fewest_functions, f"{terms.most_products} products of distances of {N} atoms"
            require_room(rows, least, f"{least} functions at least, of {products},")
            return _cached_terms(N, classes, terms.degrees)
        few = N >= _FEW_ATOMS
        best, d = None, 0
        while True:
            d += 1
            table = {2: d + 4, 3: d + 2, 4: d} if few else {N: d}
            terms = MoleculeTerms.of(N, classes, table)
            most = min(rows, _MOST_FUNCTIONS[few], int((_MOST_WORK / rows) ** 0.5))
            products = terms.most_products
            if best is None and products > _MOST_PRODUCTS:  # very many atoms
                return _cached_terms(N, classes, MoleculeTerms.of(N, classes, {2: d + 4}).degrees)
            if best is not None and (products > _MOST_PRODUCTS or products / terms.permutations > 4 * most):
                break
            terms = _cached_terms(N, classes, terms.degrees)
            if best is not None and terms.functions.dim > most:
                break
            best = terms
            if d >= 12:  # Chebyshev polynomials of a molecule's distances resolve everything long before
                break
        return best

    def _steep_terms(self, terms: MoleculeTerms) -> Iterator[MoleculeTerms]:
        """Functions of higher degrees in the distances of pairs, where they take a part of the time of `terms`."""
        for table in _STEEP if terms.atoms >= _FEW_ATOMS else ():
            other = MoleculeTerms.of(terms.atoms, terms.classes, table)
            if 2 * other.most_products > terms.most_products:
                continue
            other = _cached_terms(terms.atoms, terms.classes, other.degrees)
            if other.functions.dim <= max(_STEEP_FUNCTIONS, _STEEP_PART * terms.functions.dim):
                yield other


@lru_cache(maxsize=16)
def _cached_terms(
    atoms: int, classes: tuple[tuple[int, ...], ...], degrees: tuple[tuple[int, int], ...]
) -> MoleculeTerms:
    return MoleculeTerms(atoms, classes, degrees)
