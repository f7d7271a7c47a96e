"""Wigner functions d^l_{jk}(β) e^{i(jα + kγ)} of all degrees l at once, by recurrences (`WignerRecurrence`).

There is one recurrence for each pair of orders 0 ≤ j ≤ L, |k| ≤ L. It starts at l = max(j, |k|), where d is a product
of powers of cos β/2 and sin β/2, and goes on with d^{l+1} = (u cos β − t) d^l − v d^{l−1}. The wave e^{i(jα + kγ)} is
stored as its cosine and its sine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._feature_rows import transpose
from specavg.functions.loops._jit import PAD, SAFE, helper, loop

# Points of the largest block of sums and combinations. At degree 8 sums take 550 ns a point in blocks of 64, 500 in
# 128, 530 in 192 and 470 in 256; at degree 20 they take 1,980, 1,840, 1,840 and 1,810. Combinations are as fast as
# sums.
_BLOCK = 192
_ROW = _BLOCK + PAD  # numbers of a row
_NO_DIRECTION = 1e-100  # sin β below which α, which is arbitrary there, is set to 0: (sin β)² would lose digits


@helper(fastmath=SAFE)
def _nearer(X: Any) -> Any:
    """X(3I − XᵀX)/2 for the matrix X with the rows abc, def, ghi: a step of `nearest_orthonormal`."""
    a, b, c, d, e, f, g, h, i = X
    p, q, r = (
        1.5 - 0.5 * (a * a + d * d + g * g),
        1.5 - 0.5 * (b * b + e * e + h * h),
        1.5 - 0.5 * (c * c + f * f + i * i),
    )
    s, t, u = -0.5 * (a * b + d * e + g * h), -0.5 * (a * c + d * f + g * i), -0.5 * (b * c + e * f + h * i)
    return (
        a * p + b * s + c * t, a * s + b * q + c * u, a * t + b * u + c * r,
        d * p + e * s + f * t, d * s + e * q + f * u, d * t + e * u + f * r,
        g * p + h * s + i * t, g * s + h * q + i * u, g * t + h * u + i * r,
    )  # fmt: skip


@loop
def wigner_angles(X: Any, out: Any) -> None:
    """Write cos α, sin α, cos γ, sin γ, cos β, cos β/2 and sin β/2 of X = Rz(α) Ry(β) Rz(γ) to the columns of `out`.

    X is of shape (n, 9), and `out` of shape (n, 7). Roots and quotients are enough: no angle is computed, and a point
    takes 36 ns where NumPy takes 390. As in `euler_angles`, γ is computed from Rz(−α) X.
    """
    for point in range(len(X)):
        x = X[point]
        near = _nearer((x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]))
        a, b, c, d, e, f, _, _, i = _nearer(near)
        rho = np.sqrt(c * c + f * f)  # sin β
        cosine, sine = 1.0, 0.0  # where β is 0 or π any α will do
        if rho > _NO_DIRECTION:
            cosine, sine = c / rho, f / rho
        length = np.sqrt(rho * rho + i * i)
        z = i / length
        large = np.sqrt(0.5 * (1.0 + abs(z)))  # the larger of cos β/2 and sin β/2
        small = 0.5 * rho / (length * large)
        first, second = cosine * e - sine * b, cosine * d - sine * a
        length = np.sqrt(first * first + second * second)
        out[point, 0] = cosine
        out[point, 1] = sine
        out[point, 2] = first / length
        out[point, 3] = second / length
        out[point, 4] = z
        out[point, 5] = large if z >= 0.0 else small
        out[point, 6] = small if z >= 0.0 else large


@helper(fastmath=SAFE)
def _powers(re: Any, im: Any, B: int, T: Any) -> None:
    """Write the real and imaginary part of (re + i im)^k to the rows 2k and 2k + 1 of T."""
    T[0, :] = 1.0
    T[1, :] = 0.0
    for k in range(1, len(T) // 2):
        a, b, c, d = T[2 * k - 2], T[2 * k - 1], T[2 * k], T[2 * k + 1]
        for i in range(B):
            c[i] = a[i] * re[i] - b[i] * im[i]
            d[i] = a[i] * im[i] + b[i] * re[i]


@helper(fastmath=SAFE)
def _plain_powers(x: Any, B: int, T: Any) -> None:
    """Write x^k to the row k of T."""
    T[0, :] = 1.0
    for k in range(1, len(T)):
        a, b = T[k - 1], T[k]
        for i in range(B):
            b[i] = a[i] * x[i]


@helper()
def _tables(L: int, B: int) -> Any:
    """Work space for a block: x, A, G, P and Q of `_load`."""
    angles = np.empty((7, B + PAD))
    waves, powers = np.empty((2, 2 * L + 2, B + PAD)), np.empty((2, 2 * L + 1, B + PAD))
    return angles, waves[0], waves[1], powers[0], powers[1]


@helper(fastmath=SAFE)
def _load(angles: Any, first: int, B: int, x: Any, A: Any, G: Any, P: Any, Q: Any) -> None:
    """Write what `wigner_angles` gives for one block, and powers of it.

    The rows of x are the columns of `angles`; x[4] is cos β. A and G have the cosines and sines of all multiples of α
    and γ, P and Q the powers of cos β/2 and sin β/2.
    """
    n = len(angles)
    for b in range(B):
        point = angles[min(first + b, n - 1)]
        for i in range(7):
            x[i, b] = point[i]
    _powers(x[0], x[1], B, A)
    _powers(x[2], x[3], B, G)
    _plain_powers(x[5], B, P)
    _plain_powers(x[6], B, Q)


@helper(fastmath=SAFE)
def _begin(wave: Any, other: Any, s: float, start: Any, rows: Any, B: int) -> None:
    """Begin a recurrence: write the wave e^{i(jα ± kγ)} to the first two of `rows`, then a row of zeros, then d.

    `wave` and `other` have cosine and sine of jα and of kγ, s is the sign of kγ, and `start` has the two powers and the
    factor whose product is the first d.
    """
    (a, b), (c, d), (p, q, scale) = wave, other, start
    f, g, old, new = rows
    for i in range(B):
        f[i] = a[i] * c[i] - s * b[i] * d[i]
        g[i] = b[i] * c[i] + s * a[i] * d[i]
        old[i] = 0.0
        new[i] = scale * p[i] * q[i]


@helper(fastmath=SAFE)
def _step(z: Any, u: float, t: float, v: float, old: Any, new: Any, B: int) -> None:
    """Write d of the next degree in place of `old`."""
    for i in range(B):
        old[i] = (u * z[i] - t) * new[i] - v * old[i]


@helper(fastmath=SAFE)
def _put(out: Any, c: float, new: Any, f: Any, B: int) -> None:
    """Write c · new · f to `out`."""
    for i in range(B):
        out[i] = c * new[i] * f[i]


@helper(fastmath=SAFE)
def _put_two(out: Any, new: Any, f: Any, c: float, more: Any, g: Any, d: float, B: int) -> None:
    """Write c · new · f + d · more · g to `out`."""
    for i in range(B):
        out[i] = c * (new[i] * f[i]) + d * (more[i] * g[i])


# Sums and combinations: d_{jk} and d_{kj} are the same but for a sign, and are computed once for both pairs of orders.
# Rows of one array lie at the fixed distance `_ROW`, so that the compiler sees that no two of them overlap. The array w
# has the rows cos β, d of the degree before, d of this degree, and the combination. The array `waves` has the waves of
# both pairs of orders for k, and then for −k, each with cosine and sine. One degree at a time, as here, takes 8 %
# longer than two at a time.


@helper(fastmath=SAFE)
def _waves(a: Any, b: Any, c: Any, d: Any, out: Any, B: int) -> None:
    """Write e^{i(jα + kγ)} and e^{i(jα − kγ)} to `out`, from cosine and sine (a, b) of jα and (c, d) of kγ."""
    for i in range(B):
        p, q, r, s = a[i] * c[i], b[i] * d[i], b[i] * c[i], a[i] * d[i]
        out[i] = p - q
        out[_ROW + i] = r + s
        out[4 * _ROW + i] = p + q
        out[5 * _ROW + i] = r - s


@helper(fastmath=SAFE)
def _first(p: Any, q: Any, scale: float, w: Any, B: int) -> None:
    """Write d of the first degree of a pair of orders to w: the product of the powers p and q and a factor."""
    for i in range(B):
        w[_ROW + i] = 0.0
        w[2 * _ROW + i] = scale * p[i] * q[i]


@helper(fastmath=True)
def _dots(w: Any, waves: Any, step: Any, B: int) -> Any:
    """The dot products of d with four waves; d of the next degree is written in its place."""
    u, t, v = step
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(B):
        now = w[2 * _ROW + i]
        w[2 * _ROW + i] = (u * w[i] - t) * now - v * w[_ROW + i]
        w[_ROW + i] = now
        a += now * waves[i]
        b += now * waves[_ROW + i]
        c += now * waves[2 * _ROW + i]
        d += now * waves[3 * _ROW + i]
    return a, b, c, d


@helper(fastmath=SAFE)
def _add(w: Any, waves: Any, step: Any, C: Any, B: int) -> None:
    """Add d times a combination of four waves to the combination; d of the next degree is written in its place."""
    (u, t, v), (a, b, c, d) = step, C
    for i in range(B):
        now = w[2 * _ROW + i]
        w[2 * _ROW + i] = (u * w[i] - t) * now - v * w[_ROW + i]
        w[_ROW + i] = now
        wave = a * waves[i] + b * waves[_ROW + i] + c * waves[2 * _ROW + i] + d * waves[3 * _ROW + i]
        w[3 * _ROW + i] += now * wave


@helper()
def _factors(program: Any, l: int, j: int, k: int) -> Any:
    """u, t and v of the step from degree l to the next, for the orders j and k."""
    m = abs(k)
    t = program.t[l, j, m]
    return program.u[l, j, m], t if k >= 0 else -t, program.v[l, j, m]


@helper()
def _put_sums(out: Any, j: int, m: int, place: Any, sums: Any) -> None:
    """Add the sums of one degree to `out`: for the orders (j, ±m), and if m < j also for (m, ±j)."""
    (mine, other, same), (a, b, c, d) = place, sums
    out[j, mine, 0] += a
    out[j, mine, 1] += b
    if m < j:
        out[m, other, 0] += same * c
        out[m, other, 1] += same * d


@helper()
def _coefficients(C: Any, j: int, m: int, place: Any) -> Any:
    """The coefficients of one degree of the orders (j, ±m), and of (m, ±j): zeros for these if m = j."""
    mine, other, same = place
    c, d = 0.0, 0.0
    if m < j:
        c, d = same * C[m, other, 0], same * C[m, other, 1]
    return C[j, mine, 0], C[j, mine, 1], c, d


@helper()
def _open(program: Any, j: int, k: int, P: Any, Q: Any, w: Any, B: int) -> Any:
    """Write d of the first degree of the orders (j, k), |k| ≤ j, to w.

    Returns L + k, L ± j for the second order of the other pair (|k|, ±j), and the sign by which their d differ.
    """
    L, first = program.degree, program.first
    mine, other = L + k, L + (j if k >= 0 else -j)
    _first(P[abs(j + k)], Q[abs(j - k)], first[j, mine], w, B)
    return mine, other, first[abs(k), other] / first[j, mine]


@loop
def wigner_sums(program: Any, angles: Any, Y: Any, block: int, out: Any) -> None:
    """Add Σ y d cos(jα + kγ) and Σ y d sin(jα + kγ) to out[column, l, j, L + k], L the highest degree."""
    L, B = program.degree, min(block, _BLOCK)
    n = len(angles)
    x, A, G, P, Q = _tables(L, B)
    w, waves, weighted, y = np.zeros(4 * _ROW), np.zeros(8 * _ROW), np.zeros(A.shape), np.zeros(_ROW)
    for start in range(0, n, B):
        _load(angles, start, B, x, A, G, P, Q)
        inside = min(B, n - start)
        for b in range(B):
            w[b] = x[4, b]
        for column in range(Y.shape[1]):
            for b in range(B):
                y[b] = Y[start + b, column] if b < inside else 0.0
            for row in range(len(A)):
                wave, product = A[row], weighted[row]
                for b in range(B):
                    product[b] = wave[b] * y[b]
            for j in range(L + 1):
                for m in range(j + 1):
                    _waves(weighted[2 * j], weighted[2 * j + 1], G[2 * m], G[2 * m + 1], waves, B)
                    _waves(weighted[2 * m], weighted[2 * m + 1], G[2 * j], G[2 * j + 1], waves[2 * _ROW :], B)
                    for s in range(1, -2 if m > 0 else 0, -2):
                        k, four = s * m, waves if s > 0 else waves[4 * _ROW :]
                        place = _open(program, j, k, P, Q, w, B)
                        for l in range(j, L + 1):
                            sums = _dots(w, four, _factors(program, l, j, k), B)
                            _put_sums(out[column, l], j, m, place, sums)


@loop
def wigner_combine(program: Any, angles: Any, C: Any, block: int, out: Any) -> None:
    """Put Σ c d cos(jα + kγ) + s d sin(jα + kγ) in `out` (n, q); C[column, l, j, L + k] has c and s."""
    L, B = program.degree, min(block, _BLOCK)
    n = len(angles)
    x, A, G, P, Q = _tables(L, B)
    w, waves = np.zeros(4 * _ROW), np.zeros(8 * _ROW)
    for start in range(0, n, B):
        _load(angles, start, B, x, A, G, P, Q)
        for b in range(B):
            w[b] = x[4, b]
        for column in range(len(C)):
            for b in range(B):
                w[3 * _ROW + b] = 0.0
            for j in range(L + 1):
                for m in range(j + 1):
                    _waves(A[2 * j], A[2 * j + 1], G[2 * m], G[2 * m + 1], waves, B)
                    _waves(A[2 * m], A[2 * m + 1], G[2 * j], G[2 * j + 1], waves[2 * _ROW :], B)
                    for s in range(1, -2 if m > 0 else 0, -2):
                        k, four = s * m, waves if s > 0 else waves[4 * _ROW :]
                        place = _open(program, j, k, P, Q, w, B)
                        for l in range(j, L + 1):
                            coefficients = _coefficients(C[column, l], j, m, place)
                            _add(w, four, _factors(program, l, j, k), coefficients, B)
            for b in range(min(B, n - start)):
                out[start + b, column] = w[3 * _ROW + b]


@loop
def wigner_values(program: Any, angles: Any, B: int, out: Any) -> None:
    """Put the entries of √(2l+1) M^l for l = 0, …, L, matrix by matrix and row by row, in `out` (n, functions).

    The entries are combinations of the waves of k and −k: see `WignerFunctions`.
    """
    L, first, u, t, v = program
    n = len(angles)
    x, A, G, P, Q = _tables(L, B)
    work, values = np.empty((8, B + PAD)), np.empty((out.shape[1], B + PAD))
    f, g, old, new = work[0], work[1], work[2], work[3]
    f2, g2, old2, new2 = work[4], work[5], work[6], work[7]
    for start in range(0, n, B):
        _load(angles, start, B, x, A, G, P, Q)
        for j in range(L + 1):
            for m in range(L + 1):
                both = j > 0 and m > 0
                wave, other = (A[2 * j], A[2 * j + 1]), (G[2 * m], G[2 * m + 1])
                _begin(wave, other, 1.0, (P[j + m], Q[abs(j - m)], first[j, L + m]), (f, g, old, new), B)
                if both:
                    start_of_two = P[abs(j - m)], Q[j + m], first[j, L - m]
                    _begin(wave, other, -1.0, start_of_two, (f2, g2, old2, new2), B)
                for l in range(max(j, m), L + 1):
                    size, c = 2 * l + 1, np.sqrt(2.0 * l + 1.0)
                    place = l * (4 * l * l - 1) // 3  # 1 + 9 + … + (2l − 1)²
                    if both:
                        cosines, sines = place + (2 * j - 1) * size + 2 * m - 1, place + 2 * j * size + 2 * m - 1
                        _put_two(values[cosines], new, f, c, new2, f2, c, B)
                        _put_two(values[cosines + 1], new, g, -c, new2, g2, c, B)
                        _put_two(values[sines], new, g, c, new2, g2, c, B)
                        _put_two(values[sines + 1], new, f, c, new2, f2, -c, B)
                    elif j > 0:
                        _put(values[place + (2 * j - 1) * size], np.sqrt(2.0) * c, new, f, B)
                        _put(values[place + 2 * j * size], np.sqrt(2.0) * c, new, g, B)
                    elif m > 0:
                        _put(values[place + 2 * m - 1], np.sqrt(2.0) * c, new, f, B)
                        _put(values[place + 2 * m], -np.sqrt(2.0) * c, new, g, B)
                    else:
                        _put(values[place], c, new, f, B)
                    if l < L:
                        _step(x[4], u[l, j, m], t[l, j, m], v[l, j, m], old, new, B)
                        old, new = new, old
                        if both:
                            _step(x[4], u[l, j, m], -t[l, j, m], v[l, j, m], old2, new2, B)
                            old2, new2 = new2, old2
        transpose(values, min(B, n - start), out[start:])
