"""Pictures, with Matplotlib (an optional extra: ``pip install 'specavg[plot]'``).

Every function takes a fitted estimator, an invariant basis or a callable, draws in the axes it is given or in a new
figure, and returns the axes. Colours keep their order in grey; lines differ in dash and marker too.
"""

from specavg.plot._circles_and_tori import circle, torus
from specavg.plot._curves import curves, learning_curve
from specavg.plot._discrepancies import discrepancy
from specavg.plot._globes import sphere
from specavg.plot._lattice import lattice
from specavg.plot._orientations import inverse_pole_figure, misorientations, odf_sections
from specavg.plot._poles import pole_figure
from specavg.plot._slices import slices
from specavg.plot._spectrum import spectrum
from specavg.textures import pole_density

__all__ = [
    "circle",
    "curves",
    "discrepancy",
    "inverse_pole_figure",
    "lattice",
    "learning_curve",
    "misorientations",
    "odf_sections",
    "pole_density",
    "pole_figure",
    "slices",
    "spectrum",
    "sphere",
    "torus",
]
