"""A potential as a calculator of ASE."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["calculator"]


def calculator(potential: Any, energy_unit: float, length_unit: float) -> Any:
    """An ASE calculator; positions in Å, energies in eV."""
    try:
        calculators: Any = import_module("ase.calculators.calculator")
    except ImportError as error:
        raise ImportError("a calculator needs ASE; install it with: pip install 'specavg[molecules]'") from error

    base: Any = calculators.Calculator

    class PotentialCalculator(base):
        implemented_properties = ("energy", "forces")

        def calculate(
            self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = calculators.all_changes
        ) -> None:
            super().calculate(atoms, properties, system_changes)
            symbols = self.atoms.get_chemical_symbols()
            if symbols != list(potential.symbols):
                raise ValueError(f"the potential is one of {list(potential.symbols)}, in this order; got {symbols}")
            E, F = potential.energy_and_forces(self.atoms.get_positions()[None] / length_unit)
            self.results = {
                "energy": float(E[0]) * energy_unit,
                "forces": np.ascontiguousarray(F[0]) * (energy_unit / length_unit),
            }

    return PotentialCalculator()
