"""
Helium in a zeolite: a function with the symmetry of a space group
==================================================================

How much room a porous crystal has is found with helium: the *void fraction* is the mean over the unit cell of the
Boltzmann factor :math:`exp(−U(r)/kT)` of a helium atom at *r*. That is a function on a torus, the crystal modulo its
lattice, and it has every symmetry of the crystal: not just turns and mirrors but glides and screws, which move by a
fraction of the cell.

The crystal is faujasite, all silica: 576 atoms in a cube of 24.26 Å, in the space group 227 (Fd-3m) with its 192
operations per cell; no space group has more. Coordinates are published (Hriljac and others, 1993),
and so is the force field (TraPPE-zeo, with the usual parameters of helium): the energy is a sum of Lennard-Jones
terms. It is quick to compute and stands for energies that are not, those of quantum chemistry: 200 of them have to do.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from ase.spacegroup import crystal
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import specavg as sa
from specavg import baselines, groups

side = 24.2576  # Å
sites = {
    "Si": [(-0.05392, 0.1253, 0.03589)],
    "O": [
        (0, -0.10623, 0.10623),
        (-0.00323, -0.00323, 0.14066),
        (0.0757, 0.0757, -0.03577),
        (0.07063, 0.07063, 0.32115),
    ],
}
faujasite = crystal(
    [name for name, places in sites.items() for _ in places],
    [place for places in sites.values() for place in places],
    spacegroup=227,
    setting=2,  # the origin at a centre of inversion
    cellpar=[side, side, side, 90, 90, 90],
)
print(faujasite.get_chemical_formula(), "in the cell")


def boltzmann_factor(u, temperature=298.15, cutoff=12.0):
    """Of helium at fractional coordinates u; energies in kelvin, lengths in Å."""
    values = []
    for chunk in np.array_split(u, len(u) // 500 + 1):
        apart = chunk[:, None, :] - faujasite.get_scaled_positions()
        squared = ((side * (apart - np.rint(apart))) ** 2).sum(axis=2)  # the nearest image: the cell is wide enough
        energy = 0.0
        for name, epsilon, sigma in (("O", 53.0, 3.30), ("Si", 22.0, 2.30)):
            r2 = squared[:, np.array(faujasite.symbols) == name]
            sixth = np.where(r2 < cutoff**2, (((sigma + 2.64) / 2) ** 2 / r2) ** 3, 0.0)
            energy = energy + 4 * np.sqrt(epsilon * 10.9) * (sixth**2 - sixth).sum(axis=1)
        values.append(np.exp(-energy / temperature))
    return np.concatenate(values)


# %%
# The group
# ---------
# `space_group` has the 230 groups in the setting of the database spglib; ``setting="2"`` is the origin that the
# coordinates above are for. Two generators are enough. Translations are exact fractions of the cell.
space = sa.Torus(lattice=side * np.eye(3))  # rows are the lattice vectors
group = groups.space_group(227, setting="2")
print(f"{group}, of order {group.order}, from")
print(*group.generators, sep="\n")

u, u_test = space.sample(200, random_state=0), space.sample(4000, random_state=1)
y, truth = boltzmann_factor(u), boltzmann_factor(u_test)

# %%
# The atoms were placed by ASE, which has tables of its own. That the energies have the symmetry is a check of both:
change = max(np.abs(boltzmann_factor(space.act(g, u[:20])) - y[:20]).max() for g in group.elements())
print(f"the computed values change by {change:.0e} under the {group.order} operations")

# %%
# With and without the symmetry
# -----------------------------
# The bar is kernel ridge regression with the kernel averaged over all 192 operations, its two parameters chosen by
# cross-validation. `InvariantKernelRidge` has no kernel to average, and chooses for itself.


class AveragedKernelRidge:
    """The von Mises kernel of the cube, averaged over the group; parameters by five-fold cross-validation."""

    def fit(self, u, y):
        box = sa.Torus(3, period=1.0)
        self.mean, searches = y.mean(), []
        for eta in (4.0, 8.0, 16.0, 32.0, 64.0):
            kernel, _ = baselines.averaged_kernel(baselines.VonMisesKernel(eta=eta), box, group, n=len(u))
            scale = kernel(u, u).max()
            search = GridSearchCV(KernelRidge(kernel="precomputed"), {"alpha": np.geomspace(1e-8, 1, 9)})
            searches.append((search.fit(kernel(u, u) / scale, y - self.mean), kernel, scale))
        self.search, self.kernel, self.scale = max(searches, key=lambda tried: tried[0].best_score_)
        self.u = u
        return self

    def predict(self, u):
        return self.mean + self.search.predict(self.kernel(u, self.u) / self.scale)


def report(name, model):
    start = perf_counter()
    model.fit(u, y)
    seconds = perf_counter() - start
    error = np.sqrt(np.mean((model.predict(u_test) - truth) ** 2))
    change = sa.invariance_discrepancy(model, space, group, u_test[:10])
    print(f"{name:24s} error {error:.3f}   discrepancy {float(change):.1e}   {seconds:.2f} s")
    return model


sa.InvariantKernelRidge(space, group).fit(u[:20], y[:20])  # the first call compiles
invariant = report("with the symmetry", sa.InvariantKernelRidge(space, group))
plain = report("without", sa.InvariantKernelRidge(space))
report("averaged kernel", AveragedKernelRidge())
print(f"{'the mean':24s} error {truth.std():.3f}")
print(f"{invariant.basis_.dim} of {sum(row.dim for row in invariant.basis_.table)} functions are invariant")

# %%
# The symmetry lowers the error more than three times. The averaged kernel is as good, to a few percent, and sums over
# the group for every value.
#
# The void fraction
# -----------------
# Every function but the constant has mean zero over the cell, so the mean of a model is one coefficient; a regular
# grid gives it as well. Compare with the plain mean of the same 200 values, over ten random sets of points.
grid = np.stack(np.meshgrid(*[np.arange(24) / 24] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
exact = boltzmann_factor(np.concatenate([grid + shift for shift in space.sample(4, random_state=2) / 24])).mean()
means, models = [], []
for seed in range(10):
    points = space.sample(200, random_state=10 + seed)
    values = boltzmann_factor(points)
    means.append(values.mean())
    models.append(sa.InvariantKernelRidge(space, group).fit(points, values).predict(grid).mean())
print(f"void fraction {exact:.3f}, from 4 · 24³ points")
for name, found in (("mean of 200 values", means), ("model of 200 values", models)):
    print(f"{name:20s} {np.mean(found):.3f}, typical error {np.sqrt(np.mean((np.array(found) - exact) ** 2)):.3f}")

# %%
# A slice through the cell
# ------------------------
# The plane *z* = 3/8, through the middle of large cages (12 Å wide) and the windows between them. Two hundred points in
# the whole cell are too few to see any of it; with the symmetry they count as 38,400. What is left of the error is at
# the walls, where the function falls from 1 to 0 within an ångström.
across = (np.arange(140) + 0.5) / 140
x1, x2 = np.meshgrid(across, across, indexing="ij")
plane = np.stack([x1, x2, np.full_like(x1, 3 / 8)], axis=-1).reshape(-1, 3)
panels = [("computed", boltzmann_factor(plane)), ("with the symmetry", invariant.predict(plane))]
panels.append(("without", plain.predict(plane)))
figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), sharey=True, layout="constrained")
for ax, (title, values) in zip(axes, panels, strict=True):
    image = ax.imshow(
        values.reshape(x1.shape).T, origin="lower", extent=(0, side, 0, side), vmin=0, vmax=2.5, cmap="cividis"
    )
    ax.set(title=title, xlabel="x (Å)")
axes[0].set_ylabel("y (Å)")
figure.colorbar(image, ax=axes, label="Boltzmann factor of helium", extend="max")
plt.show()
