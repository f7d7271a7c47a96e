"""The task of the paper's two figures: T^10, sign flips, f*(x) = (1/d) Σ i x_i², and everything fitted to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from specavg import baselines, groups
from specavg._arrays import Array, components
from specavg.estimators import SpecAvgRegressor, invariance_discrepancy
from specavg.experiments._result import Track
from specavg.groups import Group
from specavg.invariants import invariant_basis
from specavg.isometries import Copies, SignedPermutation, flatten
from specavg.spaces import Torus

D = 10
SPACE = Torus(D)
GROUP = groups.sign_flips(D)
N_TEST = 100
_SOME = 100  # random elements of another group than the paper's, over which the discrepancy is taken
PENALTIES = (0.1, 10.0, 50.0, 1000.0, 10_000.0)
CLAIMED = 50.0  # the λ that the paper compares with D = 176
SIGMAS = (0.0, 0.5)
OPEN_SIZE = 1000  # where the choices left open are compared; the largest n of a run without it
DIMENSIONS = (11, 56, 176, 396)
SPARE = 1.2  # samples for each function, at least, from which least squares is determined with a little to spare
ETAS = (0.1, 0.3, 1.0, 2.0)
ETA = 1.0  # the choice for Figure 1 and the main panel of Figure 2; the paper does not state its own


def target(X: Array, weights: Array | None = None) -> Array:
    """f*(x) = (1/d) Σ i x_i², or with other weights than i."""
    return (X**2) @ (np.arange(1, X.shape[1] + 1) if weights is None else weights) / X.shape[1]


@dataclass(frozen=True)
class Changes:
    """What a reader changes in the paper's task.

    Attributes
    ----------
    sizes : tuple of int, optional
        The numbers of samples; by default 100 to 3000, in a quick run 50 to 500.
    seed : int
        The first seed.
    penalty : float
        The λ that Spec-Avg with D = 176 is compared with; 50 in the paper.
    group : Group
        A group of permutations and changes of sign of the ten coordinates; all changes of sign in the paper. The
        weights i of f*(x) = (1/d) Σ i x_i² are averaged over coordinates that the group takes to each other.

    Examples
    --------
    >>> Changes(sizes=(200, 400)).penalties
    (0.1, 10.0, 50.0, 1000.0, 10000.0)
    >>> Changes(penalty=1.0).penalties
    (0.1, 1.0, 10.0, 50.0, 1000.0, 10000.0)
    >>> Changes(group=groups.cyclic_shifts(10)).weights
    array([5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5])
    """

    sizes: tuple[int, ...] | None = None
    seed: int = 1
    penalty: float = CLAIMED
    group: Group = GROUP

    def __post_init__(self) -> None:
        if not 0 < self.penalty < np.inf:
            raise ValueError(f"the penalty λ must be positive and finite; got {self.penalty!r}")
        if self.seed < 0:
            raise ValueError(f"the seed must be at least 0; got {self.seed}")
        if self.sizes is not None and (
            not self.sizes or min(self.sizes) < 2 or list(self.sizes) != sorted(set(self.sizes))
        ):
            raise ValueError(f"the numbers of samples must increase and be at least 2; got {self.sizes}")
        if self.group.fields or self.group.columns != D or len(self._moves) < len(self.group.generators):
            told = "and its group permutes them and changes their signs"
            if self.group.columns == D and any(isinstance(g, Copies) for g in self.group.generators):
                told = (
                    f"of one space, {SPACE!r}, and generators of this group move copies of a space. Write them as "
                    "signed permutations of all coordinates (isometries.signed_permutation, or a TOML file)"
                )
            raise ValueError(
                f"the paper's task has {D} coordinates, {told}; got {self.group!r}. Examples: hyperoctahedral:10, "
                "cyclic_shifts:10, symmetric:4 * symmetric:6."
            )

    @property
    def _moves(self) -> list[SignedPermutation]:
        """The generators that are signed permutations of all coordinates; those of direct products act on blocks."""
        return [g for g in map(flatten, self.group.generators) if isinstance(g, SignedPermutation)]

    @property
    def penalties(self) -> tuple[float, ...]:
        """Every λ of the figures."""
        return tuple(sorted({*PENALTIES, self.penalty}))

    @property
    def weights(self) -> Array:
        """The weights of x_i² in the target."""  # (d,)
        images = [g.image_array for g in self._moves]
        at, to = np.tile(np.arange(D), len(images)), np.concatenate([np.empty(0, dtype=np.intp), *images])
        orbit = components(D, at, to)  # of each coordinate
        return np.array([float(np.mean(np.flatnonzero(orbit == o) + 1.0)) for o in orbit])

    def functions(self, D: int) -> int:
        """How many functions there are in the whole eigenspaces of at most D invariant ones."""
        return invariant_basis(SPACE, self.group, max_invariant_dim=D).dim

    def described(self) -> str:
        """What differs from the paper's task, in words; empty where nothing does."""
        parts = [] if self.penalty == CLAIMED else [f"λ = {self.penalty:g} in place of {CLAIMED:g}"]
        parts += [] if self.sizes is None else [f"n = {', '.join(map(str, self.sizes))}"]
        parts += [] if self.seed == 1 else [f"seeds from {self.seed} on"]
        if self.group != GROUP:
            weights = "weights averaged over coordinates that it takes to each other"
            parts.append(f"the group {self.group!r} in place of {GROUP!r}, and in f* {weights}")
        return "; ".join(parts)

    @property
    def named(self) -> dict[str, Any]:
        """What a record says beside its own settings."""
        return {"group": repr(self.group), "test_points": N_TEST}

    @property
    def elements(self) -> str:
        """Which elements the discrepancy is taken over, in words."""
        return "all 1024 changes of sign" if self.group == GROUP else f"{_SOME} random elements of {self.group!r}"

    def sizes_of(self, quick: bool) -> tuple[int, ...]:
        """The numbers of samples of a run."""
        return self.sizes or ((50, 150, 500) if quick else (100, 300, 1000, 3000))


@dataclass(frozen=True)
class Fit:
    """One fitted model on one data set."""

    method: str
    n: int
    seed: int
    error: float  # mean squared error on the test points
    discrepancy: float | None  # ID, over `Changes.elements`
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """Every fit, and the sizes and seeds they were made with."""

    fits: tuple[Fit, ...]
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    changes: Changes = Changes()

    @property
    def open_size(self) -> int:
        """The n at which the choices that the paper leaves open are compared."""
        return OPEN_SIZE if OPEN_SIZE in self.sizes else self.sizes[-1]

    def values(self, quantity: str, method: str, **settings: Any) -> Array:
        """One number per seed and size."""  # (seeds, sizes)
        found = {
            (fit.seed, fit.n): getattr(fit, quantity)
            for fit in self.fits
            if fit.method == method and all(fit.settings.get(k) == v for k, v in settings.items())
        }
        return np.array([[found[seed, n] for n in self.sizes] for seed in self.seeds], dtype=float)


_cache: dict[tuple[bool, Changes], Sweep] = {}


def sweep(quick: bool, track: Track, changes: Changes) -> Sweep:
    """All fits of both figures; computed once per process."""
    key = quick, changes
    if key not in _cache:
        seeds = tuple(range(changes.seed, changes.seed + (2 if quick else 10)))
        plan = Sweep((), changes.sizes_of(quick), seeds, changes)
        fits: list[Fit] = []
        for seed in track(seeds, "the paper's task: fits, by seed"):
            for n in plan.sizes:
                fits.extend(_fits(n, seed, plan))
        _cache[key] = replace(plan, fits=tuple(fits))
    return _cache[key]


def data(n: int, seed: int) -> tuple[Array, Array, Array]:
    """Training points, standard normal noise for them, and the 100 test points of a seed."""
    rng = np.random.default_rng(seed)
    tests = SPACE.sample(N_TEST, rng)  # first, so that they are the same for every n
    return SPACE.sample(n, rng), rng.standard_normal(n), tests


def _fits(n: int, seed: int, plan: Sweep) -> list[Fit]:
    X, noise, tests = data(n, seed)
    changes = plan.changes
    truth, fits = target(tests, changes.weights), []
    y = target(X, changes.weights)
    Y = np.stack([y + sigma * noise for sigma in SIGMAS], axis=1)  # noisy and noise-free in one solve

    def add(method: str, predictions: Array, discrepancy: float | None = None, **settings: Any) -> None:
        for sigma, values in zip(SIGMAS, predictions.reshape(N_TEST, -1).T, strict=False):
            found = discrepancy if sigma == 0 else None
            error = float(np.mean((values - truth) ** 2))
            fits.append(Fit(method, n, seed, error, found, {**settings, "sigma": sigma}))

    add("mean of y", np.full(N_TEST, y.mean()), 0.0)
    choices: list[tuple[float, Literal["sum", "mean"], float]] = [  # η, normalisation, λ
        c for c in product(ETAS, ("sum", "mean"), plan.changes.penalties) if _wanted(plan, n, *c)
    ]
    models = {c: baselines.KernelRidge(baselines.VonMisesKernel(c[0]), c[2], penalty=c[1]).fit(X, Y) for c in choices}
    shown = [choice for choice in choices if choice[:2] == (ETA, "sum")]
    duals = np.stack([models[choice].dual_coef_[:, 0] for choice in shown], axis=1)
    if changes.group == GROUP:
        discrepancies = dict(zip(shown, kernel_discrepancy(X, duals, ETA, tests), strict=True))
    else:
        discrepancies = {c: discrepancy(lambda Z, c=c: models[c].predict(Z)[:, 0], changes, tests) for c in shown}
    for choice in choices:
        eta, penalty, alpha = choice
        add("KRR", models[choice].predict(tests), discrepancies.get(choice), eta=eta, alpha=alpha, penalty=penalty)
    for dim in DIMENSIONS:
        basis = invariant_basis(SPACE, changes.group, max_invariant_dim=dim)
        used: dict[str, Any] = {"D": dim, "functions": basis.dim}
        model = SpecAvgRegressor(SPACE, changes.group, max_invariant_dim=dim)
        with warnings.catch_warnings():
            # The first eigenspace of a small group may have more than D functions. The records say how many were used.
            warnings.filterwarnings("ignore", message="only the constant function is left")
            found = discrepancy(model.fit(X, y).predict, changes, tests) if dim == 176 else None
            add("Spec-Avg", model.fit(X, Y).predict(tests), found, **used)
            add("Spec-Avg, centred", model.fit(X, y - y.mean()).predict(tests) + y.mean(), **used)
        predictions = np.full(N_TEST, np.nan)
        if n >= SPARE * basis.dim:
            predictions = basis.evaluate(tests) @ np.linalg.lstsq(basis.evaluate(X), y, rcond=None)[0]
        add("least squares", predictions, **used)
    return fits


def discrepancy(predict: Callable[[Array], Array], changes: Changes, tests: Array) -> float:
    """The ID over `Changes.elements`."""
    some = None if changes.group == GROUP else _SOME
    return float(invariance_discrepancy(predict, SPACE, changes.group, tests, n_elements=some, random_state=0))


def _wanted(plan: Sweep, n: int, eta: float, penalty: str, alpha: float) -> bool:
    """Every λ at the main η, every other choice at the λ of the claim (the other penalty at one size only)."""
    if penalty == "mean":
        return alpha == plan.changes.penalty and n == plan.open_size
    return eta == ETA or alpha == plan.changes.penalty


def kernel_discrepancy(points: Array, duals: Array, eta: float, tests: Array) -> list[float]:
    """The ID of von Mises kernel machines over *all* sign flips, without 2^d kernel evaluations per pair.

    K(gx, y) = exp(η Σ cos πx_i cos πy_i) Π_i exp(±η sin πx_i sin πy_i). Half of the coordinates give 2^{d/2}
    products per pair, the other half as many, and one matrix product over the training points joins them. `duals`
    has a column of coefficients for each machine.
    """  # (n, d), (n, q), (tests, d) -> (q,)
    half = points.shape[1] // 2
    cosines = np.exp(eta * (np.cos(np.pi * tests) @ np.cos(np.pi * points).T))  # (tests, n)
    sines = np.sin(np.pi * points).T  # (d, n)
    largest = np.zeros(duals.shape[1])
    for x, weights in zip(tests, cosines, strict=True):
        factors = np.exp(eta * np.sin(np.pi * x)[:, None] * sines)  # (d, n)
        first, second = _sign_products(factors[:half]) * weights, _sign_products(factors[half:])
        for j, dual in enumerate(duals.T):
            values = (first * dual) @ second.T  # every sign pattern at once; [0, 0] flips nothing
            largest[j] = max(largest[j], np.abs(values - values[0, 0]).max())
    return largest.tolist()


def _sign_products(factors: Array) -> Array:
    """Π_i factors_i^{±1} for every choice of signs, all plus first."""  # (h, n) -> (2^h, n)
    products = np.ones((1, factors.shape[1]))
    for factor in factors:
        products = np.concatenate([products * factor, products / factor])
    return products
