"""A short draw of the stress suite. The seed is printed: `python tests/stress.py --seed N` runs a failure again."""

import time

import numpy as np
import pytest
from stress import CHECKS


@pytest.mark.filterwarnings("ignore:the lattice vectors are so skewed")  # eigenvalues are not concerned
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_random_hostile_case(check):
    seed = int(time.time())
    print(f"seed {seed}")
    check(np.random.default_rng(seed))
