"""Which eigenspaces a test of a symmetry looks at first: as many as its samples and the memory can bear."""

from __future__ import annotations

from specavg._config import require_memory
from specavg.estimators._finer_detail import first_eigenspaces
from specavg.spaces import Eigenspace, Space

MAX_FUNCTIONS = 300  # all functions looked at by default
FEWEST = 5  # samples for each function that a default looks at
OR_SMALLER = ", or a smaller max_dim"  # what helps against too many functions, for messages


def affordable_eigenspaces(space: Space, rows: int | None, max_dim: float | None) -> tuple[Eigenspace, ...]:
    """The first eigenspaces after the constant that so many rows bear by default, or as many as are asked for."""
    if max_dim is not None:
        _require_affordable(space, max_dim, rows)
    found = first_eigenspaces(space, most_functions(rows, max_dim))
    if not found:
        fewest = _fewest(space)
        given = f"max_dim={max_dim:g} functions" if max_dim is not None else f"{known_rows(rows)} samples"
        samples = f"{_least_rows(fewest)} samples" if rows is not None and rows < _least_rows(fewest) else ""
        enough = f"max_dim={fewest}" + (f" and {samples}" if samples else "")
        if max_dim is None:
            enough = f"{FEWEST * fewest} samples, or {f'{samples} with ' if samples else ''}max_dim={fewest}"
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
    return rows >= FEWEST * _fewest(space)


def _fewest(space: Space) -> int:
    """The fewest functions that tell anything: the constant and the first eigenspace after it."""
    return 1 + next(V.dim for V in space.eigenspaces() if V.eigenvalue > 0)


def _require_affordable(space: Space, bound: float, rows: int | None) -> None:
    """Refuse more functions than the rows can bear, or the memory, before any of them is made."""
    count, fewest = 0, _fewest(space)
    for V in space.eigenspaces():
        if count + V.dim > bound:
            return
        count += V.dim
        if rows is not None and count >= fewest:
            remedy = f" with max_dim={fewest}" if count == fewest else OR_SMALLER  # what is smaller tells nothing
            require_rows(rows, count, f"the first eigenspaces of those that max_dim={bound:g} asks for", remedy)
        require_memory(32.0 * count**2, f"a test of {count} functions", "Give a smaller max_dim.")


def require_rows(rows: int, functions: int, which: str, remedy: str) -> None:
    """Refuse half as many functions as rows, or more; `which` and `remedy` say more about them in the message."""
    if rows < _least_rows(functions):
        raise ValueError(
            f"{rows} samples are too few for {functions} functions, {which}: give at least {_least_rows(functions)} "
            f"(copies of a point count once){remedy}"
        )


def _least_rows(functions: int) -> int:
    """The fewest rows that bear so many functions."""
    return 2 * functions + 1


def bearable(rows: int) -> int:
    """How many functions so many rows bear at most."""
    return (rows - 1) // 2
