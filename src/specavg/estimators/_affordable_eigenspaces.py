"""Which eigenspaces a test of a symmetry looks at first: as many as its samples and the memory can bear."""

from __future__ import annotations

from specavg._config import require_memory
from specavg.estimators._finer_detail import first_eigenspaces
from specavg.spaces import Eigenspace, Space

MAX_FUNCTIONS = 300  # all functions looked at by default
FEWEST = 5  # samples for each function that a default looks at


def affordable_eigenspaces(space: Space, rows: int | None, max_dim: float | None) -> tuple[Eigenspace, ...]:
    """The first eigenspaces after the constant that so many rows bear by default, or as many as are asked for."""
    if max_dim is not None:
        _require_affordable(space, max_dim, rows)
    found = first_eigenspaces(space, most_functions(rows, max_dim))
    if not found:
        fewest = 1 + _first(space).dim
        given = f"max_dim={max_dim:g} functions" if max_dim is not None else f"{known_rows(rows)} samples"
        enough = f"{FEWEST * fewest} samples, or max_dim={fewest}" if max_dim is None else f"max_dim={fewest}"
        raise ValueError(
            f"{given} are too few to test anything on {space!r}: the first eigenspace after the constant has "
            f"{fewest - 1} functions. Give at least {enough}"
        )
    return found


def most_functions(rows: int | None, max_dim: float | None) -> float:
    """How many functions are looked at by default or as asked for, the constant left out."""
    return (min(MAX_FUNCTIONS, known_rows(rows) / FEWEST) if max_dim is None else max_dim) - 1


def known_rows(rows: int | None) -> int:
    """How many rows there are; as if there were enough where that is not known."""
    return FEWEST * MAX_FUNCTIONS if rows is None else rows


def enough_rows(space: Space, rows: int) -> bool:
    """Whether there are rows for the first eigenspace after the constant."""
    return rows >= FEWEST * (1 + _first(space).dim)


def _first(space: Space) -> Eigenspace:
    """The first eigenspace after the constant."""
    return next(V for V in space.eigenspaces() if V.eigenvalue > 0)


def _require_affordable(space: Space, bound: float, rows: int | None) -> None:
    """Refuse more functions than the rows can bear, or the memory, before any of them is made."""
    count = 0
    for V in space.eigenspaces():
        if count + V.dim > bound:
            return
        count += V.dim
        if rows is not None:
            require_rows(rows, count, f"the first eigenspaces of those that max_dim={bound:g} asks for")
        require_memory(32.0 * count**2, f"a test of {count} functions", "Give a smaller max_dim.")


def require_rows(rows: int, functions: int, which: str, remedy: str = "a smaller max_dim") -> None:
    """Refuse half as many functions as rows, or more; `which` and `remedy` say more about them in the message."""
    if rows <= 2 * functions:
        raise ValueError(
            f"{rows} samples are too few for {functions} functions, {which}: give at least {2 * functions + 1} (copies "
            f"of a point count once), or {remedy}"
        )
