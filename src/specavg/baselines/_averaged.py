"""Kernel ridge regression with the kernel averaged over a group: all of it, or a few random elements."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from specavg._messages import size_text
from specavg._random import as_generator
from specavg.baselines._kernels import Array, Kernel, KernelFunction, as_kernel
from specavg.baselines._ridge import KernelRidgeBase
from specavg.groups import Group
from specavg.groups._given_generators import not_a_group
from specavg.groups._product_replacement import random_elements
from specavg.invariants import default_group
from specavg.invariants._acting_group import check_group
from specavg.isometries import Isometry
from specavg.spaces import Space


class CostError(ValueError):
    """A sum over the group that is refused for its size; `terms` says how many terms it has.

    Examples
    --------
    >>> import specavg as sa
    >>> model = sa.baselines.GroupAveragedKernelRidge(group=sa.groups.symmetric(20))
    >>> try:
    ...     model.fit(sa.Torus(20).sample(10, random_state=0), range(10))
    ... except sa.baselines.CostError as refusal:
    ...     print(refusal.terms == sa.groups.symmetric(20).order * 10**2)
    True
    """

    def __init__(self, message: str, terms: int) -> None:
        super().__init__(message)
        self.terms = terms


def _group_in_use(group: Any, space: Space) -> Group:
    """The group, or the trivial one; an error for what is given in its place."""
    if group is None:
        return default_group(space)
    if isinstance(group, Space):
        raise TypeError(
            f"group must be a specavg Group; got the space {group!r}. The arguments are (kernel, group, alpha): the "
            "space is that of the kernel, SpectralKernel(space) or VonMisesKernel(space=space)"
        )
    if not isinstance(group, Group):
        raise not_a_group(group)
    return group


def check_listable(group: Group, otherwise: str) -> None:
    """Refuse a group with infinitely many elements; `otherwise` is what to take in place of all of them."""
    if not group.is_finite:
        raise ValueError(
            f"{group!r} has infinitely many elements{otherwise}, or use sa.InvariantKernelRidge, which needs the "
            "generators only"
        )


@lru_cache(maxsize=8)
def listed(group: Group) -> tuple[Isometry, ...]:
    """All elements, kept from one call to the next."""
    return tuple(group.elements(limit=group.finite_order))


def averaged_kernel(
    kernel: Kernel, space: Space, group: Group, n: int = 1, max_terms: float = 1e9
) -> tuple[KernelFunction, int]:
    """K_inv(x, y) = (1/|G|) Σ_g K(gx, y): in closed form where there is one, else by summing.

    Parameters
    ----------
    kernel : Kernel
    space : Space
    group : Group
    n : int
        How many training points; the sum has |G| n² terms.
    max_terms : float
        Refuse above this.

    Returns
    -------
    function : callable
        Two sets of points to the matrix of K_inv.
    elements : int
        How many group elements are summed: 1 where the average factorises.

    Examples
    --------
    >>> import specavg as sa
    >>> from specavg.baselines import VonMisesKernel
    >>> K, elements = averaged_kernel(VonMisesKernel(), sa.Torus(40), sa.groups.sign_flips(40), n=100)
    >>> elements
    1
    """
    check_group(space, group)
    closed = kernel.averaged(space, group)
    if closed is not None:
        return closed, 1
    check_listable(group, ", and no sum over them ends: use RandomlyAveragedKernelRidge, which takes some at random")
    terms = group.finite_order * n * n
    if terms > max_terms:
        raise CostError(
            f"the average over {group!r} takes {size_text(group.finite_order)} × {n}² = {size_text(terms)} kernel "
            f"values; the limit is max_terms={max_terms:.3g}. Use an estimator on an invariant basis, which needs the "
            "generators only, or raise max_terms.",
            terms,
        )
    elements = listed(group)
    plain = kernel.function(space)

    def function(X: Array, Y: Array) -> Array:
        # The set with fewer points is moved: K(gx, y) = K(x, g⁻¹y), and G has all inverses.
        if len(X) <= len(Y):
            return sum((plain(space.act(g, X), Y) for g in elements), np.zeros((len(X), len(Y)))) / len(elements)
        return sum((plain(X, space.act(g, Y)) for g in elements), np.zeros((len(X), len(Y)))) / len(elements)

    return function, len(elements)


class GroupAveragedKernelRidge(KernelRidgeBase):
    """Kernel ridge regression with the invariant kernel K_inv(x, y) = (1/|G|) Σ_g K(gx, y).

    Exactly invariant (to rounding), at the price of a sum over the group: refuses above `max_terms`, saying
    how many terms it would take. Product kernels under sign flips need no sum: the average factorises over
    coordinates. (Under permutations it is a permanent, for which nothing fast is known.)

    Parameters
    ----------
    kernel : Kernel, optional
        `VonMisesKernel()` by default.
    group : Group, optional
        The trivial group by default.
    alpha, penalty, fit_intercept
        As in `KernelRidge`.
    max_terms : float, default 1e9
        The largest number |G| n² of kernel values that fitting may take; a prediction takes |G| n each.

    Attributes
    ----------
    n_summed_ : int
        How many group elements each kernel value sums over: 1 where the average factorises.
    dual_coef_, X_fit_, n_features_in_
        As in `KernelRidge`.

    Examples
    --------
    >>> import specavg as sa
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> model = GroupAveragedKernelRidge(group=sa.groups.sign_flips(2), alpha=1e-6).fit(X, abs(X[:, 0]))
    >>> bool(abs(model.predict(-X) - model.predict(X)).max() < 1e-9)
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        group: Group | None = None,
        alpha: float = 1.0,
        *,
        penalty: str = "sum",
        fit_intercept: bool = False,
        max_terms: float = 1e9,
    ) -> None:
        super().__init__(kernel, alpha, penalty=penalty, fit_intercept=fit_intercept)
        self.group = group
        self.max_terms = max_terms

    def _kernel_function(self, space: Space, n: int) -> KernelFunction:
        group = _group_in_use(self.group, space)
        function, self.n_summed_ = averaged_kernel(as_kernel(self.kernel), space, group, n, self.max_terms)
        return function


class RandomlyAveragedKernelRidge(KernelRidgeBase):
    """Kernel ridge regression with features averaged over a few random group elements.

    K_R(x, y) = (1/m²) Σ_ij K(g_i x, g_j y): a kernel for every choice of g_1, …, g_m, and *not* invariant. The
    discrepancy falls as m grows and never reaches zero.

    Parameters
    ----------
    kernel : Kernel, optional
        `VonMisesKernel()` by default.
    group : Group, optional
        The trivial group by default.
    alpha, penalty, fit_intercept
        As in `KernelRidge`.
    n_elements : int, default 10
        m, drawn with replacement.
    random_state : int, Generator or None

    Attributes
    ----------
    elements_ : list of Isometry
        The elements drawn.
    dual_coef_, X_fit_, n_features_in_
        As in `KernelRidge`.

    Examples
    --------
    >>> import specavg as sa
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> G = sa.groups.sign_flips(2)
    >>> model = RandomlyAveragedKernelRidge(group=G, n_elements=3, random_state=0).fit(X, abs(X[:, 0]))
    >>> bool(abs(model.predict(-X) - model.predict(X)).max() < 1e-3)
    False
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        group: Group | None = None,
        alpha: float = 1.0,
        *,
        penalty: str = "sum",
        fit_intercept: bool = False,
        n_elements: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, alpha, penalty=penalty, fit_intercept=fit_intercept)
        self.group = group
        self.n_elements = n_elements
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomlyAveragedKernelRidge:
        self.elements_: list[Isometry] | None = None  # drawn anew by each fit, kept for predictions
        return super().fit(X, y, sample_weight)

    def _kernel_function(self, space: Space, n: int) -> KernelFunction:
        if self.n_elements < 1:
            raise ValueError(f"n_elements must be at least 1; got {self.n_elements!r}")
        if self.elements_ is None:
            group = _group_in_use(self.group, space)
            rng = as_generator(self.random_state)
            self.elements_ = [space.check_isometry(g) for g in islice(random_elements(group, rng), self.n_elements)]
        elements = self.elements_
        plain = as_kernel(self.kernel).function(space)

        def function(X: Array, Y: Array) -> Array:
            total = np.zeros((len(X), len(Y)))
            moved = [space.act(h, Y) for h in elements]
            for g in elements:
                images = space.act(g, X)
                for others in moved:
                    total += plain(images, others)
            return total / len(elements) ** 2

        return function
