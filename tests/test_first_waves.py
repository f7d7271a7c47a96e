"""The first waves of lattices: their exponential against a Fourier transform, and the types that isometries keep."""

from itertools import islice

import numpy as np
import pytest

import specavg as sa
from specavg import groups
from specavg.invariants import ByType

LATTICES = {
    "hexagonal": [[1, 0], [-0.5, 0.75**0.5]],
    "oblique": [[1.0, 0.0], [0.3, 1.2]],
    "rectangular": [[1.0, 0.0], [0.0, 0.5]],
    "skewed": [[1.0, 0.0], [6.5, 0.75**0.5]],  # another basis of a hexagonal lattice
    "cubic": np.eye(3),
    "face-centred": [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]],
    "body-centred": [[-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5]],
    "layers": [[1, 0, 0], [-0.5, 0.75**0.5, 0], [0, 0, 1.6]],
}
WAVES = {"hexagonal": 3, "oblique": 2, "rectangular": 2, "skewed": 3, "cubic": 3, "face-centred": 4, "body-centred": 6}


@pytest.mark.parametrize("name", WAVES)
def test_the_number_of_first_waves(name):
    waves = sa.Torus(lattice=LATTICES[name]).first_waves
    assert waves is not None
    assert len(waves.basis) + len(waves.others) == WAVES[name]
    assert abs(round(np.linalg.det(waves.basis))) == 1


@pytest.mark.parametrize("name", [name for name in LATTICES if name != "skewed"])
def test_coefficients_are_those_of_the_fourier_transform(name):
    space = sa.Torus(lattice=LATTICES[name])
    waves = space.first_waves
    assert waves is not None
    short = waves.basis
    stars = np.concatenate([short, waves.others @ short])
    short_basis = space.cell.short_basis
    assert short_basis is not None
    stars = short_basis.frequencies(stars)
    kappa, n = 1.3 * waves.units[0], 24
    axes = np.stack(np.meshgrid(*[np.arange(n) / n] * space.dim, indexing="ij"), axis=-1)
    density = np.exp((np.cos(2 * np.pi * axes @ stars.T) * kappa / waves.units).sum(axis=-1))
    transform = np.fft.fftn(density).real
    eigenspaces = list(islice(space.ordered(ByType()), 25))
    series = space.von_mises_series(eigenspaces, ByType())
    assert series is not None
    for V, found in zip(eigenspaces, series(kappa), strict=True):
        K = space.frequencies(V)
        expected = np.array([transform[tuple(k)] for k in K]) / transform[(0,) * space.dim]
        np.testing.assert_allclose(expected, np.exp(found), rtol=1e-9, atol=1e-14)


def test_waves_of_one_part_count_alike_and_parts_have_their_own_units():
    dual = np.linalg.inv(np.array(LATTICES["oblique"])).T
    lengths = 4 * np.pi**2 * np.sort(np.sum(dual**2, axis=1))
    oblique = sa.Torus(lattice=LATTICES["oblique"]).first_waves
    assert oblique is not None
    np.testing.assert_allclose(oblique.units, np.sqrt(lengths.prod()))
    layers = sa.Torus(lattice=LATTICES["layers"]).first_waves
    assert layers is not None
    np.testing.assert_allclose(np.sort(layers.units) / (4 * np.pi**2), [1.6**-2, 4 / 3, 4 / 3, 4 / 3])


def test_types_split_an_eigenvalue_and_no_orbit():
    space = sa.Torus(lattice=LATTICES["hexagonal"])
    first = next(islice(space.eigenspaces(), 1, None)).eigenvalue
    types = [V for V in islice(space.ordered(ByType()), 60) if abs(V.eigenvalue / first - 49) < 1e-6]
    assert sorted(V.dim for V in types) == [6, 12]  # (7, 0) and (5, 3), which have the same length
    both = next(V for V in space.eigenspaces() if abs(V.eigenvalue / first - 49) < 1e-6)
    listed = np.concatenate([space.frequencies(V) for V in types])
    assert sorted(map(tuple, listed.tolist())) == sorted(map(tuple, space.frequencies(both).tolist()))


@pytest.mark.parametrize("number", [191, 221, 229, 225])
def test_functions_by_type_span_what_functions_by_eigenvalue_span_on_lattices(number):
    lattice = LATTICES["layers"] if number == 191 else np.eye(3)
    space, group = sa.Torus(lattice=lattice), groups.space_group(number)
    top = 60 * next(islice(space.eigenspaces(), 1, None)).eigenvalue
    by_value = sa.invariant_basis(space, group, max_eigenvalue=top)
    by_type = sa.invariant_basis(space, group, max_eigenvalue=top, order="type")
    X = space.sample(20, random_state=0)
    A, B = by_value.evaluate(X), by_type.evaluate(X)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-11 * by_value.dim)
    assert len(by_type.table) > len(by_value.table) or number == 191
