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
from sklearn.gaussian_process.kernels import RBF

import specavg as sa
from specavg.datasets import load_propane

data = load_propane()
space, group = data.space, data.group
energy = sa.InvariantKernelRidge(space, group).fit(data.X[:160], data.y[:160])
print(*zip(group.generators, sa.groups.representation(group, "vector").images, strict=True), sep="\n")

# %%
# The gradient of the energy, learned from its values at a few points
# -------------------------------------------------------------------
# What the models see is the gradient of a fit to 160 energies, good to better than a millionth. Beside the
# equivariant model stand the same model without a group; kernel ridge regression with the matrix-valued kernel
# averaged over the 36 elements, k(gx, y) ρ(g)ᵀ; and kernel ridge regression on the data and six random images of each
# point (with all 36 images it would be the averaged kernel again). Both use a Gaussian kernel of the cosines and
# sines of the angles; width and penalty minimise the error of leaving out a point, with all its images. Errors are
# means over eight draws of 15 points, with standard errors.
Z = space.sample(500, random_state=1)
truth = energy.gradient(Z)
pairs = [(g, rho.matrix) for g, rho in sa.groups.representation(group, "vector").elements()]
widths, penalties = 10.0 ** np.arange(-0.5, 0.8, 0.25), 10.0 ** np.arange(-12, 0.0)
nothing = (group.identity, np.eye(2))


def circles(A):
    return np.hstack([np.cos(A), np.sin(A)])


class KernelOfAngles:
    """Kernel ridge regression with the kernel averaged over `elements`, on the images of the data under `copies`."""

    def __init__(self, elements=(nothing,), copies=(nothing,)):
        self.elements, self.copies = elements, copies

    def kernel(self, A, B, width):
        each = (np.kron(RBF(width)(circles(space.act(g, A)), circles(B)), rho.T) for g, rho in self.elements)
        return sum(each) / len(self.elements)

    def fit(self, A, Y):
        best = np.inf
        rows = np.tile(np.repeat(np.arange(len(A)), 2), len(self.copies))
        self.A = np.vstack([space.act(g, A) for g, _ in self.copies])
        y = np.vstack([Y @ rho.T for _, rho in self.copies]).ravel()
        blocks = [np.flatnonzero(rows == i) for i in range(len(A))]
        for width in widths:
            values, vectors = np.linalg.eigh(self.kernel(self.A, self.A, width))
            for penalty in penalties:
                scaled = vectors / np.sqrt(np.maximum(values, 0) + penalty)
                c = scaled @ (scaled.T @ y)
                error = sum(np.sum(np.linalg.solve(scaled[b] @ scaled[b].T, c[b]) ** 2) for b in blocks)
                if error < best:
                    best, self.width, self.c = error, width, c
        return self

    def predict(self, B):
        return (self.kernel(B, self.A, self.width) @ self.c).reshape(len(B), 2)


def errors(seed):
    X = space.sample(15, random_state=100 + seed)
    Y, rng = energy.gradient(X), np.random.default_rng(seed)
    models = {
        "equivariant": sa.EquivariantKernelRidge(space, group, "vector"),
        "without the symmetry": sa.EquivariantKernelRidge(space, None, "vector"),
        "averaged matrix kernel": KernelOfAngles(elements=pairs),
        "augmented": KernelOfAngles(copies=[nothing, *(pairs[i] for i in rng.choice(36, 6, replace=False))]),
    }
    return {name: np.sqrt(np.mean((m.fit(X, Y).predict(Z) - truth) ** 2)) for name, m in models.items()}, models


splits = [errors(seed)[0] for seed in range(8)]
print(f"size of the gradient: {np.sqrt(np.mean(truth**2)):.3f} kcal/mol/rad")
for name in splits[0]:
    values = [split[name] for split in splits]
    print(f"{name:24s} {np.mean(values):.1e} ± {np.std(values, ddof=1) / 8**0.5:.0e}")

# %%
# A vector field that is learned as such need not be a gradient: nothing has told the model that its curl vanishes. From
# the derivatives of the fitted field the curl can be read off. It is some hundred-thousandths of the second
# derivatives, as the error is of the gradient.
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
