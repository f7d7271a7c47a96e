"""Gradients of combinations of spherical harmonics of S², by the recurrences of their values.

A combination is f = Σ_j s_j Re[(x − iy)^j (F_j(z) + i G_j(z))], where F_j and G_j are sums over degrees. The
derivatives of a power by x and y are j times the power before it. The derivatives of F_j and G_j by z are sums of the
polynomials of the order j + 1, since the derivative of a Gegenbauer polynomial is one of the next order. So one
recurrence for each order j has the derivatives by x and y of the functions of order j, and those by z of the functions
of order j − 1. Both are multiplied by the same power of x + iy.

The radial part of the gradient in R³ is removed: the tangential part of e_z is (−zx, −zy, x² + y²), which vanishes at
the poles as fast as derivatives by z grow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specavg.functions.loops._jit import PAD, SAFE, helper, loop
from specavg.functions.loops._s2 import add_two, load, power, step_add


@helper(fastmath=SAFE)
def _collect(total: Any, re: Any, im: Any, F: Any, B: int) -> None:
    """Add the products of a power of x + iy with the rows F, sums over degrees, to the three derivatives in `total`."""
    f, g, df, dg, tx, ty, tz = F[0], F[1], F[2], F[3], total[0], total[1], total[2]
    for b in range(B):
        tx[b] += re[b] * f[b] + im[b] * g[b]
        ty[b] += re[b] * g[b] - im[b] * f[b]
    for b in range(B):
        tz[b] += re[b] * df[b] + im[b] * dg[b]


@loop
def s2_gradient_combine(program: Any, X: Any, C: Any, B: int, out: Any) -> None:
    """Put the tangential gradients of q combinations in `out` (n, 3, q).

    C is of shape (q, 2, (degree + 1)²). At the place of degree k and order j, C[:, 0] has the coefficients of p_{k−j}
    in the derivatives by x and y, and C[:, 1] those in the derivatives by z of the functions of order j − 1.
    """
    degree, used, _, u, v = program
    n = len(X)
    work = np.empty((14, B + PAD))
    x, y, z, re, im, F, total = work[0], work[1], work[2], work[3], work[4], work[5:9], work[11:14]
    for start in range(0, n, B):
        load(X, start, B, x, y, z)
        for column in range(len(C)):
            c, d = C[column, 0], C[column, 1]
            p, q = work[9], work[10]
            total[:, :] = 0.0
            re[:] = 1.0
            im[:] = 0.0
            for j in range(1, degree + 1):  # order 0 has no derivatives by x and y
                if j > 1:
                    power(x, y, re, im, B)
                across, upwards = used[j], used[j - 1]
                if not across and not upwards:
                    continue
                F[:, :] = 0.0
                p[:] = 0.0
                q[:] = 1.0
                for k in range(j, degree + 1):
                    place = k * k + 2 * j - 1
                    if k > j:
                        first = c if across else d
                        f, g = (F[0], F[1]) if across else (F[2], F[3])
                        step_add(z, (u[j, k - j], v[j, k - j]), p, q, (first[place], first[place + 1]), f, g, B)
                        p, q = q, p
                    elif across:
                        add_two(F[0], F[1], c[place], c[place + 1], q, B)
                    if upwards and (across or k == j):
                        add_two(F[2], F[3], d[place], d[place + 1], q, B)
                _collect(total, re, im, F, B)
            for b in range(min(B, n - start)):
                radial, along = x[b] * total[0, b] + y[b] * total[1, b], total[2, b]
                out[start + b, 0, column] = total[0, b] - x[b] * (radial + z[b] * along)
                out[start + b, 1, column] = total[1, b] - y[b] * (radial + z[b] * along)
                out[start + b, 2, column] = (x[b] * x[b] + y[b] * y[b]) * along - z[b] * radial
