"""Baselines: what users would pick instead, so that the comparison is fair and runnable.

Kernel ridge regression with and without an average over the group, and the ways to make any estimator
(nearly) invariant: augmentation, canonicalisation, frame averaging. Each is a scikit-learn estimator.
"""

from specavg.baselines._augmented import Augmented
from specavg.baselines._averaged import (
    CostError,
    GroupAveragedKernelRidge,
    RandomlyAveragedKernelRidge,
    averaged_kernel,
)
from specavg.baselines._canonicalized import Canonicalized, canonical
from specavg.baselines._frames import Frame, FrameAveraged, frame
from specavg.baselines._kernels import Kernel, VonMisesKernel
from specavg.baselines._ridge import KernelRidge
from specavg.baselines._spectral import SpectralKernel

__all__ = [
    "Augmented",
    "Canonicalized",
    "CostError",
    "Frame",
    "FrameAveraged",
    "GroupAveragedKernelRidge",
    "Kernel",
    "KernelRidge",
    "RandomlyAveragedKernelRidge",
    "SpectralKernel",
    "VonMisesKernel",
    "averaged_kernel",
    "canonical",
    "frame",
]
