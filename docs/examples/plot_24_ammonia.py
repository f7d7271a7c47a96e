"""
Dipoles and polarisabilities of ammonia
=======================================

Three N–H bonds point in three directions: a point of :math:`(S²)³`. Turn the molecule and its dipole moment turns with
it; reflect it and the dipole is reflected; exchange two hydrogen atoms and nothing happens. So the dipole is a function
with :math:`F(gx) = ρ(g)F(x)` under O(3) and S₃ together. The polarisability, a symmetric tensor, has
:math:`α(gx) = ρ(g) α(x) ρ(g)ᵀ`.

The values are those of GFN2-xTB (computed with tblite 0.8.0) for 600 geometries with bonds of one length, angles
between 75° and 140°, and random orientation; 20 of them are for learning.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold

import specavg as sa
from specavg import groups

data = np.load(Path("data") / "ammonia.npz")
X, dipoles = data["directions"], data["dipole"]
symmetric = groups.index_symmetry("ij=ji", 3)
polarisabilities = symmetric.components(data["polarisability"])  # six components of each tensor
space = sa.Power(sa.Sphere(3), 3)
group = groups.joined(groups.diagonal(groups.orthogonal(3), 3), groups.symmetric(3))

# %%
# What the symmetry leaves
# ------------------------
# The group is continuous: its rotations are known by two fields, dx/dt = Ax, and the null space of these and of three
# generators says everything.
for output in ("vector", "ij=ji"):
    print(sa.equivariant_basis(space, group, output, max_eigenvalue=24))

# %%
# With and without the symmetry
# -----------------------------
# Beside the equivariant model stand the same model without a group; kernel ridge regression with the matrix-valued
# kernel averaged over 720 elements (the 60 rotations of an icosahedron, the inversion, six permutations), and with
# random turned, reflected and permuted copies of the data, 50 of each. Both use a Gaussian kernel of the nine
# coordinates; width and penalty minimise the error of leaving out a molecule, or of cross-validation.
rotations = [g.matrix for g in groups.point_group("I").elements()]
exchanges = [g.matrix for g in groups.symmetric(3).elements()]
elements = [(np.kron(P, s * R), s * R) for P in exchanges for s in (1, -1) for R in rotations]
widths, penalties = 10.0 ** np.arange(-0.25, 1.1, 0.25), 10.0 ** np.arange(-9, 0, 1)


def moved(R, output):
    """ρ of a rotation or reflection: on vectors, or on the six components of a symmetric tensor."""
    return R if output == "vector" else symmetric.moved(sa.isometries.orthogonal(R)).matrix


class AveragedMatrixKernel:
    """K(x, y) = mean of k(gx, y) ρ(g)ᵀ over the 720 elements."""

    def __init__(self, output):
        self.images = np.array([moved(R, output) for _, R in elements])

    def kernel(self, A, B, width):
        found = 0.0
        for (g, _), rho in zip(elements, self.images, strict=True):
            found = found + np.einsum("ab,ij->aibj", RBF(width)(A @ g.T, B), rho.T)
        p = len(rho)
        return found.reshape(len(A) * p, len(B) * p) / len(elements)

    def fit(self, A, Y):
        p, best = Y.shape[1], np.inf
        constants = fixed_outputs(self.images)
        self.mean = np.mean(Y, axis=0) @ constants @ constants.T
        y = (Y - self.mean).ravel()
        for width in widths:
            K = self.kernel(A, A, width)
            for penalty in penalties:
                inverse = np.linalg.inv(K + penalty * np.eye(len(K)))
                blocks = inverse.reshape(len(A), p, len(A), p)[np.arange(len(A)), :, np.arange(len(A))]
                c = inverse @ y
                error = np.sum(np.linalg.solve(blocks, c.reshape(len(A), p, 1)) ** 2)
                if error < best:
                    best, self.width, self.c, self.A = error, width, c, A
        return self

    def predict(self, B):
        return (self.kernel(B, self.A, self.width) @ self.c).reshape(len(B), -1) + self.mean


def fixed_outputs(images):
    """Outputs that no element moves: none for vectors, multiples of the identity for tensors."""
    values, vectors = np.linalg.eigh(images.mean(axis=0))
    return vectors[:, values > 0.5]


class Augmented:
    """Kernel ridge regression on 50 random copies of every molecule."""

    def __init__(self, output, rng):
        self.output, self.rng = output, rng

    def fit(self, A, Y):
        points, targets, label = [], [], []
        for _ in range(50):
            R = groups.orthogonal(3).random(self.rng).matrix
            P = exchanges[self.rng.integers(6)]
            points.append(A @ np.kron(P, R).T)
            targets.append(Y @ moved(R, self.output).T)
            label.append(np.arange(len(A)))
        self.mean = np.mean(np.vstack(targets), axis=0)
        grid = {"gamma": 0.5 / widths**2, "alpha": 10.0 ** np.arange(-7, 0, 2)}
        search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=GroupKFold(4), scoring="neg_mean_squared_error")
        self.model = search.fit(np.vstack(points), np.vstack(targets) - self.mean, groups=np.concatenate(label))
        return self

    def predict(self, B):
        return self.model.predict(B) + self.mean


def without(output):
    outputs = 3 if output == "vector" else 6
    nothing = groups.trivial(3)
    return sa.EquivariantKernelRidge(space, nothing, groups.Representation(nothing, [], dim=outputs))


def errors(output, Y, n, seed):
    """Root mean squared errors of a component, on 200 molecules that were not learned from."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    train, test = rows[:n], rows[-200:]
    models = {
        "equivariant": sa.EquivariantKernelRidge(space, group, output),
        "without": without(output),
        "averaged matrix kernel": AveragedMatrixKernel(output),
        "augmented": Augmented(output, rng),
    }
    return {
        name: np.sqrt(np.mean((model.fit(X[train], Y[train]).predict(X[test]) - Y[test]) ** 2))
        for name, model in models.items()
    }


summary = {}
for title, output, Y in (("dipole (e a₀)", "vector", dipoles), ("polarisability (a₀³)", "ij=ji", polarisabilities)):
    splits = [errors(output, Y, 20, seed) for seed in range(4)]
    summary[title] = {name: [split[name] for split in splits] for name in splits[0]}
    print(f"{title}, standard deviation {Y.std():.3f}; 20 molecules, mean of 4 splits ± standard error")
    for name, found in summary[title].items():
        print(f"  {name:24s} {np.mean(found):.2e} ± {np.std(found, ddof=1) / 2:.1e}")

# %%
# Twenty molecules give the dipole to some thousandths of its size. Copies of the data teach a model without symmetry
# less: it has to learn all orientations. The averaged kernel is the same idea as the equivariant basis, with a sum over
# the group in it (here over a part of the group), and with a Gaussian kernel for a spectrum chosen from the data. Its
# errors are about twice as large.
figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
for panel, (title, found) in zip(panels, summary.items(), strict=True):
    middle = [np.mean(v) for v in found.values()]
    spread = [np.std(v, ddof=1) / len(v) ** 0.5 for v in found.values()]
    panel.errorbar(middle, list(found), xerr=spread, fmt="o", color="#0072B2")
    panel.set(xscale="log", xlabel=f"error of the {title}", ylim=(3.5, -0.5))

# %%
# A planar molecule, and one with three equal bonds
# --------------------------------------------------
# The plane of a planar molecule is a mirror: its dipole has no component across it. Three bonds at 120° have a
# threefold axis besides, and no dipole at all. Both hold for the fitted function to rounding; it has seen neither.
model = sa.EquivariantKernelRidge(space, group, "vector").fit(X[:20], dipoles[:20])
angles = np.radians([[0.0, 100.0, 230.0], [0.0, 120.0, 240.0]])
planar = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=2).reshape(2, 9)
print(model.predict(planar).round(12))
plt.show()
