"""Points with one target each, whole or in chunks, checked: what a test and a search are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specavg._arrays import Array
from specavg.data._given_data import given_table, given_targets
from specavg.data._streaming import check_names, column_names, numbers
from specavg.spaces import Space


def checked_samples(space: Space, X: Any, y: Any) -> tuple[Array, Array]:
    """Points of `space` and one finite target for each, or an error."""  # (n, n_features), (n,)
    table = given_table(space, None, X)
    if space is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise TypeError("give the space that the points live on, for instance sa.Torus(2) or sa.Sphere(3); got None")
    targets = numbers(given_targets(y), "y")
    if targets.ndim != 1:
        raise ValueError(
            f"y must have one dimension; got shape {targets.shape}. Give outputs that the group leaves alone one at a "
            "time. For vectors that move with the points, compare the loo_error_ of EquivariantKernelRidge with the "
            "group and without it"
        )
    points = space.check_points(table)
    if len(points) != len(targets):
        raise ValueError(f"X has {len(points)} rows but y has {len(targets)}")
    return points, targets


def checked_chunks(space: Space, chunks: Iterable[Any]) -> Iterator[tuple[Array, Array]]:
    """Checked chunks (X, y) without the empty ones; columns with names have those of the first chunk, in its order."""
    names: list[str] | None = None
    for i, chunk in enumerate(chunks):
        if not isinstance(chunk, tuple | list) or len(chunk) != 2:
            raise ValueError(f"chunk {i}: without y, X must be chunks (X, y); got {type(chunk).__name__}")
        X, y = chunk
        try:
            found = column_names(X)
            check_names(found, names)
            names = found if names is None else names
            checked = checked_samples(space, X, y) if len(y) else None
        except (ValueError, TypeError) as error:
            raise type(error)(f"chunk {i}: {error}") from None
        if checked is not None:
            yield checked
