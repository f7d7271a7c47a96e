"""Gradients that contradict the values beside them: they are compared with those that the values alone predict."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array
from specavg._random import OWN_SEED
from specavg.data._gradient_moments import LEFT_OPEN, Multiple, multiple_given
from specavg.data._questioned_columns import users_line
from specavg.regression._moments import SHOWN
from specavg.regression._target_units import Units, size_of
from specavg.spaces import Space, Torus
from specavg.spaces._parts_of_columns import columns_of_parts

_TOLD_APART = 3.0  # standard errors from zero, from which on a multiple has a sign
_PREDICTED = 0.01  # error of values in standard deviations: where it is smaller, their gradients are known too
# Difference of gradients over the size of those given: of unrelated ones of one size it is 1.41, and of right ones with
# noise of any size below 1. Of 24 numbers it is above 1.2 by chance at 4 standard deviations.
_UNRELATED = 1.2
_OF_OTHER_SIZE = 10.0  # the same, from which on nothing is said: at minima both gradients are errors of any size
_OTHER_ORDER = "Are its rows and columns in the order of X?"
_UNITS = "Are its units those of y over X?"
_WITHOUT = "Without gradient= the values alone are fitted."
_SIGN = "Forces are minus the gradient of the energy."
_FRACTIONAL = "X is fractional: of Cartesian dE/dr give dE/dr @ lattice.T"
_NEARLY = 0.25  # of a multiple to another: one of the two, with the errors of a model of few values
_NAMED = 3  # parts that a message names: of a molecule with thirty wrong columns a few are enough
# Of what no multiple of a prediction explains: it is left so far below by a map of the gradient that is the right one.
_FAR_BETTER = 0.5
_CONVERGED_FRAME = 0.03  # of the size of what was given: what no multiple explains may be its noise
_ROUNDING = 1e-9  # of such a share: where both maps explain everything, neither is better


class Sums(NamedTuple):
    """Over the same rows, in one unit: squares of what was predicted, products of both, squares of what was given."""

    predicted: float
    product: float
    given: float

    @classmethod
    def of(cls, given: Array, predicted: Array) -> Sums:
        pair = np.stack([given.ravel(), predicted.ravel()])
        given, predicted = pair / Units.without_shift(pair.reshape(-1, 1)).unit  # squares may be no numbers
        return cls(float(predicted @ predicted), float(predicted @ given), float(given @ given))

    @property
    def unexplained(self) -> float:
        """The share of what was given that no multiple of what was predicted is."""
        return 1.0 - self.product**2 / (self.predicted * self.given)

    @property
    def apart(self) -> float:
        """The size of what was given less what was predicted, over the size of what was given, which may be zero."""
        difference = max(self.predicted - 2 * self.product + self.given, 0.0)
        known = self.given > np.finfo(float).tiny * difference
        return float(np.sqrt(difference / self.given)) if known else np.inf


class Compared(NamedTuple):
    """Some columns of the gradient given, beside those predicted.

    Attributes
    ----------
    columns : ndarray of int
    sums : Sums
    left_open : float
        The standard deviation of what was predicted over its size; infinite where it has none.
    multiple : Multiple
        Of what was predicted.
    """

    columns: NDArray[np.intp]
    sums: Sums
    left_open: float
    multiple: Multiple

    def may_be(self, multiple: float) -> bool:
        """Whether the multiple of these columns may be another one."""
        return abs(self.multiple.value - multiple) <= max(_NEARLY * abs(multiple), _TOLD_APART * self.multiple.error)

    @property
    def named(self) -> str:
        """The columns, with a verb."""
        first, last = self.columns[[0, -1]]
        return f"column {first} is" if first == last else f"columns {first}–{last} are"

    @property
    def said(self) -> str:
        """The multiple, with its error."""
        return f"{self.multiple.value:.3g} ± {self.multiple.error:.1g}"


def question_gradients(alone: Any, points: Array, given: Array, space: Space) -> None:
    """Warn where the gradients given, or some of their columns, cannot be those that the values alone predict.

    `alone` is a fitted model of the values. Its posterior tells how far from one a multiple may be, since the errors of
    neighbouring points are not independent: the deviation of the sum of products of the gradient and its prediction.
    """
    if len(points) > SHOWN:
        some = np.random.default_rng(OWN_SEED).permutation(len(points))[:SHOWN]
        points, given = points[some], given[some]
    predicted, deviation = (each.reshape(given.shape) for each in alone.gradient(points, return_std=True))
    tangents = space.tangents(space.check_points(points))
    given = np.einsum("nfd,nd->nf", tangents, np.einsum("nfd,nf->nd", tangents, given))
    every, parts = np.arange(space.n_features), columns_of_parts(space)
    parts = parts if len(parts) > 1 else []
    whole, *of_parts = _compared(alone, points, given, predicted, deviation, [every, *parts])
    wrong = [part for part in of_parts if part.multiple.wrong]
    if wrong and not (whole.multiple.wrong and all(part.may_be(whole.multiple.value) for part in of_parts)):
        wrong.sort(key=lambda part: -abs(part.multiple.value - 1.0) / max(part.multiple.error, np.finfo(float).tiny))
        _warn(_said_of_columns(wrong))
        return
    lattice = space.lattice if isinstance(space, Torus) else None
    hint, of_other_frame = _other_frame(whole, given, predicted, lattice) if lattice is not None else (None, False)
    if whole.multiple.wrong:
        _warn(
            f"the gradient given is {whole.said} times the gradient that the values alone predict, and should be 1 "
            f"times: one of the two is wrong. {hint or _reason(whole, lattice)}"
        )
    elif of_other_frame or (alone.loo_error_ < _PREDICTED and _UNRELATED < whole.sums.apart < _OF_OTHER_SIZE):
        _warn(
            f"the gradient given differs by {whole.sums.apart:.2g} of its size from the one that the values alone "
            f"predict, though values that are left out are predicted to {alone.loo_error_:.1g} of their spread: one of "
            f"the two is wrong. {hint or _OTHER_ORDER}"
        )


def _warn(text: str) -> None:
    warnings.warn(f"{text} {_WITHOUT}", stacklevel=users_line())


def _compared(
    alone: Any, points: Array, given: Array, predicted: Array, deviation: Array, parts: list[NDArray[np.intp]]
) -> list[Compared]:
    """Each of some parts of the columns, by its own multiple."""
    along = np.zeros((*predicted.shape, len(parts)))
    units = [float(Units.without_shift(predicted[:, part].reshape(-1, 1)).unit[0]) for part in parts]
    for j, part in enumerate(parts):
        along[:, part, j] = predicted[:, part] / units[j]
    uncertain = alone._open_along(points, along)
    found = list[Compared]()
    for j, part in enumerate(parts):
        sums, size = Sums.of(given[:, part], predicted[:, part]), size_of(predicted[:, part].ravel())
        known = size > 0 and np.isfinite(deviation[:, part]).all()
        left_open = size_of(deviation[:, part].ravel()) / size if known else np.inf
        squares = float(np.sum(along[:, part, j] ** 2))
        open_along = float(uncertain[j]) / units[j] / squares if known else np.inf
        multiple = multiple_given(*sums, given[:, part].size, left_open, open_along)
        found.append(Compared(part, sums, left_open, multiple))
    return found


def _other_frame(whole: Compared, given: Array, predicted: Array, lattice: Array) -> tuple[str | None, bool]:
    """What is said where a map of the gradient is a far better one, and whether that alone is enough to say it."""
    sums = whole.sums
    if not sums.predicted > 0 or not sums.given > 0:
        return None, False
    maps = [
        (lattice.T, ". Of what is given, this is"),
        (np.linalg.solve(lattice, lattice.T), ", not dE/dr @ lattice. With the first it would be"),
    ]
    best, said = min(
        ((Sums.of(given @ turned, predicted), said) for turned, said in maps), key=lambda each: each[0].unexplained
    )
    if best.unexplained >= _FAR_BETTER * sums.unexplained - _ROUNDING:
        return None, False
    multiple = best.product / best.predicted
    hint = f"{_FRACTIONAL}{said} {multiple:.3g} times the gradient of the values." + f" {_SIGN}" * (multiple < 0)
    return hint, sums.unexplained > max((LEFT_OPEN * whole.left_open) ** 2, _CONVERGED_FRAME**2)


def _reason(whole: Compared, lattice: Array | None) -> str:
    """What may be wrong with all columns."""
    if whole.may_be(0.0):
        return _OTHER_ORDER
    if whole.may_be(-1.0):
        return _SIGN
    fractional = "" if lattice is None else f" {_FRACTIONAL}."
    return _UNITS + f" {_SIGN}" * (whole.multiple.value < 0) + fractional


def _said_of_columns(wrong: list[Compared]) -> str:
    """What is wrong with some of the columns, and perhaps why; the clearest first."""
    multiples = [f"{part.named} {part.said}" for part in wrong[:_NAMED]]
    more = f" (and {len(wrong) - _NAMED} more are others)" if len(wrong) > _NAMED else ""
    why = "Is its sign that of the derivative?" if wrong[0].may_be(-1.0) else _UNITS
    why = f"{why} {_OTHER_ORDER}" if wrong[0].may_be(0.0) else why
    return (
        f"of the gradient given, {', '.join(multiples)} times what the values alone predict{more}, and should be 1 "
        f"times: one of the two is wrong. {why}"
    )
