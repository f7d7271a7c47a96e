"""The numbers that steer automatic choices, each with the measurement behind it.

Times are CPU seconds of one thread. Change a number here and nowhere else; the docstring of `InvariantKernelRidge`
quotes those that a user can notice.
"""

from __future__ import annotations

__all__ = [
    "BASIS_SECONDS",
    "BASIS_WORK",
    "DECOMPOSED",
    "FEATURES_HELD",
    "FEWEST_FUNCTIONS",
    "FUNCTIONS_PER_POINT",
    "ONE_THREAD_ROWS",
    "ORBIT_DISCOUNT",
    "SEARCH_ROWS",
    "SHORTLIST",
    "WORK",
]

# --- which way a problem is solved ---------------------------------------------------------------------------------

FEATURES_HELD = 3e7
"""Largest n · D for which features are held and decomposed by singular values; moments are used beyond. That is
240 MB of features. Singular values fit noise-free data to 1e-9 and better, moments to half as many digits."""

DECOMPOSED = 600
"""Most functions whose moments are decomposed although their Gram matrix is Toeplitz. An eigendecomposition of 600
functions takes 0.05 s for each spectrum and then scores every penalty; conjugate gradients pay for each penalty."""

ONE_THREAD_ROWS = 400
"""Most rows that one thread decomposes. Two threads take several times as long on so few: a default fit of 200 points
took 2.6 s with two threads and 0.55 s with one."""

# --- which spectra are compared on all rows ------------------------------------------------------------------------

SEARCH_ROWS = 400
"""Rows (or, with moments, functions) on which all spectra are compared before a few are compared on everything. All 49
spectra of the grid take 2.0 s on 400 rows, and 2.5 s each on 1,600 rows."""

SHORTLIST = 3
"""Spectra that are compared on all rows. A further search around the winner gained nothing on random splits."""

# --- how many functions are given to the data ----------------------------------------------------------------------

FUNCTIONS_PER_POINT = 3
"""Invariant functions for each distinct point: more than the points can tell apart, so that the penalty decides which
of them matter and not the cutoff."""

FEWEST_FUNCTIONS = 96
"""Invariant functions at least, however few the points are."""

WORK = 1e10
"""Largest n · D · min(n, D), operations of one decomposition up to a small factor: seconds for a short-list."""

BASIS_WORK = 12_000.0
"""Eigenfunctions that are searched numerically for invariants: about ten seconds."""

BASIS_SECONDS = 5.0
"""Seconds, by the forecasts of the solvers, after which a default stops looking for further invariants. Forecasts are
good to a factor of ten. With 10 s allowed, two rotations that are dense in all rotations of S² ended after 5 s, E8 on
the sphere in R⁸ after 6 s, A5 on five points of a 2-torus after 9 s and H4 on the sphere in R⁴ after 14 s."""

ORBIT_DISCOUNT = 0.2
"""Orbits cost a fifth of a null space, for each eigenfunction."""
