"""Every estimator takes the order of its basis."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import specavg as sa
from specavg.invariants import ByDegree, ByType, FewCoordinates

SPACE, GROUP = sa.Torus(2), sa.groups.symmetric(2)
X = SPACE.sample(60, random_state=0)
Y = np.cos(np.pi * X).sum(axis=1)


def estimators(order):
    given = {"max_invariant_dim": 12, "order": order}
    yield sa.SpecAvgRegressor(SPACE, GROUP, **given)
    yield sa.InvariantKernelRidge(SPACE, GROUP, **given)
    yield sa.InvariantDensity(SPACE, GROUP, **given)
    yield sa.InvariantFeatures(SPACE, GROUP, **given)
    yield sa.Symmetrized(Ridge(), SPACE, GROUP, **given)


@pytest.mark.parametrize("order", ["eigenvalue", "few coordinates", "degree", FewCoordinates(9)])
def test_the_basis_is_in_the_order_that_was_given(order):
    expected = sa.invariant_basis(SPACE, GROUP, max_invariant_dim=12, order=order)
    for model in estimators(order):
        assert model.fit(X, Y).basis_ == expected, model


@pytest.mark.parametrize("order", [ByType(balanced=True), FewCoordinates(4), FewCoordinates(9), ByDegree()], ids=repr)
def test_a_model_that_was_given_an_order_is_saved_and_pickled(order, tmp_path):
    for model in estimators(order):
        model.fit(X, Y).save(tmp_path / "model.specavg")
        for same in (sa.load(tmp_path / "model.specavg"), pickle.loads(pickle.dumps(model))):
            assert same.order == order
            assert same.basis_ == model.basis_


def test_orders_that_a_space_has_not_are_refused_by_estimators():
    for model in estimators("few coordinates"):
        with pytest.raises(ValueError, match="is a lattice"):
            model.set_params(space=sa.Torus(lattice=[[1, 0], [0, 1]])).fit(X, Y)
    for model in estimators("by weight"):
        with pytest.raises(ValueError, match="order must be"):
            model.fit(X, Y)
