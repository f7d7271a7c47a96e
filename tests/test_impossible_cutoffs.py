"""Cutoffs that no machine can reach are refused at once, on every space and in every order, with what to lower."""

import time

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.invariants import Cutoff
from specavg.invariants._building import _long_ones_announced
from specavg.invariants.solvers._null_space import NullSpace
from specavg.spaces import Eigenspace

SPACES = {
    "circle": (sa.Circle(), groups.cyclic(1000)),
    "one coordinate": (sa.Torus(1), None),
    "one coordinate, flipped": (sa.Torus(1), groups.sign_flips(1)),
    "torus": (sa.Torus(3), groups.hyperoctahedral(3)),
    "box": (sa.Torus(2, period=[1, 1.7]), groups.sign_flips(2)),
    "lattice": (sa.Torus(lattice=[[1, 0], [0.5, 0.9]]), None),
    "lattice of one vector": (sa.Torus(lattice=[[1.0]]), None),
    "circle of unit vectors": (sa.Sphere(2), groups.Group([[[0, -1], [1, 0]]])),
    "sphere": (sa.Sphere(3), groups.point_group("Oh")),
    "sphere in R^5": (sa.Sphere(5), groups.hyperoctahedral(5)),
    "interval": (sa.Interval(), None),
    "directions": (sa.Stiefel(2, 1), None),
    "frames": (sa.Stiefel(3, 2), None),
    "rotations": (sa.Rotations(), groups.crystal_symmetry("O")),
    "power of intervals": (sa.Power(sa.Interval(), 3), groups.symmetric(3)),
    "power of circles": (sa.Power(sa.Circle(), 4), groups.symmetric(4)),
    "power of spheres": (sa.Power(sa.Sphere(3), 3), groups.wreath(groups.point_group("Oh"), 3)),
    "product": (sa.Product(sa.Sphere(2), sa.Interval()), None),
}
CUTOFFS = [{"max_eigenvalue": 1e15}, {"max_eigenvalue": 1e300}, {"max_dim": 1e15}, {"max_invariant_dim": 1e8}]
SECONDS = 5.0  # of processor time; 0.1 to 0.7 were measured


def refused_at_once(work, lower):
    start = time.process_time()
    with pytest.raises((MemoryError, ValueError), match=f"Lower {lower}"):
        work()
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("cutoff", CUTOFFS, ids=str)
@pytest.mark.parametrize("name", SPACES)
def test_impossible_cutoffs_are_refused_at_once(name, cutoff):
    space, group = SPACES[name]
    refused_at_once(lambda: sa.invariant_basis(space, group, **cutoff), next(iter(cutoff)))
    refused_at_once(lambda: sa.invariants.plan(space, group, **cutoff), next(iter(cutoff)))


@pytest.mark.parametrize("order", ["few coordinates", "degree", "type"])
@pytest.mark.parametrize("cutoff", [{"max_eigenvalue": 1e15}, {"max_dim": 1e14}], ids=str)
@pytest.mark.parametrize("name", ["torus", "power of intervals", "power of circles"])
def test_impossible_cutoffs_are_refused_at_once_in_other_orders(name, cutoff, order):
    space, group = SPACES[name]
    refused_at_once(lambda: sa.invariant_basis(space, group, order=order, **cutoff), next(iter(cutoff)))


def test_impossible_cutoffs_of_other_callers_are_refused_at_once():
    space, group = sa.Torus(1), groups.sign_flips(1)
    X = space.sample(100, random_state=0)
    for model in (
        sa.InvariantKernelRidge(space, group, max_eigenvalue=1e15),
        sa.SpecAvgRegressor(space, group, max_eigenvalue=1e15),
    ):
        refused_at_once(lambda model=model: model.fit(X, X[:, 0] ** 2), "max_eigenvalue")
    turns = sa.Sphere(3), groups.point_group("C2v"), "vector"
    refused_at_once(lambda: sa.equivariant_basis(*turns, max_eigenvalue=1e15), "max_eigenvalue")


@pytest.mark.parametrize("max_dim", [1e5, 1e9, 1e15])
def test_a_symmetry_test_of_more_functions_than_samples_is_refused_at_once(max_dim):
    space = sa.Torus(1)
    X = space.sample(300, random_state=0)
    start = time.process_time()
    with pytest.raises(
        ValueError, match=r"300 samples are too few for 151 functions, the first .*: give at least 303 .*or a smaller"
    ):
        sa.symmetry_test(X, np.cos(np.pi * X[:, 0]), space, groups.sign_flips(1), max_dim=max_dim)
    assert time.process_time() - start < SECONDS


def counted(d, both_signs):
    """Numbers of integer vectors with |k|² = 0, 1, …, 29 in d coordinates, of both signs or none below zero."""
    one = np.array([1 if n == 0 else (2 if both_signs else 1) * float(int(n**0.5) ** 2 == n) for n in range(30)])
    total = np.eye(30)[0]
    for _ in range(d):
        total = np.convolve(total, one)[:30]
    return np.cumsum(total)


def test_large_cutoffs_that_can_be_reached_are_not_refused():
    assert sa.invariant_basis(sa.Torus(1), max_eigenvalue=1e9).dim == 2 * int(np.sqrt(1e9) / np.pi) + 1
    below = int((counted(10, both_signs=True) <= 4e7).sum()) - 1
    found = sa.invariant_basis(sa.Torus(10), groups.sign_flips(10), max_dim=4e7)
    assert found.dim == counted(10, both_signs=False)[below] > 300_000


class _Forecasts:
    """Seconds of each eigenspace, and which of them were asked about memory."""

    def __init__(self, seconds):
        self._seconds, self.asked = dict(enumerate(seconds)), []

    def seconds(self, V):
        return self._seconds[V.label]

    def memory(self, V):
        return 2e6

    def check_memory(self, V):
        self.asked.append(V.label)


@pytest.mark.parametrize("seconds, warned", [([1.0, 59.0, 2.0], None), ([1.0, 90.0, 3.0, 200.0], 1), ([61.0, 62.0], 0)])
def test_the_first_eigenspace_that_takes_long_is_announced_before_it_is_solved(seconds, warned, recwarn):
    forecasts = _Forecasts(seconds)
    spaces = [Eigenspace(float(i), 10 + i, i) for i in range(len(seconds))]
    listed = _long_ones_announced(iter(spaces), forecasts, Cutoff("max_invariant_dim", 50.0))
    for V in spaces:
        assert next(listed) is V
        assert len(recwarn) == (warned is not None and V.label >= warned)
    assert next(listed, None) is None
    assert forecasts.asked == [i for i, s in enumerate(seconds) if s > 60]
    if warned is not None:
        told = str(recwarn[0].message)
        assert f"of eigenvalue {warned}, of {10 + warned} functions" in told
        assert f"about {seconds[warned] / 60:.2g} minutes and 2 MB" in told


def test_an_eigenspace_that_takes_days_is_refused_after_those_before_it():
    spaces = [Eigenspace(float(i), 10 + i, i) for i in range(2)]
    listed = _long_ones_announced(iter(spaces), _Forecasts([1.0, 100_000.0]), Cutoff("max_invariant_dim", 50.0))
    assert next(listed) is spaces[0]
    with pytest.raises(ValueError, match="of 11 functions, would take 28 hours"):
        next(listed)


@pytest.mark.parametrize("kind, value", [("max_eigenvalue", 48.0), ("max_dim", 150.0)])
def test_every_cutoff_says_what_takes_long(kind, value, monkeypatch):
    """The sum of the forecasts, in minutes: none of the eigenspaces takes long alone."""
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    group = groups.Group([R @ np.diag([1.0, 1.0, -1.0, -1.0]) @ R.T])
    monkeypatch.setattr(NullSpace, "seconds", lambda self, V: 30.0)
    with pytest.warns(UserWarning, match=f"{kind}={value:g} would take about 3.5 minutes .* 7 eigenspaces of up to 49"):
        basis = sa.invariant_basis(sa.Sphere(4), group, **{kind: value})
    assert len(basis.table) == 7
