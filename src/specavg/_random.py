"""Randomness: one way to read a `random_state`, and one seed for what users do not steer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

OWN_SEED = 20250713
"""For random numbers of the library's own (rows of a search, generic directions, probes of a trace): the same in every
call, so that results depend on the data only. Any number would do."""


def some_rows(n: int, most: int) -> NDArray[np.intp]:
    """At most so many of n rows, chosen without regard to the data and the same in every call."""
    return np.sort(np.random.default_rng(OWN_SEED).permutation(n)[:most])


def as_generator(random_state: Any) -> np.random.Generator:
    """A `Generator` from None, an int, a `Generator` or a `RandomState`; the last gives other numbers at each call."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)  # a Generator is returned as it is
