"""
Two kinds of particles
======================

Ions on a ring around a core: four of charge +1 and three of charge −2, each known by its angle. Ions of one kind are
interchangeable, ions of different kinds are not. The space is the product of a power of the circle for each kind, and
the group the direct product S₄ × S₃ of 144 elements.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import specavg as sa
from specavg import groups

space = sa.Product(sa.Power(sa.Circle(), 4), sa.Power(sa.Circle(), 3))
group = groups.direct_product(groups.symmetric(4), groups.symmetric(3))
print(f"{space.n_features} angles, {group.order} ways to name the same arrangement")

# %%
# The energy
# ----------
#
# Charges repel or attract with a softened Coulomb energy of their distance on the ring, and the core holds them by a
# field along one direction. Nothing in it depends on which ion of a kind is which.

CHARGES = np.array([1.0] * 4 + [-2.0] * 3)


def energy(X):
    distance = 2 * np.abs(np.sin((X[:, :, None] - X[:, None, :]) / 2))
    pairs = CHARGES[:, None] * CHARGES / (distance + 1.0)
    return np.triu(pairs, 1).sum(axis=(1, 2)) + (CHARGES * np.cos(X)).sum(axis=1)


X, Z = space.sample(400, random_state=0), space.sample(2000, random_state=1)
y = energy(X)

# %%
# With and without the symmetry
# -----------------------------
#
# Everything is chosen from the data; only the first model and the last know that ions of a kind are alike. Ions
# interact in pairs. The first model chooses a spectrum that is a product over the ions, for which functions of few ions
# may have higher frequencies than functions of many. The last is held to spectra that depend on the eigenvalue of the
# Laplacian alone, and is a little less accurate.


def fitted(group, spectrum="auto"):
    start = time.perf_counter()
    model = sa.InvariantKernelRidge(space, group, spectrum=spectrum).fit(X, y)
    return model, time.perf_counter() - start


models = {"S₄ × S₃": fitted(group), "no symmetry": fitted(None), "S₄ × S₃, Laplacian": fitted(group, "matern")}
spread = energy(Z).std()
for name, (model, elapsed) in models.items():
    error = np.sqrt(np.mean((model.predict(Z) - energy(Z)) ** 2)) / spread
    change = sa.invariance_discrepancy(model, space, group, Z[:50])
    print(f"{name}: {model.basis_.dim} functions, error {error:.3f} of the spread, discrepancy {change!r}")
    print(f"    fitted in {elapsed:.1f} s")

# %%
# Predicted against true energies of arrangements not seen before.

figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharex=True, sharey=True, layout="constrained")
for axis, (name, (model, _)) in zip(axes, models.items(), strict=True):
    axis.scatter(energy(Z), model.predict(Z), s=4, color="#1b6ca8", linewidths=0)
    axis.axline((0, 0), slope=1, color="0.4", linewidth=1)
    axis.set_title(f"{name}: {model.basis_.dim} functions", fontsize="medium")
    axis.set_xlabel("energy")
axes[0].set_ylabel("predicted")
plt.show()
