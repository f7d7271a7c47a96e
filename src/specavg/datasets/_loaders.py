"""The data sets: points, values, space, group, split and baseline figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from specavg.groups import Group, crystal_symmetry, hyperoctahedral, point_group
from specavg.isometries import SignedPermutation, left_right, permutation, shift, signed_permutation
from specavg.spaces import Rotations, Space, Sphere, Stiefel, Torus

_DIPY = "BSD-3-Clause, © dipy developers"


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Points, values at them, and the group that leaves the values unchanged.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n,) or (n, n_outputs), or None
        None where the task is to estimate the density of the points.
    space : Space
    group : Group
    train, test : ndarray of int
        Rows of the split that `baseline` refers to.
    baseline : mapping of str to float
        What other methods reach on this split. Regression, root mean squared errors on `test`: ``mean_pred`` (the
        mean of y), ``krr`` (kernel ridge), ``krr_aug`` (on data augmented with the whole group), ``krr_Gavg`` (with
        the group-averaged kernel), each with ``t_…`` seconds and ``defect_…``, the largest change under the group.
        Densities, mean log-likelihoods on `test` relative to the uniform density: ``kde_ll`` (kernel density) and
        ``kdeG_ll`` (with the group-averaged kernel).
    units : str
        Of y.
    description, licence, origin : str
    extra : mapping of str to ndarray
        What else was measured, row by row.

    Examples
    --------
    >>> data = load_copper()
    >>> data.X[data.train].shape, data.units, data.group
    ((30, 3), 'GPa', point_group('Oh'))
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.float64] | None
    space: Space
    group: Group
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    baseline: Mapping[str, float]
    units: str
    description: str
    licence: str
    origin: str
    extra: Mapping[str, NDArray[np.float64]]

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.X)} points on {self.space!r}, group of order {self.group.order}>"


def load_propane() -> Dataset:
    """Energy of propane as its two methyl groups turn: 2000 points on the torus of two angles.

    The molecular symmetry group has 36 elements: a third of a turn of either methyl group, both angles reversed, and
    the methyl groups exchanged.

    Returns
    -------
    Dataset
        With y in kcal/mol, 30 rows to train on and 1000 to test.

    Examples
    --------
    >>> load_propane()
    <propane: 2000 points on Torus(2, period=6.283185307179586), group of order 36>
    """
    group = Group(
        [shift([Fraction(1, 3), 0]), signed_permutation([0, 1], [-1, -1]), permutation([1, 0])],
        "molecular symmetry of propane",
    )
    return _read(
        "propane_t2",
        "propane",
        Torus(2, period=2 * np.pi),
        group,
        "Energy of propane against the torsion angles of its two methyl groups (radians): GFN2-xTB, rigid rotors of "
        "exact three-fold symmetry on a frame of symmetry C2v.",
        "the project's own computation; use it freely",
        "computed with tblite 0.8.0 (GFN2-xTB)",
    )


def load_copper() -> Dataset:
    """Young's modulus of a copper crystal against direction: 2000 points on the sphere.

    Invariant to the 48 elements of the cubic group Oh; its reciprocal is a polynomial of degree 4.

    Returns
    -------
    Dataset
        With y in GPa, 30 rows to train on and 1000 to test.

    Examples
    --------
    >>> load_copper()
    <copper: 2000 points on Sphere(3), group of order 48>
    """
    return _read(
        "cu_young_s2",
        "copper",
        Sphere(3),
        point_group("Oh"),
        "Young's modulus of copper along a direction, from the elastic constants C11 = 168.4, C12 = 121.4 and "
        "C44 = 75.4 GPa.",
        "computed from constants in the public domain",
        "the formula for cubic crystals with textbook constants",
    )


def load_diffusion_mri() -> Dataset:
    """Diffusion-weighted signals of a human brain: 48 voxels in 64 directions on the sphere.

    Diffusion along n and along −n is the same: the group is the inversion.

    Returns
    -------
    Dataset
        With y of shape (64, 48), signals divided by the one without gradient; 44 rows to train on, 20 to test.
        ``extra["fractional_anisotropy"]`` has one number per voxel.

    Examples
    --------
    >>> load_diffusion_mri()
    <diffusion MRI: 64 points on Sphere(3), group of order 2>
    """
    return _read(
        "dmri64_s2",
        "diffusion MRI",
        Sphere(3),
        point_group("Ci"),
        "Diffusion-weighted magnetic resonance signals at b = 1000 s/mm² in 64 directions, for 48 voxels of high "
        "fractional anisotropy.",
        _DIPY,
        "dipy 1.12.1, dipy/data/files/small_64D",
        extra={"FA": "fractional_anisotropy"},
    )


def load_mcmurdo() -> Dataset:
    """Directions of magnetisation of 133 lava flows at McMurdo: a density on the sphere.

    The field of the Earth reverses, so a direction and its opposite are about equally likely: the group is the
    inversion. The symmetry is statistical; the means of the two polarities are 5° from opposite.

    Returns
    -------
    Dataset
        Without y; 60 rows to train on and 73 to test. ``extra["polarity"]`` is ±1 for every flow.

    Examples
    --------
    >>> load_mcmurdo()
    <McMurdo: 133 points on Sphere(3), group of order 2>
    """
    return _read(
        "mcmurdo_s2",
        "McMurdo",
        Sphere(3),
        point_group("Ci"),
        "Directions of remanent magnetisation of 133 lava flows near McMurdo, Antarctica, of both polarities.",
        "BSD-3-Clause, © the PmagPy team",
        "PmagPy 4.5.2, data_files/eqarea_magic/sites.txt",
        split="half",
        extra={"polarity": "polarity"},
    )


def load_dti_frames() -> Dataset:
    """Eigenframes of 692 diffusion tensors of a human brain: a density on rotations.

    The columns are the principal axes, which have no signs: the group is D2, from the right.

    Returns
    -------
    Dataset
        Without y; 300 rows to train on and 392 to test. ``extra["fractional_anisotropy"]`` has one number per frame.

    Examples
    --------
    >>> load_dti_frames()
    <DTI frames: 692 points on Rotations(), group of order 4>
    """
    return _read(
        "dti_frames_so3",
        "DTI frames",
        Rotations(),
        crystal_symmetry("C1", specimen="D2"),
        "Right-handed eigenframes of the diffusion tensors of 692 voxels with fractional anisotropy above 0.2.",
        _DIPY,
        "dipy 1.12.1, tensors fitted to dipy/data/files/small_64D",
        split="n300",
        extra={"FA": "fractional_anisotropy"},
    )


def load_ica_iris() -> Dataset:
    """A contrast function of independent component analysis: 3000 pairs of projections of the iris data.

    Components have no order and no sign: the group is hyperoctahedral, of 8 elements, from the right.

    Returns
    -------
    Dataset
        On `Stiefel(4, 2)`, with y in thousandths; 100 rows to train on and 1000 to test.

    Examples
    --------
    >>> load_ica_iris()
    <ICA of iris: 3000 points on Stiefel(4, 2), group of order 8>
    """
    right = [g.matrix for g in hyperoctahedral(2).generators if isinstance(g, SignedPermutation)]
    group = Group([left_right(np.eye(4), B) for B in right], "hyperoctahedral(2) from the right")
    return _read(
        "ica_iris_v42",
        "ICA of iris",
        Stiefel(4, 2),
        group,
        "Sum over two orthonormal projections of the whitened iris measurements of (E log cosh u − 0.37431)².",
        "the project's own computation from data in the public domain, as distributed with scikit-learn (BSD-3-Clause)",
        "computed from sklearn.datasets.load_iris",
    )


def _read(
    file: str,
    name: str,
    space: Space,
    group: Group,
    description: str,
    licence: str,
    origin: str,
    *,
    split: str | None = None,
    extra: Mapping[str, str] | None = None,
) -> Dataset:
    """The stored arrays, frozen, with what is known about them."""
    with (files("specavg.datasets") / f"{file}.npz").open("rb") as stream:
        stored: dict[str, Any] = dict(np.load(stream, allow_pickle=False))
    suffix = "" if split is None else f"_{split}"
    wanted = ["X", "y", f"train{suffix}", f"test{suffix}", *(extra or {})]
    arrays = {key: stored[key] for key in wanted if key in stored}
    for array in arrays.values():
        array.setflags(write=False)
    meta = json.loads(str(stored["meta"]))
    return Dataset(
        name=name,
        X=arrays["X"],
        y=arrays.get("y"),
        space=space,
        group=group,
        train=arrays[f"train{suffix}"],
        test=arrays[f"test{suffix}"],
        baseline=MappingProxyType(meta["baseline"][split or "y"]),
        units=meta.get("units", ""),
        description=description,
        licence=licence,
        origin=origin,
        extra=MappingProxyType({new: arrays[old] for old, new in (extra or {}).items()}),
    )
