"""
Choosing the model with Optuna
==============================

Left alone, `InvariantKernelRidge` chooses spectrum, length and penalty by leave-one-out and the evidence, both in
closed form. An optimiser from outside can choose by cross-validation, and choose the cutoff as well. Is it worth it?
The contrast function of independent component analysis again, 100 points on a Stiefel manifold. Here both choose among
Matérn spectra.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import optuna
from sklearn.model_selection import cross_val_score

import specavg as sa
from specavg.datasets import load_ica_iris

data = load_ica_iris()
X, y = data.X[data.train], data.y[data.train]
X_test, y_test = data.X[data.test], data.y[data.test]


def test_error(model):
    return np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))


# %%
# The search
# ----------
# Bases depend on space, group and cutoff, not on the data: they are found once and shared by all folds and trials.


def model_of(trial, group):
    return sa.InvariantKernelRidge(
        data.space,
        group,
        spectrum="matern",
        smoothness=trial.suggest_float("smoothness", 3, 30, log=True),
        length_scale=trial.suggest_float("length_scale", 0.1, 2.0, log=True),
        max_eigenvalue=trial.suggest_categorical("max_eigenvalue", [8, 24, 28, 48]),
    )


optuna.logging.set_verbosity(optuna.logging.WARNING)
studies = {}
for name, group in (("with the symmetry", data.group), ("without", None)):
    start = perf_counter()
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(
        lambda trial, group=group: (
            -cross_val_score(model_of(trial, group), X, y, scoring="neg_root_mean_squared_error").mean()
        ),
        n_trials=15,
    )
    seconds = perf_counter() - start
    studies[name] = study
    chosen = model_of(optuna.trial.FixedTrial(study.best_params), group).fit(X, y)
    start = perf_counter()
    own = sa.InvariantKernelRidge(data.space, group, spectrum="matern").fit(X, y)
    own_seconds = perf_counter() - start
    change = sa.invariance_discrepancy(chosen, data.space, data.group, X_test[:100])
    print(f"{name}: Optuna's choice {test_error(chosen):.4f} in {seconds:.1f} s, discrepancy {float(change):.1e};")
    print(f"   the estimator's own choice {test_error(own):.4f} in {own_seconds:.1f} s")
    print("  ", study.best_params)

# %%
# Among Matérn spectra the search finds a model with about a seventh less error, for several times the time. The
# default, which may choose the family of spectra too, has less error than either on the same points: below 0.1, on
# :ref:`the page of this function <sphx_glr_auto_examples_plot_06_contrast.py>`. What is worth most is the group:
# without it both choices predict no better than the mean.
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, study), marker in zip(studies.items(), ("o", "s"), strict=True):
    values = np.array([trial.value for trial in study.trials])
    line = ax.plot(np.minimum.accumulate(values), drawstyle="steps-post", label=name)[0]
    ax.plot(values, marker, color=line.get_color(), markersize=4, alpha=0.6)
ax.axhline(data.y[data.train].std(), color="0.5", linewidth=1, linestyle="--", label="standard deviation of y")
ax.set(xlabel="trial", ylabel="cross-validated error")
ax.legend(frameon=False)
plt.show()
