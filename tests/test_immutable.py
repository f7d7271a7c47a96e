"""Values are what they were made from, whatever was computed with them."""

import pickle
from itertools import islice

import joblib
import pytest
from cases import CASES, case_id

import specavg as sa
from specavg.groups import Group
from specavg.persistence import describe, read
from specavg.spaces import Space


def anew(value, kind):
    """An equal value that nothing was computed with."""
    return read(describe(value), kind, "a value")


def marks(value):
    return pickle.dumps(value), joblib.hash(value)


@pytest.mark.parametrize("entry", CASES, ids=case_id)
def test_pickles_and_hashes_of_values_do_not_depend_on_what_was_computed(entry):
    space, group = anew(entry.space, Space), anew(entry.group, Group)
    X = entry.space.sample(3, 0)
    values = [space, group, *group.generators, *group.fields]
    before = [marks(value) for value in values]
    eigenspaces = list(islice(space.eigenspaces(), 3))
    for V in eigenspaces:
        space.evaluate(V, X)
        for g in group.generators:
            space.representation(g, V)
    basis = sa.invariant_basis(space, group, max_eigenvalue=eigenspaces[1].eigenvalue, order=entry.order)
    new = marks(basis)
    basis.evaluate(X), basis.gradient(X), basis.table, basis.has_canonical and basis.canonical(X)
    hash(group), group.order, group.algebra, group.has_canonical, repr(group)
    for value, mark in zip(values, before, strict=True):
        assert marks(value) == mark, value
    assert marks(basis) == new


def test_a_basis_that_was_pickled_has_the_same_bits():
    space = sa.Sphere(3)
    X = space.sample(5, 0)
    for basis in (
        sa.invariant_basis(space, sa.groups.point_group("Oh"), max_invariant_dim=9),
        sa.equivariant_basis(space, sa.groups.point_group("C3v"), "vector", max_dim=30),
    ):
        found, before = basis.evaluate(X), marks(basis)
        slopes = basis.gradient(X) if hasattr(basis, "gradient") else None
        copy = pickle.loads(before[0])
        assert (copy.evaluate(X) == found).all()
        assert marks(basis) == before
        assert slopes is None or (copy.gradient(X) == slopes).all()
