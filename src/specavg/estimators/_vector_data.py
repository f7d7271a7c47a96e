"""The data of an equivariant regression in memory, and what spectra need to know of its functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._random import OWN_SEED, some_rows
from specavg.estimators._number_of_functions import are_held
from specavg.functions._compensated_sums import Sum
from specavg.invariants import EquivariantBasis
from specavg.regression._block_moment_path import BlockMomentProblem
from specavg.regression._block_problem import BlockProblem, SummandPlaces, SummandRows
from specavg.regression._moments import Moments
from specavg.regression._regression_problem import Problem
from specavg.regression._repeated_rows import Averaged, averaged
from specavg.regression._turned_rows import TurnedRows


@dataclass(eq=False)
class VectorLevels:
    """The eigenvalues of an equivariant basis as spectra take them (`Levels`).

    There may be no constant vector that the group leaves alone, or several. Spectra expect one constant function.
    """

    basis: EquivariantBasis
    eigenvalues: Array
    counts: Array
    dimension: int
    types: Any

    @classmethod
    def of(cls, basis: EquivariantBasis) -> VectorLevels:
        k = basis.n_constants
        counts = np.concatenate([[float(basis.n_outputs)], basis.counts[k:]])
        types = None if basis.types is None else basis.types.after_one_constant(k)
        return cls(basis, np.concatenate([[0.0], basis.eigenvalues[k:]]), counts, basis.dimension, types)

    @property
    def von_mises(self) -> Callable[[float], Array] | None:
        """κ to logarithms of coefficients: all functions of an eigenspace share one, whatever their outputs are."""
        series, k = self.basis.von_mises, self.basis.n_constants
        return None if series is None else lambda kappa: np.concatenate([[0.0], series(kappa)[k:]])


@dataclass(frozen=True, eq=False)
class VectorData:
    """Different points, vectors and positive weights.

    Points of one orbit are one point: F(gx) = ρ(g)F(x) says that they are repeated observations. Their weights are
    added and their targets, moved along, averaged. Where the elements that move them there are not exact, the functions
    tell the orbits (`of_each_orbit`).
    """

    basis: EquivariantBasis
    points: Array
    targets: Array  # (n, p)
    weights: Array
    lost: Averaged | None  # what was lost where targets were averaged

    @classmethod
    def of(cls, basis: EquivariantBasis, points: Array, targets: Array, weights: Array) -> VectorData:
        """From all points of a data set."""
        targets = basis.possible(points, targets)
        elements = basis.canonical_elements
        if elements is not None:
            points, leading = elements.places(points)
            targets = elements.taken_along(targets, leading)
        different, label = np.unique(points, axis=0, return_inverse=True)
        label = label.reshape(-1)
        if len(different) == len(points):
            return cls(basis, points, targets, weights, None)
        means, total, lost = averaged(targets, label, weights)
        return cls(basis, different, means, total, lost)

    def of_each_orbit(self, basis: EquivariantBasis) -> VectorData:
        """With these functions, one point of each orbit as far as they tell the orbits apart.

        Where they tell of one orbit only, its points are all that the data have: only copies of an observation are one
        point. So it is where flows take every point to every other, and where few functions were found in time.
        """
        mine, group = replace(self, basis=basis), basis.group
        moves = bool(group.fields) or not all(g.is_identity for g in group.generators)
        if not moves or basis.canonical_elements is not None or basis.dim == basis.n_constants:
            return mine
        mixed = np.random.default_rng(OWN_SEED).normal(size=(basis.dim, basis.n_outputs + 1)) / basis.dim**0.5
        given = basis.combine(self.points, mixed), self.targets, self.weights
        found = TurnedRows.of(*given)
        if len(found.rows) == 1:
            found = TurnedRows.of(*given, copies_only=True)
        if len(found.rows) in (1, len(self.points)):  # of values without noise all are copies of one
            return mine
        lost = found.lost if self.lost is None else self.lost.then(found.lost)
        return VectorData(basis, self.points[found.rows], found.targets, found.weights, lost)

    def sample(self, rows: int) -> VectorData | None:
        """Some of the points, chosen without regard to the targets; None where there are no more anyway."""
        points = max(rows // self.basis.n_rows, 1)
        if len(self.points) <= points:
            return None
        some = some_rows(len(self.points), points)
        return VectorData(self.basis, self.points[some], self.targets[some], self.weights[some], self.lost)

    def problem(self) -> Problem:
        """From features where they can be held, else from moments."""
        summands = self.basis.summands
        values = len(self.points) * sum(summand.functions.n_outputs * summand.functions.dim for summand in summands)
        if are_held(values):
            return self.features_problem(self.basis.dim)
        moments = Moments.of_vectors(self.basis, self.points, self.targets, self.weights)
        if self.lost is not None:
            within = Sum.of(np.array([np.sum(self.lost.over(moments.units.unit).within ** 2)]))
            moments = replace(moments, shifted_squares=moments.shifted_squares + within)
        return moment_problem(self.basis, moments)

    def features_problem(self, most: int) -> BlockProblem:
        """With the first `most` functions."""
        points, n = self.basis.check_points(self.points), len(self.points)
        rows: list[SummandRows] = []
        for summand in self.basis.summands:
            functions, at = summand.functions, SummandPlaces.of(summand, self.basis.n_constants, most)
            k, D = at.constants.shape[1], at.others.shape[1]  # constants come first, and then what `most` leaves
            values = np.empty((n, functions.n_rows, k + D))
            for some in functions.chunks(n):
                values[some] = functions.rows(points[some], functions.values(points[some]))[:, :, : k + D]
            table = values.reshape(n * functions.n_rows, k + D)
            targets = functions.rows(points, summand.targets(self.targets)).reshape(len(table), -1)
            rows.append(SummandRows(at, table[:, k:], table[:, :k], targets))
        dim, numbers = min(most, self.basis.dim), self.basis.n_rows
        complete = dim == self.basis.dim and self.basis.is_complete
        return BlockProblem(rows, self.weights, dim, self.lost, numbers, self.basis.dimension, complete=complete)


def moment_problem(basis: EquivariantBasis, moments: Moments) -> BlockMomentProblem:
    """The problem of sums over data."""
    return BlockMomentProblem(moments, basis.summands, basis.n_constants, basis.n_rows)
