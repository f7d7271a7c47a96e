"""What a saved model is, in a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from specavg.cli._euler_columns import angles_option
from specavg.cli._local_vectors import predicts_local

_FEW = 8  # columns that are named


def described_model(model: Any, path: Path) -> str:
    """One line for each thing that a user asks of a file: what it is, what it was fitted with, what it takes and gives.

    Examples
    --------
    >>> import specavg as sa
    >>> X = sa.Torus(2).sample(50, random_state=0)
    >>> model = sa.SpecAvgRegressor(sa.Torus(2), sa.groups.symmetric(2), max_dim=10).fit(X, X.sum(axis=1))
    >>> print(described_model(model, Path("sum.specavg")))
    sum.specavg: SpecAvgRegressor
    space       Torus(2)
    group       symmetric(2)
    functions   6 invariant of 9, eigenvalues up to 19.7392
    takes       2 columns
    predicts    one number
    """
    basis = getattr(model, "basis_", None)
    rows = _of_molecule(model) if basis is None else _of_basis(basis)
    for name, attribute in (("spectrum", "spectrum_"), ("penalty", "alpha_"), ("degrees", "degrees_")):
        if hasattr(model, attribute):
            rows.append((name, str(getattr(model, attribute))))
    for name, attribute in (("error", "loo_error_"), ("error", "energy_error_"), ("", "force_error_")):
        if np.isfinite(getattr(model, attribute, np.nan)):
            rows.append((name, f"{attribute} = {getattr(model, attribute):.3g}, leaving out one row at a time"))
    rows.append(("takes", _taken(model)))
    rows.append(("predicts", _predicted(model)))
    return "\n".join([f"{path}: {type(model).__name__}", *(f"{name:<11} {text}" for name, text in rows)])


def _of_basis(basis: Any) -> list[tuple[str, str]]:
    top = float(np.max(basis.eigenvalues, initial=0.0))
    by = basis.order.name
    values = "eigenvalues" if by in ("eigenvalue", "type") else f"values of the order {by!r}"
    functions = f"{basis.dim} {basis.kind} of {basis.total_dim}, {values} up to {top:.6g}"
    return [("space", repr(basis.space)), ("group", repr(basis.group)), ("functions", functions)]


def _of_molecule(model: Any) -> list[tuple[str, str]]:
    alike = [c for c in getattr(model, "classes_", ()) if len(c) > 1]
    return [
        ("molecule", " ".join(str(symbol) for symbol in getattr(model, "symbols", ()))),
        ("group", f"motions, mirror images and permutations of the atoms {alike or 'none'}"),
        ("functions", f"{getattr(model, 'n_functions_', 0)} polynomials of distances"),
    ]


def _taken(model: Any) -> str:
    names = getattr(model, "feature_names_in_", None)
    count = getattr(model, "n_features_in_", 0)
    if hasattr(model, "euler_"):
        names = model.euler_columns_
        return f"{len(names)} columns: {', '.join(names)} ({angles_option(model.euler_)})"
    if hasattr(model, "energy_and_forces"):
        return f"{count} columns: x, y and z of each atom"
    if names is None:
        return f"{count} columns"
    return f"{count} columns: {', '.join(str(name) for name in names[:_FEW])}{', ...' * (len(names) > _FEW)}"


def _predicted(model: Any) -> str:
    if hasattr(model, "energy_and_forces"):
        bars = getattr(model, "_posterior", None) is not None
        return "an energy, and forces" + "; deviations of energies (return_std)" * bars
    if hasattr(model, "score_samples"):
        return "a density, or the logarithm of a density (score_samples)"
    if hasattr(model, "transform"):
        return "features (transform)"
    shape = np.shape(getattr(model, "coef_", ()))
    outputs = f"{shape[1]} numbers" if len(shape) > 1 else "one number"
    whose = "its deviation" if len(shape) == 1 and not hasattr(model, "output") else "their deviations"
    if hasattr(model, "output"):
        outputs = f"outputs that move with the points ({getattr(model, 'output', '')!r})"
        outputs += ", to the east and to the north" * predicts_local(model)
    return outputs + (f", and {whose} (return_std)" if hasattr(model, "noise_variance_") else "")
