"""Gradients as observations: rows of derivatives beside rows of values, and how much each of them is trusted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from specavg.invariants import InvariantBasis
from specavg.regression import _limits
from specavg.regression._feature_path import orbits
from specavg.regression._gradient_problem import GradientProblem, Observations

__all__ = ["GradientData"]

Array = NDArray[np.float64]
RATIOS = 10.0 ** np.arange(-2.0, 2.1, 0.5)
"""Noise of a value over that of a derivative, each in units of its own size. Outside of this range one of the two kinds
says nothing that the other does not say better."""
_CONTRADICTION = 0.25  # of the scale: a factor of 1.25 is not found among common units (eV, kcal/mol, Hartree, Bohr)
_STANDARD_ERRORS = 6.0  # by which the scale has to differ from one, errors of neighbouring points not being independent


@final
@dataclass(frozen=True, eq=False)
class GradientData:
    """Points with values, gradients or both.

    Attributes
    ----------
    points : ndarray of shape (n, n_features)
        As given: gradients at canonical points would be others.
    targets : ndarray of shape (n,)
        NaN where a value is missing.
    gradients : ndarray of shape (n, n_features)
        Rows of NaN where a gradient is missing.
    weights : ndarray of shape (n,)
    """

    points: Array
    targets: Array
    gradients: Array
    weights: Array

    @classmethod
    def of(cls, points: Array, y: Any, gradient: Any, weights: Array) -> GradientData:
        """From what users give, checked."""
        if y is None:
            raise ValueError("y is needed beside gradients: a gradient leaves the constant open")
        checked: Any = check_array
        targets: Array = checked(y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan")
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if targets.ndim != 1:
            raise ValueError(
                f"gradients are fitted with one target; y has shape {targets.shape}. Fit one model for each output."
            )
        G = np.asarray(gradient, dtype=np.float64)
        G = G.reshape(len(G), -1) if G.ndim > 1 else G
        if G.shape != points.shape or len(targets) != len(points):
            raise ValueError(
                f"X has shape {points.shape}, y {targets.shape} and gradient {np.shape(gradient)}: there is one target "
                "and one gradient, with a number for each column of X, for each row"
            )
        missing = np.isnan(G)
        if np.isinf(G).any():
            raise ValueError(f"gradient has infinite entries in {int(np.isinf(G).any(axis=1).sum())} rows")
        partly = missing.any(axis=1) & ~missing.all(axis=1)
        if partly.any():
            raise ValueError(
                f"gradient has NaN in a part of {int(partly.sum())} rows (first: row {int(partly.argmax())}). A "
                "missing gradient is a row of NaN; a gradient with missing components cannot be used."
            )
        if np.isnan(targets).all():
            raise ValueError("every y is NaN: gradients leave the constant open, so at least one value is needed")
        kept = (weights > 0) & ~(np.isnan(targets) & missing.any(axis=1))
        return cls(points[kept], targets[kept], G[kept], weights[kept])

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Which points have a value."""  # (n,)
        return ~np.isnan(self.targets)

    @property
    def has_gradient(self) -> NDArray[np.bool_]:
        """Which points have a gradient."""  # (n,)
        return np.asarray(np.isfinite(self.gradients).all(axis=1))

    def rows(self, dim: int) -> int:
        """Rows on a space of dimension `dim`."""
        return int(self.has_value.sum() + dim * self.has_gradient.sum())

    def sample(self, rows: int, dim: int) -> GradientData:
        """Some of the points, about as many as give `rows` rows, chosen without regard to the targets."""
        total = self.rows(dim)
        if total <= rows:
            return self
        count = max(2, len(self.points) * rows // total)
        order = np.random.default_rng(20250713).permutation(len(self.points))
        order = np.concatenate([order[self.has_value[order]][:1], order])  # one value at least
        some = np.sort(np.unique(order[:count]))
        return GradientData(self.points[some], self.targets[some], self.gradients[some], self.weights[some])

    def observations(self, basis: InvariantBasis, most: int | None = None) -> tuple[Observations, Observations]:
        """Values, and tangential components of gradients; `most` is how many functions are used."""
        with_value, with_gradient = self.has_value, self.has_gradient
        features = basis.evaluate(basis.evaluation_points(self.points))[:, 1:most]
        _, label = orbits(features)
        values = Observations(
            features[with_value], self.targets[with_value], self.weights[with_value], label[with_value]
        )
        X, G = basis.space.check_points(self.points[with_gradient]), self.gradients[with_gradient]
        tangents = basis.space.tangents(X)
        d = tangents.shape[2]
        slopes = np.empty((len(X), d, features.shape[1]))
        for rows, gradient in basis.gradients_in_chunks(X):  # (m, dim, n_features)
            slopes[rows] = (gradient[:, 1:most] @ tangents[rows]).transpose(0, 2, 1)
        along = np.einsum("nf,nfd->nd", G, tangents)
        weights, labels = np.repeat(self.weights[with_gradient], d), np.repeat(label[with_gradient], d)
        return values, Observations(slopes.reshape(len(X) * d, -1), along.ravel(), weights, labels)

    def ratios(self, values: Observations, slopes: Observations) -> Array:
        """Ratios of noise to choose from, around that of the sizes."""
        size = float(np.sqrt(np.mean(slopes.targets**2)))
        deviation = float(values.targets.std()) or 1.0
        return RATIOS * deviation / (size or 1.0)

    def searched(self, basis: InvariantBasis) -> tuple[Observations, Observations]:
        """Rows that a search compares spectra and ratios on."""
        sample = self.sample(_limits.SEARCH_ROWS, basis.dimension)
        return sample.observations(basis, min(basis.dim, _limits.FUNCTIONS_PER_POINT * _limits.SEARCH_ROWS))

    def problem(self, basis: InvariantBasis, ratio: float) -> GradientProblem:
        """All rows."""
        rows = self.rows(basis.dimension)
        if rows * basis.dim > _limits.FEATURES_HELD:
            raise ValueError(
                f"{rows} rows of values and gradients with {basis.dim} functions are more than are held in memory "
                f"({rows * basis.dim:.2g} numbers; {_limits.FEATURES_HELD:.0e} are). Lower the cutoff, or take fewer "
                "points: a point with its gradient says as much as several without."
            )
        return GradientProblem(*self.observations(basis), ratio)

    def warn_of_contradiction(self, predicted: Array) -> None:
        """Whether the gradients given are another multiple than one of those that the values alone predict.

        If the values say something about gradients at all, the truth is their prediction and an error that does not
        depend on it: the regression of the one on the other has slope one.
        """
        both = self.has_value & self.has_gradient
        given, predicted = self.gradients[both].ravel(), predicted[both].ravel()
        squares = float(predicted @ predicted)
        if not squares > 0 or not given.any():
            return
        scale = float(predicted @ given) / squares
        error = float(np.sqrt(np.mean((given - scale * predicted) ** 2) / squares))
        if abs(scale - 1.0) > max(_CONTRADICTION, _STANDARD_ERRORS * error):
            what = "Forces are minus the gradient of the energy." if scale < 0 else "Are its units those of y over X?"
            warnings.warn(
                f"the gradient given is {scale:.3g} ± {error:.1g} times the gradient that the values alone predict, "
                f"and should be 1 times: one of the two is wrong. {what}",
                UserWarning,
                stacklevel=4,
            )
