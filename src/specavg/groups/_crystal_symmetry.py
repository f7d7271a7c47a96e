"""The symmetry of textures: a crystal's from the left, a specimen's from the right, on rotations."""

from __future__ import annotations

import numpy as np

from specavg._messages import shown
from specavg.groups._group import Group
from specavg.groups._point_group_names import point_group, rotations_of
from specavg.groups._two_sided_groups import two_sided_group
from specavg.groups.families import AxialGroup, CrystalSymmetry
from specavg.groups.families._made_of_groups import rotation_of_space


def crystal_symmetry(crystal: str | Group, specimen: str | Group = "C1") -> Group:
    """The symmetry of crystal orientations on `Rotations`: crystal from the left, specimen from the right.

    Orientations take specimen coordinates to crystal coordinates, as Bunge's angles do
    (`spaces.rotations_from_bunge`); X and A X Bᵀ are then the same for A in the crystal's and B in the specimen's
    group.

    Parameters
    ----------
    crystal : str or Group
        A point group of rotations by its Schoenflies or Hermann–Mauguin name (see `point_group`), or the group. A Laue
        class ("m-3m", "6/mmm", "Oh") stands for its rotations: the inversion does not act on orientations.
    specimen : str or Group, default "C1"
        The same for the specimen: "D2" for rolled sheet (orthorhombic), "C∞" or "D∞" for a fibre along z,
        "C1" for none (triclinic).

    Returns
    -------
    Group
        With structure `CrystalSymmetry`.

    Examples
    --------
    >>> G = crystal_symmetry("O", specimen="D2")  # cubic crystals in rolled sheet
    >>> G.order, len(G.generators)
    (96, 4)
    >>> crystal_symmetry("432").order
    24
    >>> crystal_symmetry("m-3m", specimen="mmm") == crystal_symmetry("O", specimen="D2")
    True
    >>> crystal_symmetry("O", specimen="C∞").order  # a fibre texture: a wire, with its axis along z
    inf
    """
    left, right = _rotations(crystal, "crystal"), _rotations(specimen, "specimen")
    name = f"crystal_symmetry({left.name or left!r}, specimen={right.name or right!r})"
    return two_sided_group(left, right, name, CrystalSymmetry(left, right))


def _rotations(group: str | Group, role: str) -> Group:
    if isinstance(group, str):
        group = point_group(group)
    if not isinstance(group, Group) or group.size != 3:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"the {role} symmetry must be a point group of R^3, by name or as a Group; got {shown(group)}")
    if all(np.linalg.det(rotation_of_space(g).matrix) > 0 for g in group.generators):
        return group
    rotations = rotations_of(group)
    if rotations is None:
        axial = isinstance(group.structure, AxialGroup)  # C∞v: the others without the inversion have no reflections
        laue = point_group("D∞") if axial else rotations_of(Group([*group.generators, -np.eye(3)], group.fields))
        hint = f", {laue.name!r}" if laue is not None and laue.name else ""
        raise ValueError(
            f"{group!r} has improper operations but not the inversion: one of the {role} makes no rotation of an "
            "orientation. Give the rotations alone; for diffraction data, which cannot tell A from −A, give the Laue "
            f"class or its rotations{hint}."
        )
    return rotations
