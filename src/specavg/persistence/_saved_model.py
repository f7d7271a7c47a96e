"""Keeping models: what an estimator is and has learnt, as plain values and arrays, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from specavg._html import Records
from specavg._messages import shown
from specavg._named_columns import of_arrays
from specavg.groups import Group, Representation
from specavg.invariants import Cutoff, Order
from specavg.isometries import Isometry
from specavg.persistence._bases import Basis, basis_arrays, describe_basis, read_basis
from specavg.persistence._container import ModelFileError, write_container
from specavg.persistence._plain_values import DescriptionError
from specavg.persistence._savable import Savable
from specavg.persistence._values import describe, read
from specavg.spaces import Space

_MAX_DEPTH = 12  # deepest nesting of lists and records that is read: models have four levels
_TOLERANCE = 1e-9  # relative; another version of LAPACK changes predictions by some 1e-13
# What a parameter or a fitted attribute may be, described by its arguments.
_VALUES = Space | Group | Isometry | Representation | Order


def write_model(model: Savable, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, as `Savable.save` says."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(cast(Any, model))
    writer = _Writer(type(model))
    parameters = {
        name: None if name in model.not_saved else value
        for name, value in cast(Any, model).get_params(deep=False).items()
    }
    document = {
        "library": f"specavg {_version()}",
        "class": type(model).__name__,
        "parameters": {name: writer.value(value, name) for name, value in parameters.items()},
        "fitted": {name: writer.value(value, name) for name, value in sorted(_fitted(model).items())},
    }
    points = model.check_points()
    writer.arrays["check_points"] = points
    writer.arrays["check_outputs"] = _outputs(model, points)
    write_container(path, document, writer.arrays)


def read_model(
    document: dict[str, Any], arrays: dict[str, NDArray[Any]], classes: Iterable[type[Savable]], place: str
) -> Savable:
    """The model that a document and its arrays mean; `ModelFileError` with one sentence where they mean none."""
    known = {kind.__name__: kind for kind in classes}
    kind = known.get(str(document.get("class")))
    if kind is None:
        raise ModelFileError(f"{place} holds a model of an unknown class {str(document.get('class'))[:60]!r}.")
    try:
        return _read_model(document, arrays, kind)
    except (DescriptionError, ModelFileError) as error:
        raise ModelFileError(f"{place} cannot be restored: {error}.") from None
    except Exception as error:  # whatever an impossible value leads to, the answer to the user is the same
        detail = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelFileError(f"{place} is not consistent: {detail}.") from None


def _read_model(document: dict[str, Any], arrays: dict[str, NDArray[Any]], kind: type[Savable]) -> Savable:
    reader = _Reader(arrays, kind)
    model: Any = kind(**{name: reader.value(value) for name, value in _table(document, "parameters").items()})
    for name, value in _table(document, "fitted").items():
        public = name.isidentifier() and name.endswith("_") and not name.startswith("_") and not hasattr(kind, name)
        if not public and name not in kind.saved_private:
            raise DescriptionError(f"{name[:60]!r} is not something a fitted model has")
        setattr(model, name, reader.value(value))
    if kind.has_basis and not isinstance(getattr(model, "basis_", None), Basis):
        raise DescriptionError("it has no basis")
    outputs, stored = _outputs(model, reader.array("check_points")), reader.array("check_outputs")
    if outputs.shape != stored.shape or not _equal_to_rounding(outputs, stored):
        raise DescriptionError("its predictions are not those it had when it was saved")
    return model


def _equal_to_rounding(outputs: NDArray[Any], stored: NDArray[Any]) -> bool:
    """Whether numbers are the same up to rounding; the logarithm of a density that is not positive is −∞ in both."""
    finite = np.isfinite(stored)
    bound = _TOLERANCE * (1 + float(np.abs(stored[finite]).max(initial=0.0)))
    same_infinities = np.array_equal(outputs[~finite], stored[~finite])
    return bool(same_infinities and (np.abs(outputs[finite] - stored[finite]) <= bound).all())


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("specavg")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "not installed"


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    if not isinstance(value, dict):
        raise DescriptionError(f"model.json has no table {name!r}")
    return value


def _fitted(model: Savable) -> dict[str, Any]:
    state = vars(model)
    public = {name: value for name, value in state.items() if name.endswith("_") and not name.startswith("_")}
    private = {name: state[name] for name in model.saved_private if name in state}
    return {name: None if name in model.not_saved else value for name, value in {**public, **private}.items()}


def _outputs(model: Any, points: NDArray[Any]) -> NDArray[np.float64]:
    """What the model says at `points`: predictions, densities or features."""
    for method in ("predict", "score_samples", "transform"):
        if hasattr(model, method):
            return np.asarray(of_arrays(getattr(model, method))(points), dtype=np.float64)
    raise TypeError(f"{type(model).__name__} has nothing to predict, transform or score with")


class _Writer:
    """Values to JSON; arrays are set aside under their names."""

    def __init__(self, kind: type[Savable]) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._records = kind.saved_records

    def value(self, value: Any, name: str) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            number = float(value)
            plain = number if np.isfinite(number) else {"float": repr(number)}
            return {"float64": plain} if isinstance(value, np.floating) else plain  # NumPy's has a shape and dtype
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if isinstance(value, Basis):
            prefix = self._unused(name.strip("_").lower())
            self.arrays.update({f"{prefix}_{key}": array for key, array in basis_arrays(value).items()})
            return {"basis": describe_basis(value), "prefix": prefix}
        if isinstance(value, Cutoff):
            return {"cutoff": describe(value)}
        if isinstance(value, _VALUES):
            return describe(value)
        if isinstance(value, list | tuple):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.value(v, f"{name}_{i}") for i, v in enumerate(value)]}
        if isinstance(value, Mapping):
            return {"table": {str(k): self.value(v, f"{name}_{k}") for k, v in value.items()}}
        if isinstance(value, self._records):
            state: Any = value.__getstate__()  # as for pickle: what was to be found later is found now
            content = {f.name: self.value(state[f.name], f"{name}_{f.name}") for f in fields(value)}
            return {"record": type(value).__name__, "fields": content}
        raise TypeError(
            f"{name} holds a {type(value).__name__}, which the model format cannot keep; use pickle or joblib, or "
            "save a model with plain parameters"
        )

    def _array(self, value: NDArray[Any], name: str) -> Any:
        if value.dtype.kind in "OU":  # names of columns
            return {"names": [str(v) for v in value.tolist()]}
        key = self._unused(name.strip("_").lower())
        self.arrays[key] = value
        return {"array": key}

    def _unused(self, name: str) -> str:
        while any(key == name or key.startswith(f"{name}_") for key in self.arrays):
            name += "x"
        return name


class _Reader:
    """JSON to values."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], kind: type[Savable]) -> None:
        self._arrays = arrays
        self._records = {record.__name__: record for record in kind.saved_records}

    def array(self, name: Any) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self._arrays:
            raise DescriptionError(f"the array {str(name)[:60]!r} is not in the file")
        return self._arrays[name]

    def value(self, value: Any, depth: int = 0) -> Any:
        if depth > _MAX_DEPTH:
            raise DescriptionError(f"a value is nested more than {_MAX_DEPTH} deep")
        match value:
            case None | bool() | str() | int() | float():
                return value
            case {"kind": str()}:
                return read(value, _VALUES, "a value")
            case {"float": "nan" | "inf" | "-inf" as word}:
                return float(word)
            case {"float64": plain}:
                return np.float64(self.value(plain, depth + 1))
            case {"array": name}:
                return self.array(name)
            case {"names": list(names)}:
                return np.array([str(name) for name in names], dtype=object)
            case {"cutoff": description}:
                return read(description, Cutoff, "a cutoff")
            case {"basis": description, "prefix": str(prefix)}:
                own = {k.removeprefix(f"{prefix}_"): a for k, a in self._arrays.items() if k.startswith(f"{prefix}_")}
                return read_basis(description, own)
            case {"list": list(items)}:
                return [self.value(v, depth + 1) for v in items]
            case {"tuple": list(items)}:
                found = tuple(self.value(v, depth + 1) for v in items)
                alike = len({type(v) for v in found}) == 1 and is_dataclass(found[0])
                return Records(found) if alike else found
            case {"table": dict(items)}:
                return {name: self.value(v, depth + 1) for name, v in items.items()}
            case {"record": str(name), "fields": dict(items)} if name in self._records:
                return self._records[name](**{field: self.value(v, depth + 1) for field, v in items.items()})
            case _:
                raise DescriptionError(f"{shown(value)} means nothing here")
