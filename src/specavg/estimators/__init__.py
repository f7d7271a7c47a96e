"""Estimators: what users fit, one scikit-learn estimator a file."""

from specavg.estimators._discrepancy import Discrepancy, invariance_discrepancy
from specavg.estimators._kernel_ridge import InvariantKernelRidge
from specavg.estimators._moments import Moments
from specavg.estimators._specavg import OracleCalls, SpecAvgRegressor
from specavg.estimators._symmetry_test import GeneratorTest, SymmetryTest, symmetry_test

__all__ = [
    "Discrepancy",
    "GeneratorTest",
    "InvariantKernelRidge",
    "Moments",
    "OracleCalls",
    "SpecAvgRegressor",
    "SymmetryTest",
    "invariance_discrepancy",
    "symmetry_test",
]
