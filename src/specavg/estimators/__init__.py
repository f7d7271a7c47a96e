"""Estimators: what users fit, one scikit-learn estimator a file. Each is imported when it is first asked for."""

from typing import TYPE_CHECKING

from specavg._lazy_names import lazy_names

if TYPE_CHECKING:
    from specavg.estimators._density import InvariantDensity
    from specavg.estimators._discrepancy import Discrepancy, invariance_discrepancy
    from specavg.estimators._equivariant_kernel_ridge import EquivariantKernelRidge
    from specavg.estimators._features import InvariantFeatures
    from specavg.estimators._kernel_ridge import InvariantKernelRidge
    from specavg.estimators._specavg import OracleCalls, SpecAvgRegressor
    from specavg.estimators._symmetrized import Symmetrized
    from specavg.estimators._symmetry_test import symmetry_test
    from specavg.estimators._symmetry_test_result import GeneratorTest, SymmetryTest
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

__getattr__ = lazy_names(
    __name__,
    {
        "._density": "InvariantDensity",
        "._discrepancy": "Discrepancy invariance_discrepancy",
        "._equivariant_kernel_ridge": "EquivariantKernelRidge",
        "._features": "InvariantFeatures",
        "._kernel_ridge": "InvariantKernelRidge",
        "._specavg": "OracleCalls SpecAvgRegressor",
        "._symmetrized": "Symmetrized",
        "._symmetry_test": "symmetry_test",
        "._symmetry_test_result": "GeneratorTest SymmetryTest",
        "specavg.regression._moments": "Moments",
        "specavg.regression._ridge_fit": "Trial",
        "specavg.regression._spectra": "Spectrum",
    },
)


def __dir__() -> list[str]:  # what tab completion offers
    return __all__
