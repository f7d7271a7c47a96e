"""Pictures of sharp densities: a warning where peaks lie between the points of the grid."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import ceil, log
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg.data._questioned_columns import users_line

_LEAST_DRAWN = 0.9  # of the largest value at the data: what is missing is then two of the 24 bands of a picture
_LOOKED_AT = 500  # data at which the density is computed: a tenth of the points of a default picture


def question_grid(
    model: Any,
    pictures: list[Array],
    cell: float,
    resolution: int,
    at_data: Callable[[int, Array], Array | None],
    besides: str,
) -> None:
    """Warn where cells are wider than the kernels of a density, and a picture does not have the height of its peaks.

    Parameters
    ----------
    model : fitted density or callable
        Densities of another form than kernels are no sharper than their functions, and of callables nothing is known.
    pictures : list of ndarray
        The values that are drawn.
    cell : float
        The diagonal of the largest cell, in degrees.
    resolution : int
    at_data : callable
        The number of a picture and orientations (n, 9) to values as that picture has them; None where they would take
        long.
    besides : str
        What can be done besides a finer grid.
    """
    if getattr(model, "form_", None) != "kernels" or not len(model.kernels_.concentrations):
        return
    width = float(np.degrees(2 * np.sqrt(2 * log(2) / model.kernels_.concentrations.max())))
    if cell <= width:
        return
    images = model.kernels_.images
    data = images[:: ceil(len(images) / _LOOKED_AT)]
    for k, picture in enumerate(pictures):
        known = at_data(k, data)
        if known is not None and len(known) and picture.max() < _LEAST_DRAWN * known.max():
            warnings.warn(
                f"the density is sharper than this picture: its kernels are {width:.2g}° wide at half of their height, "
                f"and the grid has cells {cell:.2g}° wide. The largest value drawn is {picture.max():.3g}, and at the "
                f"data it is {known.max():.3g}: peaks between the points of the grid are drawn too low, or not at all. "
                f"resolution={ceil(resolution * cell / width)} has cells as wide as the kernels{besides}.",
                stacklevel=users_line(),
            )
            return


def widest_cell(directions: Array) -> float:
    """The largest diagonal of the cells of a grid of unit vectors, in degrees."""  # (p, q, 3)
    apart = np.linalg.norm(directions[1:, 1:] - directions[:-1, :-1], axis=-1)
    return float(np.degrees(2 * np.arcsin(apart.max() / 2)))
