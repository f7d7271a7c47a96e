"""Ratios of modified Bessel functions, against SciPy and against their limits."""

import numpy as np
import pytest
from scipy.special import gammaln, ive

from specavg.functions._bessel_series import log_bessel


@pytest.mark.parametrize("order", [0.0, 0.5, 3.0, 19.0])
@pytest.mark.parametrize("kappa", [0.01, 1.0, 37.0, 1e3, 1e5])
def test_ratios_are_those_of_scipy(order, kappa):
    count = 30 if kappa < 1 else 60
    expected = np.log(ive(order + np.arange(count), kappa) / ive(order, kappa))
    kept = ive(order + np.arange(count), kappa) > 1e-290
    np.testing.assert_allclose(log_bessel(order, count, kappa)[kept], expected[kept], rtol=1e-12, atol=1e-12)


def test_high_orders_do_not_underflow():
    k, kappa = np.arange(2_000), 0.1
    first_term = k * np.log(kappa / 2) - gammaln(k + 1)  # I_k(κ) = (κ/2)^k / k! · (1 + κ²/4(k + 1) + …)
    np.testing.assert_allclose(log_bessel(0.0, len(k), kappa), first_term, rtol=1e-3, atol=3e-3)


def test_a_single_order_has_the_ratio_one():
    np.testing.assert_array_equal(log_bessel(2.0, 1, 3.0), [0.0])
