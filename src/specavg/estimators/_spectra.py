"""Spectra: how fast the penalty on a coefficient grows with the eigenvalue of its function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from specavg.invariants import InvariantBasis

__all__ = ["SPECTRA", "Spectrum", "SpectrumGrid"]

Array = NDArray[np.float64]
SPECTRA = ("sobolev", "matern", "heat")

# The grids of the automatic choice. "auto" is the two-parameter Matérn family: from kinks (small ν = s − d/2) to nearly
# analytic functions, of which "heat" is the limit s → ∞ at fixed sℓ² and a power of λ the limit ℓ → ∞. Lengths are
# t = 2sℓ²λ₁, which the heat spectrum shares (t = ℓ²λ₁ there); λ₁ is the first non-constant *invariant* eigenvalue,
# because that is the scale a large group leaves.
_ORDERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_LENGTHS = tuple(10.0 ** (k / 2) for k in range(-3, 4))
_HALF_STEPS = (10.0**-0.25, 1.0, 10.0**0.25)
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


@final
@dataclass(frozen=True)
class SpectrumGrid:
    """The spectra to choose from; what the user gave is the same in all of them.

    Parameters
    ----------
    name : {"auto", "sobolev", "matern", "heat"}
        "auto" is the Matérn family, which comes near the others.
    smoothness, length_scale : float or None
        None: to be chosen.
    dim : int
        Of the space.
    first : float
        The first non-constant invariant eigenvalue: it sets the scale of lengths.
    """

    name: str
    smoothness: float | None
    length_scale: float | None
    dim: int
    first: float

    @classmethod
    def of(cls, basis: InvariantBasis, name: str, smoothness: float | None, length_scale: float | None) -> SpectrumGrid:
        """For an invariant basis; refuses what does not fit together."""
        if name not in ("auto", *SPECTRA):
            raise ValueError(f"spectrum must be 'auto', {', '.join(map(repr, SPECTRA))}; got {name!r}")
        for label, value in (("smoothness", smoothness), ("length_scale", length_scale)):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise ValueError(f"{label} must be positive and finite, or None to choose it; got {value!r}")
        if name == "sobolev" and length_scale is not None:
            raise ValueError("the 'sobolev' spectrum has no length scale: leave length_scale out, or take 'matern'")
        if name == "heat" and smoothness is not None:
            raise ValueError("the 'heat' spectrum has no smoothness (it is analytic): leave smoothness out")
        first = float(basis.eigenvalues[min(1, basis.dim - 1)]) or 1.0
        return cls(name, smoothness, length_scale, basis.space.dim, first)

    @property
    def one(self) -> bool:
        """Whether everything is given."""
        return len(self.spectra()) == 1

    def spectra(self) -> list[Spectrum]:
        """All of them; one where everything is given."""
        if self.name == "sobolev":
            return self._sobolev([0.5 * self.dim * a for a in _EXPONENTS])
        if self.name == "heat":
            return self._heat(_LENGTHS)
        # Below d/2 functions are not even continuous, and nothing could be learned from values at points.
        return self._matern([0.5 * self.dim + order for order in _ORDERS], _LENGTHS)

    def around(self, spectrum: Spectrum) -> list[Spectrum]:
        """Half a step away from one of them; none where everything is given."""
        s, length = spectrum.smoothness, spectrum.length_scale
        if length is None:
            assert s is not None
            found = self._sobolev([s * factor for factor in (0.9, 1.1)])
        elif s is None:
            found = self._heat([length**2 * self.first * step for step in _HALF_STEPS])
        else:
            orders = [(s - 0.5 * self.dim) * step for step in (0.5**0.5, 1.0, 2**0.5)]
            found = self._matern(
                [0.5 * self.dim + order for order in orders], [2 * s * length**2 * self.first * t for t in _HALF_STEPS]
            )
        return [near for near in found if near != spectrum]

    def _sobolev(self, smoothnesses: Sequence[float]) -> list[Spectrum]:
        return [Spectrum("sobolev", smoothness=s) for s in _given_or(self.smoothness, smoothnesses)]

    def _heat(self, lengths: Sequence[float]) -> list[Spectrum]:
        ells = [(t / self.first) ** 0.5 for t in lengths]
        return [Spectrum("heat", length_scale=ell) for ell in _given_or(self.length_scale, ells)]

    def _matern(self, smoothnesses: Sequence[float], lengths: Sequence[float]) -> list[Spectrum]:
        found: list[Spectrum] = []
        for s in _given_or(self.smoothness, smoothnesses):
            ells = [(t / (2 * s * self.first)) ** 0.5 for t in lengths]
            found += [Spectrum("matern", s, ell) for ell in _given_or(self.length_scale, ells)]
        return found


def _given_or(value: float | None, grid: Sequence[float]) -> Sequence[float]:
    return grid if value is None else [value]
