"""SciPy's spherical harmonics by their name of today, which SciPy has since version 1.15.

Before, SciPy's associated Legendre functions overflow from degree 86 on: there is the textbook's recurrence then.
"""

import numpy as np

try:
    from scipy.special import sph_harm_y
except ImportError:

    def sph_harm_y(degree, order, polar, azimuth):
        if order < 0:
            return (-1) ** order * np.conj(sph_harm_y(degree, -order, polar, azimuth))
        m, x = order, np.cos(polar)
        k = np.arange(1, m + 1)
        size = np.sqrt((2 * m + 1) / (4 * np.pi) * np.prod((2 * k - 1) / (2 * k)))
        before, value = 0.0, size * (-np.sin(polar)) ** m
        for l in range(m + 1, degree + 1):
            smaller = np.sqrt(((l - 1) ** 2 - m**2) / (4 * (l - 1) ** 2 - 1))
            before, value = value, np.sqrt((4 * l**2 - 1) / (l**2 - m**2)) * (x * value - smaller * before)
        return value * np.exp(1j * m * azimuth)


__all__ = ["sph_harm_y"]
