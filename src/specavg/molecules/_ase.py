"""A potential as a calculator of ASE."""

from __future__ import annotations

import warnings
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np

from specavg.molecules._elements import labels_of
from specavg.molecules._geometries import positions_of


def calculator(potential: Any, energy_unit: float, length_unit: float) -> Any:
    """An ASE calculator; positions in Å, energies in eV."""
    evaluated, labels = potential._evaluated, labels_of(potential.symbols)  # what it says of far geometries, once
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
        implemented_properties = ("energy", "free_energy", "forces")
        questioned = False

        def __reduce__(self) -> tuple[Any, tuple[Any, float, float]]:
            return calculator, (potential, energy_unit, length_unit)  # other processes make their own

        def calculate(
            self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = calculators.all_changes
        ) -> None:
            super().calculate(atoms, properties, system_changes)
            R = positions_of(self.atoms, labels) / length_unit
            E, F, outside = evaluated(R)
            if outside and not self.questioned:  # one step of dynamics is said, not all that follow
                self.questioned = True
                warnings.warn(outside, stacklevel=2)
            energy = float(E[0]) * energy_unit
            self.results = {
                "energy": energy,
                "free_energy": energy,  # what the forces are the gradient of
                "forces": np.ascontiguousarray(F[0]) * (energy_unit / length_unit),
            }

    return PotentialCalculator()
