"""Spherical harmonics of S² of all degrees at once, by their recurrences.

The harmonic of degree k and order j is s_j · p_{k−j}(z) times the real or imaginary part of (x + iy)^j, with p
orthonormal polynomials for the order j + 1/2. For each order the powers of x + iy are multiplied into the data
once; the recurrence in z then yields a dot product a degree. Degrees follow one another, k² functions before
degree k, listed as 0, 1c, 1s, 2c, 2s, … .

Near the poles (x + iy)^j is as small as p is large: at high degrees neither is a float, though their product is. Each
point then has E powers of 2^400 that its power of x + iy lacks. While E > 0 its products are too small to count; where
p has grown by 2^200, 2^400 is taken from p and from E.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._feature_rows import transpose
from specavg.functions.loops._jit import SAFE, helper, loop
from specavg.functions.loops._tree import times

PLAIN = 1000  # up to this degree p stays below 2^700
_STEPS = 32  # steps of the recurrence between two checks of its size: it grows by less than 2^260 at degree 4000
_UNIT, _LARGE = 2.0**400, 2.0**200


@helper()
def _rows(B: int) -> Any:
    """Room for one block: the point, a power of x + iy, its weighted parts, two of a recurrence, the data, E twice."""
    w = np.empty((12, B + 8))
    return w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]


@helper(fastmath=SAFE)
def load(X: Any, start: int, B: int, x: Any, y: Any, z: Any) -> None:
    """A block of unit vectors, padded with the last point."""
    n = len(X)
    for b in range(B):
        point = X[min(start + b, n - 1)]
        x[b], y[b], z[b] = point[0], point[1], point[2]
    for b in range(B):
        scale = 1.0 / np.sqrt(x[b] * x[b] + y[b] * y[b] + z[b] * z[b])
        x[b] *= scale
        y[b] *= scale
        z[b] *= scale


@helper(fastmath=SAFE)
def power(x: Any, y: Any, re: Any, im: Any, B: int) -> None:
    """Multiply re + i im by x + iy."""
    for b in range(B):
        old = re[b]
        re[b] = old * x[b] - im[b] * y[b]
        im[b] = old * y[b] + im[b] * x[b]


@helper()
def _lift(re: Any, im: Any, lacking: Any, B: int) -> None:
    """Keep a power of x + iy above 2^-400."""
    for b in range(B):
        if abs(re[b]) + abs(im[b]) < 1.0 / _UNIT:
            re[b] *= _UNIT
            im[b] *= _UNIT
            lacking[b] += 1.0


@helper()
def _begin(lacking: Any, left: Any, f: Any, g: Any, B: int) -> None:
    """Start a recurrence: what lacks units of 2^400 does not count yet."""
    for b in range(B):
        left[b] = lacking[b]
        if left[b] > 0.0:
            f[b] = 0.0
            g[b] = 0.0


@helper()
def _lower(p: Any, q: Any, f: Any, g: Any, left: Any, B: int) -> bool:
    """Take 2^400 from recurrences that have grown, from sums of them, and from what lacks; whether a point has."""
    some = False
    for b in range(B):
        if left[b] > 0.0 and max(abs(p[b]), abs(q[b])) > _LARGE:
            p[b] /= _UNIT
            q[b] /= _UNIT
            f[b] /= _UNIT
            g[b] /= _UNIT
            left[b] -= 1.0
            some = True
    return some


@helper(fastmath=SAFE)
def _step(z: Any, u: float, v: float, p: Any, q: Any, B: int) -> None:
    """The next of the recurrence in place of p: u·z·q − v·p."""
    for b in range(B):
        p[b] = u * z[b] * q[b] - v * p[b]


@helper(fastmath=True)
def _step_dots(z: Any, u: float, v: float, p: Any, q: Any, f: Any, g: Any, B: int) -> Any:
    """A step of the recurrence in place of p, and its dot products with f and g."""
    a, c = 0.0, 0.0
    for b in range(B):
        new = u * z[b] * q[b] - v * p[b]
        p[b] = new
        a += new * f[b]
        c += new * g[b]
    return a, c


@helper(fastmath=SAFE)
def _weigh(re: Any, im: Any, w: Any, scale: float, f: Any, g: Any, B: int) -> None:
    for b in range(B):
        f[b] = scale * re[b] * w[b]
        g[b] = scale * im[b] * w[b]


@helper(fastmath=SAFE)
def add_two(f: Any, g: Any, c: float, s: float, p: Any, B: int) -> None:
    for b in range(B):
        f[b] += c * p[b]
        g[b] += s * p[b]


@helper(fastmath=SAFE)
def step_add(z: Any, step: Any, p: Any, q: Any, coefficients: Any, f: Any, g: Any, B: int) -> None:
    """A step of the recurrence in place of p, and its multiples added to f and g."""
    (u, v), (c, s) = step, coefficients
    for b in range(B):
        new = u * z[b] * q[b] - v * p[b]
        p[b] = new
        f[b] += c * new
        g[b] += s * new


@helper(fastmath=SAFE)
def _collect(total: Any, re: Any, im: Any, f: Any, g: Any, scale: float, B: int) -> None:
    for b in range(B):
        total[b] += scale * (re[b] * f[b] + im[b] * g[b])


@loop
def s2_sums(program: Any, X: Any, Y: Any, B: int, out: Any) -> None:
    """Add Φᵀ Y to `out` (q, (degree + 1)²), for one chunk of rows; only the orders in `used`."""
    degree, used, scale, u, v = program
    n = len(X)
    x, y, z, re, im, f, g, p, q, w, lacking, left = _rows(B)
    for start in range(0, n, B):
        load(X, start, B, x, y, z)
        inside = min(B, n - start)
        for column in range(Y.shape[1]):
            sums = out[column]
            w[inside:] = 0.0
            for b in range(inside):
                w[b] = Y[start + b, column]
            re[:] = 1.0
            im[:] = 0.0
            lacking[:] = 0.0
            for j in range(degree + 1):
                if j > 0:
                    power(x, y, re, im, B)
                    if degree > PLAIN:
                        _lift(re, im, lacking, B)
                if not used[j]:
                    continue
                _weigh(re, im, w, scale[j], f, g, B)
                if degree > PLAIN:
                    _begin(lacking, left, f, g, B)
                p[:] = 1.0
                q[:] = 0.0
                for k in range(j, degree + 1):
                    if degree > PLAIN and (k - j) % _STEPS == 1 and _lower(p, q, f, g, left, B):
                        _weigh(re, im, w, scale[j], f, g, B)
                        _begin(left, left, f, g, B)
                    a, c = _step_dots(z, u[j, k - j], v[j, k - j], p, q, f, g, B)
                    place = k * k + (2 * j - 1 if j else 0)
                    sums[place] += a
                    if j:
                        sums[place + 1] += c
                    p, q = q, p


@loop
def s2_combine(program: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put Φ Cᵀ in `out`, for one chunk of rows; C of shape (q, (degree + 1)²)."""
    degree, used, scale, u, v = program
    n = len(X)
    x, y, z, re, im, f, g, p, q, w, lacking, left = _rows(B)
    for start in range(0, n, B):
        load(X, start, B, x, y, z)
        for column in range(len(C)):
            c = C[column]
            w[:] = 0.0
            re[:] = 1.0
            im[:] = 0.0
            lacking[:] = 0.0
            for j in range(degree + 1):
                if j > 0:
                    power(x, y, re, im, B)
                    if degree > PLAIN:
                        _lift(re, im, lacking, B)
                if not used[j]:
                    continue
                f[:] = 0.0
                g[:] = 0.0
                if degree > PLAIN:
                    _begin(lacking, left, f, g, B)
                p[:] = 1.0
                q[:] = 0.0
                for k in range(j, degree + 1):
                    if degree > PLAIN and (k - j) % _STEPS == 1:
                        _lower(p, q, f, g, left, B)
                    place = k * k + (2 * j - 1 if j else 0)
                    both = c[place], c[place + 1] if j else 0.0
                    step_add(z, (u[j, k - j], v[j, k - j]), p, q, both, f, g, B)
                    p, q = q, p
                if degree > PLAIN:
                    _begin(left, left, f, g, B)
                _collect(w, re, im, f, g, scale[j], B)
            for b in range(min(B, n - start)):
                out[start + b, column] = w[b]


@loop
def s2_values(program: Any, X: Any, B: int, out: Any) -> None:
    """Put Φ in `out` (n, (degree + 1)²), for one chunk of rows."""
    degree, _, scale, u, v = program
    n = len(X)
    x, y, z, re, im, f, g, p, q, w, lacking, left = _rows(B)
    values = np.empty((out.shape[1], B + 8))
    w[:] = 1.0
    for start in range(0, n, B):
        load(X, start, B, x, y, z)
        re[:] = 1.0
        im[:] = 0.0
        lacking[:] = 0.0
        for j in range(degree + 1):
            if j > 0:
                power(x, y, re, im, B)
                if degree > PLAIN:
                    _lift(re, im, lacking, B)
            _weigh(re, im, w, scale[j], f, g, B)
            if degree > PLAIN:
                _begin(lacking, left, f, g, B)
            p[:] = 1.0
            q[:] = 0.0
            for k in range(j, degree + 1):
                if degree > PLAIN and (k - j) % _STEPS == 1 and _lower(p, q, f, g, left, B):
                    _weigh(re, im, w, scale[j], f, g, B)
                    _begin(left, left, f, g, B)
                _step(z, u[j, k - j], v[j, k - j], p, q, B)
                p, q = q, p
                place = k * k + (2 * j - 1 if j else 0)
                times(q, f, values[place], B)
                if j:
                    times(q, g, values[place + 1], B)
        transpose(values, min(B, n - start), out[start:])
