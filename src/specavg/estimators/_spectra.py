"""Spectra: how fast the penalty on a coefficient grows with the eigenvalue of its function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["SPECTRA", "Spectrum", "spectrum_candidates"]

Array = NDArray[np.float64]
SPECTRA = ("sobolev", "matern", "heat")

# The grids of the automatic choice. Exponents 2s/d for "sobolev"; s for "matern"; ℓ²λ₁ for both that have a length
# scale, λ₁ the first non-constant *invariant* eigenvalue, because that is the scale a large group leaves.
_EXPONENTS = (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0)
_SMOOTHNESSES = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0)
_MATERN_LENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_MATERN_LENGTH = 0.3
_HEAT_LENGTHS = tuple(float(t) for t in np.geomspace(0.02, 10.0, 22))


@final
@dataclass(frozen=True)
class Spectrum:
    """The prior variance of a coefficient as a function of its eigenvalue λ.

    Attributes
    ----------
    name : {"sobolev", "matern", "heat"}
        D_λ^(−2s/d) as in the paper (D_λ counts all functions up to λ, invariant or not); (1 + ℓ²λ)^(−s); or
        exp(−ℓ²λ/2).
    smoothness : float or None
        s; None for "heat".
    length_scale : float or None
        ℓ; None for "sobolev".

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Sphere(3), max_eigenvalue=6)
    >>> Spectrum("sobolev", smoothness=1.0).values(basis).round(3)
    array([1.   , 0.25 , 0.25 , 0.25 , 0.111, 0.111, 0.111, 0.111, 0.111])
    """

    name: str
    smoothness: float | None = None
    length_scale: float | None = None

    def log_values(self, basis: InvariantBasis) -> Array:
        """The logarithm of `values`, which does not underflow."""  # (dim,)
        if self.name == "sobolev":
            assert self.smoothness is not None
            counts = np.cumsum([row.dim for row in basis.table]).astype(float)
            counts = np.repeat(counts, [row.invariant_dim for row in basis.table])
            return (-2.0 * self.smoothness / basis.space.dim) * np.log(counts)
        assert self.length_scale is not None
        scaled = self.length_scale**2 * basis.eigenvalues
        if self.name == "heat":
            return -0.5 * scaled
        assert self.smoothness is not None
        return -self.smoothness * np.log1p(scaled)

    def values(self, basis: InvariantBasis) -> Array:
        """The spectrum at each invariant function of `basis`."""  # (dim,)
        return np.exp(self.log_values(basis))

    def neighbours(self) -> list[Spectrum]:
        """Spectra between this one and the next on the grid, either way."""
        if self.name == "heat":
            assert self.length_scale is not None
            step = (_HEAT_LENGTHS[1] / _HEAT_LENGTHS[0]) ** 0.5  # one grid step, of ℓ
            return [replace(self, length_scale=self.length_scale * step**k) for k in (-2 / 3, -1 / 3, 1 / 3, 2 / 3)]
        assert self.smoothness is not None
        return [replace(self, smoothness=self.smoothness * factor) for factor in (0.9, 1.1)]


def spectrum_candidates(
    basis: InvariantBasis, name: str, smoothness: float | None, length_scale: float | None
) -> list[Spectrum]:
    """The spectra to choose from: one where everything is given.

    Parameters
    ----------
    basis : InvariantBasis
        Its first non-constant eigenvalue sets the scale of lengths, its space the dimension.
    name : {"auto", "sobolev", "matern", "heat"}
    smoothness, length_scale : float or None
        What is given is kept; "auto" then considers only the spectra that have such a parameter.
    """
    if name not in ("auto", *SPECTRA):
        raise ValueError(f"spectrum must be 'auto', {', '.join(map(repr, SPECTRA))}; got {name!r}")
    for label, value in (("smoothness", smoothness), ("length_scale", length_scale)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise ValueError(f"{label} must be positive and finite, or None to choose it; got {value!r}")
    if name == "sobolev" and length_scale is not None:
        raise ValueError("the 'sobolev' spectrum has no length scale: leave length_scale out, or take 'matern'")
    if name == "heat" and smoothness is not None:
        raise ValueError("the 'heat' spectrum has no smoothness (it is analytic): leave smoothness out")
    d = basis.space.dim
    first = float(basis.eigenvalues[min(1, basis.dim - 1)]) or 1.0
    found: list[Spectrum] = []
    if name in ("auto", "sobolev") and length_scale is None:
        values = [smoothness] if smoothness is not None else [0.5 * d * a for a in _EXPONENTS]
        found += [Spectrum("sobolev", smoothness=s) for s in values]
    if name in ("auto", "matern"):
        # Below d/2 functions are not even continuous, and nothing could be learned from values at points.
        usual = [s for s in _SMOOTHNESSES if s > d / 2] or [0.75 * d, d, 2.0 * d]
        values = [smoothness] if smoothness is not None else usual
        grid = _MATERN_LENGTHS if name == "matern" or smoothness is not None else (_MATERN_LENGTH,)
        lengths = [length_scale] if length_scale is not None else [(t / first) ** 0.5 for t in grid]
        found += [Spectrum("matern", smoothness=s, length_scale=l) for s in values for l in lengths]
    if name in ("auto", "heat") and smoothness is None:
        lengths = [length_scale] if length_scale is not None else [(t / first) ** 0.5 for t in _HEAT_LENGTHS]
        found += [Spectrum("heat", length_scale=l) for l in lengths]
    return found
