"""
A vector field with symmetry
============================

The force on a particle above a crystal surface, the dipole of a molecule, the wind around a planet: vectors that are
turned when the point is turned. For them invariance, F(gx) = F(x), is the wrong wish. The right one is *equivariance*,
F(gx) = ρ(g)F(x), with ρ(g) the matrix that moves vectors.

Here a synthetic field on the sphere, with the symmetry of an octahedron without its mirrors (the group O), is learned
from 40 noisy vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

import specavg as sa

space, group = sa.Sphere(3), sa.groups.point_group("O")


def field(x):
    """Pushes outwards along the axes, and swirls around them; it moves with x under every rotation in O."""
    gradient = x**3
    return gradient + 0.8 * np.cross(x, gradient)


rng = np.random.default_rng(0)
X, Z = space.sample(40, random_state=1), space.sample(1000, random_state=2)
Y = field(X) + 0.03 * rng.normal(size=X.shape)

# %%
# The field is equivariant, as one element shows; the functions that may describe it are few.
g, rho = sa.groups.representation(group, "vector").random(3)
print(np.abs(field(space.act(g, Z)) - rho(field(Z))).max())
basis = sa.equivariant_basis(space, group, "vector", max_eigenvalue=30)
print(basis)

# %%
# With and without the symmetry
# -----------------------------
# Leaving out one point with its three components chooses spectrum and penalty.


def error(model):
    return np.sqrt(np.mean((model.predict(Z) - field(Z)) ** 2))


equivariant = sa.EquivariantKernelRidge(space, group, "vector").fit(X, Y)
plain = sa.EquivariantKernelRidge(space, None, "vector").fit(X, Y)
for name, model in (("equivariant", equivariant), ("without", plain)):
    wrong = np.abs(model.predict(space.act(g, Z)) - rho(model.predict(Z))).max()
    print(f"{name:12s} error {error(model):.4f}   |F(gx) − ρ(g)F(x)| up to {wrong:.1e}")

# %%
# On a fourfold axis only one direction is left alone by the rotations around it: the prediction has no other, exactly.
print(equivariant.predict([[0.0, 0.0, 1.0]]))

# %%
# The field seen from above, and what each model makes of 40 vectors.
side = np.linspace(-0.9, 0.9, 15)
x, y = (a.ravel() for a in np.meshgrid(side, side))
inside = x**2 + y**2 < 0.85
points = np.column_stack([x, y, np.sqrt(np.maximum(1 - x**2 - y**2, 0))])[inside]
figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.4), sharex=True, sharey=True, layout="constrained")
for panel, values, title in (
    (panels[0], field(points), "the field"),
    (panels[1], equivariant.predict(points), "equivariant"),
    (panels[2], plain.predict(points), "without the symmetry"),
):
    panel.quiver(points[:, 0], points[:, 1], values[:, 0], values[:, 1], color="#0072B2", scale=12)
    panel.set(title=title, aspect="equal", xticks=[], yticks=[])
plt.show()
