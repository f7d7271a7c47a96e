"""Points that the library makes itself, for models that were fitted on a table with names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specavg._arrays import Array


def named_like(model: Any, X: Array) -> Any:
    """`X` as the data frame that a model expects which was fitted on one; `X` itself for other models.

    scikit-learn warns of a table without names where a model knows names, as if columns might be in another order.

    Examples
    --------
    >>> import numpy as np, pandas as pd, specavg as sa
    >>> X = pd.DataFrame(sa.Torus(2).sample(50, random_state=0), columns=["phi", "psi"])
    >>> list(named_like(sa.InvariantFeatures(sa.Torus(2), max_dim=9).fit(X), np.zeros((3, 2))).columns)
    ['phi', 'psi']
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None or X.size != len(X) * len(names):
        return X
    try:
        import pandas as pd
    except ImportError:  # the names are those of a file or of another library's table: X is what there is
        return X
    return pd.DataFrame(X.reshape(len(X), len(names)), columns=names)


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, or the method of a fitted model, as a function of arrays of points."""
    model = getattr(function, "__self__", None)
    return (lambda X: function(named_like(model, X))) if hasattr(model, "feature_names_in_") else function
