"""Spherical harmonics of S² of all degrees at once, by their recurrences (`Recurrence` of `_s2_harmonics`).

The harmonic of degree k and order j is s_j p_{k−j}(z) times the real or imaginary part of (x + iy)^j, with orthonormal
polynomials p for the order j + 1/2. For each order the data are multiplied by the power of x + iy once; each step of
the recurrence in z then gives one degree, and sums need a dot product with it. The functions of degree k begin at place
k², and are listed as 0, 1c, 1s, 2c, 2s, … .

Near the poles (x + iy)^j is as small as p is large: at high degrees neither fits in a float, though their product does.
Above degree `PLAIN`, the power of x + iy of each point is therefore stored as a float times 2^(−400 E), with an integer
E ≥ 0 (`lacking`). While E > 0, the products with p are too small to count. Where p has grown above 2^200, it is divided
by 2^400, and E becomes smaller by one (`left`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._feature_rows import transpose
from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._tree import times

PLAIN = 1000  # the highest degree without scaling, as `_PLAIN_DEGREE` of `_s2_harmonics`: p stays below 2^700
_STEPS = 32  # steps of the recurrence between two checks of its size: they grow it by less than 2^260 at degree 4000
_UNIT, _LARGE = 2.0**400, 2.0**200  # what numbers are scaled by, and the size of p above which they are


@helper()
def _rows(B: int) -> Any:
    """Work space for a block, 12 rows.

    In the order of the rows: x, y, z; re and im of a power of x + iy; f and g, what these are multiplied to or summed
    to; p and q, two steps of the recurrence; w, data or a combination; `lacking` and `left`, the E of both.
    """
    w = np.empty((12, B + PAD))
    return w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]


@helper(fastmath=SAFE)
def load(X: Any, start: int, B: int, x: Any, y: Any, z: Any) -> None:
    """Write one block of points, divided by their norms and padded with the last point, to x, y and z."""
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
    """Multiply powers of x + iy below 2^-400 by 2^400, and add one to their E."""
    for b in range(B):
        if abs(re[b]) + abs(im[b]) < 1.0 / _UNIT:
            re[b] *= _UNIT
            im[b] *= _UNIT
            lacking[b] += 1.0


@helper()
def _begin(lacking: Any, left: Any, f: Any, g: Any, B: int) -> None:
    """Copy `lacking` to `left`, and set f and g to zero where E > 0: these products are too small to count."""
    for b in range(B):
        left[b] = lacking[b]
        if left[b] > 0.0:
            f[b] = 0.0
            g[b] = 0.0


@helper()
def _lower(p: Any, q: Any, f: Any, g: Any, left: Any, B: int) -> bool:
    """Divide p, q, f and g by 2^400, and take 1 from E, where E > 0 and p is above 2^200; whether any is."""
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
    """Write the next step of the recurrence, u·z·q − v·p, in place of p."""
    for b in range(B):
        p[b] = u * z[b] * q[b] - v * p[b]


@helper(fastmath=True)
def _step_dots(z: Any, u: float, v: float, p: Any, q: Any, f: Any, g: Any, B: int) -> Any:
    """`_step`, and the dot products of the new p with f and g."""
    a, c = 0.0, 0.0
    for b in range(B):
        new = u * z[b] * q[b] - v * p[b]
        p[b] = new
        a += new * f[b]
        c += new * g[b]
    return a, c


@helper(fastmath=SAFE)
def _weigh(re: Any, im: Any, w: Any, scale: float, f: Any, g: Any, B: int) -> None:
    """Write scale · re · w to f, and scale · im · w to g."""
    for b in range(B):
        f[b] = scale * re[b] * w[b]
        g[b] = scale * im[b] * w[b]


@helper(fastmath=SAFE)
def add_two(f: Any, g: Any, c: float, s: float, p: Any, B: int) -> None:
    """Add c · p to f, and s · p to g."""
    for b in range(B):
        f[b] += c * p[b]
        g[b] += s * p[b]


@helper(fastmath=SAFE)
def step_add(z: Any, step: Any, p: Any, q: Any, coefficients: Any, f: Any, g: Any, B: int) -> None:
    """`_step` with (u, v) in `step`; multiples of the new p are added to f and g, with (c, s) in `coefficients`."""
    (u, v), (c, s) = step, coefficients
    for b in range(B):
        new = u * z[b] * q[b] - v * p[b]
        p[b] = new
        f[b] += c * new
        g[b] += s * new


@helper(fastmath=SAFE)
def _collect(total: Any, re: Any, im: Any, f: Any, g: Any, scale: float, B: int) -> None:
    """Add scale · (re · f + im · g) to `total`."""
    for b in range(B):
        total[b] += scale * (re[b] * f[b] + im[b] * g[b])


@loop
def s2_sums(program: Any, X: Any, Y: Any, B: int, out: Any) -> None:
    """Add Φᵀ Y to `out` (q, (degree + 1)²), for the orders in `used` only."""
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
    """Put Φ Cᵀ in `out` (n, q); C is of shape (q, (degree + 1)²). Only the orders in `used` are read."""
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
    """Put Φ in `out` (n, (degree + 1)²)."""
    degree, _, scale, u, v = program
    n = len(X)
    x, y, z, re, im, f, g, p, q, w, lacking, left = _rows(B)
    values = np.empty((out.shape[1], B + PAD))
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
