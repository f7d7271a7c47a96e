"""Saved models: `load` what `model.save` wrote.

A file is a zip without compression of `model.json` (what the model is, in words and exact fractions), `.npy`
arrays and `SHA256SUMS`. Loading executes nothing: there is no pickle anywhere in it.
"""

from __future__ import annotations

import os
from typing import Any

from specavg import estimators, molecules
from specavg.persistence._container import FORMAT_VERSION, ModelFileError, read_container
from specavg.persistence._savable import Savable
from specavg.persistence._saved_model import read_model

__all__ = ["FORMAT_VERSION", "ModelFileError", "load"]


def load(path: str | os.PathLike[str]) -> Any:
    """The model that `model.save(path)` wrote, with the same bits of prediction (`save` says under which conditions).

    Parameters
    ----------
    path : path-like

    Returns
    -------
    estimator
        Of the class that was saved, fitted.

    Raises
    ------
    ModelFileError
        If the file is not a saved model, or is truncated, changed, or of a newer format. A `ValueError`.

    Examples
    --------
    >>> import tempfile, specavg as sa
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> model = sa.SpecAvgRegressor(sa.Torus(2), sa.groups.symmetric(2), max_dim=10).fit(X, X.sum(axis=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.specavg")
    ...     same = sa.load(f"{folder}/model.specavg")
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    document, arrays = read_container(path)
    kinds = [getattr(home, name) for home in (estimators, molecules) for name in home.__all__]
    classes = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Savable)]
    return read_model(document, arrays, classes, str(path))


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
