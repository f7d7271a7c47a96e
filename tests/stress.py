"""Random hostile cases against independent answers. `make stress` runs them for minutes, the tests a short draw.

Each check takes a generator of random numbers, draws one case and asserts a law on it. A failure prints the seed of its
case: ``python tests/stress.py --seed N`` runs that case of every check again.
"""

import argparse
import contextlib
import json
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
from crafted import cases, crafted, entries_with_sums, written
from limited import ended_within

import specavg as sa
from specavg import groups
from specavg.invariants._solver_choice import Resolver
from specavg.isometries import affine, copies, orthogonal, permutation, signed_permutation


def _signed(rng, d):
    return signed_permutation(rng.permutation(d), rng.choice([-1, 1], d))


def _mean_trace(space, V, elements):
    """The number of invariants as the mean character of a listed group."""
    return sum(np.trace(space.representation(g, V)) for g in elements) / len(elements)


def random_groups_have_as_many_invariants_as_their_mean_character(rng):
    d = int(rng.integers(2, 5))
    space = [sa.Torus(d), sa.Sphere(d), sa.Power(sa.Circle(), d)][rng.integers(3)]
    if isinstance(space, sa.Power):
        group = groups.Group([permutation(rng.permutation(d)) for _ in range(rng.integers(1, 3))])
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


def _turned(rng, matrices):
    R = np.linalg.qr(rng.standard_normal(np.shape(matrices[0])))[0]
    return [R @ M @ R.T for M in matrices]


def _turn(n):
    c, s = np.cos(2 * np.pi / n), np.sin(2 * np.pi / n)
    return np.array([[c, -s], [s, c]])


def turned_groups_on_stiefel_manifolds_have_a_clear_rank(rng):
    n, k, last = [(2, 1, 300), (3, 1, 60), (3, 2, 14), (4, 2, 8)][rng.integers(4)]
    if n == 2:
        matrices = [_turn(int(rng.integers(2, 13)))]
    elif n == 3:
        name = rng.choice(["C3", "D3", "T", "O", "I", "C6", "Td", "Oh"])
        matrices = [np.array(g.matrix, dtype=float) for g in groups.point_group(name).generators]
    else:
        matrices = [np.eye(n)[rng.permutation(n)] * rng.choice([-1, 1], n) for _ in range(2)]
    plain, moved = groups.Group(matrices), groups.Group(_turned(rng, matrices))
    space = sa.Stiefel(n, k)
    V = next(islice(space.eigenspaces(), int(rng.integers(2, last)), None))
    counts = [Resolver(space, group).solve(V).invariant_dim for group in (plain, moved)]
    assert counts[0] == counts[1], (space, matrices, V)


def copies_of_the_circle_have_as_many_invariants_as_their_mean_character(rng):
    m, n = int(rng.integers(2, 4)), int(rng.integers(2, 9))
    space = sa.Power(sa.Sphere(2), m)
    turn = orthogonal(_turned(rng, [_turn(n)])[0])
    group = groups.Group([copies(rng.permutation(m).tolist(), [turn] * m)])
    V = next(islice(space.eigenspaces(), int(rng.integers(2, 20)), None))
    found = Resolver(space, group).solve(V)
    assert abs(_mean_trace(space, V, list(group.elements())) - found.invariant_dim) < 1e-9, (m, n, V)


def harmonics_of_high_degrees_fill_their_addition_theorem(rng):
    degree = int(rng.integers(100, 2200))
    space = sa.Sphere(3)
    X = space.sample(3, rng) * 10.0 ** rng.uniform(-3, 0, 3)  # towards the pole
    X /= np.linalg.norm(X, axis=1)[:, None]
    V = space.eigenspace(degree)
    for values in (space.functions([V]).values(X), space.evaluate(V, X) if degree < 500 else None):
        if values is not None:
            error = np.abs((values**2).sum(axis=1) / (2 * degree + 1) - 1).max()
            assert error < 2.3e-16 * degree**2, (degree, error)


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


def chunks_with_other_columns_are_refused(rng):
    import pandas as pd

    names = list("abc")
    frame = pd.DataFrame(rng.uniform(-1, 1, (40, 3)), columns=names)
    model = sa.InvariantKernelRidge(sa.Torus(3), groups.trivial(3), alpha=1e-3, max_invariant_dim=20)
    model.partial_fit(frame, frame["a"])
    order = list(rng.permutation(names))
    if order == names:
        order = ["a", "b", "x"]
    other = frame.rename(columns={"c": "x"})[order] if "x" in order else frame[order]
    try:
        model.partial_fit(other, frame["a"])
    except ValueError:
        return
    raise AssertionError(f"columns {order} were taken for {names}")


def copies_of_spheres_stay_invariant(rng):
    m = int(rng.integers(17, 40))
    space, inner = sa.Power(sa.Sphere(3), m), groups.point_group(rng.choice(["D3", "O", "Ih"]))
    basis = sa.invariant_basis(space, groups.wreath(inner, m), max_invariant_dim=int(rng.integers(5, 40)))
    X = space.sample(10, rng)
    moved = space.act(basis.group.random(rng), X)
    values = basis.functions.values(X)
    assert np.abs(values - basis.functions.values(moved)).max() < 1e-10 * np.abs(values).max(), (m, inner)


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


_FILE_SECONDS = 30  # of processor time, to read one file: the whole ones take 0.1 s
_FILE_BYTES = 2 * 10**9  # more than the process has already


def _numbers(value):
    """Every (container, key) of a JSON document that holds a number or a list."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(inner, list | int | float):
            yield value, key
        yield from _numbers(inner)


def _lying(entries, rng):
    """The entries with a number changed or a list repeated, and true checksums."""
    document = json.loads(entries["model.json"])
    places = list(_numbers(document))
    container, key = places[rng.integers(len(places))]
    if isinstance(container[key], list):
        container[key] = container[key] * int(10 ** rng.uniform(0, 4))
    else:
        container[key] = [-1, 0, 10 ** int(rng.integers(1, 19)), 1e300, 0.5][rng.integers(5)]
    return entries_with_sums({**entries, "model.json": json.dumps(document).encode()})


def damaged_files_are_read_or_refused_within_limits(rng):
    space, group = [
        (sa.Torus(1), groups.sign_flips(1)),
        (sa.Circle(), groups.cyclic(50)),
        (sa.Sphere(3), groups.point_group("Oh")),
        (sa.Power(sa.Sphere(3), 6), groups.wreath(groups.point_group("Ih"), 6)),
    ][rng.integers(4)]
    X = space.sample(30, rng)
    most = int(rng.integers(3, 30))  # a circle has its functions in pairs: two would leave the constant, with a warning
    model = sa.SpecAvgRegressor(space, group, max_invariant_dim=most).fit(X, np.ones(30))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.specavg"
        model.save(path)
        with zipfile.ZipFile(path) as file:
            entries = {name: file.read(name) for name in file.namelist()}
        written(path, _lying(entries, rng))
        if rng.random() < 0.3:
            data = bytearray(path.read_bytes())
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
            path.write_bytes(data)
        _check_reading(path, f"{space!r}, {group!r}")


def small_files_that_declare_large_things_are_read_or_refused_within_limits(rng):
    listed = list(cases(rng))
    name, *declared = listed[rng.integers(len(listed))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.specavg"
        crafted(path, *declared)
        _check_reading(path, name)


def _check_reading(path, what):
    def read():
        with contextlib.suppress(sa.io.ModelFileError):
            sa.load(path)

    status = ended_within(read, _FILE_SECONDS, _FILE_BYTES)
    assert status == 0, f"reading ended with {status}: {what}"


CHECKS = [
    random_groups_have_as_many_invariants_as_their_mean_character,
    rotated_point_groups_have_as_many_invariants_as_the_plain_ones,
    turned_groups_on_stiefel_manifolds_have_a_clear_rank,
    copies_of_the_circle_have_as_many_invariants_as_their_mean_character,
    harmonics_of_high_degrees_fill_their_addition_theorem,
    turns_of_the_circle_at_high_degrees,
    skewed_lattices_have_the_eigenvalues_of_short_ones,
    units_of_periods_and_targets_change_nothing,
    chunks_in_any_order_give_one_model,
    chunks_with_other_columns_are_refused,
    copies_of_spheres_stay_invariant,
    many_copies_stay_invariant,
    threads_find_the_same_basis,
    damaged_files_are_read_or_refused_within_limits,
    small_files_that_declare_large_things_are_read_or_refused_within_limits,
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
