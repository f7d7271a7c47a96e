"""Tensors whose entries obey index symmetries, such as T_ij = T_ji, and how linear maps move them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import ascii_lowercase
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._config import require_memory
from specavg.isometries import Orthogonal, SignedPermutation
from specavg.isometries._linear import exact_signed

Exchange = tuple[tuple[int, ...], int]
"""A permutation of the indices, and the sign that the entry gets."""

_PART = re.compile(r"([+-]?)([a-z]+)")
_FEW = 1000  # components of a tensor without symmetries: its matrix then takes 8 MB at most
_AT_ONCE = 4_000_000  # entries of tensors that are moved at once: 32 MB
_OBEYED = 1e-6  # of the largest entry: what six digits of a file leave of an equation between entries
_MOST_INDICES = 8  # 8! = 40,320 exchanges of indices are listed in a fraction of a second


_VOIGT_PAIRS = np.array([(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)])
_VOIGT_NUMBERS = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])


@final
@dataclass(frozen=True)
class IndexSymmetry:
    """The tensors of one rank that obey given equations between their entries.

    The unit tensors e_i ⊗ e_j ⊗ … fall into orbits under the exchanges of indices. Each orbit whose signs agree gives
    one element of an orthonormal basis: the sum of its unit tensors with their signs, divided by the square root of
    their number. Coefficients in this basis are the *components* of a tensor: for a symmetric matrix its diagonal
    and √2 times its upper triangle (Kelvin and Mandel's convention), so that the norm is that of the tensor.

    Parameters
    ----------
    exchanges : tuple of (tuple of int, int)
        The group of exchanges, sorted: T[i_0, i_1, …] = sign · T[i_image[0], i_image[1], …].
    size : int
        How many values an index takes, d.

    Examples
    --------
    >>> symmetric = index_symmetry("ij=ji", 3)
    >>> symmetric.dim, symmetric.entries.tolist()
    (6, [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]])
    >>> symmetric.components([[1.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, 3.0]]).round(4)
    array([1.    , 2.8284, 0.    , 5.    , 0.    , 3.    ])
    """

    exchanges: tuple[Exchange, ...]
    size: int

    @property
    def rank(self) -> int:
        """How many indices a tensor has."""
        return len(self.exchanges[0][0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a tensor."""
        return (self.size,) * self.rank

    @property
    def dim(self) -> int:
        """How many components a tensor has."""
        return len(self._first)

    @property
    def entries(self) -> NDArray[np.intp]:
        """The first entry of each component, in the order of the components."""  # (dim, rank)
        return np.stack(np.unravel_index(self._first, self.shape), axis=1)

    @cached_property
    def _orbits(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The component of each unit tensor (-1: none), its sign, and the first unit tensor of each component."""
        count = self.size**self.rank
        require_memory(
            8.0 * (6 + self.rank) * count,
            f"listing the {count} entries of a tensor of rank {self.rank} in {self.size} dimensions",
            "Take a lower rank.",
        )
        own = np.arange(count)
        if len(self.exchanges) == 1:  # every unit tensor is a component by itself
            return own, np.ones_like(own), own
        indices = np.stack(np.unravel_index(own, self.shape))  # (rank, d^rank)
        least, sign = own.copy(), np.ones(count, dtype=np.int64)
        alive = np.ones(count, dtype=bool)
        for image, s in self.exchanges:
            moved = np.asarray(np.ravel_multi_index(tuple(indices[list(image)]), self.shape))
            alive &= (moved != own) | (s == 1)  # T = −T means T = 0
            better = moved < least
            least[better], sign[better] = moved[better], s
        first = own[alive & (least == own)]
        component = np.full(count, -1, dtype=np.int64)
        component[first] = np.arange(len(first))
        return component[least], sign, first

    @property
    def _first(self) -> NDArray[np.int64]:
        return self._orbits[2]

    @cached_property
    def _weights(self) -> Array:
        """The entry of each unit tensor in its basis tensor."""  # (d^rank,)
        component, sign, first = self._orbits
        if len(self.exchanges) == 1:
            return np.ones(len(first))
        sizes = np.bincount(component[component >= 0], minlength=len(first))
        return np.where(component >= 0, sign / np.sqrt(np.maximum(sizes, 1))[component], 0.0)

    @property
    def entry_weights(self) -> Array:
        """The value of the first entry of a tensor whose component is 1, for each component."""  # (dim,)
        return self._weights[self._first]

    def components(self, tensors: ArrayLike) -> Array:
        """The components of tensors that obey the equations; others are refused."""  # (..., d, d, ...) -> (..., dim)
        return self.components_of_nearest(self._checked(tensors))

    def components_of_nearest(self, T: Array) -> Array:
        """The components of the nearest tensors that obey the equations."""
        flat = T.reshape(-1, self.size**self.rank) * self._weights
        component, used = self._orbits[0], self._orbits[0] >= 0
        found = np.zeros((len(flat), self.dim))
        np.add.at(found.T, component[used], flat.T[used])
        return found.reshape(*T.shape[: T.ndim - self.rank], self.dim)

    def _checked(self, tensors: ArrayLike) -> Array:
        """Tensors that obey the equations, as an array; others are refused."""
        T = np.asarray(tensors, dtype=float)
        if T.shape[T.ndim - self.rank :] != self.shape:
            raise ValueError(f"tensors of rank {self.rank} end with the shape {self.shape}; got shape {T.shape}")
        off, largest = self._off(T)
        if off > _OBEYED * largest:
            raise ValueError(
                f"the tensors do not obey the exchanges of their indices: the nearest that do differ by {off:.3g}, and "
                f"the largest entry is {largest:.3g}. Take their mean over the exchanges first, for 'ij=ji' "
                "(T + T.swapaxes(-1, -2)) / 2, or name the symmetry that they have."
            )
        return T

    def tensors(self, components: ArrayLike) -> Array:
        """The tensors with these components."""  # (..., dim) -> (..., d, d, ...)
        c = np.asarray(components, dtype=float)
        if c.ndim == 0 or c.shape[-1] != self.dim:
            raise ValueError(f"tensors have {self.dim} components here; got shape {c.shape}")
        return (c[..., self._orbits[0]] * self._weights).reshape(*c.shape[:-1], *self.shape)

    def voigt(self, tensors: ArrayLike) -> Array:
        """Tensors as matrices with Voigt's numbers: xx, yy, zz, yz, xz, xy are 1 to 6, for each symmetric pair.

        Entries are those of the tensors, without factors: stresses, stiffnesses C_IJ and piezoelectric e_iJ are so.
        (Strains have 2 in the last three, compliances 2 and 4, piezoelectric d_iJ 2.)

        Parameters
        ----------
        tensors : array-like of shape (..., 3, 3, ...)
            They must obey the equations, as for `components`.

        Returns
        -------
        ndarray of shape (..., 6), (..., 3, 6), (..., 6, 6), ...
            6 for each pair of neighbouring indices that may be exchanged, and 3 for each other index.

        Examples
        --------
        >>> isotropic = np.einsum("ij,kl->ijkl", np.eye(3), np.eye(3))
        >>> index_symmetry("ijkl=jikl=klij", 3).voigt(isotropic)[:4, :4]
        array([[1., 1., 1., 0.],
               [1., 1., 1., 0.],
               [1., 1., 1., 0.],
               [0., 0., 0., 0.]])
        """
        T = self._checked(tensors)
        parts, at = self._voigt_parts(), list[NDArray[np.intp]]()
        for k, part in enumerate(parts):
            indices = _VOIGT_PAIRS.T if len(part) == 2 else np.arange(3)[None]
            at += [i.reshape(-1, *[1] * (len(parts) - 1 - k)) for i in indices]
        return T[(..., *at)]

    def from_voigt(self, matrices: ArrayLike) -> Array:
        """The tensors with these entries in Voigt's numbers: what `voigt` makes of them.

        Matrices must obey the equations: that of a stiffness is symmetric, with both of its triangles.
        """
        V, parts = np.asarray(matrices, dtype=float), self._voigt_parts()
        shape = tuple(6 if len(part) == 2 else 3 for part in parts)
        if V.shape[max(V.ndim - len(shape), 0) :] != shape:
            raise ValueError(f"these tensors have the shape {shape} in Voigt's numbers; got shape {V.shape}")
        at: list[NDArray[np.intp]] = []
        for part in parts:
            indices = _VOIGT_NUMBERS if len(part) == 2 else np.arange(3)
            at.append(indices.reshape(*indices.shape, *[1] * (self.rank - 1 - part[-1])))
        T = V[(..., *at)]
        off, largest = self._off(T)
        if off > _OBEYED * largest:
            raise ValueError(
                f"the tensor of this matrix does not obey the exchanges of its indices: the nearest that does differs "
                f"by {off:.3g}, and the largest entry is {largest:.3g}. Where V is symmetric, give both triangles: of "
                "an upper one they are V + V.T - np.diag(np.diag(V))."
            )
        return T

    def _off(self, T: Array) -> tuple[float, float]:
        """How far tensors are from the nearest that obey the equations, and their largest entry."""
        nearest = self.tensors(self.components_of_nearest(T))
        return float(np.abs(nearest - T).max(initial=0.0)), float(np.abs(T).max(initial=0.0))

    def _voigt_parts(self) -> list[tuple[int, ...]]:
        """The indices, symmetric neighbours in pairs, from the last to the first: e_ijk is a matrix of 3 × 6."""
        parts: list[tuple[int, ...]] = []
        last = self.rank - 1
        while last >= 0:
            swapped = (*range(last - 1), last, last - 1, *range(last + 1, self.rank))
            pair = last > 0 and (swapped, 1) in self.exchanges
            parts.append((last - 1, last) if pair else (last,))
            last -= 1 + pair
        if self.size != 3 or not any(len(part) == 2 for part in parts):
            raise ValueError(
                "Voigt's numbers stand for symmetric pairs of indices in three dimensions: these tensors have "
                f"{self.size} dimensions"
                + ("" if self.size != 3 else ", and no neighbouring indices that may be exchanged")
            )
        return parts[::-1]

    def moved(self, g: SignedPermutation | Orthogonal, sign: int = 1) -> SignedPermutation | Orthogonal:
        """`sign` times the map T ↦ (g ⊗ g ⊗ …) T on components; exact for signed permutations."""
        if g.size != self.size:
            raise ValueError(f"{g!r} moves vectors of {g.size} entries; the tensors have {self.size} in each index")
        signed = g if isinstance(g, SignedPermutation) else exact_signed(g.matrix)
        if signed is not None:
            return self._permuted(signed, sign)
        self._require_matrix()
        if len(self.exchanges) == 1 and self.dim <= _FEW:  # g ⊗ g ⊗ … itself
            R, moved = g.matrix, g.matrix
            for _ in range(self.rank - 1):
                d = len(moved) * self.size
                moved = (moved[:, None, :, None] * R[:, None, :]).reshape(d, d)
            return Orthogonal(sign * moved)  # orthogonal as g is, and no signed permutation as g is none: no check
        moved = np.zeros((self.dim, self.dim))
        for some in np.array_split(np.arange(self.dim), max(1, self.dim * self.size**self.rank // _AT_ONCE)):
            unit = np.zeros((len(some), self.dim))
            unit[np.arange(len(some)), some] = 1.0
            moved[:, some] = self.moved_components(g.matrix, unit).T
        return exact_signed(sign * moved) or Orthogonal(sign * moved)

    def moved_components(self, R: Array, components: Array) -> Array:
        """The components of (R ⊗ R ⊗ …) T for tensors T by their components; no matrix of all of them is made."""
        T = self.tensors(components)  # (k, d, d, ...)
        for axis in range(1, self.rank + 1):
            T = np.moveaxis(np.tensordot(T, R, axes=(axis, 1)), -1, axis)
        return self.components_of_nearest(T)  # (k, dim)

    def velocity(self, A: Array) -> Array:
        """The derivative of `moved` along exp(tA): A acts on one index after the other, and the results add up."""
        self._require_matrix()
        row, column, value = self.velocity_entries(A, np.arange(self.dim))
        found = np.zeros((self.dim, self.dim))
        np.add.at(found, (row, column), value)
        return (found - found.T) / 2

    def velocity_entries(
        self, A: NDArray[Any], components: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
        """The entries of some columns of `velocity`: their rows, the numbers of the columns, and values that add up.

        The basis tensor of a component is √(size of its orbit) times the mean of its first unit tensor over the
        exchanges of indices, which commute with the map: the images of this unit tensor alone show all of the column.
        """
        component, _, first = self._orbits
        start, scale = first[components], 1.0 / self.entry_weights[components]
        rows: list[NDArray[np.intp]] = []
        columns: list[NDArray[np.intp]] = []
        values: list[NDArray[Any]] = []
        for axis in range(self.rank):
            step = self.size ** (self.rank - 1 - axis)
            i = start // step % self.size
            for k in range(self.size):
                word = start + (k - i) * step
                value = scale * A[k, i] * self._weights[word]
                at = np.flatnonzero(value)  # components that signs make zero have the weight zero
                rows.append(component[word[at]])
                columns.append(at)
                values.append(value[at])
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)

    def relabelled(self, image: NDArray[np.intp], components: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
        """Where components go as the values i of all indices become image[i], and with what signs."""
        component, sign, first = self._orbits
        word = np.zeros(len(components), dtype=np.int64)
        for i in np.unravel_index(first[components], self.shape):
            word = word * self.size + image[i]
        return component[word], sign[word].astype(float)

    def _require_matrix(self) -> None:
        """Refuse a matrix of all components that does not fit, with the two copies that are made on the way."""
        require_memory(
            8.0 * 3 * self.dim**2,
            f"the {self.dim} x {self.dim} matrix of a map of tensors of rank {self.rank} in {self.size} dimensions",
            "Take a lower rank, or more index symmetries.",
        )

    def _permuted(self, g: SignedPermutation, sign: int) -> SignedPermutation:
        # ((g ⊗ g …) T)[i, j, …] = s_i s_j … T[image i, image j, …]
        component, signs, first = self._orbits
        indices = np.unravel_index(first, self.shape)
        source, s = np.zeros(len(first), dtype=np.int64), np.full(len(first), sign)
        for i in indices:
            source = source * self.size + g.image_array[i]
            s = s * g.signs_array[i].astype(np.int64)
        return SignedPermutation(tuple(component[source].tolist()), tuple((s * signs[source]).tolist()))


@lru_cache(maxsize=64)
def index_symmetry(equations: str, size: int) -> IndexSymmetry:
    """The index symmetries written as equations.

    The `components` of a tensor are in the order of its entries, row by row, each at its first entry (`entries` lists
    them), times the square root of how many entries it stands for. For ``"ij=ji"`` in three dimensions they are
    T_xx, √2 T_xy, √2 T_xz, T_yy, √2 T_yz, T_zz. Voigt's order is xx, yy, zz, yz, xz, xy, without the √2: make
    matrices first, ``components(from_voigt(numbers))``. (Of strains Voigt's last three are 2ε_yz, 2ε_xz, 2ε_xy.)

    Parameters
    ----------
    equations : str
        The indices in order (i, j, k, …), and what they equal: ``"ij=ji"`` (symmetric), ``"ij=-ji"`` (antisymmetric),
        ``"ijkl=jikl=klij"`` (elastic), ``"ijk"`` (no symmetry). Every part is compared with the first one.
    size : int
        How many values an index takes.

    Examples
    --------
    >>> [index_symmetry(s, 3).dim for s in ("ij", "ij=ji", "ij=-ji", "ijkl=jikl=klij")]
    [9, 6, 3, 21]
    >>> symmetric, stress = index_symmetry("ij=ji", 3), np.arange(6.0)  # xx, yy, zz, yz, xz, xy
    >>> symmetric.components(symmetric.from_voigt(stress)).round(3)
    array([0.   , 7.071, 5.657, 1.   , 4.243, 2.   ])
    """
    symmetry = IndexSymmetry(index_exchanges(equations), size)
    if symmetry.dim == 0:
        raise ValueError(f"only the zero tensor obeys {equations!r} in {size} dimensions")
    return symmetry


@lru_cache(maxsize=64)
def index_exchanges(equations: str) -> tuple[Exchange, ...]:
    """The group of exchanges of indices that equations generate, sorted."""
    plain = "".join(equations.split()).replace("\N{MINUS SIGN}", "-")  # copied from a page, the two look alike
    parts = [_PART.fullmatch(part) for part in plain.split("=")]
    if not parts or any(part is None for part in parts) or parts[0][1]:  # type: ignore[index]
        raise ValueError(f"{equations!r} are no index symmetries: write for instance 'ij=ji', 'ij=-ji' or 'ijk=ikj'")
    words = [(-1 if part[1] == "-" else 1, part[2]) for part in parts if part is not None]
    letters = words[0][1]
    successive = letters in ascii_lowercase and len(letters) <= _MOST_INDICES  # misspelled outputs are no tensors
    if not successive or any(sorted(word) != list(letters) for _, word in words):
        raise ValueError(
            f"{equations!r} are no index symmetries: the first part must be at most {_MOST_INDICES} successive letters "
            "in order, as 'ijk' or 'abcd', and every other part the same letters exchanged, as in 'ijk=ikj'"
        )
    found = {(tuple(range(len(letters))), 1)}
    given = [(tuple(letters.index(letter) for letter in word), sign) for sign, word in words[1:]]
    new = found
    while new:
        new = {(tuple(a[i] for i in b), s * t) for a, s in new for b, t in given} - found
        found = found | new
    return tuple(sorted(found, key=lambda e: (e[0], -e[1])))
