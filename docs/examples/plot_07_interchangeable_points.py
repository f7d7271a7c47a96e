"""
Sets of 100 interchangeable points
==================================

A sample here is a *set*: a hundred directions on the sphere, in no order, such as the axes of molecules in a drop of a
liquid crystal. A function of the set is a function on the product of a hundred spheres that does not change under the
100! ≈ 10¹⁵⁸ permutations of the points.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV

import specavg as sa

space, group = sa.Power(sa.Sphere(3), 100), sa.groups.symmetric(100)
print(f"points of dimension {space.dim}; |G| has {len(str(group.order))} digits")

# %%
# The target: how well the set is aligned
# ---------------------------------------
#
# Molecules of a liquid crystal are aligned or not, and which end is the head does not matter. The nematic order
# parameter measures it: the largest eigenvalue of Q = (3/2) Σ x xᵀ / 100 − I/2, near zero for random directions and
# one for parallel ones. It is not a polynomial, and depends on all points at once. 300 labelled sets, half of them
# drawn to lie towards a random axis, are given with their order parameter.


def order_parameter(X):
    P = X.reshape(len(X), 100, 3)
    Q = 1.5 * np.einsum("npi,npj->nij", P, P) / 100 - 0.5 * np.eye(3)
    return np.linalg.eigvalsh(Q)[:, -1]


def sets(n, seed):
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((n, 100, 3))
    axes = rng.standard_normal((n, 1, 3)) * np.where(rng.random((n, 1, 1)) < 0.5, 0.6, 0.0)
    P += axes * rng.standard_normal((n, 100, 1))
    return (P / np.linalg.norm(P, axis=2, keepdims=True)).reshape(n, 300)


X, Z = sets(300, 0), sets(1000, 1)
y = order_parameter(X)

# %%
# The fit
# -------
#
# The functions that survive are symmetric polynomials of one-point harmonics, evaluated through power sums: the
# cost of a set is proportional to its number of points.

start = time.perf_counter()
basis = sa.invariant_basis(space, group, max_eigenvalue=12)
print(f"{basis.dim} of {basis.total_dim:,} functions, found in {time.perf_counter() - start:.2f} s")

start = time.perf_counter()
model = sa.InvariantKernelRidge(space, group, max_eigenvalue=12).fit(X, y)
elapsed = time.perf_counter() - start

# %%
# For comparison: a forest and a ridge regression on the 300 numbers, which know nothing of sets, and the forest on
# *sorted* points, a popular canonical order.


def in_order(X):
    P = X.reshape(len(X), 100, 3)
    order = np.argsort(P[:, :, 2], axis=1)
    return np.take_along_axis(P, order[:, :, None], axis=1).reshape(len(X), 300)


class Sorted:
    def __init__(self, model):
        self.model = model

    def predict(self, X):
        return self.model.predict(in_order(X))


start = time.perf_counter()
forest = RandomForestRegressor(100, max_features=0.3, random_state=0).fit(X, y)
forest_elapsed = time.perf_counter() - start
models = {
    "InvariantKernelRidge, S₁₀₀": (model, elapsed),
    "random forest": (forest, forest_elapsed),
    "random forest, sorted points": (
        Sorted(RandomForestRegressor(100, max_features=0.3, random_state=0).fit(in_order(X), y)),
        forest_elapsed,
    ),
    "ridge regression": (RidgeCV(np.logspace(-3, 5, 9)).fit(X, y), 0.0),
}
truth = order_parameter(Z)
print(f"{'':30s}{'error':>9s}{'discrepancy':>13s}{'seconds':>9s}")
for name, (fitted, seconds) in models.items():
    error = np.sqrt(np.mean((fitted.predict(Z) - truth) ** 2))
    discrepancy = sa.invariance_discrepancy(fitted, space, group, Z[:10], n_elements=20, random_state=0)
    print(f"{name:30s}{error:9.1e}{discrepancy:13.1e}{seconds:9.2f}")
print(f"{'mean of y':30s}{np.sqrt(np.mean((y.mean() - truth) ** 2)):9.1e}")

# %%
# Two sets, and what the models say about a thousand others.

fig = plt.figure(figsize=(10, 3.4), layout="constrained")
ordered = np.argsort(truth)
for i, row in enumerate((ordered[100], ordered[-3])):
    ax = fig.add_subplot(1, 4, i + 1, projection="mollweide")
    P = Z[row].reshape(100, 3)
    ax.plot(np.arctan2(P[:, 1], P[:, 0]), np.arcsin(P[:, 2]), "o", color="#0b3c6f", markersize=3)
    ax.set(xticks=[], yticks=[], title=f"order parameter {truth[row]:.2f}")
for i, name in enumerate(("InvariantKernelRidge, S₁₀₀", "random forest, sorted points")):
    ax = fig.add_subplot(1, 4, i + 3)
    ax.plot(truth, models[name][0].predict(Z), ".", color="#0b3c6f", markersize=3, alpha=0.6)
    ax.axline((0, 0), slope=1, color="0.4", linewidth=1)
    ax.set(title=name, xlabel="truth", ylabel="prediction")
    ax.title.set_fontsize("small")
plt.show()
