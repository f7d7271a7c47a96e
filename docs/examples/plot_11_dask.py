"""
More data than memory: Parquet files and Dask
=============================================

All that an estimator needs from data are sums over the rows. So data may come in pieces: a Dask collection is summed
where its partitions are, and only the sums travel. Nothing else changes, and the model is the same.

Here are a quarter of a million noisy measurements of the stiffness of copper, in eight Parquet files.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import dask
import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone

import specavg as sa
from specavg.datasets import load_copper

data = load_copper()
folder = TemporaryDirectory()
truth = sa.InvariantKernelRidge(data.space, data.group).fit(data.X[:100], data.y[:100])  # to 1e-7 GPa
for part in range(8):
    X = data.space.sample(31_250, random_state=part)
    y = truth.predict(X) + np.random.default_rng(part).normal(scale=10.0, size=len(X))
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "modulus": y})
    frame.to_parquet(Path(folder.name) / f"part-{part}.parquet")

table = dd.read_parquet(folder.name)
print(table.npartitions, "partitions;", f"{len(table):,} rows")

# %%
# Fitting where the data are
# --------------------------
# With a cluster (``distributed.Client``) the sums are made on its workers; here threads do. With the same spectrum and
# penalty, the same rows from memory give the same model, to rounding.


def report(name, model, X, y):
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    error = np.sqrt(np.mean((model.predict(measured) - data.y) ** 2))
    change = sa.invariance_discrepancy(model, data.space, data.group, data.X[:100])
    print(f"{name:28s} error {error:.4f} GPa   discrepancy {float(change):.1e}   {seconds:.2f} s")
    return model


measured = pd.DataFrame(data.X, columns=["x", "y", "z"])
features, target = table[["x", "y", "z"]], table["modulus"]
invariant = sa.InvariantKernelRidge(data.space, data.group, max_eigenvalue=20 * 21)
plain = sa.InvariantKernelRidge(data.space, max_eigenvalue=20 * 21)
with dask.config.set(scheduler="threads"):
    report("with the symmetry, Dask", invariant, features, target)
    report("without, Dask", plain, features, target)
    local = table.compute()
settings = {name: getattr(invariant.spectrum_, name) for name in ("smoothness", "length_scale")}
same = clone(invariant).set_params(spectrum=invariant.spectrum_.name, alpha=invariant.alpha_, **settings)
again = report("with the symmetry, memory", same, local[["x", "y", "z"]], local["modulus"])
difference = again.predict(measured) - invariant.predict(measured)
print(f"largest difference of predictions: {np.abs(difference).max():.1e} GPa")

# %%
# Predictions stay lazy: a collection goes in and a collection comes out, to be computed partition by partition.
lazy = invariant.predict(features)
print(f"{type(lazy).__name__} of {lazy.npartitions} partitions, mean {lazy.mean().compute():.2f} GPa")

# %%
# The error that is left
# ----------------------
# A quarter of a million measurements determine 441 harmonics well, and the 14 invariant ones among them better. Both
# maps have one scale of colours.
figure, panels = plt.subplots(1, 2, figsize=(10, 3), subplot_kw={"projection": "mollweide"}, layout="constrained")
for panel, model, title in zip(panels, (invariant, plain), ("with the symmetry", "without"), strict=True):
    sa.plot.sphere(
        lambda X, model=model: model.predict(pd.DataFrame(X, columns=list("xyz"))) - truth.predict(X),
        space=data.space,
        group=data.group,
        projection="mollweide",
        symmetry=False,
        label="error (GPa)",
        ax=panel,
    )
    panel.set_title(title, pad=18)
drawn = [panel.collections[0] for panel in panels]
for colours in drawn:  # one scale for both
    colours.set_clim(min(c.get_array().min() for c in drawn), max(c.get_array().max() for c in drawn))
plt.show()
folder.cleanup()
