"""How many invariant functions: as many as the data can use, within a stated budget."""

from __future__ import annotations

from collections.abc import Callable

from specavg.invariants import Cutoff, InvariantBasis
from specavg.regression import _measured_limits as _limits

_HOPELESS = 1e6  # invariant functions asked for before a group is taken to have none but the constant


def affordable_dim(n: int) -> int:
    """How many invariant functions `n` distinct points are given, within the budget of work."""
    wanted = max(_limits.FEWEST_FUNCTIONS, _limits.FUNCTIONS_PER_POINT * n)
    by_work = _limits.WORK / n**2
    if by_work <= n:
        of_many_rows = min(_limits.MANY_ROWS_FUNCTIONS, (_limits.MANY_ROWS_WORK / n) ** 0.5)
        by_work = max((_limits.WORK / n) ** 0.5, of_many_rows)
    return rounded(min(wanted, max(by_work, _limits.FEWEST_FUNCTIONS)), up=wanted <= by_work)


def affordable_basis(basis_at: Callable[[Cutoff], InvariantBasis], target: int) -> InvariantBasis:
    """The basis of up to `target` invariant functions, or of fewer where finding them would take too long.

    `basis_at` keeps to a time, by the forecasts of the solvers: its cutoff is then another than what was asked for.
    Where the first eigenspace with invariants has more than `target` of them, it is taken as a whole.
    """
    bound = float(target)
    basis = basis_at(Cutoff("max_invariant_dim", bound))
    while basis.dim == basis.n_constants and basis.cutoff.kind == "max_invariant_dim" and bound <= _HOPELESS:
        bound *= 2
        basis = basis_at(Cutoff("max_invariant_dim", bound))
    return basis


def rounded(x: float, *, up: bool) -> int:
    """The next 2^k or 1.5·2^k: nearby numbers of points, such as those of folds, then share one basis."""
    steps = sorted(m * 2**k for m in (2, 3) for k in range(40))
    fitting = [v for v in steps if (v >= x if up else v <= x)]
    return fitting[0] if up else fitting[-1]
