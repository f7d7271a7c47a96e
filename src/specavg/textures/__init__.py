"""Numbers of textures: sharpness, volume fractions, pole densities and misorientations.

Orientations take specimen coordinates to crystal coordinates, as everywhere here (see `spaces.Rotations`). Pictures are
in `plot`: `pole_figure`, `inverse_pole_figure`, `odf_sections`, `misorientations`.
"""

from specavg.textures._fractions import fibre_fraction, volume_fraction
from specavg.textures._misorientations import misorientation_angles
from specavg.textures._pole_density import pole_density
from specavg.textures._texture_index import texture_index

__all__ = ["fibre_fraction", "misorientation_angles", "pole_density", "texture_index", "volume_fraction"]


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
