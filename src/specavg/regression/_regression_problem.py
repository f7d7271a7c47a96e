"""Ridge regression in four words: a problem, its path of solutions, their scores, and a posterior.

A *problem* is data. With a spectrum it has a *path*: the solutions for all penalties α. A path tells how well each
penalty predicts what it has not seen, and gives the coefficients, the noise and the *posterior* of one of them.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg.regression._target_units import Units

if TYPE_CHECKING:
    from specavg.regression._calibration import Calibration
    from specavg.regression._feature_path import Directions

# The smallest penalty, relative to `Scored.top`, that is scored by a kernel matrix. That is three times as fast as
# singular values, with half of the digits: its rounding is about 1e-15 of the top. On T³, S² and T⁴ with 400 and 1,000
# points, without noise and with 1e-4 of it, scores were wrong by at most 5e-9 nats a row for penalties of 1e-8 of the
# top, by 5e-7 for 1e-10, by 3e-6 for 1e-11 and by 6e-5 for 1e-12.
ROUGH_ALPHA = 1e-10
# Residual directions that generalised cross-validation needs to tell an error. With one direction, where 179 of 180
# rows of vectors were interpolated, the error was taken for 5e-5 and was 0.2. The square of one normal number is below
# 1e-3 in 3 of 100 cases, a mean of five such squares in one of 10^7.
_FEWEST_DIRECTIONS = 5.0


@dataclass(frozen=True)
class Scores:
    """How well each penalty predicts what it has not seen; outputs are standardised first.

    Attributes
    ----------
    error : ndarray of shape (n_alphas,)
        Mean squared leave-one-out error (generalised cross-validation where only moments are known).
    density : ndarray of shape (n_alphas,)
        Minus the mean log density of what was left out under its Gaussian prediction, up to a constant; the
        noise is profiled out.
    evidence : ndarray of shape (n_alphas,), or 0
        Minus the log density of all rows together, for each row, times its weight in the score (`evidence`); 0 where it
        is not known.
    """

    error: Array
    density: Array
    evidence: Array | float = 0.0

    def table(self, alphas: Array) -> Iterator[tuple[float, float, float, float]]:
        """For each α: itself, the root mean squared error, the density and the evidence."""
        evidence = np.broadcast_to(self.evidence, self.density.shape)
        columns = (alphas, np.sqrt(self.error), self.density, evidence)
        return zip(*(column.tolist() for column in columns), strict=True)

    def of(self, k: int, alphas: Array) -> tuple[float, float, float, float]:
        """The same for the k-th α."""
        evidence = self.evidence if np.ndim(self.evidence) == 0 else np.asarray(self.evidence)[k]
        return float(alphas[k]), float(np.sqrt(self.error[k])), float(self.density[k]), float(evidence)

    @property
    def joint(self) -> Array:
        """What is compared, the smaller the better."""
        return joint_score(np.sqrt(self.error), self.density, self.evidence)


def joint_score(error: Any, density: Any, evidence: Any) -> Any:
    """The density of what was left out, half the logarithm of the error, and the weighted evidence."""
    return comparable(density + evidence + 0.5 * np.log(np.maximum(error, 1e-300)))


def comparable(scores: Any) -> Any:
    """Scores, those that are no numbers as bad as can be: the smallest is never one of them."""
    return np.where(np.isnan(scores), np.inf, scores)


# Rows that the evidence counts for. A row that is left out is predicted from all others; the evidence is the mean, over
# all orders of the rows, of how well each is predicted from those before it. With few rows it is the less noisy guide;
# with many it trusts a prior that no function obeys. Test errors with weights of 0.25, 0.5, 1 and 2 for each row, over
# those without it, on the problems of `development` in benchmarks/accuracy_collections.py: 0.91, 0.89, 0.86, 0.83 with
# 30 rows, 0.98, 0.97, 0.97, 0.97 with 100, and 0.98, 0.98, 0.95, 0.95 with 300, where smooth functions have 1.01, 1.02,
# 1.04, 1.04. Of 192 draws of 30 rows 25 had more than 1.5 times the error of the averaged kernel without it, and 5 have
# now.
EVIDENCE_ROWS = 60.0


def minus_log_density(quadratic: Array, logarithm: Array, rows: int, repeated: int = 0) -> Array:
    """Minus the log density of rows with the covariance τ²(K + αI), τ² profiled out, for each row, up to a constant.

    Parameters
    ----------
    quadratic : ndarray
        yᵀ(K + αI)⁻¹y.
    logarithm : ndarray
        log det(K + αI).
    rows : int
    repeated : int, default 0
        Differences of repeated observations that are counted in both (`joined`), beside the rows.
    """
    rows, everything = max(rows, 1), max(rows, 1) + repeated
    profile = np.maximum(quadratic / everything, np.finfo(float).tiny)
    return 0.5 * (everything * np.log(profile) + logarithm) / rows


def evidence(quadratic: Array, logarithm: Array, freedom: int, repeated: int = 0) -> Array:
    """Minus the log density of all rows together, for each row; times `EVIDENCE_ROWS` over the rows.

    Parameters
    ----------
    quadratic, logarithm
        As `evidence_sums` has them, in units of the variance of the targets.
    freedom : int
    repeated : int, default 0
        As in `minus_log_density`.
    """
    return EVIDENCE_ROWS / max(freedom, 1) * minus_log_density(quadratic, logarithm, freedom, repeated)


def evidence_sums(s: Array, c: Array, rest: Array, freedom: int, alphas: Array) -> tuple[Array, Array]:
    """yᵀ(K + αI)⁻¹y of each output and log det(K + αI), on the complement of what is not penalised.

    Parameters
    ----------
    s : ndarray of shape (r,)
        Singular values of the features.
    c : ndarray of shape (r, q)
        Uᵀy.
    rest : ndarray of shape (n, q)
        The part of y that no feature reaches.
    freedom : int
        The dimension of that complement.
    alphas : ndarray of shape (A,)

    Returns
    -------
    quadratic : ndarray of shape (A, q)
    logarithm : ndarray of shape (A,)
    """
    values = s[:, None] ** 2 + alphas  # (r, A)
    outside = freedom - len(s)
    quadratic = (1.0 / values).T @ c**2
    logarithm = np.sum(np.log(values), axis=0)
    if outside > 0:
        quadratic += np.sum(rest**2, axis=0) / alphas[:, None]
        logarithm += outside * np.log(alphas)
    return quadratic, logarithm


class Posterior(abc.ABC):
    """What the data leave open about the fitted function.

    Attributes
    ----------
    unit : ndarray of shape (q,) or (1,)
        What the targets were divided by before they were fitted: a deviation is its multiple.
    floor : ndarray of shape (q,) or (1,)
        The variance of what no function of the basis shows, in squares of `unit`; slopes of it are not known.
    """

    unit: Array
    floor: Array

    @abc.abstractmethod
    def variance(self, features: Array, *, slopes: bool = False) -> Array:
        """The variance of f in squares of `unit`, at points with these features, the constant left out.

        With `slopes` the features are derivatives, and so is f: the constant and the mean do not matter.
        """  # (n, D) -> (n, q)

    def deviation(self, features: Array, *, slopes: bool = False) -> Array:
        """The standard deviation of f, or of its derivatives, at points with these features."""  # (n, D) -> (n, q)
        return np.sqrt(self.variance(features, slopes=slopes)) * self.unit

    def in_units(self, unit: Array) -> Self:
        """The same of targets that were divided by `unit`."""
        return self._with(unit=unit)

    def with_unshown(self, variance: Array) -> Self:
        """The same where what no function shows has this variance at least, in squares of the targets' own unit."""
        return self._with(floor=np.maximum(self.floor, variance / self.unit**2))

    def _with(self, **changed: Array) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self), **changed)
        return other


class Scored(abc.ABC):
    """How well all penalties α with one spectrum predict.

    The features are scaled by the root of the spectrum, relative to its largest value; α is in the units of that.
    """

    @property
    @abc.abstractmethod
    def top(self) -> float:
        """The scale of penalties: about the largest eigenvalue of the scaled Gram matrix."""

    @property
    def bottom(self) -> float:
        """The smallest eigenvalue of the scaled kernel matrix; 0 where it is not known, or of less than full rank."""
        return 0.0

    @abc.abstractmethod
    def scores(self, alphas: Array) -> Scores:
        """Every α tried, without a refit."""


class Path(Scored):
    """The ridge solutions for all penalties α with one spectrum, and how well they predict.

    Attributes
    ----------
    scale : ndarray of shape (D,)
        The root of the spectrum, relative to its first value.
    """

    scale: Array

    @abc.abstractmethod
    def coefficients(self, alpha: float) -> Array:
        """Coefficients of the unscaled features."""  # (D, q)

    @abc.abstractmethod
    def noise_variance(self, alpha: float) -> Array:
        """σ², by restricted maximum likelihood given α = σ²/τ²."""  # (q,)

    def noise_of_kinds(self, alpha: float) -> Array:
        """The noise variance of each kind of rows: of values, and of derivatives where there are some."""  # (kinds, q)
        return self.noise_variance(alpha)[None]

    @abc.abstractmethod
    def posterior(self, alpha: float, calibration: Calibration | None = None) -> Posterior:
        """What predictions with a standard deviation need; without a calibration the penalty is taken as true."""

    def freedom(self, alpha: float | Array) -> float:
        """The degrees of freedom of the fit, tr H with the constant, the mean over the outputs; 0 if not known."""
        return 0.0

    def error_of_rows(self, alpha: float, error: float) -> float:
        """The root mean squared error of all rows that are left out; `error` where orbits are not merged."""
        return error

    def calibration(self, alphas: Array, hidden: float = 0.0) -> Calibration | None:
        """How much the error bars of chosen penalties grow; None where only sums over the rows are known.

        `hidden` is what functions that stand out had to exceed (`Calibration`).
        """
        return None

    def standing_out(self, alpha: float) -> NDArray[np.intp]:
        """Functions whose coefficients are too large for the spectrum; none where that is not asked."""
        return np.empty(0, dtype=np.intp)

    def directions(self, alphas: Array) -> Directions | None:
        """Combinations of the outputs, each with one of `alphas` as its own penalty; None where all have the same."""
        return None


_CLEARLY_LESS = 0.9  # standard deviation of rows on one orbit in that of all: the orbits explain a fifth of y


@dataclass(frozen=True)
class SharedOrbits:
    """Rows that share orbits.

    Attributes
    ----------
    rows, orbits : int
    disagreement : float
        The standard deviation of targets on one orbit, in that of all targets: noise, or a wrong group.
    """

    rows: int
    orbits: int
    disagreement: float

    @property
    def points_are_known(self) -> bool:
        """Whether rows were repeated twice on average, differ, and by less than the points do."""
        return self.rows >= 2 * self.orbits and 0.0 < self.disagreement < _CLEARLY_LESS


class Problem(abc.ABC):
    """Centred, weighted data, ready to be solved for any spectrum.

    Attributes
    ----------
    units : Units
        The targets y are fitted as (y − shift) / unit.
    weight : float
        Σw.
    count : int
        Rows, those on one orbit counted once.
    mean_features, mean_targets : ndarray of shape (D,), (q,)
        Weighted means, the targets in `units`: centring by them is what leaves the constant unpenalised.
    smallest_alpha : float
        Relative to `Path.top`: below it, rounding decides.
    iterations : int
        Steps that the last solution took; 0 where solutions are not iterated.
    shared : SharedOrbits or None
        None where no rows share an orbit, or where it is not known.
    small_alpha : float or None
        The best penalty with fewer rows, relative to `Path.top`, where that is known and below `ROUGH_ALPHA`. Spectra
        are then compared by it alone, and the other penalties are tried with the best of them: with 1,000 rows of 3,000
        functions a spectrum takes 0.2 s in place of 0.6 s. In 67 smooth fits 137 of 158 spectra with the smallest
        penalty on 400 rows had it on 1,000 rows too.
    """

    units: Units
    weight: float
    count: int
    mean_features: Array
    mean_targets: Array
    smallest_alpha: float
    iterations: int = 0
    shared: SharedOrbits | None = None
    small_alpha: float | None = None
    rounding: ClassVar[float]  # error of a squared error by rounding, relative to the variance of the targets
    solver: str  # the name that users see
    without_functions: ClassVar[str] = ""  # what is said of the data where there is nothing but a constant to fit

    @abc.abstractmethod
    def path(self, scale: Array) -> Path:
        """The solutions for one spectrum, given its root."""  # (D,)

    def scored(self, scale: Array) -> Scored:
        """What compares penalties for one spectrum: `path`, or something cheaper."""  # (D,)
        return self.path(scale)

    def roughly_scored(self, scale: Array) -> Scored | None:
        """The same in less time; None if there is no such way.

        Right for penalties above `ROUGH_ALPHA` of the top, and for all of them where `bottom` is above that.
        """
        return None

    def scored_alone(self, scale: Array, relative: float) -> tuple[Scored, Array] | None:
        """What scores the penalty `relative` to the top alone, in less time than all, and that penalty, of shape (1,).

        None if there is no such way.
        """
        return None

    def expect(self, small_alpha: float | None) -> None:
        """Take this as `small_alpha`, where one penalty is scored in less time than all."""
        return

    def rough_path(self, scale: Array) -> Path | None:
        """`path` in less time, for such penalties; None if there is no such way."""
        return None

    def some_rows(self, rows: int) -> Problem | None:
        """The problem of so many of the rows; None if there are hardly more, or if they are not held."""
        return None

    def with_constant(self, coefficients: Array) -> Array:
        """All coefficients, that of the constant first."""  # (D, q) -> (1 + D, q)
        constant = self.mean_targets - self.mean_features @ coefficients
        return np.concatenate([constant[None], coefficients])


def variation(squares: Array, weight: float, floor: Array) -> Array:
    """The variance of each output from its sum of squares; infinite where it is no more than rounding."""
    return np.where(squares > floor, squares / weight, np.inf)


def believable(errors: Array, squares: Array, fourth_powers: Array) -> Array:
    """Errors by generalised cross-validation, raised to 1, the error of the mean, where too little tells them.

    The residual is a sum over directions of the rows, of each of which the share k is left. If only one direction is
    left, the residual may be zero by chance, and with hundreds of candidates it is for one of them. `squares` is Σk²
    and `fourth_powers` is Σk⁴; (Σk²)²/Σk⁴ counts the directions that are left.
    """
    told = squares**2 >= _FEWEST_DIRECTIONS * fourth_powers
    return np.where(told, errors, np.maximum(errors, 1.0)) if told.any() else errors


def degrees_of_freedom(weight: float, count: int) -> float:
    """Σw − 1, a weight of two being a repeated observation; the rows themselves where weights sum to less."""
    return max(weight - 1.0, min(count - 1.0, 1.0), 1e-300) if weight > 1 else max(count - 1.0, 1.0)
