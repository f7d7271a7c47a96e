"""
Many coordinates: the torsions of a chain
=========================================

A molecule of undecane, C₁₁H₂₄, is a chain that turns about eight of its bonds. Its energy is a function of eight
angles: a point of the torus :math:`T⁸`. It does not change when the chain is read from its other end, nor in the
mirror, where all angles change sign: a group of four elements, far too small to make eight dimensions few.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import specavg as sa
from specavg import groups, isometries

d = 8
space = sa.Torus(d, period=2 * np.pi)
backwards = isometries.permutation(list(range(d))[::-1])
mirror = isometries.signed_permutation(list(range(d)), [-1] * d)
group = groups.Group([backwards, mirror])
print(f"{d} torsions, {group.order} ways to describe the same shape")

# %%
# The energy
# ----------
#
# Every bond has the torsion potential of Ryckaert and Bellemans for alkanes, in kJ/mol, lowest at 0 (*trans*) with two
# side minima (*gauche*). Neighbouring bonds that are *gauche* in opposite senses bring carbon atoms close together:
# this costs about 8 kJ/mol, the pentane effect. It is written here as a smooth bump; nothing else couples the angles.
RYCKAERT_BELLEMANS = [9.28, 12.16, -13.12, -3.06, 26.24, -31.5]
GAUCHE = np.deg2rad(115)


def bump(X):
    return np.exp(6 * (np.cos(X) - 1))


def energy(X):
    bonds = np.polynomial.polynomial.polyval(np.cos(X), RYCKAERT_BELLEMANS)
    left, right = bump(X - GAUCHE), bump(X + GAUCHE)
    clashes = left[:, :-1] * right[:, 1:] + right[:, :-1] * left[:, 1:]
    return bonds.sum(axis=1) + 8.0 * clashes.sum(axis=1)


rng = np.random.default_rng(0)
X, Z = space.sample(600, random_state=rng), space.sample(2000, random_state=rng)
y = energy(X) + 0.5 * rng.normal(size=len(X))

# %%
# Few coordinates first
# ---------------------
#
# In the order of the Laplacian, the first 1749 invariant functions have frequencies of squared length 6 at most:
# products of six angles, but not even the third frequency of a single one, while the potential of a bond has five. With
# nothing set, :class:`~specavg.estimators.InvariantKernelRidge` also tries the order
# :class:`~specavg.invariants.FewCoordinates`, which has few angles and high frequencies first, and takes what scores
# better, mostly by how points that were left out are predicted.


def report(name, model):
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    error = np.sqrt(np.mean((model.predict(Z) - energy(Z)) ** 2))
    change = float(sa.invariance_discrepancy(model, space, group, Z[:200]))
    print(f"{name:34s} error {error:5.2f} kJ/mol   discrepancy {change:.1e}   {seconds:.1f} s")
    return model


print(f"predicting the mean: error {energy(Z).std():.2f} kJ/mol")
laplacian = report("order of the Laplacian", sa.InvariantKernelRidge(space, group, spectrum="matern"))
chosen = report("with nothing set", sa.InvariantKernelRidge(space, group))
plain = report("with nothing set, no symmetry", sa.InvariantKernelRidge(space))
report("gradient boosting", HistGradientBoostingRegressor(random_state=0))
print(f"chosen: {chosen.basis_.dim} functions in the order {chosen.basis_.order}")

# %%
# What was learned
# ----------------
#
# One angle turns, the others stay *trans*: the model has found the potential of a single bond from shapes in which all
# eight were turned at random.
angle = np.linspace(-np.pi, np.pi, 400)
shapes = np.zeros((400, d))
shapes[:, 3] = angle
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(np.rad2deg(angle), energy(shapes), color="0.2", linewidth=3, alpha=0.4, label="truth")
for name, model, color in (
    ("nothing set", chosen, "#1b6ca8"),
    ("order of the Laplacian", laplacian, "#d1495b"),
):
    axis.plot(np.rad2deg(angle), model.predict(shapes), color=color, label=name)
axis.set(xlabel="fourth torsion, degrees from trans", ylabel="energy, kJ/mol", xticks=range(-180, 181, 60))
axis.legend(frameon=False)
plt.show()
