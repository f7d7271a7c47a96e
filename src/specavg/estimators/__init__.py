"""Estimators: what users fit, one scikit-learn estimator a file."""

from specavg.estimators._density import InvariantDensity
from specavg.estimators._discrepancy import Discrepancy, invariance_discrepancy
from specavg.estimators._equivariant_kernel_ridge import EquivariantKernelRidge
from specavg.estimators._features import InvariantFeatures
from specavg.estimators._kernel_ridge import InvariantKernelRidge
from specavg.estimators._specavg import OracleCalls, SpecAvgRegressor
from specavg.estimators._symmetrized import Symmetrized
from specavg.estimators._symmetry_test import GeneratorTest, SymmetryTest, symmetry_test
from specavg.regression._moments import Moments
from specavg.regression._ridge_fit import Trial
from specavg.regression._spectra import Spectrum

__all__ = [
    "Discrepancy",
    "EquivariantKernelRidge",
    "GeneratorTest",
    "InvariantDensity",
    "InvariantFeatures",
    "InvariantKernelRidge",
    "Moments",
    "OracleCalls",
    "SpecAvgRegressor",
    "Spectrum",
    "Symmetrized",
    "SymmetryTest",
    "Trial",
    "invariance_discrepancy",
    "symmetry_test",
]
