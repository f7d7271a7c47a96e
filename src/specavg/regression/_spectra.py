"""Spectra: how fast the penalty on a coefficient grows with the eigenvalue of its function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["SPECTRA", "Spectrum", "spectrum_candidates"]

Array = NDArray[np.float64]
SPECTRA = ("sobolev", "matern", "heat")

# The grids of the automatic choice. "auto" is the two-parameter Matérn family: from kinks (small ν = s − d/2) to nearly
# analytic functions, of which "heat" is the limit s → ∞ at fixed sℓ² and a power of λ the limit ℓ → ∞. Lengths are
# t = 2sℓ²λ₁, which the heat spectrum shares (t = ℓ²λ₁ there); λ₁ is the first non-constant *invariant* eigenvalue,
# because that is the scale a large group leaves.
_ORDERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_LENGTHS = tuple(10.0 ** (k / 2) for k in range(-3, 4))
_HEAT_LENGTHS = tuple(10.0 ** (k / 8) for k in range(-13, 9))
_MIXED_SMOOTHNESSES = (0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)  # s = ℓ²/2 of e^(−sμ)
_EXPONENTS = (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0)  # 2s/d of "sobolev"


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


def spectrum_candidates(
    basis: InvariantBasis, name: str, smoothness: float | None, length_scale: float | None
) -> list[Spectrum]:
    """The spectra to choose from, the roughest first: one where everything is given.

    Parameters
    ----------
    basis : InvariantBasis
        Its first non-constant eigenvalue sets the scale of lengths, its space the dimension.
    name : {"auto", "sobolev", "matern", "heat"}
        "auto" is the Matérn family, which comes near the others; where functions of few coordinates come first
        (`InvariantBasis.order`) it is "heat".
    smoothness, length_scale : float or None
        What is given is the same in all of them.
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
    if name == "sobolev":
        return [Spectrum("sobolev", s) for s in _given_or(smoothness, [0.5 * d * a for a in _EXPONENTS])]
    logarithmic = basis.order.logarithmic
    if name == "heat" or (name == "auto" and logarithmic and smoothness is None):
        lengths = [(2 * s) ** 0.5 for s in _MIXED_SMOOTHNESSES]
        if not logarithmic:
            lengths = [(t / first) ** 0.5 for t in _HEAT_LENGTHS]
        return [Spectrum("heat", length_scale=length) for length in _given_or(length_scale, lengths)]
    # Below d/2 functions are not even continuous, and nothing could be learned from values at points.
    return [
        Spectrum("matern", s, length)
        for s in _given_or(smoothness, [0.5 * d + order for order in _ORDERS])
        for length in _given_or(length_scale, [(t / (2 * s * first)) ** 0.5 for t in _LENGTHS])
    ]


def _given_or(value: float | None, grid: Sequence[float]) -> Sequence[float]:
    return grid if value is None else [value]
