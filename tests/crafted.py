"""Small model files that declare large things. Each must be read or refused in seconds and in bounded memory."""

import hashlib
import io
import json
import zipfile
from itertools import islice

import numpy as np

import specavg as sa
from specavg import groups
from specavg.persistence import describe


def entries_with_sums(entries):
    """Entries of a model file, with true checksums."""
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in entries.items() if name != "SHA256SUMS"]
    return {**entries, "SHA256SUMS": "".join(sums).encode()}


def written(path, entries):
    """Write a model file of these entries."""
    with zipfile.ZipFile(path, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)


def _array(values):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(values, dtype=float), version=(1, 0))
    return buffer.getvalue()


def _permutations(d, rng, signed):
    kind = {"kind": "signed_permutation"} if signed else {"kind": "permutation"}
    signs = {"signs": rng.choice([-1, 1], d).tolist()} if signed else {}
    return [{**kind, "image": rng.permutation(d).tolist(), **signs} for _ in range(2)]


def _cycle(d):
    return {"kind": "permutation", "image": [*range(1, d), 0]}


def _projective(q):
    """PSL(2, q) on the q + 1 points of a line."""
    moved = [(x + 1) % q for x in range(q)] + [q]
    turned = [q] + [-pow(x, -1, q) % q for x in range(1, q)] + [0]
    return [{"kind": "permutation", "image": image} for image in (moved, turned)]


def _group(generators, **more):
    return {"kind": "group", "generators": generators, **more}


def cases(rng):
    """For each case its name, a space, a group, and the eigenspaces and invariants that the file declares."""
    one, circle = sa.Torus(1), sa.Circle()
    yield "one coordinate, 400 functions", one, groups.sign_flips(1), 400, lambda V: 1
    yield "one coordinate, 8,000 functions", one, groups.trivial(1), 4000, lambda V: V.dim
    yield "100,000 turns of a circle", circle, groups.cyclic(100_000), 5000, lambda V: V.dim == 1
    d = int(rng.integers(1500, 2500))
    yield f"permutations of {d}", sa.Torus(d), _group(_permutations(d, rng, False)), 2, lambda V: min(V.dim, 2)
    yield f"signed permutations of {d}", sa.Torus(d), _group(_permutations(d, rng, True)), 2, lambda V: 1
    yield "signed permutations of 12,000", sa.Torus(12_000), _group(_permutations(12_000, rng, True)), 2, lambda V: 1
    yield "a cycle of 3,000", sa.Torus(3000), _group([_cycle(3000)]), 2, lambda V: min(V.dim, 2)
    yield "PSL(2, 1499)", sa.Torus(1500), _group(_projective(1499)), 2, lambda V: min(V.dim, 2)
    yield "permutations on a sphere", sa.Sphere(4000), _group(_permutations(4000, rng, False)), 3, lambda V: 1
    many = sa.Power(sa.Sphere(3), 4000)
    yield "4,000 copies", many, groups.wreath(groups.point_group("Ih"), 4000), 4, lambda V: 1
    yield "20,000 coordinates", sa.Torus(20_000), groups.symmetric(20_000), 30, lambda V: 1
    deep = sa.Torus(1)
    for _ in range(17):
        deep = sa.Power(deep, 2) if deep.n_features < 1000 else sa.Power(deep, 1)
    yield "powers of powers", deep, groups.trivial(deep.shape[0]), 2, lambda V: 1
    wide = sa.Product(*[sa.Interval() for _ in range(1000)])
    yield "1,000 factors", wide, groups.trivial(1), [(0.0, 1, 1), (1.0, 1000, 1000), (2.0, 499_500, 1)], None


def crafted(path, space, group, eigenspaces, invariants):
    """A file whose checksums, shapes and tables fit together, and whose values are made up."""
    listed = eigenspaces
    if invariants is not None:
        listed = [(V.eigenvalue, V.dim, int(invariants(V))) for V in islice(space.eigenspaces(), eigenspaces)]
    described = group if isinstance(group, dict) else describe(group)
    made_from = {"space": describe(space), "group": described}
    row = {"kind": "row", "solver": "closed form", "residual": 0.0, "gap": "inf"}
    table = [dict(row, eigenvalue=value, dim=dim, invariant_dim=count) for value, dim, count in listed]
    functions = sum(count for _, _, count in listed)
    points = space.sample(16, random_state=0)
    cutoff = {"kind": "max_invariant_dim", "value": float(functions)}
    basis = {**made_from, "cutoff": cutoff, "order": {"kind": "by_eigenvalue"}, "solver": "auto", "table": table}
    document = {
        "format": "specavg model",
        "version": 2,
        "class": "SpecAvgRegressor",
        "parameters": {**made_from, "max_invariant_dim": float(functions)},
        "fitted": {
            "basis_": {"basis": {**basis, "stored_arrays": []}, "prefix": "basis"},
            "coef_": {"array": "coef"},
            "n_features_in_": space.n_features,
        },
    }
    arrays = {
        "basis_probe_points": points,
        "basis_probe_values": np.ones((16, functions)),
        "check_points": points[:4],
        "check_outputs": np.ones(4),
        "coef": np.ones(functions),
    }
    entries = {"model.json": json.dumps(document).encode()}
    entries |= {f"arrays/{name}.npy": _array(values) for name, values in arrays.items()}
    written(path, entries_with_sums(entries))
