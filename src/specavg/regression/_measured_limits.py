"""The numbers that steer automatic choices, each with the measurement behind it.

Times are CPU seconds of one thread. Change a number here and nowhere else; the docstring of `InvariantKernelRidge`
quotes those that a user can notice.
"""

from __future__ import annotations

# --- which way a problem is solved ---------------------------------------------------------------------------------

# Largest n · D for which features are held and decomposed by singular values; moments are used beyond. That is 240 MB
# of features. Singular values fit noise-free data to 1e-9 and better, moments to half as many digits.
FEATURES_HELD = 3e7

# Most functions whose moments are decomposed although their Gram matrix is an operator. An eigendecomposition of 600
# functions takes 0.05 s for each spectrum and then scores every penalty; conjugate gradients pay for each penalty.
DECOMPOSED = 600

# n · D² that sums over data take in a second of one thread, and the rows for each function whose sums take as long as
# the eigendecompositions for a few spectra: 100,000 rows of 1,024 functions take 4.8 s. A Gram matrix is an
# operator only where that is forecast to be faster: with few coordinates first on T³ (1,019 functions, 30,000 rows) a
# default took 48 s with the operator.
SUMS_A_SECOND = 2e10
DECOMPOSITION_ROWS = 20
OPERATOR_SECONDS = 5.0  # forecasts up to which an operator is taken in any case: they are pessimistic there

# Most rows of a fit that one thread does. A default fit of 1,000 points took 2.1 CPU seconds and 1.2 s with two threads
# on two idle cores, and 0.9 s with one; on cores that others use too, 11 CPU seconds with two. One of 200 points took
# 2.6 s with two threads and 0.55 s with one. One of 2,000 points took 5.0 s with two threads and 6.4 s with one on idle
# cores, and 57 s and 8.6 s on cores that others use too; one of 3,000 points 4.3 and 4.7 s, 113 and 11 s.
ONE_THREAD_ROWS = 4_000

# --- which spectra are compared on all rows ------------------------------------------------------------------------

# Rows (or, with moments, functions) on which all spectra are compared before a few are compared on everything. All 49
# spectra of the grid take 2.0 s on 400 rows, and 2.5 s each on 1,600 rows. With 320 rows in their place, 144 problems
# of benchmarks/accuracy_collections.py of 450 to 1,000 rows had 0.987 ± 0.009 of the errors in 0.86 of the time; but
# some smooth sets of benchmarks/accuracy.py had far larger ones, face-centred wells with 1,000 points 50 and 870 times.
SEARCH_ROWS = 400

# Spectra that are compared on all rows. A further search around the winner gained nothing on random splits.
SHORTLIST = 3

# Rows on which these are compared, where there are more: the best of them is then decomposed on all rows. Fits of
# 1,500, 3,000 and 6,000 rows (kinks, bands and smooth functions on T³ and S², with noise of a tenth and without) took
# 0.6 to 1.0 times the CPU seconds of comparing on all rows, with errors within 3 %, or half as large.
COMPARED_ROWS = 1_000

# Nats over all rows by which neighbours in a grid of spectra must differ to be compared on more rows, or to be stepped
# to. Half a nat is what data cannot tell apart: 35 of 36 draws of eleven sets of benchmarks/accuracy.py, 7 of them with
# 1,000 points, chose the same model as with 0 (and 1e-8 for `ROUGH_ALPHA`), and one had 1.004 times its error.
UNDECIDED = 0.5

# Rows on which a large grid of spectra is screened before its best are compared on up to `SEARCH_ROWS`: a decomposition
# of 160 rows takes a tenth of the time of one of 400. With 128 the problems above had 0.999 ± 0.002 of the errors in
# 0.89 of the time, but smooth sets of 500 and 1,000 points up to 27 times (a deep well on T²).
SCREEN_ROWS = 160

# Most rows for which the decompositions of a short-list are kept until the best is asked for again: 32 MB each, and
# with all digits up to 100 MB. With 1,000 rows of 3,000 functions that saves 0.65 s.
KEPT_ROWS = 2_000

# Spectra of a basis that are left by the screening, and half of those that are left of several bases together. On 23
# draws of the sets of benchmarks/accuracy.py eight chose models as good; with six, ring of six with 1,000 points had
# 2.6 times the error: without noise, spectra that are far behind on 160 rows were ahead on 400. The neighbours of the
# best are compared after it in any case.
SCREENED = 10

# Score, in nats of a row, by which the best spectrum of a basis may be behind that of another on `SCREEN_ROWS` rows and
# still be compared on up to `SEARCH_ROWS`. On the same draws any value from 0.1 to 1 chose the same models as comparing
# all; 0.3 does so with 19 instead of 29 comparisons on the many rows.
BEHIND = 0.3

# `BEHIND` where all rows are searched: a basis is then judged by the best of `SHORTLIST` spectra with the functions
# that stand out beside each, and such scores lie farther apart. On 16 draws of exp(Σ cos/2) of seven angles errors with
# 1.0 were 0.84 ± 0.09 of those with 0.3; on 422 fits of the collections and README's sets they were the same. With 1.0
# README's ring of six keeps the order of eigenvalues, whose error is four times that of the order by degree: 160 rows
# do not yet show the waves that only the latter has. The other 117 fits that were looked at are the same with 2.0.
BEHIND_NAMED = 2.0

# Rows for each function from which on the cutoff, and not the rows, decides which functions are fitted: orders are then
# compared on many rows, in two and three dimensions too. Reached with 4,340 rows, which are given 1,024 functions. With
# fewer rows a function the comparison takes longer than the fit.
MANY_ROWS_A_FUNCTION = 4

# Rows for each function, at most, on which the orders that are left are compared, with as many functions as will be
# used. Chosen by the time: with 1,024 functions 0.7 s of sums and 0.4 s of an eigendecomposition for an order. What the
# rows do not tell of the functions is then a thirtieth of the noise, beside which what a cutoff leaves out is seen.
ROWS_PER_FUNCTION = 32

# Orders that are compared there, at most.
ORDERS = 3

# Score, in nats of a row, by which the best spectrum of a family may be behind that of another on the same rows, and
# its neighbours still be compared. On 136 problems of the sets and collections of benchmarks/accuracy.py, 30 to 1,000
# rows, 1.0 chose the same models as comparing all; 0.3 chose another one once, from 30 rows without noise.
FAMILY_BEHIND = 1.0

# --- how many functions are given to the data ----------------------------------------------------------------------

# Invariant functions for each distinct point: more than the points can tell apart, so that the penalty decides which of
# them matter and not the cutoff. On two draws each of eight sets of 200 to 300 points (benchmarks/accuracy.py) half as
# many had 1.006 ± 0.03 of the errors and twice as many 0.97 ± 0.02, in twice the time: chosen by the time.
FUNCTIONS_PER_POINT = 3

# Invariant functions at least, however few the points are. On two draws each of six sets of 30 to 60 points
# (benchmarks/accuracy.py) 48 and 192 had the same errors, within 0.1 %.
FEWEST_FUNCTIONS = 96

# Largest n · D · min(n, D), operations of one decomposition up to a small factor: seconds for a short-list. One of
# 1,000 rows and 3,000 functions (3e9) takes 0.2 s by squares and 0.5 s with all digits.
WORK = 1e10

# Invariant functions of many rows, although n · D² is more than `WORK`: fewer for more rows would make a model worse
# with every row. A function of four angles with noise had errors of 0.24 and 0.34 from 20,000 and 100,000 rows with the
# 425 and 233 functions of `WORK` alone, and has 0.08 with 873 of them; Schmid factors of 90,000 orientations had 0.18,
# and have 0.03. It takes 10 to 17 CPU seconds with 10,000 to 20,000 rows, which are left out one by one.
MANY_ROWS_FUNCTIONS = 1024

# Largest n · D² there: some 20 s of one thread for the sums over all rows, reached with a million of them.
MANY_ROWS_WORK = 1e12

# Rows from which on a default looks whether the data want more functions than that. With 8,000 in its place 10,000 rows
# took twice the time, for two thirds of the error at best.
LARGE_ROWS = 20_000

# Invariant functions at most, with nothing given.
MOST_FUNCTIONS = 10_000

# Seconds of one thread, by the forecasts of Gram matrices that are not formed, for larger and larger bases: about a
# minute with two threads.
LARGE_SECONDS = 100.0

# As `BASIS_SECONDS`, for each of these larger bases. Forecasts are pessimistic there: 8,164 functions on S² under Oh
# take 2 s, and are said to take 20 s.
LARGE_BASIS_SECONDS = 25.0

# Multiplications by a Gram matrix, times columns, that the choice of a penalty and the solution take, for a condition
# of one; they grow with its root, (1 + √r)/(1 − √r) for r functions a row of uniform data. Measured 71 to 125 for r ≤
# 0.1, 132 for r = 0.2, 590 for r = 0.5.
COLUMNS = 60

# Share of its coefficient that the last function keeps, above which data want more functions. Chosen by judgement, not
# measured: what follows the last function is then worth at most a twentieth of its coefficient, and not a growth.
WANTED = 0.05

# Spectra that are compared by cross-validation on a larger basis, the likeliest of all. Chosen by what they cost, not
# by a measurement of errors: each takes as long as a fit.
LIKELY = 2

# A larger basis with less than this part of the error is followed by a still larger one. Chosen by judgement, not
# measured: a growth that took a tenth off the error may be followed by one that does.
MUCH_BETTER = 0.9

# A larger basis is taken if it has less than this part of the leave-one-out error. Not measured: far above the rounding
# of an error, so that a larger model is not taken for nothing.
BETTER = 0.999

# Seconds, by the forecasts of the solvers, after which a default stops looking for further invariants. The forecasts
# are those of benchmarks/default_seconds.py, where they are compared with the times that were taken. A fit may search
# in three orders: with 1.0, three directions under SO(3) took 2.0 s with 200 points, and take 1.5.
BASIS_SECONDS = 0.7
