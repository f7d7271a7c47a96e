"""How far a model is from invariant: the paper's invariance discrepancy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array
from specavg._messages import shown
from specavg._named_columns import of_arrays
from specavg.functions._few_rows import FEW_ROWS
from specavg.groups import Group, Representation
from specavg.groups._product_replacement import random_elements
from specavg.invariants._acting_group import check_group, group_order
from specavg.isometries import Isometry

if TYPE_CHECKING:
    from specavg.spaces import Space

SMALL_GROUP = 10_000  # elements up to which all are tried: the 5,040 of S_7 took 1.5 s with 100 points
RANDOM_ELEMENTS = 1_000  # drawn from larger groups: 0.03 s for S_10
# Rows of one call of f, images under several elements together: 1024 calls of 100 rows each would mostly check inputs.
_ROWS = FEW_ROWS
_MORE_ROWS = 16 * FEW_ROWS  # rows of one call of a model that evaluates each orbit once, or of very many calls
# Images of points from which on there are very many calls. Large tables take loops, which compile in some seconds and
# are far faster then: 20 points under 3,888 elements of a group on T⁴ took 40 s in tables of 512 rows, 2 s in these.
_VERY_MANY = 20_000


class Discrepancy(float):
    """The largest |f(gx) − f(x)|, and over which elements it was taken.

    Attributes
    ----------
    n_elements : int
        How many group elements were tried.
    exhaustive : bool
        Whether they were all of the group.
    mean : float
        The mean of |f(gx) − f(x)| over the same elements and points.

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Torus(2), sa.groups.symmetric(2)
    >>> found = sa.invariance_discrepancy(lambda X: X[:, 0], space, group, [[0.25, 0.75], [0.5, 0.5]])
    >>> found, found.mean, found.exhaustive
    (0.5 (all 2 elements), 0.125, True)
    """

    n_elements: int
    exhaustive: bool
    mean: float

    def __new__(cls, value: float, mean: float, n_elements: int, exhaustive: bool) -> Discrepancy:
        self = super().__new__(cls, value)
        self.mean, self.n_elements, self.exhaustive = mean, n_elements, exhaustive
        return self

    def __getnewargs__(self) -> Any:  # what pickle calls __new__ with
        return (float(self), self.mean, self.n_elements, self.exhaustive)

    def __repr__(self) -> str:
        which = f"all {self.n_elements}" if self.exhaustive else f"{self.n_elements} random"
        return f"{float(self)!r} ({which} elements)"


def invariance_discrepancy(
    predict: Any,
    space: Space,
    group: Group,
    X: ArrayLike,
    n_elements: int | None = None,
    random_state: Any = None,
) -> Discrepancy:
    """The paper's ID: max over g in G and x in X of |f(gx) − f(x)|.

    Parameters
    ----------
    predict : callable or fitted model
        The function f, of real or complex values, or a model with `predict`. For an `EquivariantKernelRidge` it is
        |F(gx) − ρ(g)F(x)|, ρ its representation.
    space : Space
    group : Group
    X : array-like of points
    n_elements : int, optional
        How many random elements to try. Default: all of G if it has at most 10,000 elements, otherwise 1,000
        random ones; the result says which.
    random_state : int, Generator or None

    Returns
    -------
    Discrepancy
        A float, with `.mean`, `.n_elements` and `.exhaustive`.

    Examples
    --------
    >>> import specavg as sa
    >>> space, group = sa.Torus(2), sa.groups.sign_flips(2)
    >>> invariance_discrepancy(lambda X: X[:, 0], space, group, [[0.5, 0.25]])
    1.0 (all 4 elements)
    """
    function = predict.predict if hasattr(predict, "predict") else predict
    if not callable(function):
        raise TypeError(f"predict must be a callable or a fitted model; got {shown(predict)}")
    function = of_arrays(function)
    group = check_group(space, group)
    points = space.check_points(X)
    if not len(points):
        raise ValueError("X has no points: the discrepancy is a maximum over points")
    if n_elements is not None and n_elements < 1:
        raise ValueError(f"n_elements must be at least 1, or None for all of the group; got {n_elements}")
    exhaustive = n_elements is None and group_order(group) <= SMALL_GROUP
    tried = group.order if exhaustive else n_elements or RANDOM_ELEMENTS
    rng = np.random.default_rng(random_state)
    elements = iter(group.elements()) if exhaustive else islice(random_elements(group, rng), int(tried))
    basis = getattr(predict, "basis_", None)
    image = _images(predict, basis, space, group)
    one_orbit = getattr(basis, "has_canonical", False) and len(points) <= FEW_ROWS
    rows = _MORE_ROWS if one_orbit or tried * len(points) > _VERY_MANY else _ROWS
    largest, total, count, before = 0.0, 0.0, 0, np.empty(0)
    while some := list(islice(elements, max(1, rows // len(points)))):
        # A value is compared with one at the same place of a table of the same size: elsewhere, products of matrices
        # may round differently.
        if len(before) != len(some) * len(points):
            before = _numbers(function, np.concatenate([points] * len(some)))
        moved = np.concatenate([space.act(g, points) for g in some])
        expected = before if image is None else _turned(before, [image(g) for g in some])
        values = _numbers(function, moved)
        with np.errstate(over="ignore"):  # what is larger than any number is infinite
            difference = np.abs(values - expected)
            largest = max(largest, float(difference.max()))
            total += len(some) * float(difference.mean())
        count += len(some)
    return Discrepancy(largest, total / count, count, exhaustive)


def _numbers(function: Callable[[Array], Any], X: Array) -> NDArray[Any]:
    """Its values, one for each point and all finite: the maximum of |NaN − NaN| would be no proof of anything."""
    given = np.asarray(function(X))
    if given.dtype.kind in "OSUT" and any(isinstance(value, str) for value in given.flat):
        raise ValueError(
            f"predictions are texts such as {str(given.flat[0])!r}, and a discrepancy is a difference of numbers. Of a "
            "classifier give the probabilities: invariance_discrepancy(model.predict_proba, ...)"
        )
    values = given.astype(np.complex128 if given.dtype.kind == "c" else np.float64)
    if values.shape[:1] != X.shape[:1]:
        raise ValueError(
            f"predictions at {len(X)} points have shape {values.shape}, and there must be one for each point: values "
            "that belong to no point cannot be compared. Give a function of the whole table, X of shape "
            f"(n, {X.shape[1]}) to n values"
        )
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        row = int(wrong[0, 0]) if wrong.shape[1] else 0
        raise ValueError(
            f"{len(wrong)} of {values.size} predictions are no finite numbers, the first of them "
            f"{values[tuple(wrong[0])]} at the point {X[row].tolist()}: how far they are from invariant cannot be "
            "said. Give points where f is finite"
        )
    return values


def _images(model: Any, basis: Any, space: Space, group: Group) -> Callable[[Isometry], Array] | None:
    """The matrix ρ(g) by which the outputs of an equivariant model move; None where they do not."""
    if getattr(basis, "output", None) is None or basis.output.is_trivial:
        return None
    from specavg.invariants._output_on_space import output_representation

    output = model.output
    if not isinstance(output, Representation):  # a named kind is known for every isometry
        return lambda g: output_representation(space, Group([g]), output, among=group).images[0].matrix
    if output.group != group or not group.is_finite or group_order(group) > SMALL_GROUP:
        raise ValueError(
            "the representation of this model is known by its generators: the discrepancy needs their group, finite "
            f"and of at most {SMALL_GROUP} elements; got {group!r}"
        )
    table = {g: image.matrix for g, image in output.elements()}
    return table.__getitem__


def _turned(values: NDArray[Any], images: Sequence[Array]) -> NDArray[Any]:
    """Values of the same points, once for each element, moved by it."""  # (len(images) · n, p) or (len(images) · n,)
    parts = values.reshape(len(images), -1, len(images[0]))
    return np.einsum("eij,enj->eni", np.stack(images), parts).reshape(values.shape)
