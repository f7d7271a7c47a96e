"""Mutated model files: either the model comes back, or `ModelFileError` with one sentence. Nothing else."""

import copy
import json

import numpy as np
import pytest
from test_io import entries_of, fitted, zipped

import specavg as sa
from specavg.io import ModelFileError

NAMES = ("closed form", "null space", "wreath")


@pytest.fixture(scope="module", params=NAMES)
def case(request, tmp_path_factory):
    model = fitted(request.param)
    path = tmp_path_factory.mktemp("fuzz") / "model.specavg"
    model.save(path)
    X = model.space.sample(5, random_state=2)
    return path, path.read_bytes(), X, model.predict(X)


def outcome(path, data, X):
    """The predictions of the file's model, or None if it was refused."""
    path.write_bytes(data)
    try:
        model = sa.load(path)
    except ModelFileError as error:
        refusal = str(error)
    else:
        return model.predict(X)
    assert "\n" not in refusal
    return None


def test_mutated_bytes(case):
    path, data, X, expected = case
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        mutated = bytearray(data)
        kind = rng.integers(5)
        at, length = int(rng.integers(len(data))), int(rng.integers(1, 40))
        if kind == 0:
            mutated[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del mutated[at : at + length]
        elif kind == 2:
            mutated[at:at] = rng.bytes(length)
        elif kind == 3:
            mutated = mutated[:at]
        else:
            other = int(rng.integers(len(data)))
            mutated[at : at + length] = mutated[other : other + length]
        found = outcome(path, bytes(mutated), X)
        refused += found is None
        if found is not None:  # only the zip's own book-keeping (dates, flags) may change unnoticed
            np.testing.assert_array_equal(found, expected)
    assert refused > 300


ODD = [
    None,
    True,
    -1,
    0,
    1,
    7,
    10**30,
    0.5,
    -3.5,
    1e300,
    "",
    "x",
    "1/0",
    "torus",
    [],
    [[]],
    [1, 2],
    {},
    {"kind": "sphere"},
]


def places(value, found):
    """Every (container, key) of a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        places(inner, found)
    return found


def test_documents_that_lie_with_true_checksums(case):
    path, data, X, _ = case
    entries = entries_of(data)
    document = json.loads(entries["model.json"])
    rng = np.random.default_rng(1)
    for _ in range(250):
        lie = copy.deepcopy(document)
        spots = places(lie, [])
        container, key = spots[int(rng.integers(len(spots)))]
        if rng.random() < 0.15:
            del container[key]
        else:
            container[key] = ODD[int(rng.integers(len(ODD)))]
        found = outcome(path, zipped({**entries, "model.json": json.dumps(lie).encode()}), X)
        assert found is None or np.isfinite(found).all()


def test_arrays_that_lie_with_true_checksums(case):
    path, data, X, expected = case
    entries = entries_of(data)
    names = [name for name in entries if name.endswith(".npy")]
    rng = np.random.default_rng(2)
    for _ in range(150):
        name = names[int(rng.integers(len(names)))]
        mutated = bytearray(entries[name])
        for _ in range(int(rng.integers(1, 4))):
            mutated[int(rng.integers(len(mutated)))] = int(rng.integers(256))
        found = outcome(path, zipped({**entries, name: bytes(mutated)}), X)
        if found is not None:  # what is as small as rounding may pass, what changes a prediction may not
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * (1 + np.abs(expected).max()))
