"""
Which symmetry do the data have?
================================

Three questions to :func:`specavg.discover_symmetry`: the torsions of a molecule, a symmetry that is almost there, and
the magnetic field of the Earth. It is given a group that surely contains the symmetry, and finds the part of it that
the data allow.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import factorial, lpmv

import specavg as sa
from specavg import groups, isometries
from specavg.datasets import load_propane

# %%
# The torsions of propane, from energies alone
# --------------------------------------------
# The energy of propane is a function of the angles of its two methyl groups. Somebody who knows no chemistry might
# think of all shifts by a sixth of a turn, of reversed angles and of angles exchanged: 288 maps, with 1336 subgroups.
# Three hundred energies are enough to find the group of the molecule, with 36 elements: thirds of a turn, both
# angles reversed, both exchanged. Sixths, and one angle reversed alone, are refuted.
data = load_propane()
sixth = Fraction(1, 6)
everything = groups.Group(
    [
        isometries.shift([sixth, 0]),
        isometries.shift([0, sixth]),
        isometries.permutation([1, 0]),
        isometries.signed_permutation([0, 1], [-1, 1]),
    ]
)
found = sa.discover_symmetry(data.X[:300], data.y[:300], data.space, everything)
print(found)
print("\nThe group of the molecule has", data.group.order, "elements.")

# %%
# A symmetry that is almost there
# -------------------------------
# A cubic function, tilted a little along z. A hundred noisy samples cannot see that it is tilted, and the full symmetry
# of the cube is the best that can be said. Twenty thousand can: the axis along z is left.
rng = np.random.default_rng(5)
space, cube = sa.Sphere(3), groups.point_group("Oh")
pictures = []
for n in (100, 20_000):
    X = space.sample(n, random_state=rng)
    y = (X**4).sum(axis=1) + 0.02 * X[:, 2] + 0.1 * rng.normal(size=n)
    pictures.append(sa.discover_symmetry(X, y, space, cube))
    print(f"n = {n}: {pictures[-1].group.name}, of order {pictures[-1].group.order}")

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, picture in zip(axes, pictures, strict=True):
    sa.plot.lattice(picture, ax=ax)

# %%
# The Earth's main field
# ----------------------
# The field of the Earth is nearly that of a tilted magnet. Its potential is a sum of spherical harmonics, whose
# coefficients are published (in nT; here up to degree 4, for the year 2020, from the fourteenth International
# Geomagnetic Reference Field, as distributed with the package ppigrf 2.1.0 under the MIT licence). The radial field
# is measured at 1000 random places, to 100 nT.
# The degrees n one after the other, g(n,0), g(n,1), h(n,1), g(n,2), ...
COEFFICIENTS = [
    *(-29403.41, -1451.37, 4653.35),
    *(-2499.78, 2981.96, -2991.72, 1676.85, -734.62),
    *(1363.0, -2380.8, -81.96, 1236.06, 241.8, 525.6, -542.52),
    *(902.82, 809.47, 282.1, 86.18, -158.5, -309.47, 199.75, 47.44, -350.3),
]


def radial_field(X, degree):
    """The radial field at unit vectors, in nT, from the coefficients up to a degree."""
    longitude = np.arctan2(X[:, 1], X[:, 0])
    total, values = np.zeros(len(X)), iter(COEFFICIENTS)
    for n in range(1, degree + 1):
        for m in range(n + 1):
            schmidt = np.sqrt((1 + (m > 0)) * factorial(n - m) / factorial(n + m)) * (-1) ** m * lpmv(m, n, X[:, 2])
            total += (n + 1) * next(values) * schmidt * np.cos(m * longitude)
            if m:
                total += (n + 1) * next(values) * schmidt * np.sin(m * longitude)
    return total


X = space.sample(1000, random_state=rng)
noise = 100 * rng.normal(size=1000)
for degree, name in ((1, "dipole"), (4, "main field")):
    found = sa.discover_symmetry(X, radial_field(X, degree) + noise, space, groups.special_orthogonal(3))
    print(f"{name}: {found.group.name or 'no rotations'}, {len(found.fields)} field(s)")

magnet = np.array([COEFFICIENTS[1], COEFFICIENTS[2], COEFFICIENTS[0]])
print("the axis of the dipole:", np.round(-magnet / np.linalg.norm(magnet), 3))
