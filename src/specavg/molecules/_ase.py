"""A potential as a calculator of ASE."""

from __future__ import annotations

from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np


def calculator(potential: Any, energy_unit: float, length_unit: float) -> Any:
    """An ASE calculator; positions in Å, energies in eV."""
    try:
        calculators: Any = import_module("ase.calculators.calculator")
    except ImportError as error:
        raise ImportError("a calculator needs ASE; install it with: pip install 'specavg[molecules]'") from error

    for name, unit in (("energy_unit", energy_unit), ("length_unit", length_unit)):
        if not isinstance(unit, Real) or not 0 < unit < np.inf:
            raise ValueError(
                f"{name} must be a positive number, the unit of the data in eV or Å, such as "
                f"ase.units.Hartree; got {unit!r}"
            )
    base: Any = calculators.Calculator

    class PotentialCalculator(base):
        implemented_properties = ("energy", "forces")

        def __reduce__(self) -> tuple[Any, tuple[Any, float, float]]:
            return calculator, (potential, energy_unit, length_unit)  # other processes make their own

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
