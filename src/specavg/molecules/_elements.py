"""Elements: atomic numbers as symbols, and how long bonds are."""

from __future__ import annotations

from numbers import Integral
from typing import Any

_BY_NUMBER = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo
    Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl
    Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
"""
ELEMENTS = _BY_NUMBER.split()

# Covalent radii in Å of the elements of organic molecules (Cordero et al., Dalton Transactions 2008, 2832).
RADII = {
    "H": 0.31, "B": 0.84, "C": 0.76, "N": 0.71, "O": 0.66, "F": 0.57, "Si": 1.11, "P": 1.07, "S": 1.05, "Cl": 1.02,
    "Br": 1.20, "I": 1.39,
}  # fmt: skip


def labels_of(symbols: Any) -> list[str]:
    """What each atom is called, without blanks around; atomic numbers and ``Atoms`` of ASE are elements.

    Examples
    --------
    >>> labels_of([8, 1, 1]), labels_of(["O", "H1", "H1 "])
    (['O', 'H', 'H'], ['O', 'H1', 'H1'])
    """
    if isinstance(symbols, str):
        raise ValueError(
            f"symbols is the text {symbols!r}, which does not say which position is whose: list the atoms in the order "
            "of the positions (carbon dioxide with the carbon first is ['C', 'O', 'O']), or give Atoms of ASE"
        )
    if hasattr(symbols, "get_chemical_symbols"):
        return list(symbols.get_chemical_symbols())
    if any(hasattr(symbol, "get_chemical_symbols") for symbol in symbols):  # else each would be the label of an atom
        raise ValueError(f"symbols is a list of {len(symbols)} Atoms of ASE; give one of them, symbols=frames[0]")
    if all(isinstance(symbol, Integral) and 1 <= int(symbol) <= len(ELEMENTS) for symbol in symbols):
        return [ELEMENTS[int(symbol) - 1] for symbol in symbols]
    return [str(getattr(symbol, "symbol", symbol)).strip() for symbol in symbols]  # an Atom of ASE has its own


def elements_of(labels: list[str]) -> list[str] | None:
    """The elements that labels name, in upper or lower case; None where some name none.

    Examples
    --------
    >>> elements_of(["o", "CL"]), elements_of(["O", "H1"])
    (['O', 'Cl'], None)
    """
    elements = [label.capitalize() for label in labels]
    return elements if set(elements) <= set(ELEMENTS) else None
