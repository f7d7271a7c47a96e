"""
Classification with invariant features
======================================

``InvariantFeatures`` turns points into the values of invariant functions; any scikit-learn model after it is exactly
invariant. Here: whether a cubic crystal yields early when it is pulled along a direction, where directions that
differ by a symmetry of the cube are the same.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import specavg as sa

space, group = sa.Sphere(3), sa.groups.point_group("Oh")

# %%
# The task
# --------
#
# A slip plane of a cubic crystal is loaded along a direction x. The largest Schmid factor over the twelve slip
# systems {111}⟨110⟩ decides whether the crystal yields first there; the classes are above and below the median. It
# is invariant under all 48 symmetries, and not smooth: it is a maximum.

planes = np.array([[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]]) / np.sqrt(3)
slips = np.array([[0, 1, -1], [1, 0, -1], [1, -1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / np.sqrt(2)


def schmid(X):
    factors = [np.abs((X @ n) * (X @ b)) for n in planes for b in slips if abs(n @ b) < 1e-12]
    return np.max(factors, axis=0)


X, Z = space.sample(150, random_state=0), space.sample(4000, random_state=1)
limit = np.median(schmid(space.sample(20_000, random_state=2)))
y, truth = schmid(X) > limit, schmid(Z) > limit

# %%
# With the group, and the same pipeline without it.

penalties = {"logisticregression__C": np.logspace(-2, 4, 7)}
models = {
    "with the symmetry": sa.InvariantFeatures(space, group, max_invariant_dim=30),
    "without": sa.InvariantFeatures(space, max_invariant_dim=100),
}
for name, features in models.items():
    pipeline = make_pipeline(features, StandardScaler(), LogisticRegression(max_iter=5000))
    model = GridSearchCV(pipeline, penalties, scoring="neg_log_loss")
    start = time.perf_counter()
    models[name] = model.fit(X, y)
    seconds = time.perf_counter() - start
    wrong = np.mean(model.predict(Z) != truth)

    def probability(P, model=model):
        return model.predict_proba(P)[:, 1]

    discrepancy = sa.invariance_discrepancy(probability, space, group, Z[:200])
    print(f"{name:18s} {100 * wrong:4.1f} % wrong   discrepancy of the probability {discrepancy:.1e}   {seconds:.1f} s")

# %%
# The probability of early yield. Dots are the training points that do yield early.


def draw(name):
    def probability(P):
        return models[name].predict_proba(P)[:, 1]

    ax = sa.plot.sphere(
        probability, space=space, group=group, projection="mollweide", data=X[y], label="probability of early yield"
    )
    ax.set_title(name)
    plt.show()


draw("with the symmetry")

# %%
draw("without")
