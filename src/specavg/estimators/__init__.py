"""Estimators: what users fit, one scikit-learn estimator a file."""

from specavg.estimators._discrepancy import Discrepancy, invariance_discrepancy
from specavg.estimators._specavg import OracleCalls, SpecAvgRegressor

__all__ = ["Discrepancy", "OracleCalls", "SpecAvgRegressor", "invariance_discrepancy"]
