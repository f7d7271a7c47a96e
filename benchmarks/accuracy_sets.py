"""Problems for the comparison of default models: spaces, groups, and targets that are known everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import specavg as sa
from specavg import groups, isometries

__all__ = ["SETS", "ProblemSet", "cubic_group", "embedded", "signs_and_exchanges"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ProblemSet:
    """A target under a group, and how many points are given.

    Attributes
    ----------
    name : str
    space, group
    n : int
        Training points.
    target : callable
        Points to values, or None where the points are a table.
    table : callable or None
        The stored points and values.
    noise : float
        Standard deviation of noise that is added, in standard deviations of the target.
    observed : bool
        Whether stored values are measured with noise: intervals are then those of an observation.
    """

    name: str
    space: Any
    group: Any
    n: int
    target: Callable[[Array], Array] | None = None
    table: Callable[[], tuple[Array, Array]] | None = None
    noise: float = 0.0
    observed: bool = False

    def split(self, seed: int, n_test: int = 500) -> tuple[Array, Array, Array, Array]:
        """Training points and targets, test points and targets. Random points lie on different orbits."""
        rng = np.random.default_rng([seed, 20_261])
        if self.target is not None:
            X = self.space.sample(self.n + n_test, rng)
            y = self.target(X)
        else:
            assert self.table is not None
            X, y = self.table()
            rows = rng.permutation(len(X))[: self.n + n_test]
            X, y = X[rows], y[rows]
        seen = y[: self.n] + self.noise * y.std(axis=0) * rng.normal(size=y[: self.n].shape)
        return X[: self.n], seen, X[self.n :], y[self.n :]

    def images(self, X: Array) -> Iterator[Array]:
        """The points, moved by each element of the group."""
        return (self.space.act(g, X) for g in self.group.elements())


def embedded(space: Any, X: Array) -> Array:
    """Points in a Euclidean space, so that distances are those of the embedding."""
    if isinstance(space, sa.Torus) and space.lattice is not None:
        waves: list[Array] = []  # of the longest wavelengths in all directions, which the isometries permute
        frequencies: list[NDArray[np.int64]] = []
        for V in islice(space.eigenspaces(), 1, None):
            waves.append(space.evaluate(V, X))
            frequencies.append(space.frequencies(V))
            if np.linalg.matrix_rank(np.concatenate(frequencies)) == space.dim:
                return np.concatenate(waves, axis=1)
    if isinstance(space, sa.Torus):
        angle = 2 * np.pi * X / space.period
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    if isinstance(space, sa.Power):
        parts = X.reshape(-1, space.base.n_features)
        return embedded(space.base, parts).reshape(len(X), -1)
    if isinstance(space, sa.Product):
        return np.concatenate([embedded(M, Z) for M, Z in zip(space.factors, space.blocks(X), strict=True)], axis=1)
    return X.reshape(len(X), -1)


def cubic_group(space: Any) -> Any:
    """The 48 isometries of a cubic lattice that fix the origin, in fractional coordinates of its cell."""
    A = space.lattice  # a point is uA
    turns = (np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.eye(3)[[2, 0, 1]], -np.eye(3))
    moved = [np.rint(np.linalg.inv(A).T @ g @ A.T).astype(int).tolist() for g in turns]
    return groups.Group([isometries.affine(M, [0, 0, 0]) for M in moved], "cubic")


# --- four methyl groups around one atom ----------------------------------------------------------------------------


def _methyls() -> Any:
    """Turns of each of four methyl groups by a third, and the 24 symmetries of the tetrahedron: 1944 elements."""
    identity = np.eye(4, dtype=int)
    third = isometries.affine(identity.tolist(), [Fraction(1, 3), 0, 0, 0])
    ring = isometries.affine(identity[[1, 2, 0, 3]].tolist(), [0, 0, 0, 0])
    swap = isometries.affine((-identity[[1, 0, 2, 3]]).tolist(), [0, 0, 0, 0])  # a mirror turns angles around
    other = isometries.affine((-identity[[0, 1, 3, 2]]).tolist(), [0, 0, 0, 0])
    return groups.Group([third, ring, swap, other], "four methyls")


def _methyl_energy(X: Array) -> Array:
    """Repulsion of the twelve hydrogen atoms of four methyl groups, symmetric under the same group.

    Each angle is an abstract one: hydrogens of groups i and j come near each other when both point along the bond
    between them. With three equal hydrogens only three times the angle matters.
    """
    a = 3 * 2 * np.pi * X / 2.0
    energy = -np.cos(a).sum(axis=1)
    for i, j in combinations(range(4), 2):
        energy += np.exp(0.7 * (np.cos(a[:, i]) + np.cos(a[:, j])) + 0.3 * np.cos(a[:, i] - a[:, j]))
    for i, j, k in combinations(range(4), 3):
        energy += 0.2 / (1.6 + np.cos(a[:, i]) * np.cos(a[:, j]) * np.cos(a[:, k]))
    return energy


# --- a rough pattern on the sphere ---------------------------------------------------------------------------------


def _bands(X: Array) -> Array:
    """Bands of diffracting planes: products of steps, nearly discontinuous."""
    total = np.zeros(len(X))
    for family, height, width in (((1, 1, 1), 1.0, 0.10), ((2, 0, 0), 0.8, 0.12), ((2, 2, 0), 0.6, 0.16)):
        planes = {
            p for q in permutations(family) for s in product((1, -1), repeat=3) for p in [tuple(np.multiply(q, s))]
        }
        for plane in planes:
            normal = np.array(plane) / np.linalg.norm(plane)
            total += height / (1 + np.exp((np.abs(X @ normal) - width) / 0.02))
    return total


# --- contrast functions on frames ----------------------------------------------------------------------------------


def _whitened(name: str, components: int) -> Array:
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")().data
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    U = np.linalg.svd(data, full_matrices=False)[0]
    return U[:, :components] * np.sqrt(len(data))


def _contrast(data: str, n: int, k: int, power: float) -> Callable[[Array], Array]:
    """The sum over the columns of a frame of how far projections of data are from normal."""

    def target(X: Array) -> Array:
        Z = np.einsum("ij,njk->nik", _whitened(data, n), X.reshape(-1, n, k))
        if power == 4:
            return np.sum((np.mean(Z**4, axis=1) - 3) ** 2, axis=1)
        return np.sum((np.mean(np.log(np.cosh(Z)), axis=1) - 0.3746) ** 2, axis=1) * 1e4

    return target


def signs_and_exchanges(n: int, k: int) -> Any:
    """Signed permutations of the columns of n × k frames."""
    identity = np.eye(k)
    turned = identity[[*range(1, k), 0]]
    swapped = identity[[1, 0, *range(2, k)]]
    flipped = np.diag([-1.0, *np.ones(k - 1)])
    return groups.Group([isometries.left_right(np.eye(n), g) for g in (turned, swapped, flipped)], "signed columns")


# --- others ----------------------------------------------------------------------------------------------------------


def _dipoles(X: Array) -> Array:
    """Two dumbbells on one axis that repel each other, under turns and mirrors of both and their exchange."""
    a, b = X[:, :3], X[:, 3:]
    energy = np.zeros(len(X))
    for s, t in product((0.5, -0.5), repeat=2):
        energy += np.exp(-np.linalg.norm(np.array([0, 0, 1.6]) + s * a - t * b, axis=1) * 2)
    return energy + 0.1 * np.abs(np.sum(a * b, axis=1))


def _pair_group(name: str) -> Any:
    return groups.joined(groups.diagonal(groups.point_group(name), 2), groups.symmetric(2))


def _misorientation(X: Array) -> Array:
    """The angle to the nearest of the 24 equivalent orientations, with its kinks."""
    R = X.reshape(-1, 3, 3)
    turns = np.array([np.asarray(g.matrix, float) for g in groups.point_group("O").elements()])
    traces = np.einsum("gij,nij->ng", turns, R)
    return np.arccos(np.clip((traces.max(axis=1) - 1) / 2, -1, 1))


def _schmid(X: Array) -> Array:
    """The largest resolved shear of twelve slip systems under tension along z: a maximum of smooth functions."""
    t = X.reshape(-1, 3, 3)[:, :, 2]  # the direction of tension in the crystal
    planes = [np.array(p) / 3**0.5 for p in ((1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1))]
    slips = [np.array(s) / 2**0.5 for s in ((0, 1, -1), (1, 0, -1), (1, -1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))]
    systems = [(p, s) for p in planes for s in slips if abs(p @ s) < 1e-9]
    return np.max([np.abs((t @ p) * (t @ s)) for p, s in systems], axis=0)


def _three_particles(X: Array) -> Array:
    """Particles on a sphere: a charge at the pole, and repulsion of pairs."""
    P = X.reshape(-1, 3, 3)
    energy = np.exp(P[:, :, 2]).sum(axis=1)
    for i, j in combinations(range(3), 2):
        energy += 1 / np.sqrt(0.1 + np.sum((P[:, i] - P[:, j]) ** 2, axis=1))
    return energy


def _chain(X: Array) -> Array:
    """Six angles on a ring, coupled to their neighbours."""
    a = np.pi * X
    near = np.cos(a - np.roll(a, 1, axis=1))
    return np.exp(0.8 * near).sum(axis=1) + np.abs(np.sin(a / 1)).sum(axis=1) * 0.3 + np.cos(a.sum(axis=1)) * 0.2


def _ridge_lines(X: Array) -> Array:
    a = np.pi * X
    return np.abs(np.cos(a[:, 0]) + np.cos(a[:, 1])) + 0.3 * np.cos(2 * a[:, 0]) * np.cos(2 * a[:, 1])


def _band_energy(X: Array) -> Array:
    """The smaller of two bands of a crystal: a kink where they meet."""
    a = 2 * np.pi * X
    first = np.cos(a).sum(axis=1)
    second = (
        1 - np.cos(a[:, 0]) * np.cos(a[:, 1]) - np.cos(a[:, 1]) * np.cos(a[:, 2]) - np.cos(a[:, 0]) * np.cos(a[:, 2])
    )
    return np.minimum(first, second)


def _loaded(name: str) -> Callable[[], tuple[Array, Array]]:
    def table() -> tuple[Array, Array]:
        data = getattr(sa.datasets, f"load_{name}")()
        return data.X, data.y

    return table


def _shared(name: str, n: int, *, observed: bool = False) -> ProblemSet:
    data = getattr(sa.datasets, f"load_{name}")()
    return ProblemSet(name, data.space, data.group, n, table=_loaded(name), observed=observed)


def SETS() -> list[ProblemSet]:
    """All problems; made when asked for."""
    S2, pair, SO3 = sa.Sphere(3), sa.Power(sa.Sphere(3), 2), sa.spaces.Rotations()
    oh, slip = groups.point_group("Oh"), groups.crystal_symmetry("O", "D2")
    return [
        ProblemSet("four methyls, T⁴", sa.Torus(4), _methyls(), 200, _methyl_energy),
        ProblemSet("bands, S², Oh", S2, oh, 1000, _bands),
        ProblemSet(
            "kurtosis of wine, V(5, 3)",
            sa.spaces.Stiefel(5, 3),
            signs_and_exchanges(5, 3),
            200,
            _contrast("wine", 5, 3, 4),
        ),
        ProblemSet(
            "log cosh of wine, V(5, 3)",
            sa.spaces.Stiefel(5, 3),
            signs_and_exchanges(5, 3),
            200,
            _contrast("wine", 5, 3, 1),
        ),
        ProblemSet("two dumbbells, S²×S²", pair, _pair_group("D4h"), 200, _dipoles),
        ProblemSet("Schmid factor, SO(3)", SO3, slip, 300, _schmid),
        ProblemSet("misorientation, SO(3)", SO3, groups.crystal_symmetry("O", "O"), 300, _misorientation),
        ProblemSet("three particles, (S²)³", sa.Power(S2, 3), groups.symmetric(3), 300, _three_particles),
        ProblemSet("ring of six, T⁶", sa.Torus(6), groups.dihedral_shifts(6), 300, _chain),
        ProblemSet("ridges with noise, T²", sa.Torus(2), groups.hyperoctahedral(2), 200, _ridge_lines, noise=0.2),
        ProblemSet("lower band, T³", sa.Torus(lattice=np.eye(3)), groups.space_group(221), 300, _band_energy),
        _shared("propane", 30),
        _shared("copper", 30),
        _shared("diffusion_mri", 44, observed=True),
        _shared("ica_iris", 100),
    ]
