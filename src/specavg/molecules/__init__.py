"""Potential energies of molecules, exactly invariant to rigid motions and to permutations of like atoms."""

from specavg.molecules._potential import InvariantPotential

__all__ = ["InvariantPotential"]
