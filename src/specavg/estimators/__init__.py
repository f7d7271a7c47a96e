"""Estimators: what users fit, one scikit-learn estimator a file."""

from specavg.estimators._discrepancy import Discrepancy, invariance_discrepancy
from specavg.estimators._kernel_ridge import InvariantKernelRidge
from specavg.estimators._moments import Moments
from specavg.estimators._specavg import OracleCalls, SpecAvgRegressor

__all__ = ["Discrepancy", "InvariantKernelRidge", "Moments", "OracleCalls", "SpecAvgRegressor", "invariance_discrepancy"]
