"""The types of functions: what no isometry changes of a function, beyond its eigenvalue."""

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

    The entries of all types stand in one list: the eigenvalues of the parts of a function, or the lengths of the rows
    of its partition.

    Attributes
    ----------
    spectrum : str
        The kind of spectra that is made for these types: "product" or "partition".
    index : ndarray of int, shape (dim,)
        The type of each function.
    owner : ndarray of int, shape (p,)
        The type that each entry belongs to.
    values : ndarray of shape (p,)
        The entries.
    """

    spectrum: str
    index: NDArray[np.intp]
    owner: NDArray[np.intp]
    values: Array

    @classmethod
    def of(cls, spectrum: str, types: Iterable[Type], dims: Iterable[int]) -> Types:
        """The types of functions that are listed type by type, `dims` of them for each of `types`."""
        listed = list(types)
        owner = np.repeat(np.arange(len(listed)), [len(t) for t in listed])
        values = np.array([value for t in listed for value in t], dtype=np.float64)
        return cls(spectrum, np.repeat(np.arange(len(listed)), list(dims)), owner, values)

    def sums(self, values: Array) -> Array:
        """For each function the sum of `values`, one number for each entry, over the entries of its type."""
        # (p,) -> (dim,)
        total = np.bincount(self.owner, values, minlength=int(self.index.max(initial=-1)) + 1)
        return np.asarray(total[self.index], dtype=np.float64)

    def after_one_constant(self, constants: int) -> Types:
        """The types of a basis with one constant in place of the first `constants` functions."""
        index = np.concatenate([[0], 1 + self.index[constants:]])
        return Types(self.spectrum, index, 1 + self.owner, self.values)

    @property
    def first(self) -> float:
        """The smallest entry of a type that a function has; 1 where there is none."""
        used = np.isin(self.owner, self.index)
        return float(self.values[used].min()) if used.any() else 1.0
