"""The spectrum "von mises": a fit is kernel ridge with the averaged kernel, which is summed by brute force."""

import pickle
from itertools import islice

import numpy as np
import pytest
from scipy.special import iv

import specavg as sa
from specavg import groups, isometries
from specavg.estimators import Spectrum
from specavg.invariants import ByType

S2 = sa.Sphere(3)
HEXAGONAL = sa.Torus(lattice=[[1, 0], [-0.5, 0.75**0.5]])
TURNS = groups.Group([isometries.affine([[1, -1], [1, 0]], [0, 0]), isometries.affine([[0, 1], [1, 0]], [0, 0])])
ROTOR = sa.Product(sa.Circle(), S2)
ROTOR_TURNS = groups.direct_product(groups.dihedral(2), groups.point_group("D3"))


def _circle(a):
    return np.concatenate([np.cos(a), np.sin(a)], axis=1)


def _hexagonal(X):
    waves = 2 * np.pi * np.stack([X[:, 0], X[:, 1], X[:, 0] - X[:, 1]], axis=1)
    return _circle(waves) / np.sqrt(16 * np.pi**2 / 3)  # λ of the first waves


# Space, group, embedding, κ, functions.
CASES = {
    "circle": (sa.Circle(), groups.dihedral(3), _circle, 4.0, 40),
    "T²": (sa.Torus(2), groups.hyperoctahedral(2), lambda X: _circle(np.pi * X) / np.pi, 20.0, 200),
    "T³": (sa.Torus(3), groups.symmetric(3), lambda X: _circle(np.pi * X) / np.pi, 5.0, 900),
    "hexagonal": (HEXAGONAL, TURNS, _hexagonal, 100.0, 150),
    "box": (
        sa.Torus(2, period=[2.0, 1.0]),
        groups.sign_flips(2),
        lambda X: _circle(2 * np.pi * X / [2.0, 1.0]) * np.array([2.0, 1.0, 2.0, 1.0]) / (2 * np.pi),
        20.0,
        250,
    ),
    "S²": (S2, groups.point_group("Oh"), lambda X: X, 3.0, 60),
    "S³": (sa.Sphere(4), groups.symmetric(4), lambda X: X, 1.0, 300),
    "SO(3)": (sa.spaces.Rotations(), groups.crystal_symmetry("D2", "D2"), lambda X: X / 2**0.5, 1.0, 600),
    "(S²)²": (sa.Power(S2, 2), groups.symmetric(2), lambda X: X, 0.1, 900),
    "S¹×S²": (ROTOR, ROTOR_TURNS, lambda X: np.concatenate([_circle(X[:, :1]), X[:, 1:]], axis=1), 0.7, 300),
}


def _kernel(embedding, A, B, kappa):
    a, b = embedding(A), embedding(B)
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * a @ b.T
    return np.exp(-kappa / 2 * squares)


@pytest.mark.parametrize("name", CASES)
def test_the_fit_is_kernel_ridge_with_the_averaged_kernel(name):
    space, group, embedding, kappa, dim = CASES[name]
    X, Z = space.sample(15, random_state=1), space.sample(30, random_state=2)
    y = np.random.default_rng(0).normal(size=15)
    nodes, weights = space.quadrature(40 * next(V.eigenvalue for V in space.eigenspaces() if V.eigenvalue > 0))
    mass = float(weights @ _kernel(embedding, nodes, X[:1], kappa)[:, 0])  # the coefficient of the constant
    elements, alpha = list(group.elements()), 0.01
    K, L = (np.mean([_kernel(embedding, space.act(g, A), X, kappa) for g in elements], axis=0) / mass for A in (X, Z))
    one = np.ones((15, 1))  # a constant that is not penalised
    system = np.block([[K + alpha * np.eye(15), one], [one.T, np.zeros((1, 1))]])
    dual = np.linalg.solve(system, np.append(y, 0.0))
    model = sa.InvariantKernelRidge(
        space, group, spectrum="von mises", length_scale=kappa**-0.5, alpha=alpha, max_invariant_dim=dim, order="type"
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(Z), L @ dual[:15] + dual[15], atol=2e-8)


def test_units_of_factors_are_those_of_the_order():
    order = ByType(balanced=True, late=0)
    eigenspaces = list(islice(ROTOR.ordered(order), 40))
    found = ROTOR.von_mises_series(eigenspaces, order)(0.7)
    # λ₁ over the weight: 1/4 for the circle, which comes late, and 2 for the sphere.
    circle = [np.log(iv(k, 0.7 / 4) / iv(0, 0.7 / 4)) for k in range(20)]
    sphere = [np.log(iv(l + 0.5, 0.7 * 2) / iv(0.5, 0.7 * 2)) for l in range(20)]
    for V, value in zip(eigenspaces, found, strict=True):
        ((along, around),) = V.label
        expected = circle[round((along.eigenvalue / 4) ** 0.5)] + sphere[around.label]
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


def test_the_spectrum_is_named_and_checked():
    basis = sa.invariant_basis(S2, groups.point_group("Oh"), max_eigenvalue=50)
    spectrum = Spectrum("von mises", length_scale=0.5)
    assert spectrum.values(basis)[0] == 1.0
    assert (np.diff(spectrum.values(basis)) < 0).all()
    with pytest.raises(ValueError, match="no smoothness"):
        sa.InvariantKernelRidge(S2, spectrum="von mises", smoothness=2.0).fit(S2.sample(9, 0), np.arange(9.0))
    frames = sa.spaces.Stiefel(4, 2)
    with pytest.raises(ValueError, match="'von mises' spectrum is not known for these functions"):
        sa.InvariantKernelRidge(frames, spectrum="von mises").fit(frames.sample(9, 0), np.arange(9.0))
    for spectrum in ("von mises", "product"):
        with pytest.raises(ValueError, match=r"cubic tor.*order='type'|order='type', and a cubic torus"):
            sa.InvariantKernelRidge(sa.Torus(2), spectrum=spectrum).fit(sa.Torus(2).sample(9, 0), np.arange(9.0))
    with pytest.raises(ValueError, match="order='type'"):
        sa.InvariantKernelRidge(sa.Torus(4), spectrum="von mises").fit(sa.Torus(4).sample(9, 0), np.arange(9.0))


def test_a_basis_that_knows_its_kernel_can_be_pickled():
    basis = sa.invariant_basis(S2, groups.point_group("Oh"), max_eigenvalue=50)
    assert basis.von_mises is not None
    again = pickle.loads(pickle.dumps(basis))
    np.testing.assert_array_equal(again.von_mises(2.0), basis.von_mises(2.0))


@pytest.mark.parametrize("seed, part", [(3, 0.5), (10, 0.7)])
def test_the_default_finds_the_exponential_of_few_waves(seed, part):
    """By its own spectrum, or by one that predicts better once functions that stand out are named beside it."""
    space, group = sa.Torus(4), groups.symmetric(4)
    X, Z = space.sample(100, random_state=seed), space.sample(500, random_state=seed + 1)
    target = lambda X: np.exp(0.5 * np.cos(np.pi * X).sum(axis=1))  # noqa: E731
    models = [sa.InvariantKernelRidge(space, group).fit(X, target(X))]
    models += [
        sa.InvariantKernelRidge(space, group, spectrum=name, order="type").fit(X, target(X))
        for name in ("von mises", "matern")
    ]
    chosen, own, smooth = (np.sqrt(np.mean((m.predict(Z) - target(Z)) ** 2)) for m in models)
    assert models[0].spectrum_.name == "von mises" or chosen < 0.9 * own
    assert chosen < part * smooth
