"""Kernels of a space: what a kernel is, and the paper's von Mises kernel of the torus."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from specavg._arrays import Array
from specavg._known_arguments import KnownArguments
from specavg._messages import shown
from specavg.groups import Group
from specavg.groups.families import SignFlips, Structure
from specavg.spaces import Space, Torus, default_space

KernelFunction = Callable[[Array, Array], Array]
"""Two sets of checked points to the matrix of kernel values."""

_LARGEST_EXPONENT = 700.0  # exp of more is infinite in double precision


class Kernel(KnownArguments, BaseEstimator, abc.ABC):
    """A kernel that every isometry leaves alone: K(gx, gy) = K(x, y).

    Parameters are scikit-learn parameters, so that a grid search reaches them as ``kernel__eta`` and the like. A kernel
    of your own is a subclass with the method `function(space)`, which gives a function of two sets of points.

    Examples
    --------
    >>> class Laplace(Kernel):
    ...     def __init__(self, scale=1.0):
    ...         self.scale = scale
    ...
    ...     def function(self, space):  # shorter: on unit vectors
    ...         return lambda X, Y: np.exp(-np.linalg.norm(X[:, None] - Y, axis=2) / self.scale)
    >>> Laplace(2.0)([[0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]).round(4)
    array([[1.    , 0.4931]])

    >>> import specavg as sa
    >>> from specavg.baselines import Kernel, VonMisesKernel
    >>> space, g = sa.Torus(2), sa.isometries.permutation([1, 0])
    >>> x, y = space.sample(1, random_state=0), space.sample(1, random_state=1)
    >>> K = VonMisesKernel(eta=2.0)
    >>> isinstance(K, Kernel), bool(abs(K(space.act(g, x), space.act(g, y)) - K(x, y)) < 1e-12)
    (True, True)
    """

    space: Space | None = None  # that of a kernel which is made for one

    def space_of(self, n_features: int) -> Space:
        """The space in use: `space`, or the paper's torus with that many coordinates."""
        return default_space(n_features) if self.space is None else self.space

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """The matrix K(x_i, y_j).

        Parameters
        ----------
        X : array-like of n points
        Y : array-like of m points, optional
            `X` itself by default.

        Returns
        -------
        ndarray of shape (n, m)
        """
        first = np.asarray(X, dtype=np.float64)
        space = self.space_of(first.reshape(len(first), -1).shape[1])
        points = space.check_points(first)
        return self.function(space)(points, points if Y is None else space.check_points(Y))

    @abc.abstractmethod
    def function(self, space: Space) -> KernelFunction:
        """The kernel on checked points of `space`."""

    def averaged(self, space: Space, group: Group) -> KernelFunction | None:
        """The average over the group in closed form, where there is one; None where it has to be summed."""
        return None


def check_numbers(owner: Any, *names: str) -> None:
    """Refuse parameters that are no numbers; those that `owner` has not, or that are None, are left alone.

    Examples
    --------
    >>> check_numbers(VonMisesKernel(eta="auto"), "eta")
    Traceback (most recent call last):
    ValueError: eta must be a number; got 'auto'. sklearn.model_selection.GridSearchCV chooses among numbers
    """
    for name in names:
        value = getattr(owner, name, None)
        if value is not None and np.asarray(value).dtype.kind not in "biuf":
            raise ValueError(
                f"{name} must be a number; got {shown(value)}. sklearn.model_selection.GridSearchCV chooses among "
                "numbers"
            )


def phases(space: Space, what: str) -> Callable[[Array], Array]:
    """Coordinates of a box torus as angles; refuses other spaces."""
    if not isinstance(space, Torus) or space.lattice is not None:
        raise ValueError(
            f"the {what} is a product over the coordinates of a box torus such as Torus(3); got {space!r}. "
            "Use a SpectralKernel there."
        )

    def angles(X: Array) -> Array:
        turns = X / space.period
        return 2 * np.pi * (turns - np.rint(turns))

    return angles


def structure_of(group: Group) -> Structure | None:
    """The structure of a group; None where its generators do not show what they generate."""
    try:
        return group.recognise()
    except ValueError:
        return None


def flips_every_sign(group: Group) -> bool:
    """Whether the group is {±1}^d: then averages of product kernels are products over coordinates."""
    return isinstance(structure_of(group), SignFlips)


class VonMisesKernel(Kernel):
    """The paper's kernel of the torus, exp(η Σ_i cos θ_i) with θ_i = 2π(x_i − y_i)/period.

    Parameters
    ----------
    eta : float, default 1.0
        Concentration η; the paper does not say which it used. It sets the scale of the kernel too,
        K(x, x) = exp(ηd), so a penalty means something different for each η.
    space : Torus, optional
        Default: `Torus(n_features)`, on which θ_i = π(x_i − y_i).

    Notes
    -----
    Over sign flips the average factorises: one coordinate gives exp(η cos a cos b) cosh(η sin a sin b), so
    2^d terms cost no more than d.

    Examples
    --------
    >>> VonMisesKernel(eta=0.5)([[0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]).round(4)
    array([[2.7183, 1.    ]])
    """

    def __init__(self, eta: float = 1.0, *, space: Space | None = None) -> None:
        self.eta = eta
        self.space = space

    def _eta(self, space: Space) -> float:
        check_numbers(self, "eta")
        if not (np.isfinite(self.eta) and self.eta > 0):
            raise ValueError(f"eta must be positive and finite; got {self.eta!r}")
        if self.eta * space.dim > _LARGEST_EXPONENT:
            raise ValueError(
                f"eta = {self.eta:g} in {space.dim} dimensions overflows: K(x, x) = exp({self.eta * space.dim:g}). "
                f"Use eta ≤ {_LARGEST_EXPONENT / space.dim:.4g}."
            )
        return float(self.eta)

    def function(self, space: Space) -> KernelFunction:
        angles, eta = phases(space, "von Mises kernel"), self._eta(space)

        def kernel(X: Array, Y: Array) -> Array:
            a, b = angles(X), angles(Y)
            # cos(a − b) = cos a cos b + sin a sin b: one matrix product instead of n·m·d cosines.
            inner = np.hstack([np.cos(a), np.sin(a)]) @ np.hstack([np.cos(b), np.sin(b)]).T
            inner *= eta
            return np.exp(inner, out=inner)

        return kernel

    def averaged(self, space: Space, group: Group) -> KernelFunction | None:
        if not flips_every_sign(group):
            return None
        angles, eta = phases(space, "von Mises kernel"), self._eta(space)

        def kernel(X: Array, Y: Array) -> Array:
            a, b = angles(X), angles(Y)
            values = np.exp(eta * (np.cos(a) @ np.cos(b).T))
            sa, sb = np.sin(a), np.sin(b)
            for i in range(space.dim):
                values *= np.cosh(np.multiply.outer(eta * sa[:, i], sb[:, i]))
            return values

        return kernel


def as_kernel(kernel: Any) -> Kernel:
    """The kernel in use: the one given, or the paper's von Mises kernel."""
    if kernel is None:
        return VonMisesKernel()
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"kernel must be a specavg kernel such as VonMisesKernel() or SpectralKernel(space); got {shown(kernel)}"
        )
    return kernel
