"""What is drawn: an estimator, a function of a basis or a callable, with the space and the group it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from specavg._arrays import Array
from specavg._named_columns import of_arrays
from specavg.groups import Group
from specavg.invariants import InvariantBasis, default_group
from specavg.spaces import Space
from specavg.textures._given_density import density_values, one_value_each


@dataclass(frozen=True)
class Source:
    """A real function on a space, and the group whose symmetry is drawn with it."""

    values: Callable[[Array], Array]
    space: Space
    group: Group
    label: str
    columns: tuple[str, ...] = ()  # names of the coordinates, where a model knows them

    def points(self, data: Any) -> Array:
        """Points to show, checked; those of a pair (X, y)."""  # (n, n_features)
        is_pair = isinstance(data, tuple) and len(data) == 2 and np.ndim(data[0]) > 1
        return self.space.check_points(data[0] if is_pair else data)


def source_of(
    model: Any,
    *,
    space: Space | None = None,
    group: Group | None = None,
    index: int | None = None,
    output: int | None = None,
) -> Source:
    """Read off `model` what can be read off it; `space` and `group` say the rest.

    Parameters
    ----------
    model : InvariantBasis, fitted estimator or callable
    space, group : optional
        For a callable, or to draw another group's symmetry than the model's.
    index : int, optional
        Which function of a basis; the first that is not constant by default.
    output : int, optional
        Which output of a model with several.
    """
    if isinstance(model, InvariantBasis):
        return _of_basis(model, group, index)
    if index is not None:
        raise ValueError(f"index={index} chooses a function of an invariant basis; {type(model).__name__} is none")
    owner = getattr(model, "__self__", model)  # of a method such as `model.predict`, the fitted model
    basis = getattr(owner, "basis_", None)
    space = space or getattr(basis, "space", None) or getattr(owner, "space_", None) or getattr(owner, "space", None)
    if space is None and hasattr(owner, "energy_and_forces"):
        raise ValueError(
            f"{type(owner).__name__} is a function of positions of atoms, not of points of a space: plot its "
            "predictions along a path"
        )
    if space is None:
        raise ValueError(
            f"a {type(model).__name__} does not say on which space it is a function: give space= (and group= to draw "
            "its symmetry), or a fitted specavg model"
        )
    group = group or getattr(basis, "group", None) or getattr(owner, "group_", None) or getattr(owner, "group", None)
    function, label = _function_of(model)

    def values(X: Array) -> Array:
        return _one_output(one_value_each(function(X), X), output)

    columns = tuple(map(str, getattr(owner, "feature_names_in_", ())))
    return Source(values, space, group or default_group(space), label, columns)


def _of_basis(basis: InvariantBasis, group: Group | None, index: int | None) -> Source:
    j = min(1, basis.dim - 1) if index is None else index
    if not 0 <= j < basis.dim:
        raise ValueError(f"index={index} is not a function of {basis!r}: they are numbered 0 to {basis.dim - 1}")
    column = np.eye(basis.dim)[:, [j]]

    def values(X: Array) -> Array:
        return basis.combine(X, column)[:, 0]

    return Source(values, basis.space, group or basis.group, f"ψ$_{{{j}}}$, λ = {basis.eigenvalues[j]:.4g}")


def _function_of(model: Any) -> tuple[Callable[[Array], Any], str]:
    if hasattr(model, "predict"):
        return of_arrays(model.predict), "prediction"
    if hasattr(model, "score_samples"):
        return density_values(model), "density"
    if callable(model):
        return of_arrays(model), "value"
    raise TypeError(
        f"a picture needs an invariant basis, a fitted estimator or a callable; got {type(model).__name__}"
        + (": fit a model to these data first" if isinstance(model, np.ndarray) else "")
        + (
            ". Orientations are shown beside a density that is fitted to them: pole_figure(model, [0, 0, 1], data=X)"
            if hasattr(model, "as_matrix") or np.shape(model)[1:] in ((9,), (3, 3))
            else ""
        )
    )


def _one_output(values: Array, output: int | None) -> Array:
    if values.ndim == 1:
        return values
    columns = values.reshape(len(values), -1)
    if output is None and columns.shape[1] > 1:
        raise ValueError(f"the model has {columns.shape[1]} outputs: choose one with output=0 ... ")
    return columns[:, output or 0]
