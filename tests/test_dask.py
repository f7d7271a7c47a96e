"""Dask on a real cluster of worker processes: the same answers, through deaths and bad partitions."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import specavg as sa
from specavg import groups

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

SPACE, GROUP = sa.Torus(2), groups.hyperoctahedral(2)
N = 20_000
X = SPACE.sample(N, random_state=0)
Y = np.exp(np.cos(np.pi * X).sum(axis=1)) + 0.1 * np.random.default_rng(0).normal(size=N)
UNEVEN = ((0, 1, 6_999, 0, 3_000, 10_000, 0), (2,))

MODELS = {
    "SpecAvgRegressor": lambda: sa.SpecAvgRegressor(SPACE, GROUP, max_invariant_dim=50),
    "InvariantKernelRidge": lambda: sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=50),
}


@pytest.fixture(scope="module")
def client():
    # Compile here first: workers then only read numba's cache, which two processes must not write at once.
    for make in MODELS.values():
        make().fit(X[:1000], Y[:1000]).predict(X[:1000])
        make().fit(iter([(X[:1000], Y[:1000])]))
    sa.SpecAvgRegressor(sa.Torus(1), groups.sign_flips(1), max_invariant_dim=4).fit(X[:1000, :1], Y[:1000])
    settings = {"distributed.scheduler.allowed-failures": 10, "distributed.comm.timeouts.connect": "60s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def arrays(chunks=UNEVEN, x=X, y=Y):
    return da.from_array(x, chunks=chunks), da.from_array(y, chunks=(chunks[0],))


def frames(npartitions=6):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["y"] = Y
    whole = dd.from_pandas(frame, npartitions=npartitions)
    return whole[["a", "b"]], whole["y"], frame[["a", "b"]]


@pytest.mark.parametrize("name", MODELS)
def test_uneven_and_empty_partitions_give_the_local_model(client, name):
    local = MODELS[name]().fit(iter([(X, Y)]))  # the route by moments, in this process
    lazy_X, lazy_y = arrays()
    model = MODELS[name]().fit(lazy_X, lazy_y)
    scale = 1 + np.abs(local.coef_).max()
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-12 * scale)
    found = model.predict(lazy_X)
    assert isinstance(found, da.Array)
    assert found.shape == (N,)
    np.testing.assert_array_equal(found.compute(), model.predict(X))
    np.testing.assert_allclose(found.compute(), local.predict(X), rtol=0, atol=1e-12 * scale)
    if name == "InvariantKernelRidge":
        assert (model.spectrum_.name, model.solver_) == (local.spectrum_.name, "moments")


def test_moments_equal_the_local_ones(client):
    from specavg.data._streaming import ChunkMoments, stream_of

    basis = sa.invariant_basis(SPACE, GROUP, max_invariant_dim=50)
    chunk_moments = ChunkMoments(basis, targets=True)
    local = chunk_moments(X, Y)
    remote = stream_of(*arrays()).moments(chunk_moments)
    assert remote.count == local.count
    for name in ("weight", "weight_squares", "features", "targets", "target_squares", "cross", "gram"):
        a, b = getattr(local, name).value, getattr(remote, name).value
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-12 * np.abs(a).max(), err_msg=name)


def test_dataframes_keep_their_names_and_index(client):
    lazy_X, lazy_y, frame = frames()
    model = MODELS["SpecAvgRegressor"]().fit(lazy_X, lazy_y)
    assert list(model.feature_names_in_) == ["a", "b"]
    local = MODELS["SpecAvgRegressor"]().fit(X, Y)
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-12)
    found = model.predict(lazy_X)
    assert found.npartitions == lazy_X.npartitions
    computed = found.compute()
    assert computed.index.equals(frame.index)
    np.testing.assert_array_equal(computed.to_numpy(), model.predict(frame))


def test_features_and_densities_per_partition(client):
    lazy_X, _ = arrays()
    features = sa.InvariantFeatures(SPACE, GROUP, max_invariant_dim=12).fit(lazy_X)
    lazy = features.transform(lazy_X)
    assert lazy.shape == (N, features.basis_.dim - 1)
    np.testing.assert_array_equal(lazy.compute(), features.transform(X))
    density = sa.InvariantDensity(SPACE, GROUP, max_invariant_dim=12).fit(X[:500])
    np.testing.assert_array_equal(density.score_samples(lazy_X).compute(), density.score_samples(X))


def test_features_of_a_frame_have_their_names():
    lazy, _, frame = frames()
    features = sa.InvariantFeatures(SPACE, GROUP, max_invariant_dim=12).fit(frame)
    found = features.transform(lazy)
    assert list(found.columns) == list(found.compute().columns) == list(features.get_feature_names_out())
    np.testing.assert_array_equal(found.compute().to_numpy(), features.transform(frame))


def test_a_symmetry_is_tested_partition_by_partition():
    x, y, w = X[:600], Y[:600], np.linspace(0.5, 2.0, 600)
    lazy = [da.from_array(x, chunks=(250, 2)), *(da.from_array(part, chunks=250) for part in (y, w))]
    for found, chunk in (
        (sa.symmetry_test(*lazy[:2], SPACE, GROUP), (x, y)),
        (sa.symmetry_test(*lazy[:2], SPACE, GROUP, sample_weight=lazy[2]), (x, y, w)),
    ):
        whole = sa.symmetry_test([chunk], None, SPACE, GROUP)
        assert (found.method, found.n_samples) == ("robust", 600)
        assert found.p_value == pytest.approx(whole.p_value, rel=1e-6)
        assert found.outside == pytest.approx(whole.outside, abs=1e-9)
    with pytest.raises(ValueError, match="arrays in memory, or n_permutations=0"):
        sa.symmetry_test(*lazy[:2], SPACE, GROUP, n_permutations=10)
    with pytest.raises(ValueError, match="y is a ndarray: give it as Dask too"):
        sa.symmetry_test(lazy[0], y, SPACE, GROUP)


def test_a_density_fitted_on_the_cluster_is_the_local_one(client):
    lazy_X, _ = arrays()
    model = sa.InvariantDensity(SPACE, GROUP, max_invariant_dim=12).fit(lazy_X)
    local = sa.InvariantDensity(SPACE, GROUP, max_invariant_dim=12).fit(iter([X]))
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)


def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(client):
    client.wait_for_workers(3)
    chunks = ((500,) * 40, (2,))
    expected = MODELS["SpecAvgRegressor"]().fit(*arrays(chunks))

    def slow(block):
        time.sleep(0.15)
        return block

    lazy_X, lazy_y = arrays(chunks)
    lazy_X = lazy_X.map_blocks(slow, dtype=float, meta=np.empty((0, 2)))
    pids = client.run(os.getpid)
    killed = []

    def kill():
        pid = next(iter(pids.values()))
        killed.append(pid)
        os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(0.8, kill)
    timer.start()
    model = MODELS["SpecAvgRegressor"]().fit(lazy_X, lazy_y)
    timer.join()
    assert killed
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-14)


def test_one_nan_among_ten_million_rows_is_found_and_its_partition_named(client):
    partitions, rows, bad = 100, 100_000, 73

    def block(block_info=None):
        i = block_info[None]["chunk-location"][0]
        points = np.random.default_rng(i).uniform(-1, 1, size=(rows, 1))
        if i == bad:
            points[54_321, 0] = np.nan
        return points

    lazy_X = da.map_blocks(block, chunks=((rows,) * partitions, (1,)), dtype=float, meta=np.empty((0, 1)))
    lazy_y = da.zeros(rows * partitions, chunks=rows)
    model = sa.SpecAvgRegressor(sa.Torus(1), groups.sign_flips(1), max_invariant_dim=4)
    message = r"partition 73: X has NaN or infinity in 1 of 100000 rows \(first: 54321\)"
    with pytest.raises(ValueError, match=message):
        model.fit(lazy_X, lazy_y)
    assert not [name for name in vars(model) if name.endswith("_")]
    clean = da.where(da.isnan(lazy_X), 0.0, lazy_X)
    assert model.fit(clean, lazy_y + 1.0).oracle_calls_.evaluations == 4 * rows * partitions
    np.testing.assert_allclose(model.coef_[0], 1.0, rtol=1e-12)


def test_the_basis_is_sent_and_never_rebuilt(client):
    """Workers evaluate the basis they are sent: their own cache of bases stays empty."""
    from specavg.invariants._basis import built_basis

    client.run(built_basis.cache_clear)
    MODELS["SpecAvgRegressor"]().fit(*arrays())
    misses = client.run(
        lambda: __import__("specavg.invariants._basis", fromlist=["built_basis"]).built_basis.cache_info().misses
    )
    assert set(misses.values()) == {0}


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: (arrays()[0], Y), "y is a ndarray: give it as Dask too"),
        (lambda: (arrays()[0], None), "needs a Dask y"),
        (lambda: (arrays()[0], da.zeros(N - 1, chunks=1000)), "X has 20000 rows but the other has 19999"),
        (lambda: (frames(6)[0], frames(4)[1]), "X has 6 partitions but y has 4"),
    ],
)
def test_what_does_not_match_is_refused(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        MODELS["SpecAvgRegressor"]().fit(*make())


def test_without_a_cluster_dask_uses_threads():
    lazy_X, lazy_y = arrays(((4_000,) * 5, (1, 1)))  # columns cut too: they are joined first
    with dask.config.set(scheduler="threads"):
        model = MODELS["SpecAvgRegressor"]().fit(lazy_X, lazy_y)
    np.testing.assert_allclose(model.coef_, MODELS["SpecAvgRegressor"]().fit(X, Y).coef_, rtol=0, atol=1e-13)


def test_columns_of_one_parquet_table_stay_aligned(tmp_path):
    # Optimised, Dask reads one column in fewer, larger partitions than two columns.
    import pandas as pd

    for part in range(8):
        rows = slice(part * 2_500, (part + 1) * 2_500)
        pd.DataFrame(X[rows], columns=["a", "b"]).assign(y=Y[rows]).to_parquet(tmp_path / f"part-{part}.parquet")
    table = dd.read_parquet(tmp_path)
    with dask.config.set(scheduler="threads"):
        model = MODELS["SpecAvgRegressor"]().fit(table[["a", "b"]], table["y"])
        predictions = np.asarray(model.predict(table[["a", "b"]]).compute())
    local = MODELS["SpecAvgRegressor"]().fit(X, Y)
    np.testing.assert_allclose(predictions, local.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order, complaint", [(["b", "a"], "in another order"), (["a", "c"], "'c' are new")])
def test_partitions_and_collections_with_other_columns_are_refused(order, complaint):
    import pandas as pd

    frame = pd.DataFrame(X[:, [0, 1, 0]], columns=["a", "b", "c"])
    lazy_y = dd.from_pandas(pd.Series(Y), npartitions=2)
    good = dd.from_pandas(frame[["a", "b"]], npartitions=2)
    model = MODELS["SpecAvgRegressor"]().partial_fit(good, lazy_y)
    with pytest.raises(ValueError, match=complaint):
        model.partial_fit(dd.from_pandas(frame[order], npartitions=2), lazy_y)
    second = dask.delayed(frame[order].iloc[N // 2 :])
    mixed = dd.from_delayed([good.get_partition(0).to_delayed()[0], second], meta=frame[["a", "b"]], verify_meta=False)
    with pytest.raises(ValueError, match=f"partition 1: .*{complaint}"):
        MODELS["SpecAvgRegressor"]().fit(mixed, lazy_y)


@pytest.mark.parametrize("n", [30, 100])
def test_few_rows_in_chunks_are_not_interpolated_by_chance(n):
    """Generalised cross-validation with more functions than rows: once 0.14 where leave-one-out has 0.006."""
    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    X, Z = space.sample(n, random_state=n), space.sample(2000, random_state=n + 1)
    truth = 1 / (0.4 + (Z**4).sum(axis=1))
    y = 1 / (0.4 + (X**4).sum(axis=1)) + 0.01 * np.random.default_rng(n).standard_normal(n)
    whole = sa.InvariantKernelRidge(space, group).fit(X, y)
    parts = sa.InvariantKernelRidge(space, group).fit(da.from_array(X, (10, 3)), da.from_array(y, 10))
    errors = [np.sqrt(np.mean((model.predict(Z) - truth) ** 2)) for model in (whole, parts)]
    assert errors[1] < 1.25 * errors[0]
    assert parts.loo_error_ == pytest.approx(whole.loo_error_, rel=0.2)


def test_few_vectors_in_chunks_are_not_interpolated_by_chance():
    space, group = sa.Sphere(3), sa.groups.point_group("Oh")
    X, Z = space.sample(60, random_state=60), space.sample(1000, random_state=61)
    Y = X**3 / (0.4 + (X**4).sum(axis=1))[:, None] + 0.01 * np.random.default_rng(60).standard_normal((60, 3))
    whole = sa.EquivariantKernelRidge(space, group, "vector").fit(X, Y)
    parts = sa.EquivariantKernelRidge(space, group, "vector").fit(da.from_array(X, (20, 3)), da.from_array(Y, (20, 3)))
    truth = Z**3 / (0.4 + (Z**4).sum(axis=1))[:, None]
    errors = [np.sqrt(np.mean((model.predict(Z) - truth) ** 2)) for model in (whole, parts)]  # once 0.0095 and 0.49
    assert errors[1] < 1.25 * errors[0]
    assert parts.loo_error_ == pytest.approx(whole.loo_error_, rel=0.2)
