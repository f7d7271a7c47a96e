"""How many invariant functions: as many as the data can use, within a stated budget."""

from __future__ import annotations

from collections.abc import Callable

from specavg.invariants import Cutoff, InvariantBasis, plan
from specavg.regression._limits import BASIS_WORK, FEWEST_FUNCTIONS, FUNCTIONS_PER_POINT, ORBIT_DISCOUNT, WORK

__all__ = ["affordable_basis", "affordable_dim", "rounded"]

FIRST_FUNCTIONS = 12  # under a group with a continuous part, whose invariants are few and take long to find
# A forecast. Twice as many functions took four to eight times as long, on three and four directions.
BASIS_SECONDS = 1.0
_GROWTH = 8.0  # the bound grows by this factor from one basis to the next: few are made, and the last costs most
_HOPELESS = 1e6  # invariant functions asked for before a group is taken to have none but the constant


def affordable_dim(n: int) -> int:
    """How many invariant functions `n` distinct points are given, within the budget of work."""
    wanted = max(FEWEST_FUNCTIONS, FUNCTIONS_PER_POINT * n)
    by_work = WORK / n**2 if WORK / n**2 > n else (WORK / n) ** 0.5
    return rounded(min(wanted, max(by_work, FEWEST_FUNCTIONS)), up=wanted <= by_work)


def affordable_basis(basis_at: Callable[[Cutoff], InvariantBasis], target: int) -> InvariantBasis:
    """The basis of up to `target` invariant functions, or of fewer where finding them would take too long.

    Closed forms are free. Otherwise the bound grows until about 12,000 eigenfunctions have been searched, or until a
    basis ends by its own budget of time: its cutoff is then another than what was asked for.
    """
    smallest = basis_at(Cutoff("max_eigenvalue", 0.0))
    if smallest.group.fields:
        return _within_seconds(basis_at, target)
    bound = min(target, FEWEST_FUNCTIONS)
    basis = basis_at(Cutoff("max_invariant_dim", float(bound)))
    while (bound < target or basis.dim == 1) and (cost := _numerical_work(basis)) < BASIS_WORK / 2:
        if bound > _HOPELESS or basis.cutoff.kind != "max_invariant_dim":
            break
        growth = _GROWTH if cost == 0 else min(_GROWTH, BASIS_WORK / cost)
        bound = 2 * bound if bound >= target else min(target, rounded(bound * growth, up=False))
        basis = basis_at(Cutoff("max_invariant_dim", float(bound)))
    return basis


def _within_seconds(basis_at: Callable[[Cutoff], InvariantBasis], target: int) -> InvariantBasis:
    """`affordable_basis` under a group with a continuous part, whose invariants are few: a small bound is doubled.

    The forecast of the time decides, which is the same on every machine.
    """
    bound = min(target, FIRST_FUNCTIONS)
    basis = basis_at(Cutoff("max_invariant_dim", float(bound)))
    while bound < target or (basis.dim == 1 and bound <= _HOPELESS):
        top = basis.table[-1].eigenvalue
        if plan(basis.space, basis.group, max_eigenvalue=top, order=basis.order).seconds > BASIS_SECONDS:
            break
        try:
            basis = basis_at(Cutoff("max_invariant_dim", float(2 * bound)))
        except ValueError:  # thousands of eigenspaces without a single invariant: there are no more within reach
            break
        bound *= 2
    return basis


def rounded(x: float, *, up: bool) -> int:
    """The next 2^k or 1.5·2^k: nearby numbers of points, such as those of folds, then share one basis."""
    steps = sorted(m * 2**k for m in (2, 3) for k in range(40))
    fitting = [v for v in steps if (v >= x if up else v <= x)]
    return fitting[0] if up else fitting[-1]


def _numerical_work(basis: InvariantBasis) -> float:
    """Eigenfunctions whose invariants were found numerically, orbits at a discount; closed forms are free."""
    price = {"null space": 1.0, "orbits": ORBIT_DISCOUNT}
    return sum(price.get(row.solver, 0.0) * row.dim for row in basis.table)
