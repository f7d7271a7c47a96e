"""The rotation group SO(3): orientations of crystals, molecules, cameras, frames."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from itertools import count
from math import pi
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specavg._arrays import Array, with_matrices
from specavg._config import require_memory
from specavg._messages import whole_number
from specavg._random import as_generator
from specavg.functions._bessel_series import Series, log_bessel
from specavg.functions._functions import Functions
from specavg.functions._orthonormal_matrices import nearest_orthonormal, orthonormality_error, turns_about_z
from specavg.functions._wigner_functions import WignerFunctions
from specavg.functions._wigner_matrices import wigner_derivative, wigner_matrices
from specavg.functions._zonal_sums import character_sum
from specavg.isometries import Isometry, LeftRight, orthogonal
from specavg.isometries.fields import Field, two_sided
from specavg.spaces._eigenspace import Eigenspace, Weighted, degree_label
from specavg.spaces._matrix_space import MatrixSpace
from specavg.spaces._order_of_functions import Order
from specavg.spaces._von_mises import OnRotations, VonMises

_ROWS_TO_JUDGE = 10  # orientations that all have angles below 2π degrees: given in degrees, they would be almost alike
_NEARLY = 0.1  # of |XᵀX − 1|: matrices of two digits are orthonormal to a few hundredths
_MARK = 1e-3  # of half a turn, by which 4π may be rounded in a file


@final
class Rotations(MatrixSpace):
    """Rotations of R³; the distance of two is the angle of the rotation that takes one to the other.

    Points are rotation matrices (n, 3, 3), the same flattened (n, 9), or a SciPy `Rotation`. For quaternions
    and Euler angles see `rotations_from_quaternions` and `rotations_from_bunge`.

    **Convention.** An orientation takes *specimen coordinates to crystal coordinates*: then the crystal's symmetry acts
    from the left and the specimen's from the right, as `groups.crystal_symmetry` and `plot` have it. SciPy's
    ``Rotation.from_euler("ZXZ", bunge)`` takes crystal coordinates to specimen coordinates, the inverse; give it to
    `rotations_from_scipy` with ``convention="crystal to specimen"``.

    Notes
    -----
    Degree l has eigenvalue l(l + 1) and the (2l + 1)² functions √(2l+1) M(X)[a, b], M the real orthogonal
    matrix by which X moves the harmonics of `Sphere(3)`; they are listed row by row. Then gX = A X Bᵀ acts
    by the Kronecker product D(g) = D_left ⊗ D_right of two small matrices (`factor_representations`), and for
    a product of a left and a right group the invariants are products of the two groups' invariants.

    Examples
    --------
    >>> from itertools import islice
    >>> [(V.eigenvalue, V.dim) for V in islice(Rotations().eigenspaces(), 4)]
    [(0.0, 1), (2.0, 9), (6.0, 25), (12.0, 49)]
    """

    _membership_remedy = (
        "Points are rotation matrices: orthonormal columns, determinant +1. Quaternions and Euler angles "
        "become such with spaces.rotations_from_quaternions and spaces.rotations_from_bunge. Matrices with few digits "
        "are projected by SciPy: Rotation.from_matrix(X.reshape(-1, 3, 3)).as_matrix()."
    )

    @property
    def dim(self) -> int:
        return 3

    @property
    def volume(self) -> float:
        return 8 * pi**2

    @property
    def shape(self) -> tuple[int, ...]:
        return (3, 3)

    _key = ()

    def __repr__(self) -> str:
        return "Rotations()"

    def eigenspaces(self) -> Iterator[Eigenspace]:
        for degree in count():
            yield self.eigenspace(degree)

    def eigenspace(self, degree: int) -> Eigenspace:
        """The Wigner functions of one degree."""
        return Eigenspace(float(degree * (degree + 1)), (2 * degree + 1) ** 2, degree)

    def _evaluate(self, eigenspace: Eigenspace, X: Array) -> Array:
        degree = degree_label(eigenspace)
        values = wigner_matrices(nearest_orthonormal(X.reshape(-1, 3, 3)), degree)
        values *= np.sqrt(2 * degree + 1)
        return values.reshape(len(X), -1)

    def functions(self, eigenspaces: Sequence[Eigenspace]) -> Functions:
        return WignerFunctions([degree_label(V) for V in eigenspaces])

    # --- isometries --------------------------------------------------------------------------------

    def check_isometry(self, g: Isometry) -> LeftRight:
        g = super().check_isometry(g)
        improper = [np.linalg.det(part.matrix) < 0 for part in (g.left, g.right)]
        if improper[0] != improper[1]:
            raise ValueError(
                f"{g!r} maps rotations to reflections: det A · det B = −1. Use proper factors, or two "
                "improper ones; for an improper point group, its rotations only (or −A in place of A). For "
                'orientations of crystals write groups.crystal_symmetry("m-3m"), which takes the rotations alone.'
            )
        if improper[0]:  # A X Bᵀ = (−A) X (−B)ᵀ
            return LeftRight(orthogonal(-g.left.matrix), orthogonal(-g.right.matrix))
        return g

    def one_sided_representations(self, g: Isometry, eigenspace: Eigenspace, side: int) -> list[Array]:
        checked = self.check_isometry(g)
        # φ is vec M(X), row by row, and M(A X Bᵀ) = M(A) M(X) M(B)ᵀ.
        matrix = (checked.right if side else checked.left).matrix
        return [wigner_matrices(matrix[None], degree_label(eigenspace))[0].T]

    def left_sizes(self, eigenspace: Eigenspace) -> list[int]:
        return [2 * degree_label(eigenspace) + 1]

    right_sizes = left_sizes

    def factor_infinitesimals(self, field: Field, eigenspace: Eigenspace) -> list[tuple[Array, Array]]:
        halves = two_sided(self.check_field(field), 3)
        left, right = (wigner_derivative(half.matrix, degree_label(eigenspace)).T for half in halves)
        return [(left, right)]

    # --- points ------------------------------------------------------------------------------------

    def check_points(self, X: ArrayLike) -> Array:
        matrices = np.asarray(with_matrices(X), dtype=np.float64)
        if matrices.ndim == 2 and matrices.shape[1] in (3, 4) and matrices.shape != (3, 3):
            kind = "quaternions" if matrices.shape[1] == 4 else "Euler angles or rotation vectors"
            raise ValueError(
                f"points of {self!r} have shape (n, 3, 3) or (n, 9); got {matrices.shape}: if these are "
                f"{kind}, convert them with spaces.rotations_from_quaternions, spaces.rotations_from_bunge or SciPy's "
                "Rotation"
            )
        return super().check_points(matrices)

    def _shape_advice(self, shape: tuple[int, ...]) -> str:
        poses = shape in ((4, 4), (3, 4))
        return ". If these are poses, a rotation beside a shift, take X[..., :3, :3]" if poses else ""

    def _remedy(self, points: Array) -> str:
        matrices = points.reshape(-1, 3, 3)
        reflections = (np.linalg.det(matrices) < 0) & (orthonormality_error(matrices) < _NEARLY)
        if reflections.any():
            return (
                f"{int(reflections.sum())} of them have determinant −1: reflections. Take −X, or check the handedness "
                "of the axes: rotations have determinant +1."
            )
        return super()._remedy(points)

    def act(self, g: Isometry, X: ArrayLike) -> Array:
        return super().act(g, with_matrices(X))

    def _membership_error(self, X: Array) -> Array:
        matrices = X.reshape(-1, 3, 3)
        error = np.maximum(orthonormality_error(matrices), np.abs(np.linalg.det(matrices) - 1) / 2)
        return error / self._membership_unit(X)

    @property
    def von_mises(self) -> VonMises:
        return OnRotations()

    def von_mises_series(self, eigenspaces: Sequence[Eigenspace], order: Order) -> Series:
        degrees = np.array([degree_label(V) for V in eigenspaces], dtype=np.intp)
        l = np.arange(degrees.max(initial=0) + 1)

        def logarithms(kappa: float) -> Array:
            # (1 − cos ω)χ_l = cos lω − cos (l + 1)ω: coefficients are (I_l − I_{l+1})(κ) / (2l + 1).
            logs = log_bessel(0.0, len(l) + 1, kappa)
            series = logs[:-1] + np.log(-np.expm1(np.diff(logs))) - np.log(2.0 * l + 1)
            return (series - series[0])[degrees]

        return logarithms

    def zonal_sum(self, weighted: Weighted, X: Array, Y: Array) -> Array:
        weights = {degree_label(V): w * (2 * degree_label(V) + 1) for V, w in weighted}
        return character_sum(np.clip((X @ Y.T - 1) / 2, -1, 1), weights)

    def sample(self, n: int, random_state: Any = None) -> Array:
        n = whole_number(n, "n", 0)
        quaternions = as_generator(random_state).standard_normal((n, 4))
        return rotations_from_quaternions(quaternions).reshape(n, 9)

    def quadrature(self, max_eigenvalue: float) -> tuple[Array, Array]:
        degree = int(np.floor(np.sqrt(0.25 + max_eigenvalue * (1 + 1e-9)) - 0.5 + 1e-9))
        # 2·degree + 1 angles are enough. A multiple of 12 (of 4, where that is much more) is kept by the turns of a
        # crystal around its axis: nodes then come in orbits, of which one node is evaluated (`one_of_each_orbit`).
        step = 12 if degree > 11 else 4
        turns, heights = step * -(-(2 * degree + 1) // step), degree + 1
        total = float(turns) ** 2 * heights
        require_memory(32.0 * total * 9, f"a product rule of {total:.3g} rotations", "Lower max_eigenvalue.")
        angle = 2 * np.pi * np.arange(turns) / turns
        z, w = np.polynomial.legendre.leggauss(heights)
        around = turns_about_z(angle)
        r = np.sqrt((1 - z) * (1 + z))
        tilt = np.zeros((heights, 3, 3))
        tilt[:, 0, 0] = tilt[:, 2, 2] = z
        tilt[:, 0, 2], tilt[:, 2, 0], tilt[:, 1, 1] = r, -r, 1.0
        X = np.einsum("aij,bjk,ckl->abcil", around, tilt, around).reshape(-1, 9)
        weights = np.broadcast_to(w[None, :, None] / (2 * turns**2), (turns, heights, turns))
        return X, weights.ravel()


def rotations_from_quaternions(quaternions: ArrayLike, *, scalar_first: bool = False) -> Array:
    """Rotation matrices of quaternions, **scalar last** as in SciPy; they need not be normalised.

    Parameters
    ----------
    quaternions : array-like of shape (n, 4)
        (x, y, z, w) in each row.
    scalar_first : bool, default False
        (w, x, y, z) instead.

    Returns
    -------
    ndarray of shape (n, 3, 3)

    Examples
    --------
    >>> rotations_from_quaternions([[0.0, 0.0, 1.0, 1.0]])[0].round(12) + 0.0  # a quarter turn around z
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    q = np.array(quaternions, dtype=float)
    if q.ndim != 2 or q.shape[1] != 4:
        raise ValueError(f"quaternions have shape (n, 4); got {q.shape}")
    norms = np.sqrt(np.einsum("ni,ni->n", q, q))
    if not (np.isfinite(norms) & (norms > 0)).all():
        row = int((~(np.isfinite(norms) & (norms > 0))).argmax())
        raise ValueError(f"row {row} is zero, NaN or infinite: it is the quaternion of no rotation")
    q /= norms[:, None]
    x, y, z, w = (q[:, [1, 2, 3, 0]] if scalar_first else q).T
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), w * w - x * x + y * y - z * z, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def rotations_from_scipy(rotation: Any, convention: str) -> Array:
    """Orientation matrices of SciPy rotations, with the convention they are in said by name.

    Parameters
    ----------
    rotation : scipy.spatial.transform.Rotation
    convention : {"specimen to crystal", "crystal to specimen"}
        Which coordinates the rotations take to which. Here orientations take specimen coordinates to crystal
        coordinates; the other convention is inverted. ``Rotation.from_euler("ZXZ", bunge)`` is "crystal to specimen".
        MTEX orientations are crystal to specimen; those of orix are specimen to crystal already.

    Returns
    -------
    ndarray of shape (n, 3, 3)

    Examples
    --------
    >>> from scipy.spatial.transform import Rotation
    >>> bunge = [[10.0, 20.0, 30.0]]
    >>> X = rotations_from_scipy(Rotation.from_euler("ZXZ", bunge, degrees=True), "crystal to specimen")
    >>> bool(np.allclose(X, rotations_from_bunge(bunge, degrees=True)))
    True
    """
    if not hasattr(rotation, "as_matrix"):
        raise TypeError(f"rotation must be a SciPy Rotation; got a {type(rotation).__name__}")
    if convention not in ("specimen to crystal", "crystal to specimen"):
        raise ValueError(f"convention must be 'specimen to crystal' or 'crystal to specimen'; got {convention!r}")
    matrices = np.asarray(with_matrices(rotation), dtype=np.float64)
    return matrices if convention == "specimen to crystal" else np.ascontiguousarray(matrices.transpose(0, 2, 1))


def rotations_from_bunge(angles: ArrayLike, *, degrees: bool = False) -> Array:
    """Orientation matrices of Bunge Euler angles (φ₁, Φ, φ₂), as texture analysis and EBSD files write them.

    The matrix takes specimen coordinates to crystal coordinates, g = Rz(φ₂)ᵀ Rx(Φ)ᵀ Rz(φ₁)ᵀ, so the crystal's
    symmetry acts from the left and the specimen's from the right, as in `groups.crystal_symmetry`.

    Parameters
    ----------
    angles : array-like of shape (n, 3)
        φ₁, Φ, φ₂ in each row, in radians. Columns of a dataframe that are named so and stand in another order are
        questioned, as are ten and more rows of zeros, and rows of 4π, which mark pixels without an orientation.
    degrees : bool, default False
        Angles are in degrees.

    Returns
    -------
    ndarray of shape (n, 3, 3)

    Examples
    --------
    >>> rotations_from_bunge([[90.0, 0.0, 0.0]], degrees=True)[0].round(12) + 0.0
    array([[ 0.,  1.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    euler = np.asarray(angles, dtype=float)
    _question_names(getattr(angles, "columns", ()))
    if euler.ndim != 2 or euler.shape[1] != 3:
        raise ValueError(f"Bunge angles have shape (n, 3): φ₁, Φ, φ₂ in each row; got {euler.shape}")
    bad = np.asarray(~np.isfinite(euler).all(axis=1))
    if bad.any():
        raise ValueError(
            f"Bunge angles have NaN or infinity in {int(bad.sum())} of {len(euler)} rows (first: row "
            f"{int(bad.argmax())}, counted from 0). Leave these rows out, of the angles and of y"
        )
    _question_bunge(euler[_is_measured(euler, 180.0 if degrees else np.pi)], degrees)
    first, middle, last = (np.deg2rad(euler) if degrees else euler).T
    tilt = np.zeros((len(euler), 3, 3))
    tilt[:, 0, 0] = 1.0
    tilt[:, 1, 1] = tilt[:, 2, 2] = np.cos(middle)
    tilt[:, 1, 2] = np.sin(middle)
    tilt[:, 2, 1] = -np.sin(middle)
    return turns_about_z(-last) @ tilt @ turns_about_z(-first)


def _is_measured(euler: Array, half: float) -> NDArray[np.bool_]:
    """Rows that are no mark of a pixel without an orientation; a warning about marks."""  # (n, 3) -> (n,)
    marks = {
        ".ang files mark pixels without an orientation by 4π": np.abs(euler - 4 * half).max(axis=1) < _MARK * half,
        ".ctf files write zeros for pixels without an orientation": (euler == 0).all(axis=1),
    }
    measured = np.ones(len(euler), dtype=bool)
    for text, marked in marks.items():
        count = int(marked.sum())
        if not euler[marked].any() and (count == len(euler) or count < _ROWS_TO_JUDGE):
            continue  # zeros alone, or a few orientations that are the identity
        if count:
            measured &= ~marked
            row = euler[marked.argmax()]
            warnings.warn(
                f"{count} of {len(euler)} rows are ({', '.join(f'{angle:.6g}' for angle in row)}), which stands for "
                f"the identity: {text}. Leave these rows out, or they make a cube texture that is not there.",
                stacklevel=3,
            )
    return measured


def bunge_order(names: Sequence[Any]) -> list[str] | None:
    """Columns that are named as Bunge's angles, in the order of the angles; None where they stand in it already.

    Examples
    --------
    >>> bunge_order(["phi2", "PHI", "phi1"])
    ['phi1', 'PHI', 'phi2']
    >>> bunge_order(["phi1", "Phi", "phi2"]), bunge_order(["a", "b", "c"])
    (None, None)
    """
    given = [name for name in names if isinstance(name, str)]
    plain = [unicodedata.normalize("NFKC", name).casefold().replace("φ", "phi") for name in given]
    plain = [re.sub(r"[^a-z0-9]", "", name) for name in plain]
    for wanted in (["phi1", "phi", "phi2"], ["euler1", "euler2", "euler3"]):
        if plain != wanted and sorted(plain) == sorted(wanted):
            return [given[plain.index(name)] for name in wanted]
    return None


def _question_names(names: Sequence[Any]) -> None:
    """A warning about columns of a table that are named as Bunge's angles and stand in another order."""
    order = bunge_order(names)
    if order is not None:
        warnings.warn(
            f"the columns {', '.join(name for name in names if name in order)} are taken for φ₁, Φ, φ₂ in the order in "
            f"which they stand, and their names say another: pass angles[{order}]",
            stacklevel=3,
        )


def _question_bunge(euler: Array, degrees: bool) -> None:
    """Warnings about units and the order of the columns."""
    if not degrees and np.abs(euler).max(initial=0.0) > 4 * np.pi:
        warnings.warn(
            f"Bunge angles go up to {np.abs(euler).max():.4g}, and are taken for radians: for degrees write "
            "degrees=True (--euler bunge:degrees on the command line)",
            stacklevel=3,
        )
    if degrees and len(euler) >= _ROWS_TO_JUDGE and np.abs(euler).max() <= 2 * np.pi:
        warnings.warn(
            f"Bunge angles go up to {np.abs(euler).max():.4g}, and are taken for degrees: for radians leave out "
            "degrees=True (--euler bunge:radians on the command line)",
            stacklevel=3,
        )
    half = 180.0 if degrees else np.pi
    in_doubt = not degrees and np.abs(euler).max(initial=0.0) > 4 * np.pi  # about the unit, as was said above
    # Small negative angles come from scatter about Φ = 0, and three digits of π may be rounded up.
    if not in_doubt and np.any((euler[:, 1] < -half / 2) | (euler[:, 1] > half * 1.001)):
        least, most = euler[:, 1].min(), euler[:, 1].max()
        found = f"is {least:.4g}" if least == most else f"goes from {least:.4g} to {most:.4g}"
        warnings.warn(
            f"Φ, the second column, {found}, and lies between 0 and {half:.4g} in Bunge's angles: are the columns "
            "φ₁, Φ, φ₂, in this order?",
            stacklevel=3,
        )
