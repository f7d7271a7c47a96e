"""Rounded matrices of finite groups: replaced by exact ones with a warning, and left alone where no group is near."""

import warnings

import numpy as np
import pytest
from cases import random_rotation

import specavg as sa
from specavg import groups, isometries

NAMES = ["C3", "C7", "C5v", "C6h", "S8", "D3", "D5h", "D9d", "D17d", "T", "Th", "Td", "O", "Oh", "I", "Ih"]


def rounded(name, decimals, seed):
    """Generators of a point group about random axes, and those of so many decimals."""
    R = random_rotation(seed)
    exact = [R @ np.asarray(g.matrix, dtype=float) @ R.T for g in groups.point_group(name).generators]
    return np.array(exact), [A.round(decimals) for A in exact]


@pytest.mark.parametrize("decimals", [3, 6, 9, 12])
@pytest.mark.parametrize("seed, name", list(enumerate(NAMES)))
def test_point_groups_are_recognised_from_rounded_matrices(seed, name, decimals):
    exact, given = rounded(name, decimals, seed)
    wanted = groups.point_group(name)
    with pytest.warns(UserWarning, match=f"finite group of {wanted.order} elements"):
        group = groups.Group(given)
    assert (group.structure.symbol, group.order) == (wanted.structure.symbol, wanted.order)
    found = np.array([g.matrix for g in group.generators])
    assert np.abs(found - exact).max() < 2 * 10.0**-decimals  # of the digits that are left, 0.8 of the last one at most
    basis = sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=10 * 11.0)
    counts = wanted.molien(10)
    assert [row.invariant_dim for row in basis.table] == [
        counts[k] - (counts[k - 2] if k > 1 else 0) for k in range(11)
    ]
    assert basis.residual < 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert groups.Group(group.generators) == group  # exact by now


def test_the_warning_says_how_far_the_matrices_were_off():
    exact, given = rounded("O", 5, 3)
    off = np.abs(np.array(given) - exact).max()
    with pytest.warns(UserWarning, match="elements to") as caught:
        groups.Group(np.array(given))
    said = float(str(caught[0].message).split("elements to ")[1].split(",")[0])
    assert off / 2 < said < 2 * off


def test_single_precision_and_other_dimensions_are_recognised_too():
    """The symmetries of the 4-simplex, from two generators in four dimensions."""
    corners = np.linalg.svd(np.full((5, 5), -0.2) + np.eye(5))[0][:, :4].T  # (4, 5)
    given = [
        (corners @ np.eye(5)[list(image)] @ corners.T).astype(np.float32)
        for image in ([1, 0, 2, 3, 4], [1, 2, 3, 4, 0])
    ]
    with pytest.warns(UserWarning, match="120 elements"):
        group = groups.Group(given)
    assert group.order == 120
    assert group.molien(6) == (1, 0, 1, 1, 2, 2, 3)  # partitions into 2, 3, 4 and 5


def test_isometries_of_nine_decimals_are_replaced_too():
    _, given = rounded("I", 10, 2)
    with pytest.warns(UserWarning, match="60 elements"):
        assert groups.Group([isometries.orthogonal(A) for A in given]).order == 60


@pytest.mark.parametrize(
    "given",
    [
        [random_rotation(0).round(12), random_rotation(1).round(12)],
        [isometries.orthogonal([[0.28, -0.96], [0.96, 0.28]])],  # exact, and of infinite order
        [np.array([[np.cos(2.0944), -np.sin(2.0944)], [np.sin(2.0944), np.cos(2.0944)]]).round(12)],
    ],
    ids=["random", "Pythagoras", "another angle"],
)
def test_matrices_beside_no_finite_group_are_left_alone(given):
    group = groups.Group(given)
    for g, A in zip(group.generators, given, strict=True):
        np.testing.assert_array_equal(g.matrix, getattr(A, "matrix", A))


def test_rough_matrices_do_not_tell_between_large_groups():
    """cos and sin of three degrees with three decimals are those of 2.98 as well."""
    _, given = rounded("C120", 3, 5)
    with pytest.raises(ValueError, match="not orthogonal"):
        groups.Group(given)
