"""A space with its eigenvalues on a logarithmic scale, which makes powers and products of it begin otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import expm1, log1p
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg.isometries import Isometry
from specavg.spaces._product import eigenspaces_first
from specavg.spaces._reordered import Reordered
from specavg.spaces._space import SAME_EIGENVALUE, Eigenspace, Space

__all__ = ["Warped"]


@final
class Warped(Reordered):
    """A space with μ = d log(1 + ((1 + c)^(1/d) − 1) λ/λ₁) in place of its eigenvalues λ, d its dimension.

    Eigenspaces and isometries are those of the space itself, and so is their order. Powers and products are what
    changes: eigenvalues add, so that on `Power(Warped(base), m)` and `Product(Warped(A), Warped(B))` the functions of
    few particles or few factors come first, as on a `MixedTorus` those of few coordinates. Constants are such that
    e^μ = 1 + c for the first eigenfunctions and that the number of functions grows like e^(μ/2), in every dimension:
    the "heat" spectrum e^(−sμ), s = ℓ²/2, is that of a Sobolev space of order sd, continuous from s = 1/2 on.

    Parameters
    ----------
    base : Space
        With the eigenvalues of its Laplacian.
    steepness : float, default 4
        c, positive. The larger, the later come products of functions of several factors.

    Examples
    --------
    >>> from itertools import islice
    >>> from specavg.spaces import Power, Sphere
    >>> [round(float(np.exp(V.eigenvalue)), 1) for V in islice(Warped(Sphere(3)).eigenspaces(), 4)]
    [1.0, 5.0, 22.2, 70.8]
    >>> cloud = Power(Warped(Sphere(3)), 100)
    >>> [(round(float(np.exp(V.eigenvalue)), 1), V.dim) for V in islice(cloud.eigenspaces(), 4)]
    [(1.0, 1), (5.0, 300), (22.2, 500), (25.0, 44550)]
    """

    def __init__(self, base: Space, steepness: float = 4) -> None:
        if not isinstance(base, Space) or base.mixed:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"Warped needs a space with the eigenvalues of its Laplacian; got {base!r}")
        if not (np.isfinite(steepness) and steepness > 0):
            raise ValueError(f"steepness must be positive and finite; got {steepness!r}")
        super().__init__(base, float(steepness))

    @property
    def base(self) -> Space:
        """The space with the eigenvalues of its Laplacian."""
        return self._base

    @cached_property
    def _scale(self) -> float:
        return ((1 + self._steepness) ** (1 / self.dim) - 1) / eigenspaces_first(self._base)

    def eigenspaces(self) -> Iterator[Eigenspace]:
        for V in self._base.eigenspaces():
            yield Eigenspace(self.dim * log1p(self._scale * V.eigenvalue), V.dim, V)

    def _evaluate(self, eigenspace: Eigenspace, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._base._evaluate(_plain(eigenspace), X)  # pyright: ignore[reportPrivateUsage]

    def _representation(self, g: Isometry, eigenspace: Eigenspace) -> NDArray[np.float64]:
        return self._base._representation(g, _plain(eigenspace))  # pyright: ignore[reportPrivateUsage]

    def as_table(self, X: Any) -> Any:
        return self._base.as_table(X)

    def check_points(self, X: ArrayLike) -> NDArray[np.float64]:
        return self._base.check_points(X)

    def _membership_error(self, X: NDArray[np.float64]) -> NDArray[np.float64] | None:
        return self._base._membership_error(X)  # pyright: ignore[reportPrivateUsage]

    def quadrature(self, max_eigenvalue: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._base.quadrature(expm1(max_eigenvalue / self.dim) / self._scale * (1 + SAME_EIGENVALUE))


def _plain(eigenspace: Eigenspace) -> Eigenspace:
    assert isinstance(eigenspace.label, Eigenspace)
    return eigenspace.label
