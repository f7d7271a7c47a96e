"""Potential energies of molecules, exactly invariant to motions, mirror images and permutations of like atoms."""

from specavg.molecules._potential import InvariantPotential

__all__ = ["InvariantPotential"]
