"""The types of functions: what no group mixes, beyond the eigenvalue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from specavg._arrays import Array

Type = tuple[float, ...]
"""The eigenvalues of the non-constant parts of a function, or the lengths of the rows of its partition."""


@final
@dataclass(frozen=True, eq=False)
class Types:
    """The types of the functions of a basis.

    Attributes
    ----------
    spectrum : str
        The family of spectra that is made for them: "product" or "partition".
    index : ndarray of int, shape (dim,)
        The type of each function.
    owner : ndarray of int, shape (p,)
        The type that each part belongs to.
    values : ndarray of shape (p,)
        The eigenvalue of each part, or the length of a row.
    """

    spectrum: str
    index: NDArray[np.intp]
    owner: NDArray[np.intp]
    values: Array

    @classmethod
    def of(cls, spectrum: str, types: Iterable[Type], dims: Iterable[int]) -> Types:
        """Of functions that are listed type by type: so many of each."""
        listed = list(types)
        owner = np.repeat(np.arange(len(listed)), [len(t) for t in listed])
        values = np.array([value for t in listed for value in t], dtype=np.float64)
        return cls(spectrum, np.repeat(np.arange(len(listed)), list(dims)), owner, values)

    def sums(self, values: Array) -> Array:
        """For each function the sum of `values`, one number for each part, over its parts."""  # (p,) -> (dim,)
        count = int(self.index.max(initial=-1)) + 1
        total = np.bincount(self.owner, values, max(count, int(self.owner.max(initial=-1)) + 1))
        return np.asarray(total[self.index], dtype=np.float64)

    def after_one_constant(self, constants: int) -> Types:
        """The types of one constant and of the functions after the first `constants`."""
        index = np.concatenate([[0], 1 + self.index[constants:]])
        return Types(self.spectrum, index, 1 + self.owner, self.values)

    @property
    def first(self) -> float:
        """The smallest eigenvalue of a part that occurs among the functions; 1 where there is none."""
        used = np.isin(self.owner, self.index)
        return float(self.values[used].min()) if used.any() else 1.0
