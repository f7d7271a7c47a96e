"""Solutions for many penalties in one space, against direct ones."""

import numpy as np
import pytest

from specavg.regression import _solution_space
from specavg.regression._conjugate_gradients import NotConverged
from specavg.regression._solution_space import SolutionSpace

D, ROWS = 200, 2000


@pytest.fixture
def system():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(ROWS, D))
    Y = F @ (np.exp(-0.05 * np.arange(D))[:, None] * rng.normal(size=(D, 2))) + 0.1 * rng.normal(size=(ROWS, 2))
    return F.T @ F, F.T @ Y


def counted(G):
    taken = []

    def multiply(C):
        taken.append(C.shape[1])
        return G @ C

    return multiply, taken


def penalties():
    falling = np.exp(-0.05 * np.arange(D))
    return [ROWS * alpha / falling**power for power in (1.0, 1.5) for alpha in (1e-3, 3e-4, 1e-4, 3e-5)]


def test_solutions_are_those_of_the_system(system):
    G, b = system
    space = SolutionSpace(counted(G)[0], b, ROWS)
    for penalty in penalties():
        wanted = np.linalg.solve(G + np.diag(penalty), b)
        np.testing.assert_allclose(space.solve(penalty, 1e-9), wanted, atol=1e-8 * np.abs(wanted).max())


def test_penalties_share_their_directions(system):
    G, b = system
    alone = 0
    shared, together = counted(G)
    space = SolutionSpace(shared, b, ROWS)
    for penalty in penalties():
        multiply, taken = counted(G)
        SolutionSpace(multiply, b, ROWS).solve(penalty, 1e-6)
        alone += sum(taken)
        space.solve(penalty, 1e-6)
    assert sum(together) < 0.6 * alone
    before = sum(together)
    space.solve(penalties()[0], 1e-6)
    assert sum(together) == before


def test_what_has_no_room_is_finished_by_conjugate_gradients(system, monkeypatch):
    monkeypatch.setattr(_solution_space, "_DIRECTIONS", 3)
    G, b = system
    space = SolutionSpace(counted(G)[0], b, ROWS)
    for penalty in penalties():
        wanted = np.linalg.solve(G + np.diag(penalty), b)
        np.testing.assert_allclose(space.solve(penalty, 1e-9), wanted, atol=1e-8 * np.abs(wanted).max())


def test_too_many_steps_are_refused(system):
    G, b = system
    with pytest.raises(NotConverged):
        SolutionSpace(counted(G)[0], b, ROWS).solve(np.zeros(D), 1e-9, steps=2)
