"""Spectra: how fast the penalty on a coefficient grows with the eigenvalue of its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from specavg._arrays import Array
from specavg._messages import shown

SPECTRA = ("sobolev", "matern", "heat", "product", "partition", "von mises")

# The grids of the automatic choice. "auto" is the two-parameter Matérn family: from kinks (small ν = s − d/2) to nearly
# analytic functions, of which "heat" is the limit s → ∞ at fixed sℓ² and a power of λ the limit ℓ → ∞. Lengths are
# t = 2sℓ²λ₁, which the heat spectrum shares (t = ℓ²λ₁ there); λ₁ is the first non-constant *invariant* eigenvalue,
# because that is the scale a large group leaves.
_ORDERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_LENGTHS = tuple(10.0 ** (k / 2) for k in range(-3, 4))
_HEAT_LENGTHS = tuple(10.0 ** (k / 8) for k in range(-13, 9))
_FEW_FIRST_SMOOTHNESSES = (0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)  # s = ℓ²/2 of e^(−sμ)
# "product": four methyl groups on a torus (benchmarks/accuracy_sets.py), whose energy is a sum over pairs and triples;
# orders and lengths as above, for one part. "partition": contrast functions on frames, sums of functions of a column.
_PRODUCT_ORDERS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PRODUCT_LENGTHS = (0.25, 1.0, 4.0, 16.0, 64.0)  # c = ℓ²λ₁
_BOX_PRICES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # s: nats of variance for a degree
_ROW_PRICES = (0.5, 1.0, 2.0, 4.0, 8.0)  # ℓ: nats of variance for a row
# "von mises": wells on lattices (benchmarks/accuracy_further_sets.py), exponentials of few waves. Without noise the
# best length lies in a narrow valley: with steps of √10 in κ errors on 19 problems were 1.03 of those with these.
_SHARPNESSES = tuple(10.0 ** (k / 4) for k in range(-8, 7))  # κ/λ₁ = 1/ℓ²λ₁, from nearly polynomial to nearly "heat"
_EXPONENTS = (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0)  # 2s/d of "sobolev"


class Levels(Protocol):
    """What a spectrum has to know of functions: an invariant basis says it of its own.

    Attributes
    ----------
    eigenvalues : ndarray of shape (dim,)
        λ of each function, increasing.
    counts : ndarray of shape (dim,)
        D_λ: how many functions there are up to and with the same eigenvalue, invariant or not.
    dimension : int
        d, of the space the functions live on.
    types : TypesOfFunctions or None
        What "product" and "partition" need: the parts of each function.
    von_mises : callable or None
        What "von mises" needs: κ = 1/ℓ² to the logarithm of each coefficient of the kernel.
    """

    eigenvalues: Array
    counts: Array
    dimension: int
    types: Any

    @property
    def von_mises(self) -> Callable[[float], Array] | None: ...


class TypesOfFunctions(Protocol):
    """The parts of functions: eigenvalues of their factors, or rows of a partition.

    Attributes
    ----------
    spectrum : str
        The family that is made for them: "product" or "partition".
    values : ndarray of shape (p,)
        One number for each part of each type.
    first : float
        The smallest eigenvalue of a part among the functions.
    """

    spectrum: str
    values: Array

    @property
    def first(self) -> float: ...
    def sums(self, values: Array) -> Array: ...


def is_positive(value: Any) -> bool:
    """Whether this is a number, positive and finite.

    Examples
    --------
    >>> is_positive(0.5), is_positive(np.inf), is_positive("auto"), is_positive(None)
    (True, False, False, False)
    """
    try:
        return not isinstance(value, str) and 0 < float(value) < np.inf
    except (TypeError, ValueError):
        return False


@final
@dataclass(frozen=True)
class Spectrum:
    """The prior variance of a coefficient as a function of its eigenvalue λ.

    Attributes
    ----------
    name : {"sobolev", "matern", "heat", "product", "partition", "von mises"}
        D_λ^(−2s/d) as in the paper (D_λ counts all functions up to λ, invariant or not); (1 + ℓ²λ)^(−s);
        exp(−ℓ²λ/2); ∏ (1 + ℓ²λ_i)^(−s) over the coordinates, copies or factors; on Stiefel manifolds
        exp(−s|κ| − ℓ rows(κ)) with κ the type of the function, a partition of its degree; or the coefficients of the
        kernel exp(−|e(x) − e(y)|²/2ℓ²), e the embedding by the first functions, relative to the constant's.
    smoothness : float or None
        s; None for "heat" and "von mises".
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

    def __post_init__(self) -> None:
        if self.name not in SPECTRA:
            raise ValueError(f"spectrum must be one of {', '.join(SPECTRA)}; got {self.name!r}")
        for label, value, needed in (
            ("smoothness", self.smoothness, self.name not in ("heat", "von mises")),
            ("length_scale", self.length_scale, self.name != "sobolev"),
        ):
            if (needed or value is not None) and not is_positive(value):
                raise ValueError(f"{label} must be positive and finite; got {shown(value)}")

    def logarithms(self, eigenvalues: Array, counts: Array, dimension: int) -> Array:
        """The logarithm of the spectrum, which does not underflow.

        Parameters
        ----------
        eigenvalues : ndarray of shape (k,)
            λ.
        counts : ndarray of shape (k,)
            D_λ.
        dimension : int
            d.
        """
        s, length = self.smoothness or 0.0, self.length_scale or 0.0
        if self.name == "sobolev":
            return (-2.0 * s / dimension) * np.log(np.asarray(counts, dtype=float))
        scaled = length**2 * eigenvalues
        return -0.5 * scaled if self.name == "heat" else -s * np.log1p(scaled)

    def log_values(self, levels: Levels) -> Array:
        """The logarithm of `values`."""  # (dim,)
        if self.name in ("product", "partition"):
            return self._of_types(levels.types)
        if self.name == "von mises":
            return self._of_kernel(levels)
        return self.logarithms(levels.eigenvalues, levels.counts, levels.dimension)

    def _of_kernel(self, levels: Levels) -> Array:
        if levels.von_mises is None:
            raise ValueError(
                "the 'von mises' spectrum is not known for these functions. On cubic tori, powers and products give "
                "order='type'; spheres, rotations, intervals and lattices of up to three dimensions have it in the "
                "order of eigenvalues too; elsewhere take 'matern'"
            )
        return levels.von_mises((self.length_scale or 1.0) ** -2)

    def _of_types(self, types: TypesOfFunctions | None) -> Array:
        if types is None or types.spectrum != self.name:
            raise ValueError(f"the {self.name!r} spectrum needs order='type', and {_TYPES[self.name]}")
        s, length = self.smoothness or 0.0, self.length_scale or 0.0
        if self.name == "product":
            return -s * types.sums(np.log1p(length**2 * types.values))
        return -types.sums(s * types.values + length)

    def values(self, levels: Levels) -> Array:
        """The spectrum at each function of an invariant basis, or of anything with the same `Levels`."""  # (dim,)
        return np.exp(self.log_values(levels))


_TYPES = {
    "product": "a cubic torus of two or more dimensions, a power or a product",
    "partition": "a Stiefel manifold",
}


def spectrum_candidates(
    levels: Levels, name: str, smoothness: float | None, length_scale: float | None, *, few_first: bool = False
) -> list[Spectrum]:
    """The spectra to choose from, the roughest first: one where everything is given.

    Parameters
    ----------
    levels : Levels
        The first non-constant eigenvalue sets the scale of lengths.
    name : {"auto", "sobolev", "matern", "heat", "product", "partition", "von mises"}
        "auto" is the Matérn family, which comes near "sobolev" and "heat", beside it "product" or "partition"
        where functions have types, and "von mises" where its series is known; with `few_first` it is "heat".
    smoothness, length_scale : float or None
        What is given is the same in all of them.
    few_first : bool, default False
        Whether functions of few coordinates come first: eigenvalues are then logarithms.
    """
    if name not in ("auto", *SPECTRA):
        raise ValueError(f"spectrum must be 'auto', {', '.join(map(repr, SPECTRA))}; got {name!r}")
    for label, value in (("smoothness", smoothness), ("length_scale", length_scale)):
        if value is not None and not is_positive(value):
            raise ValueError(f"{label} must be positive and finite, or None to choose it; got {shown(value)}")
    if name == "sobolev" and length_scale is not None:
        raise ValueError("the 'sobolev' spectrum has no length scale: leave length_scale out, or take 'matern'")
    if name in ("heat", "von mises") and smoothness is not None:
        raise ValueError(f"the {name!r} spectrum has no smoothness (it is analytic): leave smoothness out")
    d = levels.dimension
    first = float(levels.eigenvalues[min(1, len(levels.eigenvalues) - 1)]) or 1.0
    if name == "sobolev":
        return [Spectrum("sobolev", s) for s in _given_or(smoothness, [0.5 * d * a for a in _EXPONENTS])]
    if name == "heat" or (name == "auto" and few_first and smoothness is None):
        lengths = [(2 * s) ** 0.5 for s in _FEW_FIRST_SMOOTHNESSES]
        if not few_first:
            lengths = [(t / first) ** 0.5 for t in _HEAT_LENGTHS]
        return [Spectrum("heat", length_scale=length) for length in _given_or(length_scale, lengths)]
    if name == "product":
        first = levels.types.first if levels.types is not None else first
        return [
            Spectrum("product", s, length)
            for s in _given_or(smoothness, [0.5 + order for order in _PRODUCT_ORDERS])
            for length in _given_or(length_scale, [(c / first) ** 0.5 for c in _PRODUCT_LENGTHS])
        ]
    if name == "partition":
        rows = _given_or(length_scale, _ROW_PRICES)
        return [Spectrum("partition", s, price) for s in _given_or(smoothness, _BOX_PRICES) for price in rows]
    if name == "von mises":
        lengths = [(kappa * first) ** -0.5 for kappa in _SHARPNESSES]
        return [Spectrum("von mises", length_scale=length) for length in _given_or(length_scale, lengths)]
    if name == "auto" and smoothness is None and length_scale is None:
        names = ["matern"] if levels.types is None else ["matern", levels.types.spectrum]
        if levels.von_mises is not None:
            names.append("von mises")
        return [spectrum for each in names for spectrum in spectrum_candidates(levels, each, None, None)]
    # Below d/2 functions are not even continuous, and nothing could be learned from values at points.
    return [
        Spectrum("matern", s, length)
        for s in _given_or(smoothness, [0.5 * d + order for order in _ORDERS])
        for length in _given_or(length_scale, [(t / (2 * s * first)) ** 0.5 for t in _LENGTHS])
    ]


def _given_or(value: float | None, grid: Sequence[float]) -> Sequence[float]:
    return grid if value is None else [value]


@final
@dataclass(frozen=True)
class Grid:
    """The candidates of one family: the smoothness grows from row to row, the length from column to column.

    Attributes
    ----------
    spectra : tuple of Spectrum
        Row after row.
    columns : int
    """

    spectra: tuple[Spectrum, ...]
    columns: int

    def coarse(self) -> list[Spectrum]:
        """Every second row, and the last; all of a small grid; of a single row, every second candidate.

        All columns of several rows, since without noise the best length lies in a narrow valley.
        """
        if len(self.spectra) <= _SMALL_GRID:
            return list(self.spectra)
        if len(self.spectra) == self.columns:
            return list(self.spectra[::2])
        last = len(self.spectra) // self.columns - 1
        return [s for k, s in enumerate(self.spectra) if k // self.columns % 2 == 0 or k // self.columns == last]

    def around(self, spectrum: Spectrum) -> list[Spectrum]:
        """A candidate and its neighbours."""
        row, column = divmod(self.spectra.index(spectrum), self.columns)
        near = [divmod(k, self.columns) for k in range(len(self.spectra))]
        return [s for s, (i, j) in zip(self.spectra, near, strict=True) if max(abs(i - row), abs(j - column)) <= 1]


_SMALL_GRID = 12  # candidates, which are all tried


def grids_of(candidates: Sequence[Spectrum]) -> list[Grid]:
    """The families among candidates, as `spectrum_candidates` lists them."""
    families: dict[str, list[Spectrum]] = {}
    for spectrum in candidates:
        families.setdefault(spectrum.name, []).append(spectrum)
    grids: list[Grid] = []
    for members in families.values():
        rows = len({spectrum.smoothness for spectrum in members})
        regular = len(members) % rows == 0
        grids.append(Grid(tuple(members), len(members) // rows if regular else len(members)))
    return grids
