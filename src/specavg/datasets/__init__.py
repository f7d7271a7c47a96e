"""Small real data sets with a known symmetry, each with its split and the figures that other methods reach on it."""

from specavg.datasets._loaders import (
    Dataset,
    load_copper,
    load_diffusion_mri,
    load_dti_frames,
    load_ica_iris,
    load_mcmurdo,
    load_propane,
)

__all__ = [
    "Dataset",
    "load_copper",
    "load_diffusion_mri",
    "load_dti_frames",
    "load_ica_iris",
    "load_mcmurdo",
    "load_propane",
]
