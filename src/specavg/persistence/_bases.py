"""Invariant and equivariant bases in plain values and a few arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg import invariants
from specavg.groups import Group, Representation
from specavg.invariants import EquivariantBasis, InvariantBasis, Row
from specavg.persistence._plain_values import DescriptionError
from specavg.persistence._values import describe, read_fields
from specavg.spaces import Space

Basis = InvariantBasis | EquivariantBasis

_PROBES = 16  # points at which the functions are compared: a wrong function shows at any of them
_PROBE_TOLERANCE = 1e-9  # relative; another version of LAPACK changes values by some 1e-13
_HINTS = {  # the types of what bases are made from
    "space": Space,
    "group": Group,
    "output": Representation,
    "cutoff": invariants.Cutoff,
    "order": invariants.Order,
    "solver": str,
    "table": tuple[Row, ...],
}


def describe_basis(basis: Basis) -> dict[str, Any]:
    """What a basis was made from, in plain values; `basis_arrays` are the other half.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(1), sa.groups.sign_flips(1), max_eigenvalue=10)
    >>> describe_basis(basis)["table"][1]["invariant_dim"]
    1
    """
    parts = {name: describe(getattr(basis, name)) for name in basis.made_from}
    return {**parts, "stored_arrays": list(basis.arrays)}


def basis_arrays(basis: Basis) -> dict[str, NDArray[np.float64]]:
    """What has to be stored so that the basis comes back with the same bits, and values to compare it with."""
    points = basis.space.sample(_PROBES, random_state=np.random.default_rng(0))
    arrays = dict(zip(_array_names(len(basis.arrays)), basis.arrays.values(), strict=True))
    return {**arrays, "probe_points": points, "probe_values": _probed(basis, points)}


def read_basis(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Basis:
    """The basis that a description and its arrays mean, compared with the values it had when it was saved."""
    vectors = isinstance(value, dict) and "output" in value
    kind = EquivariantBasis if vectors else InvariantBasis
    hints = {name: _HINTS[name] for name in kind.made_from}
    parts = read_fields(value, {**hints, "stored_arrays": tuple[str, ...]}, "basis")
    names, table = parts.pop("stored_arrays"), parts["table"]
    if not table:
        raise DescriptionError("basis.table is empty: a basis has at least the constant function")
    if len(names) > len(arrays):
        raise DescriptionError(f"basis needs {len(names)} arrays, and the file has {len(arrays)}")
    places = _array_names(len(names))
    missing = [name for name in (*places, "probe_points", "probe_values") if name not in arrays]
    if missing:
        raise DescriptionError(f"basis needs the array {missing[0]!r}, which is not in the file")
    points, values = arrays["probe_points"], arrays["probe_values"]
    _check_declared(parts["space"], table, points, values, parts["output"].dim if vectors else 1)
    restored = invariants.restored_equivariant_basis if vectors else invariants.restored_basis
    basis = restored(**parts, arrays={name: arrays[p] for name, p in zip(names, places, strict=True)})
    _check_probes(basis, points, values)
    return basis


def _array_names(count: int) -> list[str]:
    """Names in the file: those of the arrays themselves are in its description."""
    return [f"basis_{i:04d}" for i in range(count)]


def _probed(basis: Basis, points: NDArray[Any]) -> NDArray[np.float64]:
    """Values of all functions, those of several outputs side by side."""
    return basis.evaluate(points).reshape(len(points), -1)


def _check_declared(
    space: Space, table: tuple[Row, ...], points: NDArray[Any], values: NDArray[Any], outputs: int
) -> None:
    """What the table declares is what the file has values of: nothing is built that the file is too small for."""
    if any(row.invariant_dim < 0 or row.dim < max(row.invariant_dim, 1) for row in table):
        raise DescriptionError("basis.table has an eigenspace with fewer functions than invariant ones")
    dim = outputs * sum(row.invariant_dim for row in table)
    if points.shape != (_PROBES, space.n_features):
        raise DescriptionError(f"basis: the stored points have shape {points.shape}, not {_PROBES, space.n_features}")
    if values.shape != (_PROBES, dim):
        raise DescriptionError(f"basis: the stored values have shape {values.shape}, not {_PROBES, dim}")


def _check_probes(basis: Basis, points: NDArray[Any], values: NDArray[Any]) -> None:
    difference = float(np.abs(_probed(basis, points) - values).max(initial=0.0))
    if not difference <= _PROBE_TOLERANCE * (1 + float(np.abs(values).max(initial=0.0))):
        raise DescriptionError(
            f"basis: the functions rebuilt differ from those saved by {difference:.1e}: another version of the "
            "library or of its linear algebra chose another basis. Load it with the version that saved it"
        )
