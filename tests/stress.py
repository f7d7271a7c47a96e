"""Random hostile cases against independent answers. `make stress` runs them for minutes, the tests a short draw.

Each check takes a generator of random numbers, draws one case and asserts a law on it. A failure prints the seed of its
case: ``python tests/stress.py --seed N`` runs that case of every check again.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np

import specavg as sa
from specavg import groups
from specavg.invariants._solver_choice import Resolver
from specavg.isometries import affine, signed_permutation


def _signed(rng, d):
    return signed_permutation(rng.permutation(d), rng.choice([-1, 1], d))


def _mean_trace(space, V, elements):
    """The number of invariants as the mean character of a listed group."""
    return sum(np.trace(space.representation(g, V)) for g in elements) / len(elements)


def random_groups_have_as_many_invariants_as_their_mean_character(rng):
    d = int(rng.integers(2, 5))
    space = [sa.Torus(d), sa.Sphere(d), sa.Power(sa.Circle(), d)][rng.integers(3)]
    if isinstance(space, sa.Power):
        group = groups.Group([sa.isometries.permutation(rng.permutation(d)) for _ in range(rng.integers(1, 3))])
    else:
        group = groups.Group([_signed(rng, d) for _ in range(rng.integers(1, 3))])
    elements = list(group.elements())
    top = list(islice(space.eigenspaces(), 5))[-1].eigenvalue
    basis = sa.invariant_basis(space, group, max_eigenvalue=top)
    for row, V in zip(basis.table, space.eigenspaces(), strict=False):
        assert abs(_mean_trace(space, V, elements) - row.invariant_dim) < 1e-9, (space, group, V)


def rotated_point_groups_have_as_many_invariants_as_the_plain_ones(rng):
    name = rng.choice(["C3v", "D5", "Td", "Oh", "I", "S4", "C2h"])
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    moved = groups.Group([R @ g.matrix @ R.T for g in groups.point_group(name).generators])
    degree = int(rng.integers(10, 90))
    plain, turned = (
        sa.invariant_basis(sa.Sphere(3), group, max_eigenvalue=degree * (degree + 1.0))
        for group in (groups.point_group(name), moved)
    )
    assert [row.invariant_dim for row in plain.table] == [row.invariant_dim for row in turned.table], (name, degree)
    assert turned.residual < 1e-12


def turns_of_the_circle_at_high_degrees(rng):
    n, degree = int(rng.integers(2, 40)), int(rng.integers(100, 2000))
    angle = 2 * np.pi / n
    turn = groups.Group([[[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]])
    space = sa.Sphere(2)
    found = Resolver(space, turn).solve(space.eigenspace(degree))
    assert found.invariant_dim == (0 if degree % n else 2), (n, degree)


def skewed_lattices_have_the_eigenvalues_of_short_ones(rng):
    d = int(rng.integers(2, 4))
    B = np.eye(d) + 0.3 * rng.standard_normal((d, d))
    U = np.eye(d, dtype=int)
    for _ in range(rng.integers(1, 14)):
        i, j = rng.choice(d, 2, replace=False)
        U[i] += int(rng.integers(-3, 4)) * U[j]
    group = groups.Group([affine(-np.eye(d, dtype=int), [0] * d)])
    plain, skewed = (
        sa.invariant_basis(sa.Torus(lattice=L), group, max_eigenvalue=300.0).eigenvalues for L in (B, U @ B)
    )
    assert plain.shape == skewed.shape, (B.tolist(), U.tolist())
    np.testing.assert_allclose(plain, skewed, rtol=1e-8, atol=1e-8)


def units_of_periods_and_targets_change_nothing(rng):
    length, unit = 10.0 ** rng.uniform(-12, 12, 2)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.cos(np.pi * X).sum(axis=1) + 0.1 * rng.standard_normal(60)
    fixed = {"spectrum": "sobolev", "smoothness": 2, "max_invariant_dim": 40}
    models = [
        sa.InvariantKernelRidge(sa.Torus(2, period=2.0 * a), groups.hyperoctahedral(2), **fixed).fit(X * a, y * b)
        for a, b in ((1.0, 1.0), (length, unit))
    ]
    Z = rng.uniform(-1, 1, (20, 2))
    np.testing.assert_allclose(models[1].predict(Z * length) / unit, models[0].predict(Z), rtol=1e-6, atol=1e-7)


def chunks_in_any_order_give_one_model(rng):
    X = rng.uniform(-1, 1, (300, 3))
    y = np.cos(np.pi * X[:, 0]) + 10.0 ** rng.uniform(-2, 6)
    parts = np.array_split(rng.permutation(300), rng.integers(2, 9))

    def model():
        return sa.InvariantKernelRidge(sa.Torus(3), groups.symmetric(3), alpha=1e-3, max_invariant_dim=60)

    whole, chunked = model(), model()
    whole.partial_fit(X, y)
    for part in parts:
        chunked.partial_fit(X[part], y[part])
    np.testing.assert_allclose(chunked.predict(X), whole.predict(X), rtol=1e-8)


def many_copies_stay_invariant(rng):
    d = int(rng.integers(17, 60))
    basis = sa.invariant_basis(sa.Torus(d), groups.hyperoctahedral(d), max_invariant_dim=int(rng.integers(20, 200)))
    X = sa.Torus(d).sample(20, rng)
    moved = _signed(rng, d)(X)
    values = basis.functions.values(X)
    assert np.abs(values - basis.functions.values(moved)).max() < 1e-10 * np.abs(values).max(), d


def threads_find_the_same_basis(rng):
    d = int(rng.integers(2, 6))
    group = groups.Group([_signed(rng, d)])

    def built(period):
        return sa.invariant_basis(sa.Torus(d, period=float(period)), group, max_dim=300).dim

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(built, 1.0 + rng.random(8)))) == 1


CHECKS = [
    random_groups_have_as_many_invariants_as_their_mean_character,
    rotated_point_groups_have_as_many_invariants_as_the_plain_ones,
    turns_of_the_circle_at_high_degrees,
    skewed_lattices_have_the_eigenvalues_of_short_ones,
    units_of_periods_and_targets_change_nothing,
    chunks_in_any_order_give_one_model,
    many_copies_stay_invariant,
    threads_find_the_same_basis,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, help="run the case of this seed only")
    options = parser.parse_args()
    end, failures, cases = time.monotonic() + options.seconds, 0, 0
    seed = options.seed if options.seed is not None else int(time.time())
    while time.monotonic() < end:
        for check in CHECKS:
            cases += 1
            try:
                check(np.random.default_rng(seed))
            except Exception as error:  # every failure is counted, whatever it is
                failures += 1
                print(f"seed {seed}: {check.__name__}: {type(error).__name__}: {error}", flush=True)
        if options.seed is not None:
            break
        seed += 1
    print(f"{cases} cases, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
