"""The file of a saved model: a plain zip of one JSON document, .npy arrays and their checksums.

Reading executes nothing. Entries are stored without compression, so a small file cannot unpack to a large one;
names are compared with a list, never used as paths; arrays are read with pickles forbidden.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specavg._atomic import atomic_path
from specavg._config import require_memory
from specavg._messages import shown

# 1 had a description of its own for each space, group and isometry; 2, of version 0.1.0, had bases without an order.
FORMAT_VERSION = 3
_FORMAT = "specavg model"
_DOCUMENT = "model.json"
_SUMS = "SHA256SUMS"
_ARRAY_NAME = re.compile(r"arrays/[a-z0-9_]{1,80}\.npy")
_DTYPES = ("<f8", "<i8", "|b1")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes, whenever it is saved
_MAX_ENTRIES = 100_000  # arrays in a file: a model has one for each eigenspace that a null space solved, some hundreds


class ModelFileError(ValueError):
    """A file is not a saved model, or not a whole one; the message is one sentence that says why.

    Examples
    --------
    >>> import tempfile
    >>> import specavg as sa
    >>> with tempfile.NamedTemporaryFile(suffix=".specavg") as file:
    ...     try:
    ...         sa.load(file.name)
    ...     except sa.io.ModelFileError:
    ...         print("an empty file is no model")
    an empty file is no model
    """


def write_container(
    path: str | os.PathLike[str], document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a document and its arrays, all or nothing.

    Parameters
    ----------
    path : path-like
    document : mapping
        JSON values only.
    arrays : mapping of str to ndarray
        Float, integer or boolean arrays; names of small letters, digits and underscores.
    """
    header = {"format": _FORMAT, "version": FORMAT_VERSION, **document}
    contents = {_DOCUMENT: _readable(header).encode()}
    for name, array in sorted(arrays.items()):
        entry = f"arrays/{name}.npy"
        if not _ARRAY_NAME.fullmatch(entry):
            raise ValueError(f"{name!r} is not a name for an array in a model file")
        contents[entry] = _array_bytes(array)
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in contents.items()]
    contents[_SUMS] = "".join(sums).encode()
    with atomic_path(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as file:
        for name, data in contents.items():
            file.writestr(zipfile.ZipInfo(name, _EPOCH), data)


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a document and its arrays.

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray

    Raises
    ------
    ModelFileError
        With one sentence: not a model, truncated, changed, newer, compressed, or with names that lead elsewhere.
    """
    place = Path(path)
    size = place.stat().st_size
    require_memory(3.0 * size, f"the model in {place}", "Use a machine with more memory.")
    data = place.read_bytes()
    try:
        contents = _entries(data, place)
    except ModelFileError:
        raise
    except Exception:  # zipfile raises half a dozen kinds for a damaged file
        raise ModelFileError(f"{place} is damaged or not a saved model: it is not a readable zip file.") from None
    document = _document(contents[_DOCUMENT], place)
    _check_sums(contents, place)
    names = [name for name in contents if name not in (_DOCUMENT, _SUMS)]
    return document, {name[7:-4]: _array(contents[name], name, place) for name in names}


def _entries(data: bytes, place: Path) -> dict[str, bytes]:
    size = len(data)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        entries = file.infolist()
        if len(entries) > _MAX_ENTRIES:
            raise ModelFileError(f"{place} has {len(entries)} entries: not a saved model.")
        for entry in entries:
            if entry.filename not in (_DOCUMENT, _SUMS) and not _ARRAY_NAME.fullmatch(entry.filename):
                raise ModelFileError(f"{place} holds an entry {shown(entry.filename)} that no saved model has.")
            if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
                raise ModelFileError(
                    f"{place} is compressed; saved models never are, because a small file could then unpack to "
                    "a very large one."
                )
        if sum(entry.file_size for entry in entries) > size:
            raise ModelFileError(f"{place} says it holds more than its {size} bytes: refused as a zip bomb.")
        names = [entry.filename for entry in entries]
        if len(set(names)) != len(names):
            raise ModelFileError(f"{place} holds the same name twice: not a saved model.")
        for needed in (_DOCUMENT, _SUMS):
            if needed not in names:
                raise ModelFileError(f"{place} is not a saved model: it is a zip file without {needed}.")
        return {name: file.read(name) for name in names}


def _document(data: bytes, place: Path) -> dict[str, Any]:
    try:
        document = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ModelFileError(f"{place} is damaged: its {_DOCUMENT} is not valid JSON.") from None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFileError(f"{place} is not a saved model: its {_DOCUMENT} does not say so.")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{place} has no readable format version.")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{place} is in format {version}, newer than the format {FORMAT_VERSION} this version of specavg reads: "
            "upgrade specavg."
        )
    if version < FORMAT_VERSION:
        raise ModelFileError(
            f"{place} is in format {version}, older than the format {FORMAT_VERSION} this version of specavg reads: "
            "fit and save the model again."
        )
    return document


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _check_sums(contents: dict[str, bytes], place: Path) -> None:
    try:
        lines = contents[_SUMS].decode("ascii").splitlines()
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except ValueError:
        raise ModelFileError(f"{place} is damaged: its {_SUMS} cannot be read.") from None
    present = contents.keys() - {_SUMS}
    if listed.keys() != present:
        odd = sorted(listed.keys() ^ present)[0]
        raise ModelFileError(f"{place} was changed: {shown(odd)} is missing or was added after it was saved.")
    for name in present:
        if hashlib.sha256(contents[name]).hexdigest() != listed[name]:
            raise ModelFileError(f"{place} was changed after it was saved: {name} does not match its checksum.")


def _readable(document: Mapping[str, Any]) -> str:
    """JSON with an indentation, but lists of numbers on one line."""
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
    # Inside a JSON string a line break is written \\n, so real ones are always between values.
    return re.sub(r"\[\n\s*([^\[\]{}]*?)\n\s*\]", lambda m: "[" + re.sub(r"\n\s*", " ", m[1]) + "]", text)


def _array_bytes(array: NDArray[Any]) -> bytes:
    plain = np.asarray(array)  # Fortran order is kept: matrix products with it then round the same way
    kind = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}.get(plain.dtype.kind)
    if kind is None:
        raise ValueError(f"arrays of {plain.dtype} cannot be saved: only floats, integers and booleans")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, plain.astype(kind, order="K", copy=False), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(data: bytes, name: str, place: Path) -> NDArray[Any]:
    buffer = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise ValueError("another version of the .npy format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
        if dtype.str not in _DTYPES or prod(shape) * dtype.itemsize != len(data) - buffer.tell():
            raise ValueError("not as saved models have it")
    except Exception as error:  # numpy parses the header as a literal, and may say anything about a bad one
        raise ModelFileError(f"{place} is damaged: {name} is not a readable array ({shown(str(error))}).") from None
    flat = np.frombuffer(data, dtype, offset=buffer.tell())
    array = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    return array.astype(dtype.newbyteorder("="), order="K")  # a copy that can be written to
