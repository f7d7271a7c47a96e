"""The tensors that a group leaves alone: Neumann's principle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array, as_given
from specavg._config import require_memory
from specavg._html import facts_html
from specavg._messages import shown
from specavg._reporting import reported
from specavg.groups import Group, representation
from specavg.groups._cell_axes import require_known_axes
from specavg.groups._given_generators import not_a_group
from specavg.groups._index_symmetry import IndexSymmetry, index_symmetry
from specavg.groups._linear_part import determinant, linear_part, linear_velocity
from specavg.groups._named_outputs import output_kind
from specavg.invariants._certified_null_space import FixedSpace
from specavg.invariants._fixed_space import fixed_space
from specavg.invariants._fixed_tensors import fixed_tensors

# A column whose part outside of the earlier ones is smaller than this depends on them. Entries of invariant tensors
# are of order one, so there is nothing between rounding (1e-14) and a few hundredths.
_DEPENDENT = 1e-8
_VOIGT = {(0, 0): 1, (1, 1): 2, (2, 2): 3, (1, 2): 4, (0, 2): 5, (0, 1): 6}
# Index symmetries that have customary names, by rank: how many exchanges of indices there are, a letter, and which
# indices one Voigt number stands for.
_CUSTOMARY: dict[int, tuple[str, int, str, tuple[slice, ...]]] = {
    2: ("ij=ji", 2, "eps", ()),
    3: ("ijk=ikj", 2, "e", (slice(1, 3),)),
    4: ("ijkl=jikl=klij", 8, "C", (slice(0, 2), slice(2, 4))),
    6: ("ijklmn=jiklmn=klijmn=klmnij", 48, "C", (slice(0, 2), slice(2, 4), slice(4, 6))),
}
_FACTORS = (  # what to do with the entries that textbooks give of tensors which have others
    ". For d and S entries are those of the tensor too, without the factors 2 and 4 of Voigt's notation: give d14/2, "
    "S14/2 and S44/4 under the names above"
)


@final
@dataclass(frozen=True, eq=False)
class InvariantTensors:
    """An orthonormal basis of the tensors that a group leaves alone. It behaves as the array `tensors`.

    Attributes
    ----------
    tensors : ndarray of shape (dim, d, d, ...)
        The basis, orthonormal under the sum of products of entries.
    names : tuple of str
        Entries that determine the whole tensor, as many as the basis has elements. In three dimensions elastic
        constants are called ``C11`` … ``C66``, third-order ones ``C111`` …, piezoelectric ones ``e11`` … ``e36``
        (Voigt's numbers; each is an entry of the tensor, without factors), symmetric matrices ``eps11`` …, and any
        other entry ``T`` with its indices counted from 1.
    solver : str
        "orbits" (exact) or "null space".
    residual : float
        How far a generator moves an element of the basis, at most.

    Examples
    --------
    >>> import specavg as sa
    >>> from specavg import groups
    >>> elastic = sa.invariant_tensors(groups.point_group("Oh"), "ijkl=jikl=klij")
    >>> elastic.shape, elastic.names
    ((3, 3, 3, 3, 3), ('C11', 'C12', 'C44'))
    >>> copper = elastic.tensor(C11=168.4, C12=121.4, C44=75.4)
    >>> copper[[0, 1], [0, 2], [1, 2], [1, 1]]  # C12 and C44
    array([121.4,  75.4])
    """

    tensors: Array
    solver: str
    residual: float
    _index: IndexSymmetry

    @cached_property
    def _chosen(self) -> list[int]:
        """The components of the independent entries, in the order of their names."""
        labels = _Labels(self._index)
        found = _independent(self._entries, labels.order, exact=self.solver == "orbits")
        return sorted(found, key=labels.label)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The independent entries."""
        labels = _Labels(self._index)
        return tuple(labels.name(i) for i in self._chosen)

    @property
    def _components(self) -> Array:
        return self._index.components(self.tensors)  # (dim, number of components)

    @property
    def _entries(self) -> Array:
        """The first entry of each component."""
        return self._components * self._index.entry_weights

    @cached_property
    def _from_entries(self) -> Array:
        """The tensors with one independent entry equal to 1 and the others 0."""
        found = self._index.tensors(np.linalg.solve(self._entries[:, self._chosen], self._components))
        return np.rint(found) if self.solver == "orbits" else found  # each entry is zero, or ± an independent one

    @property
    def dim(self) -> int:
        """Number of independent entries."""
        return len(self.tensors)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `tensors`."""
        return self.tensors.shape

    def __len__(self) -> int:
        return len(self.tensors)

    def __getitem__(self, index: Any) -> Any:
        return self.tensors[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return as_given(self.tensors, dtype, copy)

    def tensor(self, **entries: float) -> Array:
        """The invariant tensor with these independent entries, one for each of `names`."""  # (d, d, ...)
        if set(entries) != set(self.names):
            raise ValueError(
                f"give each of the independent entries {', '.join(self.names)}; got {', '.join(entries)}"
                + (_FACTORS if any(name[:1] in "dS" for name in entries) else "")
            )
        several = [name for name in self.names if np.ndim(entries[name])]
        if several:
            raise ValueError(
                f"every entry is one number, and {several[0]} has the shape {np.shape(entries[several[0]])}: make one "
                "tensor after the other"
            )
        for name in self.names:
            if np.asarray(entries[name]).dtype.kind in "USc" or not hasattr(entries[name], "__float__"):
                raise TypeError(
                    f"every entry is a number, and {name} is {shown(entries[name])}"
                    + (f": give float({name})" if isinstance(entries[name], str) else "")
                )
        return np.tensordot([float(entries[name]) for name in self.names], self._from_entries, axes=1)

    def voigt(self, **entries: float) -> Array:
        """The tensor with these entries as a matrix with Voigt's numbers: 6 × 6 if elastic, 3 × 6 if piezoelectric.

        Without entries: that of each of `tensors`, which are orthonormal under the sum of products of all entries (√2/2
        for one of two that are equal).

        Examples
        --------
        >>> from specavg import groups
        >>> elastic = invariant_tensors(groups.point_group("6/mmm"), "ijkl=jikl=klij")
        >>> elastic.voigt(C11=162.0, C12=92.0, C13=69.0, C33=181.0, C44=47.0).round(6)  # titanium, in GPa
        array([[162.,  92.,  69.,   0.,   0.,   0.],
               [ 92., 162.,  69.,   0.,   0.,   0.],
               [ 69.,  69., 181.,   0.,   0.,   0.],
               [  0.,   0.,   0.,  47.,   0.,   0.],
               [  0.,   0.,   0.,   0.,  47.,   0.],
               [  0.,   0.,   0.,   0.,   0.,  35.]])
        """  # (6, 6), or (dim, 6, 6)
        return self._index.voigt(self.tensor(**entries) if entries else self.tensors)

    def __repr__(self) -> str:
        return f"InvariantTensors(<{self.dim} of shape {self.shape[1:]}>, names={list(self.names)})"

    def _repr_html_(self) -> str:  # pyright: ignore[reportUnusedFunction]
        facts = [("tensors", f"{self.dim} of shape {self.shape[1:]}"), ("independent entries", ", ".join(self.names))]
        return facts_html("InvariantTensors", facts)


def invariant_tensors(group: Group, symmetries: str, *, lattice: ArrayLike | None = None) -> InvariantTensors:
    """The tensors T with (g ⊗ g ⊗ …) T = T for every g: what a material with this symmetry can have.

    Parameters
    ----------
    group : Group
        The group: a point group, or any other whose elements move vectors by a matrix.
    symmetries : str
        The index symmetries of the tensor: ``"ij=ji"`` (dielectric), ``"ijk=ikj"`` (piezoelectric),
        ``"ijkl=jikl=klij"`` (elastic), ``"ij"`` (none), or the name ``"vector"``. ``"axial "`` before it multiplies by
        det g (``"axial ij=ji"``: optical activity). One to eight indices: of numbers, every scalar is left alone,
        and a pseudoscalar where no element has the determinant −1.
    lattice : array_like of shape (d, d), optional
        Lattice vectors as rows, where the group acts on fractional coordinates (space groups).

    Returns
    -------
    InvariantTensors
        Exact (from orbits of entries) where every generator is a signed permutation, else from a certified null space.

    Raises
    ------
    MemoryError
        Where the work would not fit in `sa.config(memory_limit=...)`; the message says what and how large.

    Notes
    -----
    In d dimensions a tensor of rank r has d^r entries, fewer components with index symmetries. Signed permutations
    take a few passes over the components. Other generators of a group without fields take dense matrices of all m
    components: the memory grows with m² and the time with m³ (m = 2,000 takes seconds). With fields, a generic one
    leaves only N components of weight zero, and the time grows with N³: SO(7) and rank 5 have N = 511 of 16,807 and
    take 0.2 s, O(4) and rank 8 have N = 4,900 of 65,536 and take 40 s.

    Examples
    --------
    >>> from specavg import groups
    >>> invariant_tensors(groups.point_group("3m"), "ijkl=jikl=klij").names  # as in textbooks of crystal physics
    ('C11', 'C12', 'C13', 'C14', 'C33', 'C44')
    >>> invariant_tensors(groups.point_group("Oh"), "ijk=ikj").dim  # no piezoelectricity with an inversion
    0
    >>> invariant_tensors(groups.point_group("C∞v"), "ijkl=jikl=klij").names  # a fibre
    ('C11', 'C12', 'C13', 'C33', 'C44')
    """
    if not isinstance(group, Group):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise not_a_group(group)
    _, equations = output_kind(symmetries)
    if not equations:
        raise ValueError(
            f"{symmetries!r} has no indices: give index symmetries such as 'ij=ji'. Every group leaves a scalar alone, "
            "and one without elements of determinant −1 a pseudoscalar too"
        )
    if lattice is None:
        require_known_axes(group)
    size = linear_part((group.generators or (group.identity,))[0], lattice).size
    index = index_symmetry(equations, size)
    (found,) = reported(
        (_found(group, symmetries, index, lattice) for _ in range(1)), "invariant tensors", "null spaces"
    )
    require_memory(
        8.0 * 4 * found.dim * size**index.rank,
        f"{found.dim} tensors with {size**index.rank} entries each",
        "Take fewer dimensions or a lower rank.",
    )
    return InvariantTensors(index.tensors(found.basis.T), found.solver, found.residual, index)


def _found(group: Group, symmetries: str, index: IndexSymmetry, lattice: ArrayLike | None) -> FixedSpace:
    """The components of the tensors that the group leaves alone."""
    velocities = [linear_velocity(field).matrix for field in group.fields]
    axial, _ = output_kind(symmetries)
    if any(A.any() for A in velocities):
        maps = [(linear_part(g, lattice), determinant(g) if axial else 1) for g in group.generators]
        return fixed_tensors(index, maps, velocities)
    still = Group(group.generators or (group.identity,), name=group.name)  # shifts move no vectors
    return fixed_space(representation(still, symmetries, lattice=lattice).images, size=index.dim)


def _independent(entries: Array, order: NDArray[np.intp], exact: bool) -> list[int]:
    """The first columns, in this order, that determine all others."""
    if exact:  # a column belongs to one row at most
        return order[(entries[:, order] != 0).argmax(axis=1)].tolist() if len(entries) else []
    chosen: list[int] = []
    rest = entries[:, order]  # less what the chosen columns determine
    while len(chosen) < len(entries):
        squares = np.einsum("ij,ij->j", rest, rest)
        column = int(np.argmax(squares > _DEPENDENT**2))
        chosen.append(int(order[column]))
        direction = rest[:, column] / np.sqrt(squares[column])
        rest = rest - np.multiply.outer(direction, direction @ rest)
    return chosen


@final
class _Labels:
    """The names of the components of a tensor, and the order in which textbooks list them."""

    def __init__(self, index: IndexSymmetry) -> None:
        self._size, self._entries = index.size, index.entries.tolist()
        self._letter, self._pairs = "T", ()
        if index.size == 3 and index.rank in _CUSTOMARY:
            equations, exchanges, letter, pairs = _CUSTOMARY[index.rank]
            if len(index.exchanges) == exchanges and index == index_symmetry(equations, 3):
                self._letter, self._pairs = letter, pairs

    @property
    def order(self) -> NDArray[np.intp]:
        """The components in the order in which textbooks choose them: C11, C22, … first, those with a 6 last."""
        if not self._pairs:
            return np.arange(len(self._entries))
        labels = [self.label(i) for i in range(len(self._entries))]
        ranks = [(6 in label, len(set(label)) > 1 or label[0] > 3, label) for label in labels]
        return np.array(sorted(range(len(labels)), key=ranks.__getitem__), dtype=np.intp)

    def name(self, component: int) -> str:
        """A letter with indices, or Voigt's numbers, from 1."""
        return self._letter + ("" if self._size < 10 else "_").join(map(str, self.label(component)))

    def label(self, component: int) -> tuple[int, ...]:
        """The indices or numbers, from 1."""
        entry = self._entries[component]
        if not self._pairs:
            return tuple(i + 1 for i in entry)
        free = [i + 1 for i in entry[: self._pairs[0].start]]
        numbers = [_VOIGT[min(entry[pair]), max(entry[pair])] for pair in self._pairs]
        return (*free, *sorted(numbers))
