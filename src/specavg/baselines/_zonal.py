"""Kernels of tori in closed form: averages over all sign flips, and the whole heat kernel."""

from __future__ import annotations

import numpy as np

from specavg.baselines._kernels import Array, KernelFunction
from specavg.functions._zonal_sums import differences, even_differences, shell_sum
from specavg.spaces import Space, Torus
from specavg.spaces._eigenspace import Weighted
from specavg.spaces._frequency_sets import shell_weights


def even_zonal_sum(space: Space, table: Weighted) -> KernelFunction | None:
    """`Space.zonal_sum` on a cubic torus, averaged over all sign flips: cos j(a − b) becomes cos ja · cos jb.

    None where the eigenspaces are not those of a cubic torus.
    """
    shells, unit = shell_weights(table), 2 * np.pi / space.column_periods
    return None if shells is None else lambda X, Y: shell_sum(unit * X, unit * Y, shells, even_differences)


def theta_product(space: Torus, length_scale: float, constant: bool, *, even: bool) -> KernelFunction:
    """The whole heat kernel of a box torus, Π_i θ_i(x_i − y_i); `even`: averaged over all sign flips."""
    rates = (2 * np.pi * length_scale / space.period) ** 2 / 2  # (d,)
    harmonics = even_differences if even else differences

    def kernel(X: Array, Y: Array) -> Array:
        a, b = 2 * np.pi * X / space.period, 2 * np.pi * Y / space.period
        values = np.ones((len(X), len(Y)))
        for i, rate in enumerate(rates):
            theta = np.ones_like(values)
            reach = int(np.ceil(np.sqrt(40.0 / rate)))  # exp(−40) is below the last bit
            for k, term in enumerate(harmonics(a[:, i], b[:, i], reach), start=1):
                theta += np.exp(-rate * k * k) * term
            values *= theta
        return values if constant else values - 1.0

    return kernel
