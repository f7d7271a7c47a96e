"""How many invariant functions: as many as the data can use, within a stated budget of work and of memory."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from specavg._config import settings
from specavg.functions._functions import GRAM_BYTES
from specavg.invariants import Cutoff, InvariantBasis
from specavg.regression import _measured_limits as _limits

_HOPELESS = 1e6  # invariant functions asked for before a group is taken to have none but the constant
# Bytes of each value of a feature that a decomposition of them needs: eight times its own eight. Fits of 200 to 4,000
# rows took 4.0 to 6.6 times the bytes of their features.
_HELD_BYTES = 64.0
_LITTLE = 1e5  # bytes that no limit refuses to a default: finding its functions takes more
# Functions for each row, at most, of which sums take the place of features where memory is short: sums keep half of the
# digits, and with hardly more rows than functions these are all lost. Of 1,000 rows of exp(cos x + cos y), 384 features
# left an error of 2e-11 and sums of 768 functions one of 2e-4.
_SUMMED_PER_ROW = 0.5


def are_held(values: float) -> bool:
    """Whether so many values of features are held and decomposed at once, rather than their moments."""
    return values <= _limits.FEATURES_HELD and _HELD_BYTES * values <= settings().memory_limit


def affordable_dim(n: int, held: float | None = None) -> int:
    """How many invariant functions `n` distinct points are given, within the budgets of work and of memory.

    Parameters
    ----------
    n : int
    held : float, optional
        Rows that are held at once, n by default; infinite for data in pieces, of which sums are taken.
    """
    wanted = max(_limits.FEWEST_FUNCTIONS, _limits.FUNCTIONS_PER_POINT * n)
    by_work = _limits.WORK / n**2
    if by_work <= n:
        of_many_rows = min(_limits.MANY_ROWS_FUNCTIONS, (_limits.MANY_ROWS_WORK / n) ** 0.5)
        by_work = max((_limits.WORK / n) ** 0.5, of_many_rows)
    target = rounded(min(wanted, max(by_work, _limits.FEWEST_FUNCTIONS)), up=wanted <= by_work)
    rows = held or n
    if _HELD_BYTES * rows * target <= _LITTLE:
        return target
    limit = settings().memory_limit
    by_memory = (limit / GRAM_BYTES) ** 0.5
    if rows != inf:
        by_memory = max(limit / (_HELD_BYTES * rows), min(by_memory, _SUMMED_PER_ROW * n))
    return target if target <= by_memory else rounded(max(by_memory, 2), up=False)


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
