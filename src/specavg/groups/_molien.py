"""Molien series: how many invariant polynomials of each degree a finite group of matrices has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from specavg._arrays import Array, components
from specavg.groups._structure import Structure
from specavg.groups.families import Alternating, DirectProduct, Hyperoctahedral, SignFlips, Symmetric, Trivial, Wreath
from specavg.isometries import Affine, Copies, Isometry, LeftRight, Orthogonal, SignedPermutation, flatten, orthogonal

if TYPE_CHECKING:
    from specavg.groups._group import Group

LISTED = 200_000  # elements; a list of so many takes some seconds
_ROUNDING = 1e-9  # entries of a reflection, and cosines of roots: matrices are given with ten digits at least
_INTEGER = 1e-6  # a mean over floating-point matrices that is farther from an integer decides nothing

Factor = tuple[
    int, int
]  # (n, s): one factor 1 − s tⁿ of det(1 − t g), of a cycle of length n whose signs have the product s


def molien_series(group: Group, degree: int) -> tuple[int, ...]:
    """The coefficients of (1/|G|) Σ 1/det(1 − t g) up to t^degree."""
    if degree != int(degree) or degree < 0:
        raise ValueError(f"the last degree of a Molien series is 0, 1, 2, ...; got {degree!r}")
    degree = int(degree)
    if group.fields:
        raise ValueError(
            f"the Molien series of {group!r}, a mean over infinitely many elements, is not implemented. "
            "sa.invariant_basis(space, group, max_eigenvalue=...).table counts invariant functions: on a sphere those "
            "of degree k are the difference of the entries k and k - 2 of the series."
        )
    blocks = [_in_one_block(g) for g in group.generators]
    complete = all(map(_is_linear, blocks))
    structure, simple = group.structure, degrees_of_reflections(group)
    known = None if simple is None else (simple, 0)
    if known is None:
        structure = group.recognise()
        known = _degrees(structure)
    if known is None and isinstance(structure, Wreath):
        return _of_copies(molien_series(structure.group, degree), structure.copies)
    if known is None and isinstance(structure, DirectProduct):
        return reduce(_product, [molien_series(part, degree) for part in structure.groups])
    if known is not None:
        degrees, numerator = known
        series = _reciprocal([(n, 1) for n in degrees], degree)
        shifted = [0] * numerator + series if numerator else [0] * (degree + 1)
        return tuple(a + b for a, b in zip(series, shifted, strict=False))
    if not complete:
        raise TypeError(f"a Molien series is for groups of matrices; {group!r} has maps that are not linear")
    if group.finite_order > LISTED:
        raise ValueError(
            f"the Molien series of {group!r} is a mean over its {group.finite_order} elements, and more than {LISTED} "
            "are not listed. Families such as symmetric(d), wreath and direct products, and simple reflections of a "
            "reflection group need no list; sa.invariant_basis(space, group, "
            "max_eigenvalue=...) counts invariant functions without one."
        )
    elements = [_in_one_block(g) for g in group.elements(limit=LISTED)]
    signed = [g for g in elements if isinstance(g, SignedPermutation)]
    matrices = [g for g in elements if isinstance(g, Orthogonal | Affine)]
    total = [Fraction(0)] * (degree + 1)
    for factors, count in Counter(tuple(sorted(g.cycles)) for g in signed).items():
        for k, a in enumerate(_reciprocal(factors, degree)):
            total[k] += Fraction(count * a)
    rounded = sum((_float_series(np.asarray(g.matrix, dtype=float), degree) for g in matrices), np.zeros(degree + 1))
    mean = np.array([float(a) for a in total]) / len(elements) + rounded / len(elements)
    if not matrices:
        return tuple(int(a / len(elements)) for a in total)
    if np.abs(mean - np.rint(mean)).max() > _INTEGER:
        raise ArithmeticError(
            f"a coefficient is {np.abs(mean - np.rint(mean)).max():.1g} from an integer: lower the degree, {degree}"
        )
    return tuple(int(a) for a in np.rint(mean))


def harmonics_of(degrees: Sequence[int], k: int) -> int:
    """How many invariant harmonics of degree k there are: polynomials of free generators, less those times r²."""
    series = _reciprocal([(n, 1) for n in degrees], k)
    return series[k] - (series[k - 2] if k > 1 else 0)


def _in_one_block(g: Isometry) -> Isometry:
    """A linear map of copies or factors, or X ↦ A X Bᵀ, as one matrix of all coordinates; other maps as they are."""
    if isinstance(g, LeftRight):
        return orthogonal(np.kron(g.left.matrix, g.right.matrix))
    if not isinstance(g, Copies):
        return flatten(g)
    parts = [_in_one_block(part) for part in g.parts]
    blocks = [part.matrix for part in parts if isinstance(part, SignedPermutation | Orthogonal)]
    if len(blocks) < g.size:
        return g
    d = parts[0].size
    matrix = np.zeros((g.size, d, g.size, d))
    for i, block in enumerate(blocks):
        matrix[i, :, g.image[i]] = block
    return orthogonal(matrix.reshape(g.size * d, g.size * d))


def _is_linear(g: Isometry) -> bool:
    """Whether a map in one block is that of a matrix: an integer matrix without a shift is."""
    return isinstance(g, SignedPermutation | Orthogonal) or (isinstance(g, Affine) and not any(g.shift))


def _degrees(structure: Structure) -> tuple[list[int], int] | None:
    """Degrees of free generators of the invariants, and of one more whose square these generate (0: there is none)."""
    if isinstance(structure, Trivial):
        return [1] * structure.size, 0
    if isinstance(structure, SignFlips):
        return [2] * structure.size, 0
    if isinstance(structure, Symmetric):
        return list(range(1, structure.size + 1)), 0
    if isinstance(structure, Hyperoctahedral):
        return list(range(2, 2 * structure.size + 1, 2)), 0
    if isinstance(structure, Alternating) and structure.size > 1:
        d = structure.size
        return list(range(1, d + 1)), d * (d - 1) // 2
    return None


def degrees_of_reflections(group: Group) -> list[int] | None:
    """Degrees of free generators of the invariants, if a group is given by simple reflections and by nothing else."""
    if group.fields or group.structure is not None:
        return None
    linear = [g for g in map(_in_one_block, group.generators) if isinstance(g, SignedPermutation | Orthogonal)]
    return _degrees_of_reflections(linear) if len(linear) == len(group.generators) else None


def _degrees_of_reflections(generators: Sequence[SignedPermutation | Orthogonal]) -> list[int] | None:
    """Degrees of free generators of the invariants, if `generators` are the simple reflections of a reflection group.

    Reflections of independent roots at angles π/m, none of them in a cycle, are simple for some signs of the roots
    (Coxeter). The product of those of an irreducible part has the order h and the eigenvalues exp(2πi(d − 1)/h), d the
    degrees.
    """
    roots: list[Array] = []
    for g in generators:
        square = (np.eye(g.size) - g.matrix) / 2  # vvᵀ for a reflection at v
        row = int(np.diagonal(square).argmax())
        v = square[row] / np.sqrt(max(square[row, row], _ROUNDING))
        if np.abs(square - np.outer(v, v)).max() > _ROUNDING or abs(v @ v - 1) > _ROUNDING:  # v = 0: a tiny rotation
            return None
        roots.append(v)
    cosines = np.abs(np.array(roots) @ np.transpose(roots)) if roots else np.zeros((0, 0))
    if not roots or np.linalg.svd(roots, compute_uv=False)[-1] < _INTEGER:
        return None
    pairs = np.argwhere(np.triu(cosines > _ROUNDING, 1))
    part_of = components(len(roots), *pairs.T)
    m = np.pi / np.arccos(cosines[tuple(pairs.T)])
    if (
        len(pairs) != len(roots) - 1 - part_of.max()
        or (np.abs(np.cos(np.pi / np.rint(m)) - np.cos(np.pi / m)) > _ROUNDING).any()
    ):
        return None
    degrees = [1] * (generators[0].size - len(roots))
    for part in range(part_of.max() + 1):
        mine = np.flatnonzero(part_of == part)
        inside = np.linalg.qr(np.array(roots)[mine].T)[0]  # the product moves nothing else
        product = reduce(np.matmul, [generators[i].matrix for i in mine.tolist()])
        turns = np.angle(np.linalg.eigvals(inside.T @ product @ inside)) / (2 * np.pi) % 1
        degrees += (1 + np.rint(turns * np.rint(1 / turns.min()))).astype(int).tolist()
    return degrees


def _product(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The product of two series, as far as they go."""
    return tuple(sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a)))


def _of_copies(one: Sequence[int], copies: int) -> tuple[int, ...]:
    """The series of H ≀ S_m from that of H: multisets of invariants of H, one for each of m copies."""
    found = Counter({(0, 0): 1})  # by copies used and total degree
    for k in range(1, len(one)):
        for (used, total), number in list(found.items()):
            for j in range(1, min(copies - used, (len(one) - 1 - total) // k) + 1):
                found[used + j, total + j * k] += number * comb(max(one[k] + j - 1, 0), j)
    return tuple(sum(number for (_, total), number in found.items() if total == k) for k in range(len(one)))


def _reciprocal(factors: Iterable[Factor], degree: int) -> list[int]:
    """The series of Π 1/(1 − s tⁿ)."""
    series = [1] + [0] * degree
    for n, s in factors:
        for k in range(n, degree + 1):
            series[k] += s * series[k - n]
    return series


def _float_series(matrix: Array, degree: int) -> Array:
    """The series of 1/det(1 − t g): complete symmetric functions of the eigenvalues, from their power sums."""
    eigenvalues = np.linalg.eigvals(matrix)
    powers = [float(np.sum(eigenvalues**k).real) for k in range(1, degree + 1)]
    series = [1.0]
    for k in range(1, degree + 1):
        series.append(sum(powers[i] * series[k - 1 - i] for i in range(k)) / k)
    return np.array(series)
