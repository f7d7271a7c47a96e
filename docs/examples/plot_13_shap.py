"""
Explaining an invariant model with SHAP
=======================================

Shapley values say how much each coordinate contributed to one prediction. For a model of interchangeable coordinates
they should respect the symmetry: exchange two coordinates, and their contributions are exchanged. If the model is
invariant, this holds exactly, provided that the background data are as symmetric as the model. If it only learned from
symmetric data, it does not hold.

The example: four planets on circular orbits around one star, at angles :math:`θᵢ`, all alike, and the sum over
pairs of a soft repulsion, :math:`1 / (1.2 − cos(θᵢ − θⱼ))`.
"""

from itertools import permutations
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import shap

import specavg as sa
from specavg import groups

d = 4
space, group = sa.Torus(d, period=2 * np.pi), groups.symmetric(d)


def energy(X):
    pairs = [(i, j) for i in range(d) for j in range(i)]
    return sum(1 / (1.2 - np.cos(X[:, i] - X[:, j])) for i, j in pairs)


X, X_test = space.sample(300, random_state=0), space.sample(1000, random_state=1)
models = {}
for name, g in (("with the symmetry", group), ("without", None)):
    start = perf_counter()
    models[name] = sa.InvariantKernelRidge(space, g, max_invariant_dim=250).fit(X, energy(X))
    seconds = perf_counter() - start
    error = np.sqrt(np.mean((models[name].predict(X_test) - energy(X_test)) ** 2))
    change = sa.invariance_discrepancy(models[name], space, group, X_test[:100])
    print(f"{name:18s} error {error:.3f}   discrepancy {float(change):.1e}   {seconds:.1f} s")
print(f"standard deviation {energy(X_test).std():.3f}")

# %%
# Contributions
# -------------
# Exact Shapley values, over all 2⁴ sets of coordinates. The background is a few points with all 24
# permutations of each. Three planets at nearly the same place and one across: what does each contribute? Then the
# planets are renumbered.
few = space.sample(4, random_state=2)
background = np.concatenate([few[:, list(p)] for p in permutations(range(d))])
x = np.array([0.3, 0.5, 0.8, 3.6])
renumbered = [2, 3, 0, 1]
values = {}
for name, model in models.items():
    explainer = shap.explainers.Exact(model.predict, background)
    first, second = explainer(np.stack([x, x[renumbered]]), silent=True).values
    values[name] = first, second[np.argsort(renumbered)]
    print(f"{name:18s} {np.round(first, 3)}, renumbered and back {np.round(values[name][1], 3)}")
    print(f"{'':18s} largest difference {np.abs(values[name][0] - values[name][1]).max():.1e}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.4), sharey=True, layout="constrained")
for panel, (name, (first, second)) in zip(panels, values.items(), strict=True):
    panel.bar(np.arange(d) - 0.2, first, 0.4, color="#0072B2", label="as numbered")
    panel.bar(np.arange(d) + 0.2, second, 0.4, color="#E69F00", hatch="//", edgecolor="white", label="renumbered")
    panel.axhline(0, color="0.3", linewidth=0.8)
    panel.set(title=name, xticks=range(d), xticklabels=[f"planet {i + 1}" for i in range(d)])
panels[0].set_ylabel("contribution to the energy")
panels[0].legend(frameon=False)
plt.show()
