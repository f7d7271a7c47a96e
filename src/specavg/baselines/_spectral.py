"""Spectral kernels of any space: Sobolev, Matérn and heat."""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from typing import TypeGuard

import numpy as np

from specavg._arrays import Array
from specavg.baselines._kernels import Kernel, KernelFunction, check_numbers, flips_every_sign
from specavg.functions._zonal_sums import difference_cosines, even_difference_cosines, shell_sum
from specavg.groups import Group
from specavg.invariants import Cutoff
from specavg.regression._spectra import Spectrum
from specavg.spaces import Eigenspace, Space, Torus
from specavg.spaces._eigenspace import Weighted
from specavg.spaces._frequency_sets import shell_weights
from specavg.spaces._order_of_functions import BY_EIGENVALUE, Order, order_of

_TAIL = 1e-12  # relative weight of an eigenspace after which a kernel without a cutoff ends
_MOST = 3_000  # and at the latest after this many functions


class SpectralKernel(Kernel):
    """K(x, y) = Σ_λ w(λ) Σ_{φ in V_λ} φ(x)φ(y), the sum over eigenspaces up to a cutoff.

    Parameters
    ----------
    space : Space, optional
        Default: `Torus(n_features)`.
    spectrum : {"sobolev", "matern", "heat"}
        w(λ) = D_λ^(−2s/d), the paper's; (1 + ℓ²λ)^(−s); or exp(−ℓ²λ/2).
    smoothness : float, optional
        s. Default: the dimension d of the space.
    length_scale : float, default 1.0
        ℓ, for "matern" and "heat".
    max_eigenvalue, max_dim : float, optional
        At most one cutoff, as in `invariant_basis` (all functions counted). Default: until an eigenspace adds
        less than 1e-12 of the sum, or 3,000 functions at the most; the heat kernel of a box torus is a product
        of theta functions and is not cut off at all.
    constant : bool, default True
        Whether the constant function (w(0) = 1) is part of the kernel. Without it the constant has to be an
        unpenalised intercept: see `KernelRidge(fit_intercept=True)`.
    order : str or Order, default "eigenvalue"
        In another order, as in `invariant_basis`, λ is the value in that order.

    Notes
    -----
    By addition theorem on spheres (Gegenbauer polynomials), rotations (characters) and cubic tori (a generating
    function over coordinates); elsewhere by the eigenfunctions themselves. Ridge regression on the same
    functions with penalty α Σ c²/w(λ) is kernel ridge regression with K + αI.

    Examples
    --------
    >>> import specavg as sa
    >>> K = SpectralKernel(sa.Sphere(3), spectrum="heat", length_scale=0.5, max_eigenvalue=2)
    >>> K([[0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).round(4)  # 1 + 3 exp(−1/4) cos angle
    array([[3.3364, 1.    ]])
    """

    def __init__(
        self,
        space: Space | None = None,
        *,
        spectrum: str = "sobolev",
        smoothness: float | None = None,
        length_scale: float = 1.0,
        max_eigenvalue: float | None = None,
        max_dim: float | None = None,
        constant: bool = True,
        order: str | Order = "eigenvalue",
    ) -> None:
        self.space = space
        self.spectrum = spectrum
        self.smoothness = smoothness
        self.length_scale = length_scale
        self.max_eigenvalue = max_eigenvalue
        self.max_dim = max_dim
        self.constant = constant
        self.order = order

    @property
    def _length(self) -> float:
        check_numbers(self, "length_scale")
        return float(self.length_scale)

    def table(self, space: Space) -> tuple[tuple[Eigenspace, float], ...]:
        """The eigenspaces of the kernel with their weights."""
        check_numbers(self, "smoothness")
        cutoff = Cutoff.of(self.max_eigenvalue, self.max_dim, None)
        smoothness = float(space.dim if self.smoothness is None else self.smoothness)
        whole = _table(space, order_of(self.order), self.spectrum, smoothness, self._length, cutoff)
        return whole if self.constant else tuple((V, w if V.eigenvalue > 0 else 0.0) for V, w in whole)

    def function(self, space: Space) -> KernelFunction:
        if self._is_product(space):
            return _theta_product(space, self._length, self.constant, even=False)
        table = self.table(space)
        return lambda X, Y: space.zonal_sum(table, X, Y)

    def _is_product(self, space: Space) -> TypeGuard[Torus]:
        whole = self.max_eigenvalue is None and self.max_dim is None and order_of(self.order) == BY_EIGENVALUE
        return self.spectrum == "heat" and whole and isinstance(space, Torus) and space.lattice is None

    def averaged(self, space: Space, group: Group) -> KernelFunction | None:
        if not flips_every_sign(group):
            return None
        if self._is_product(space):
            return _theta_product(space, self._length, self.constant, even=True)
        return _even_zonal_sum(space, self.table(space))


@lru_cache(maxsize=64)
def _table(
    space: Space, order: Order, spectrum: str, smoothness: float, length_scale: float, cutoff: Cutoff | None
) -> tuple[tuple[Eigenspace, float], ...]:
    form = Spectrum(spectrum, smoothness, length_scale)
    found: list[tuple[Eigenspace, float]] = []
    count, total = 0, 0.0
    eigenspaces = space.ordered(order)
    if cutoff is not None and cutoff.kind == "max_eigenvalue":
        top = cutoff.value * (1 + 1e-9)
        eigenspaces = takewhile(lambda V: V.eigenvalue <= top, eigenspaces)
    most = _MOST if cutoff is None else cutoff.value if cutoff.kind == "max_dim" else np.inf
    for V in eigenspaces:
        count += V.dim
        if count > most:
            break
        weight = float(np.exp(form.logarithms(np.array([V.eigenvalue]), np.array([count]), space.dim)[0]))
        total += weight * V.dim
        if cutoff is None and weight * V.dim < _TAIL * total:
            break
        found.append((V, weight))
    return tuple(found)


def _even_zonal_sum(space: Space, table: Weighted) -> KernelFunction | None:
    """`Space.zonal_sum` on a cubic torus, averaged over all sign flips: cos j(a − b) becomes cos ja · cos jb.

    None where the eigenspaces are not those of a cubic torus.
    """
    shells, unit = shell_weights(table), 2 * np.pi / space.column_periods
    return None if shells is None else lambda X, Y: shell_sum(unit * X, unit * Y, shells, even_difference_cosines)


def _theta_product(space: Torus, length_scale: float, constant: bool, *, even: bool) -> KernelFunction:
    """The whole heat kernel of a box torus, Π_i θ_i(x_i − y_i); `even`: averaged over all sign flips."""
    rates = (2 * np.pi * length_scale / space.period) ** 2 / 2  # (d,)
    harmonics = even_difference_cosines if even else difference_cosines

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
