"""
1000! on a torus
================

A function of a thousand periodic coordinates that does not depend on their order is invariant under 1000!
permutations, a number of 2568 digits. No computer will ever list them; the group has two generators, and that is all
that is used.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import specavg as sa

space, group = sa.Torus(1000), sa.groups.symmetric(1000)
print(f"|G| has {len(str(group.order))} digits; generators: {len(group.generators)}")

# %%
# The invariant functions
# -----------------------
#
# Up to the third shell of frequencies there are more than 10⁹ functions. What survives can be written down: the
# symmetric ones, each a polynomial in power sums over the coordinates, so that a value costs a thousand operations
# and not 1000!.

start = time.perf_counter()
basis = sa.invariant_basis(space, group, max_eigenvalue=3 * np.pi**2)
print(f"{basis.dim} of {basis.total_dim:,} functions, found in {time.perf_counter() - start:.2f} s")
sa.plot.spectrum(basis)
plt.show()

# %%
# Learning
# --------
#
# The target is a smooth statistic of the whole set of coordinates: how strongly the phases of a thousand oscillators
# agree, and how much their second harmonics do, with a little noise.


def agreement(X):
    first, second = np.exp(1j * np.pi * X).sum(axis=1), np.exp(2j * np.pi * X).sum(axis=1)
    return (np.abs(first) ** 2 + second.real * 3 + first.imag**2) / 1000


rng = np.random.default_rng(0)
X, Z = space.sample(500, random_state=0), space.sample(1000, random_state=1)
y = agreement(X) + 0.05 * rng.standard_normal(len(X))

start = time.perf_counter()
model = sa.InvariantKernelRidge(space, group, max_eigenvalue=3 * np.pi**2).fit(X, y)
elapsed = time.perf_counter() - start

# %%
# Without the symmetry the same estimator can afford the constant and the first shell of frequencies, 2001 functions for
# 500 points; the second shell has two million.

plain = sa.InvariantKernelRidge(space, max_dim=2001)
start = time.perf_counter()
plain.fit(X, y)
plain_elapsed = time.perf_counter() - start


def rmse(model):
    return np.sqrt(np.mean((model.predict(Z) - agreement(Z)) ** 2))


for name, fitted, seconds in (("with the symmetry", model, elapsed), ("without", plain, plain_elapsed)):
    discrepancy = sa.invariance_discrepancy(fitted, space, group, Z[:10], n_elements=30, random_state=0)
    print(f"{name:18s} error {rmse(fitted):.3f}   discrepancy {discrepancy:.1e}   {seconds:.2f} s")
print(f"{'mean of y':18s} error {np.sqrt(np.mean((y.mean() - agreement(Z)) ** 2)):.3f}")

# %%
# Predictions against the truth, on 1000 new points.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharex=True, sharey=True)
truth = agreement(Z)
for ax, (name, fitted) in zip(axes, {"with the symmetry": model, "without": plain}.items(), strict=True):
    ax.plot(truth, fitted.predict(Z), ".", color="#0b3c6f", markersize=4, alpha=0.6)
    ax.axline((0, 0), slope=1, color="0.4", linewidth=1)
    ax.set(title=name, xlabel="truth", aspect="equal")
axes[0].set_ylabel("prediction")
plt.show()
