"""Randomness: one way to read a `random_state`."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_generator"]


def as_generator(random_state: Any) -> np.random.Generator:
    """A `Generator` from None, an int, a `Generator` or a `RandomState`; the last gives other numbers at each call."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)  # a Generator is returned as it is
