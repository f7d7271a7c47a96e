"""The basis that a search ends with, and what it keeps of what was found on the way."""

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.estimators._ridge_data import RidgeData
from specavg.invariants import FewCoordinates
from specavg.regression import _measured_limits as _limits
from specavg.regression._spectra import spectrum_candidates

ROWS = 3 * _limits.SEARCH_ROWS // 2


@pytest.mark.parametrize(
    "space, group, ended",
    [
        (sa.Torus(2), groups.shifts([1, -1]), True),  # few invariants: the time ends the search for them
        (sa.Torus(3), groups.symmetric(3), False),
    ],
    ids=["ended by time", "as many as wanted"],
)
def test_features_of_a_fit_are_those_of_its_basis_to_the_last_bit(monkeypatch, space, group, ended):
    import specavg.estimators._kernel_ridge as module

    found = []
    search = module.searched_basis
    monkeypatch.setattr(module, "searched_basis", lambda *args: found.append(search(*args)) or found[-1])
    X = space.sample(ROWS, random_state=0)
    y = np.cos(np.pi * X.sum(axis=1)) + 0.1 * np.random.default_rng(0).normal(size=ROWS)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert (found[0].basis.cutoff.kind == "max_eigenvalue") is ended
    assert model.basis_ == found[0].basis
    points = model.basis_.evaluation_points(X)
    assert np.array_equal(found[0].features, model.basis_.evaluate(points)[:, 1:])


@pytest.mark.parametrize("rows, spectra", [(_limits.COMPARED_ROWS, _limits.SHORTLIST), (1_100, 1)])
def test_spectra_are_compared_on_so_many_rows_at_most(monkeypatch, rows, spectra):
    """More rows decompose the best spectrum alone."""
    import specavg.estimators._kernel_ridge as module

    found = []
    search = module.searched_basis
    monkeypatch.setattr(module, "searched_basis", lambda *args: found.append(search(*args)) or found[-1])
    X = sa.Torus(2).sample(rows, random_state=0)
    y = np.abs(np.sin(np.pi * X)).sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=rows)
    model = sa.InvariantKernelRidge(sa.Torus(2), groups.symmetric(2)).fit(X, y)
    assert len(found[0].spectra) == spectra
    assert model.loo_error_ < 0.3


def test_without_noise_one_spectrum_is_decomposed_with_all_rows(monkeypatch):
    """Others are compared by the penalty that fewer rows had, and none by half of its digits."""
    from specavg.regression._reduced_rows import ReducedRows

    rows, decomposed = 500, []

    def counted(name):
        plain = getattr(ReducedRows, name)

        def counting(self, *args):
            decomposed.extend([name] * (len(self.core) == rows - 1))
            return plain(self, *args)

        monkeypatch.setattr(ReducedRows, name, counting)

    counted("decomposition")
    counted("left_vectors_by_squares")
    space, group = sa.Torus(3), groups.symmetric(3)

    def target(X):
        return np.exp(np.cos(np.pi * X).sum(axis=1))

    X, Z = space.sample(rows, random_state=0), space.sample(500, random_state=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, target(X))
    assert decomposed == ["decomposition"]
    assert len({trial.spectrum for trial in model.trials_}) > 1
    error = np.sqrt(np.mean((model.predict(Z) - target(Z)) ** 2))
    assert error < 1e-6 * target(Z).std()  # 2.3e-7, as with all penalties of all three


def test_bases_that_fall_behind_have_few_functions(monkeypatch):
    """A first look at few rows needs no more functions than these rows can use."""
    dims = {}
    plain = sa.InvariantKernelRidge._basis_in_time

    def counting(self, cutoff, order=None):
        basis = plain(self, cutoff, order)
        dims.setdefault(basis.order, []).append(basis.dim)
        return basis

    monkeypatch.setattr(sa.InvariantKernelRidge, "_basis_in_time", counting)
    space = sa.Torus(4)
    X = space.sample(600, random_state=0)
    y = np.exp(np.cos(np.pi * X).mean(axis=1))
    model = sa.InvariantKernelRidge(space, groups.symmetric(4)).fit(X, y)
    assert len(dims) > 1
    few = _limits.FUNCTIONS_PER_POINT * _limits.SCREEN_ROWS
    assert all(max(found) < 2 * few for order, found in dims.items() if order != model.basis_.order)
    assert model.basis_.dim > 2 * few


@pytest.mark.parametrize("rows", [300, 900, 1_100, 5_000])
@pytest.mark.parametrize("cutoff", [{}, {"max_dim": 50}], ids=["default", "max_dim"])
def test_many_rows_at_one_point_have_their_mean(rows, cutoff):
    X, y = np.full((rows, 2), 0.3), np.random.default_rng(0).normal(size=rows)
    with pytest.warns(UserWarning, match="one orbit"):
        model = sa.InvariantKernelRidge(sa.Torus(2), groups.symmetric(2), **cutoff).fit(X, y)
    assert model.predict([[0.3, 0.3]])[0] == pytest.approx(y.mean())


def test_bases_are_compared_with_the_functions_that_stand_out_in_each():
    """A sum over coordinates beside a product of all: before the product is named, few coordinates first look worse."""
    space, group = sa.Torus(4), sa.groups.symmetric(4)

    def target(X):
        c = np.cos(np.pi * X)
        return np.exp(c).sum(axis=1) + 2 * c.prod(axis=1)

    X, Z = space.sample(200, random_state=0), space.sample(500, random_state=1)
    model = sa.InvariantKernelRidge(space, group).fit(X, target(X))
    assert isinstance(model.basis_.order, sa.invariants.FewCoordinates)
    assert np.sqrt(np.mean((model.predict(Z) - target(Z)) ** 2)) < 1e-8  # in the order by type 3e-6


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_spectra_are_compared_with_the_functions_that_stand_out_beside_each(seed):
    """A sum over neighbours on a ring beside one function of all five angles."""
    space, group = sa.Torus(5), sa.groups.dihedral_shifts(5)

    def target(X):
        neighbours = np.exp(0.8 * np.cos(np.pi * (X - np.roll(X, 1, axis=1)))).sum(axis=1)
        return neighbours + 0.8 * np.cos(np.pi * X.sum(axis=1))

    X, Z = space.sample(200, random_state=seed), space.sample(500, random_state=99)
    model = sa.InvariantKernelRidge(space, group).fit(X, target(X))
    # 0.026 to 0.029 of the spread with the spectrum that is ahead while the second function is taken for noise
    assert np.sqrt(np.mean((model.predict(Z) - target(Z)) ** 2)) < 0.005 * target(Z).std()


def test_a_search_for_functions_that_the_time_ended_is_not_made_again(monkeypatch):
    """There are few invariants under so large a group, and more functions are wanted than the time allows."""
    from specavg.invariants import _basis

    searched = []  # the cutoff that was wanted, and the one that was reached
    plain = _basis.solutions_in_time

    def recorded(*args):
        found = plain(*args)
        searched.append((args[2].value, found[1].kind))
        return found

    monkeypatch.setattr(_basis, "solutions_in_time", recorded)
    space, group = sa.Power(sa.Circle(), 4), groups.wreath(groups.dihedral(3), 4)
    _basis.built_basis.cache_clear()
    X = space.sample(450, random_state=0)
    y = np.cos(3 * X).sum(axis=1) + 0.1 * np.random.default_rng(0).normal(size=450)
    model = sa.InvariantKernelRidge(space, group).fit(X, y)
    assert model.basis_.cutoff.kind == "max_eigenvalue"
    first_look = 2 * _limits.FUNCTIONS_PER_POINT * _limits.SCREEN_ROWS
    assert all(reached == "max_invariant_dim" for wanted, reached in searched if wanted > first_look)


@pytest.fixture
def few_functions(monkeypatch):
    """Many rows are given 96 functions."""
    monkeypatch.setattr(_limits, "WORK", 1e7)
    monkeypatch.setattr(_limits, "MANY_ROWS_FUNCTIONS", 96)


def test_with_many_rows_the_order_is_one_whose_functions_reach_far_enough(few_functions):
    """In two dimensions too: 96 functions by eigenvalue end at degree ten, and the waves need degree twenty."""
    space, rng = sa.Power(sa.Interval(0, 1), 2), np.random.default_rng(0)
    X, Z = rng.random((3_000, 2)), rng.random((500, 2))
    y = np.sin(25 * X).sum(axis=1) + 0.1 * rng.normal(size=len(X))
    errors = [
        np.std(sa.InvariantKernelRidge(space, order=order).fit(X, y).predict(Z) - np.sin(25 * Z).sum(axis=1))
        for order in (None, "eigenvalue")
    ]
    assert errors[0] < 0.2 * errors[1]


def test_orders_are_compared_on_rows_that_show_what_a_cutoff_leaves_out(few_functions, monkeypatch):
    """With noise 400 rows do not tell which functions follow kinks best; 3,000 rows do."""
    space, rng = sa.Power(sa.Interval(0, 1), 2), np.random.default_rng(0)
    X = rng.random((6_000, 2))

    def f(X):
        return 3 * np.abs(X - 0.5).sum(axis=1) + np.abs(X[:, 0] - X[:, 1])

    y, errors = f(X) + f(X).std() * rng.normal(size=len(X)), list[float]()
    Z = rng.random((1_000, 2))
    for orders in (_limits.ORDERS, 1):
        monkeypatch.setattr(_limits, "ORDERS", orders)
        errors.append(np.std(sa.InvariantKernelRidge(space).fit(X, y).predict(Z) - f(Z)))
    assert errors[0] < 0.9 * errors[1]


def test_a_gram_matrix_is_an_operator_only_where_that_is_faster():
    """Frequencies of few coordinates reach far, and a transform to a grid of all of them takes long."""
    space = sa.Torus(3)
    X = space.sample(5_000, random_state=0)
    data = RidgeData.of(X, np.cos(np.pi * X[:, :1]), np.ones(len(X)))
    solvers = []
    for order in ("eigenvalue", FewCoordinates(4)):
        basis = sa.invariant_basis(space, max_invariant_dim=1024, order=order)
        solvers.append(data.problem(basis, None, spectrum_candidates(basis, "heat", None, 1.0), None).solver)
    assert solvers == ["toeplitz", "moments"]
