"""The data of a search, and the functions they can bear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from specavg._arrays import Array
from specavg._reporting import reported
from specavg.data._checked_samples import checked_chunks, checked_samples, require_no_weights
from specavg.data._dask_collections import DaskStream
from specavg.data._streaming import column_names, is_dask
from specavg.estimators._finer_detail import Compared, compared_eigenspaces, some_samples
from specavg.regression._information import Information
from specavg.spaces import Space

PER_FUNCTION = 4  # samples, at least, for each function that is compared
MOST_FUNCTIONS = 300  # functions compared, at most: their Gram matrix is projected for every candidate
_READINGS = ("first", "second")  # of the data, for the sums over the functions and for the residuals
_PIECE = 50_000  # rows whose functions are held at a time: 300 functions of them take 120 MB


@final
@dataclass(frozen=True, eq=False)
class Samples:
    """Checked points of a space, one target for each, and weights; whole, or in chunks that are read anew each time.

    Attributes
    ----------
    space : Space
    count : int
        How many samples there are.
    given : tuple
        What a regressor is fitted to: (X, y) or (X, y, weights), or chunks and None.
    read : callable
        Gives an iterator of chunks (X, y) or (X, y, weights), checked. A function that can be pickled.
    """

    space: Space
    count: int
    given: tuple[Any, ...]
    read: Callable[[], Iterator[tuple[Array, ...]]]

    @classmethod
    def of(
        cls, X: ArrayLike | Iterable[tuple[ArrayLike, ...]], y: ArrayLike | None, space: Space, weights: Any = None
    ) -> Samples:
        """The samples of X and y, checked; an error that says what is wrong with them otherwise."""
        if is_dask(X):
            stream = DaskStream(X, y, weights, targets=True)
            given = (X, y, weights)
            return cls(space, stream.rows, given, partial(checked_chunks, space, stream))
        if y is not None:
            checked = checked_samples(space, X, y, weights)
            pieces = range(0, max(len(checked[1]), 1), _PIECE)
            whole = [tuple(part[i : i + _PIECE] for part in checked) for i in pieces]
            given = checked if column_names(X) is None else (X, y, weights)  # the model keeps the names of a table
            return cls(space, len(checked[1]), given, partial(iter, whole))
        require_no_weights(weights)
        if not isinstance(X, Iterable) or iter(X) is X:
            raise ValueError(
                "without y, X must be chunks (X, y) that can be read more than once: a list of them, or an object "
                f"whose __iter__ starts anew; got {type(X).__name__}"
            )
        chunks: Any = X
        count = sum(len(chunk[1]) for chunk in checked_chunks(space, chunks, ask=True))
        return cls(space, count, (chunks, None), partial(checked_chunks, space, chunks))

    def whole(self) -> tuple[Array, ...]:
        """All points, all targets and, where there are any, all weights."""
        return tuple(np.concatenate(parts) for parts in zip(*self.read(), strict=True))

    @cached_property
    def compared(self) -> Compared:
        """The first eigenspaces after the constant and finer ones that stand out, as many as the samples can bear."""
        most = min(MOST_FUNCTIONS, self.count / PER_FUNCTION)
        total = next(islice(self.space.eigenspaces(), 1, None)).dim
        if total > most:
            raise ValueError(
                f"{self.count} samples are too few to tell anything on {self.space!r}: there are {total} functions in "
                f"the first eigenspace after the constant, and each needs {PER_FUNCTION} samples. "
                f"Give at least {PER_FUNCTION * total}"
            )
        X, y, weights = some_samples(self.read())
        return compared_eigenspaces(self.space, most, lambda functions: functions(X), y, weights)

    def information(self, columns: Callable[[Array], Array]) -> Information:
        """The information of the samples about the coefficients of some functions of the points."""
        if self.count > _PIECE:
            first, again = (reported(self.read(), f"{which} reading of the data", "chunks") for which in _READINGS)
            return Information.of(columns, first, again)
        values = [(columns(X), *others) for X, *others in self.read()]  # evaluated once, read twice
        return Information.of(lambda Z: Z, values, values)
