"""Invariant bases in plain values and a few arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg.invariants import Cutoff, InvariantBasis, Row, restored_basis
from specavg.persistence._fields import DescriptionError, Fields
from specavg.persistence._groups import describe_group, read_group
from specavg.persistence._spaces import describe_space, read_space

__all__ = ["basis_arrays", "describe_basis", "read_basis"]

_PROBES = 16
_PROBE_TOLERANCE = 1e-9


def describe_basis(basis: InvariantBasis) -> dict[str, Any]:
    """What a basis was made from, in plain values; `basis_arrays` are the other half.

    Examples
    --------
    >>> import specavg as sa
    >>> basis = sa.invariant_basis(sa.Torus(1), sa.groups.sign_flips(1), max_eigenvalue=10)
    >>> describe_basis(basis)["table"][1]["invariant_dim"]
    1
    """
    return {
        "space": describe_space(basis.space),
        "group": describe_group(basis.group),
        "cutoff": {"kind": basis.cutoff.kind, "value": basis.cutoff.value},
        "solver": basis.solver,
        "stored_arrays": len(basis.tape),
        "table": [
            {
                "eigenvalue": row.eigenvalue,
                "dim": row.dim,
                "invariant_dim": row.invariant_dim,
                "solver": row.solver,
                "residual": row.residual,
                "gap": row.gap if np.isfinite(row.gap) else None,
            }
            for row in basis.table
        ],
    }


def basis_arrays(basis: InvariantBasis) -> dict[str, NDArray[np.float64]]:
    """What has to be stored so that the basis comes back with the same bits, and values to compare it with."""
    points = basis.space.sample(_PROBES, random_state=np.random.default_rng(0))
    arrays = {f"null_space_{i:04d}": Q for i, Q in enumerate(basis.tape)}
    return {**arrays, "probe_points": points, "probe_values": basis.evaluate(points)}


def read_basis(value: Any, arrays: Mapping[str, NDArray[Any]], place: str = "basis", depth: int = 0) -> InvariantBasis:
    """The basis that a description and its arrays mean, compared with the values it had when it was saved."""
    fields = Fields(value, place, depth)
    space = fields.one("space", read_space)
    group = fields.one("group", read_group)
    cutoff = fields.one("cutoff", _read_cutoff)
    solver = fields.text("solver")
    count = fields.integer("stored_arrays", 0)
    table = fields.each("table", _read_row)
    fields.end()
    if not table:
        raise DescriptionError(f"{place}.table is empty: a basis has at least the constant function")
    missing = [name for name in (*_tape_names(count), "probe_points", "probe_values") if name not in arrays]
    if missing:
        raise DescriptionError(f"{place} needs the array {missing[0]!r}, which is not in the file")
    basis = restored_basis(space, group, cutoff, solver, table, [arrays[name] for name in _tape_names(count)])
    _check_probes(basis, arrays["probe_points"], arrays["probe_values"], place)
    return basis


def _tape_names(count: int) -> list[str]:
    return [f"null_space_{i:04d}" for i in range(count)]


def _check_probes(basis: InvariantBasis, points: NDArray[Any], values: NDArray[Any], place: str) -> None:
    if values.shape != (len(points), basis.dim) or len(points) == 0:
        raise DescriptionError(f"{place}: the stored values have shape {values.shape}, not (points, {basis.dim})")
    difference = float(np.abs(basis.evaluate(points) - values).max(initial=0.0))
    if not difference <= _PROBE_TOLERANCE * (1 + float(np.abs(values).max(initial=0.0))):
        raise DescriptionError(
            f"{place}: the functions rebuilt differ from those saved by {difference:.1e}: another version of the "
            "library or of its linear algebra chose another basis. Load it with the version that saved it"
        )


def _read_cutoff(value: Any, place: str, depth: int) -> Cutoff:
    fields = Fields(value, place, depth)
    kind, number = fields.text("kind"), fields.number("value")
    fields.end()
    if kind not in ("max_eigenvalue", "max_dim", "max_invariant_dim"):
        raise DescriptionError(f"{place}.kind {kind!r} is not a cutoff")
    return Cutoff(kind, number)


def _read_row(value: Any, place: str, depth: int) -> Row:
    fields = Fields(value, place, depth)
    row = Row(
        eigenvalue=fields.number("eigenvalue"),
        dim=fields.large_integer("dim"),
        invariant_dim=fields.integer("invariant_dim", 0),
        solver=fields.text("solver"),
        residual=fields.number("residual"),
        gap=fields.number("gap") if fields.has("gap") else float("inf"),
    )
    fields.skip("gap")
    fields.end()
    return row
