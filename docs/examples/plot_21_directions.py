"""
Sets of directions, up to rotation and order
============================================

An atom with four bonds: its energy depends on the four directions, but not on how the molecule is turned, nor on which
bond is called the first. The space is four copies of the sphere, the group :math:`O(3) × S_4`: continuous, so that
no list of its elements exists. It is given by two fields (infinitesimal rotations), a mirror and two permutations.

The energy is a sum over pairs of bonds that repel each other, and it is learnt from 60 noisy examples.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

import specavg as sa
from specavg import groups

space = sa.Power(sa.Sphere(3), 4)
group = groups.joined(groups.diagonal(groups.orthogonal(3), 4), groups.symmetric(4))
print(group, group.order)


def energy(X):
    """Pairs of bonds repel each other, the more the closer they are."""
    bonds = X.reshape(-1, 4, 3)
    cosines = [np.einsum("ni,ni->n", bonds[:, i], bonds[:, j]) for i, j in combinations(range(4), 2)]
    return sum(np.exp(c) for c in cosines)


rng = np.random.default_rng(0)
X, X_test = space.sample(60, rng), space.sample(1000, rng)
y = energy(X) + 0.01 * rng.standard_normal(60)

# %%
# How few functions are invariant
# -------------------------------
# Up to eigenvalue 24 there are thousands of functions on the four spheres; the table says how many survive. The gap is
# the smallest singular value that was not taken for zero: weights are integers, so that nothing is left in doubt.
basis = sa.invariant_basis(space, group, max_eigenvalue=24)
print(basis)
for row in basis.table:
    print(f"eigenvalue {row.eigenvalue:4.0f}: {row.invariant_dim} of {row.dim:5d}, gap {row.gap:.2f}")

# %%
# Beside sorting and augmentation
# -------------------------------
# What one would do otherwise: kernel ridge regression on the sorted pair cosines, which is invariant but has kinks
# where two cosines are equal; or on the coordinates, with every example turned and reordered ten times at random.
grid = {"gamma": np.geomspace(0.01, 3, 6), "alpha": 10.0 ** np.arange(-6, 1)}


def sorted_cosines(X):
    bonds = X.reshape(-1, 4, 3)
    cosines = [np.einsum("ni,ni->n", bonds[:, i], bonds[:, j]) for i, j in combinations(range(4), 2)]
    return np.sort(np.stack(cosines, axis=1), axis=1)


elements = [group.random(rng) for _ in range(10)]
more = np.concatenate([space.act(g, X) for g in elements])
ours = sa.InvariantKernelRidge(space, group, max_eigenvalue=24).fit(X, y)
sorting = GridSearchCV(KernelRidge(kernel="rbf"), grid).fit(sorted_cosines(X), y)
augmented = GridSearchCV(KernelRidge(kernel="rbf"), grid).fit(more, np.tile(y, 10))
methods = {
    "invariant basis": ours.predict,
    "sorted cosines": lambda X: sorting.predict(sorted_cosines(X)),
    "augmented": augmented.predict,
}
errors, changes = {}, {}
for name, predict in methods.items():
    errors[name] = np.sqrt(np.mean((predict(X_test) - energy(X_test)) ** 2))
    changes[name] = float(sa.invariance_discrepancy(predict, space, group, X_test[:50], n_elements=20, random_state=0))
    print(f"{name:16s} error {errors[name]:.4f}   change under the group {changes[name]:.1e}")

# %%
figure, ax = plt.subplots(figsize=(5, 3))
ax.bar(list(errors), list(errors.values()), color=["C0", "C7", "C7"])
ax.set(ylabel="error on new molecules", yscale="log")
figure.tight_layout()
plt.show()
