"""SciPy's spherical harmonics by their name of today, which SciPy has since version 1.15."""

try:
    from scipy.special import sph_harm_y
except ImportError:
    from scipy.special import sph_harm

    def sph_harm_y(degree, order, polar, azimuth):
        return sph_harm(order, degree, azimuth, polar)


__all__ = ["sph_harm_y"]
