"""Small files that declare large things are read or refused in seconds and in bounded memory."""

import contextlib

import numpy as np
import pytest
from crafted import cases, crafted
from limited import ended_within

import specavg as sa

CASES = list(cases(np.random.default_rng(0)))
SECONDS = 20  # of processor time: at most 5 were used, compiled code not counted
MEMORY = 3 * 10**9  # bytes: at most 1 GB was used


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_small_files_that_declare_large_things_end_within_limits(case, tmp_path):
    _, *declared = case
    crafted(tmp_path / "model", *declared)
    assert (tmp_path / "model").stat().st_size < 8e6

    def read():
        with contextlib.suppress(sa.io.ModelFileError):
            sa.load(tmp_path / "model")

    assert ended_within(read, SECONDS, MEMORY) == 0
