"""
A gradient is an equivariant field
==================================

The gradient of an invariant energy moves with the points: ∇f(gx) = ρ(g)∇f(x), with ρ(g) the matrix of g. So it can be
had in two ways. Either energies are learned and the model is differentiated; or the gradient is learned as a vector
field, by a model that knows nothing of energies. Here the two are checked against each other, on the torsions of
propane (:doc:`plot_01_propane`): a group of 36 elements, of which shifts leave vectors alone, the reversal of both
angles turns them round, and the exchange of the methyl groups swaps their components.
"""

import matplotlib.pyplot as plt
import numpy as np

import specavg as sa
from specavg.datasets import load_propane

data = load_propane()
space, group = data.space, data.group
energy = sa.InvariantKernelRidge(space, group).fit(data.X[:160], data.y[:160])
print(*zip(group.generators, sa.groups.representation(group, "vector").images, strict=True), sep="\n")

# %%
# The gradient of the energy, learned from its values at a few points
# -------------------------------------------------------------------
# What the models see is the gradient of a fit to 160 energies, good to a millionth. Errors are means over five draws of
# 15 points, with standard errors.
Z = space.sample(500, random_state=1)
truth = energy.gradient(Z)


def errors(seed):
    X = space.sample(15, random_state=100 + seed)
    Y = energy.gradient(X)
    models = {
        "equivariant": sa.EquivariantKernelRidge(space, group, "vector"),
        "without the symmetry": sa.EquivariantKernelRidge(space, None, "vector"),
    }
    return {name: np.sqrt(np.mean((m.fit(X, Y).predict(Z) - truth) ** 2)) for name, m in models.items()}, models


splits = [errors(seed)[0] for seed in range(5)]
print(f"size of the gradient: {np.sqrt(np.mean(truth**2)):.3f} kcal/mol/rad")
for name in splits[0]:
    values = [split[name] for split in splits]
    print(f"{name:22s} {np.mean(values):.1e} ± {np.std(values, ddof=1) / 5**0.5:.0e}")

# %%
# A vector field that is learned as such need not be a gradient: nothing has told the model that its curl vanishes. From
# the derivatives of the fitted field the curl can be read off, and it is as small as the error.
model = errors(0)[1]["equivariant"]
J = model.gradient(Z)  # (points, coordinates, components)
print(f"curl: {np.abs(J[:, 0, 1] - J[:, 1, 0]).max():.1e}, size of the second derivatives {np.abs(J).max():.1f}")

side = np.linspace(-np.pi, np.pi, 25)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, ax = plt.subplots(figsize=(5.4, 5.0), layout="constrained")
ax.contourf(side, side, energy.predict(grid).reshape(25, 25), 20, cmap="Greys")
arrows = -model.predict(grid)
ax.quiver(grid[:, 0], grid[:, 1], arrows[:, 0], arrows[:, 1], color="#0072B2")
ax.set(title="energy (grey) and the force learned from 15 vectors", xlabel="first methyl group", ylabel="second")
plt.show()
