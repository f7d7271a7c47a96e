"""
Gradients: predicted, and as data
=================================

Every model has a gradient: that of an energy is minus a force, that of a torsion energy a torque. And where a program
or an instrument gives gradients beside values, they are data too: in *d* dimensions a point with its gradient says
1 + *d* things instead of one.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import specavg as sa
from specavg.datasets import load_propane

# %%
# Torques of propane
# ------------------
# The energy of propane as its two methyl groups turn, learned from 30 values
# (see :doc:`the torsions of propane </auto_examples/plot_01_propane>`). Minus the gradient is the torque on each group.
# It is exact for the model, also where the energy has a mirror line: there the torque across the line is zero.
data = load_propane()
model = sa.InvariantKernelRidge(data.space, data.group).fit(data.X[data.train], data.y[data.train])
side = np.linspace(0, 2 * np.pi, 19)[:-1] + np.pi / 18
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
torque = -model.gradient(grid)
on_the_mirror = np.array([[0.4, -0.4], [1.0, -1.0]])  # x₁ = −x₂: groups exchanged and angles reversed
across = model.gradient(on_the_mirror).sum(axis=1)
print(
    f"largest torque {np.abs(torque).max():.2f} kcal/mol per radian; across the mirror line {np.abs(across).max():.1e}"
)

figure, panel = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
sa.plot.torus(model, symmetry=False, ax=panel)
panel.quiver(*grid.T, *torque.T, color="white", scale=90, width=0.004)
panel.set(title="energy, and torques", xlabel="first methyl group", ylabel="second methyl group")
plt.show()


# %%
# What gradients save
# -------------------
# A function on the torus :math:`T²` and one on the sphere :math:`S²`, whose gradients are known. The same estimator
# sees the values alone, and then values and gradients. On the sphere only the tangential part of a gradient counts, so
# it may be given as the gradient in :math:`R³`. How much each kind of data is to be trusted is chosen with everything
# else, by leaving out points with all that is known of them.
def on_torus(X):
    return np.exp(np.cos(np.pi * X).sum(axis=1))


def torus_gradient(X):
    return -np.pi * np.sin(np.pi * X) * on_torus(X)[:, None]


def on_sphere(X):
    return np.exp(2 * X[:, 0] * X[:, 1]) + np.cos(3 * X[:, 2])


def sphere_gradient(X):
    e = np.exp(2 * X[:, 0] * X[:, 1])
    return np.stack([2 * X[:, 1] * e, 2 * X[:, 0] * e, -3 * np.sin(3 * X[:, 2])], axis=1)


sizes = [10, 20, 40, 60]
cases = {
    "torus T²": (sa.Torus(2), on_torus, torus_gradient),
    "sphere S²": (sa.Sphere(3), on_sphere, sphere_gradient),
}
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
for panel, (name, (space, f, gradient)) in zip(panels, cases.items(), strict=True):
    Z = space.sample(1000, random_state=99)
    errors = {"values": [], "values and gradients": []}
    for n in sizes:
        X = space.sample(n, random_state=n)
        for label, given in (("values", None), ("values and gradients", gradient(X))):
            fitted = sa.InvariantKernelRidge(space).fit(X, f(X), gradient=given)
            errors[label].append(np.sqrt(np.mean((fitted.predict(Z) - f(Z)) ** 2)) / f(Z).std())
    print(name, *(f"n = {n}: {a:.1e} → {b:.1e}" for n, a, b in zip(sizes, *errors.values(), strict=True)), sep="   ")
    sa.plot.curves(sizes, errors, ylabel="error, in standard deviations", ax=panel)
    panel.set(title=name)

# %%
# Signs
# -----
# Forces are *minus* the gradient of an energy. Given with the wrong sign, or in other units, they contradict the
# values, and the fit says so.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    X = sa.Torus(2).sample(60, random_state=0)
    sa.InvariantKernelRidge(sa.Torus(2), max_dim=150).fit(X, on_torus(X), gradient=-torus_gradient(X))
print(caught[0].message)
plt.show()
