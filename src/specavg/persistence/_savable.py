"""What every estimator that can be saved inherits; the writing and reading itself is imported when it is asked for."""

from __future__ import annotations

import os
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray


class Savable:
    """An estimator with `save`; `specavg.load` brings it back.

    A subclass lists what it must not keep in `not_saved` (the loaded model has None there), the fitted state behind
    an underscore in `saved_private`, and the classes of small records it holds in `saved_records`.
    """

    not_saved: ClassVar[tuple[str, ...]] = ()
    saved_private: ClassVar[tuple[str, ...]] = ()
    saved_records: ClassVar[tuple[type, ...]] = ()
    has_basis: ClassVar[bool] = True

    def __dir__(self) -> list[str]:
        """Without what only this file asks for: tab completion shows what users call."""
        machinery = {name for name in vars(Savable) if not name.startswith("_") and name != "save"}
        return sorted(set(super().__dir__()) - machinery)

    def check_points(self) -> NDArray[np.float64]:
        """Points at which a model that is read must predict what it predicted when it was saved."""
        return cast(Any, self).basis_.space.sample(4, random_state=np.random.default_rng(1))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file that runs no code when it is read.

        The file is a zip: `model.json` says what the model is, arrays lie beside it, and `SHA256SUMS` guards
        both. `specavg.load(path)` gives a model whose predictions have the same bits, standard deviations included.

        Parameters
        ----------
        path : path-like
            Written completely or not at all; a file that is there already is replaced.

        Notes
        -----
        "The same bits" is meant for the same points in the same call, on the same machine with the same versions of
        NumPy and SciPy and the same number of threads for linear algebra (``OMP_NUM_THREADS``). Predictions on tori,
        spheres and rotations do not depend on that number. On Stiefel manifolds, whose functions are computed
        by linear algebra, they agree to 1e-13 of their size if the number differs; standard deviations, which are
        matrix products, to the last digits.

        For an `InvariantKernelRidge` of D functions fitted to n points most of the file are the 8·D·min(n, D) bytes
        that standard deviations need: 19 MB for 1000 points on Torus(10) with 2268 functions. These numbers do not
        compress. Models fitted by conjugate gradients, and all others, need 8·D bytes and what describes the basis.
        """
        from specavg.persistence._saved_model import write_model

        write_model(self, path)
