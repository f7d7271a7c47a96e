"""Pictures, with Matplotlib (an optional extra: ``pip install 'specavg[plot]'``).

Every function takes a fitted estimator, an invariant basis or a callable, draws in the axes it is given or in a new
figure, and returns the axes. Colours keep their order in grey; lines differ in dash and marker too.
"""

from specavg.plot._flat import circle, torus

__all__ = ["circle", "torus"]
