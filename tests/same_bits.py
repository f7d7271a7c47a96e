"""Equality to the last bit, where NumPy has it.

With NumPy 1.26 the same call on the same numbers can differ in the last digits by where its arrays lie in memory
(sums over Wigner functions: in 1 of 100 calls).
"""

import numpy as np

__all__ = ["assert_same_bits"]

_REPEATABLE = int(np.__version__.split(".")[0]) >= 2


def assert_same_bits(found, expected, note=""):
    """Equal; with NumPy 1 to rounding, relative to the largest entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    if _REPEATABLE:
        np.testing.assert_array_equal(found, expected, err_msg=note)
    else:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.abs(expected).max(initial=0), err_msg=note)
