"""Tangent vectors beside longitude and latitude: two columns, the components to the east and to the north."""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg._arrays import Array


def vectors_from_local(lonlat: Array, components: Array) -> Array:
    """Vectors along the axes of R³, as models take them."""  # (n, 2), (n, 2) -> (n, 3)
    from specavg.spaces import east_and_north

    return np.einsum("nk,kni->ni", components, np.stack(east_and_north(lonlat)))


def predicts_local(model: Any) -> bool:
    """Whether a model was fitted to components to the east and to the north."""
    output = getattr(getattr(model, "basis_", None), "output", None)  # a potential has no basis, scalars no output
    return output is not None and output.tangent and len(getattr(model, "target_names_", ())) == 2


def local_predictions(model: Any, lonlat: Array, X: Any, std: bool) -> tuple[Array, Array | None]:
    """Predicted components to the east and to the north, and their standard deviations where they are wanted."""
    from specavg.spaces import east_and_north

    frames = np.stack(east_and_north(lonlat), axis=1)  # (n, 2, 3)
    mean, covariance = model.predict(X, return_cov=True) if std else (model.predict(X), None)
    local = np.einsum("nki,ni->nk", frames, mean)
    if covariance is None:
        return local, None
    if not np.isfinite(covariance).all():  # all data lie on one orbit, and nothing is known of the deviations
        return local, np.full(local.shape, np.inf)
    return local, np.sqrt(np.maximum(np.einsum("nki,nij,nkj->nk", frames, covariance, frames), 0.0))
