"""Data in chunks: the same sums, coefficients and predictions, however they are cut, or a clear refusal."""

import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest

import specavg as sa
from specavg import groups
from specavg.data._streaming import ChunkMoments, ChunkStream, invariant_moments, pairwise_total
from specavg.estimators import Moments

SPACE, GROUP = sa.Torus(2), groups.sign_flips(2)
X = SPACE.sample(1000, random_state=0)
Y = np.column_stack([np.exp(np.cos(np.pi * X).sum(axis=1)), X[:, 0] ** 2])
Z = SPACE.sample(50, random_state=1)

MODELS = {
    "SpecAvgRegressor": lambda: sa.SpecAvgRegressor(SPACE, GROUP, max_invariant_dim=40),
    "InvariantKernelRidge": lambda: sa.InvariantKernelRidge(SPACE, GROUP, max_invariant_dim=40),
}


def chunks(size, *arrays):
    """Successive rows of several arrays, as tuples."""
    return (tuple(a[i : i + size] for a in arrays) for i in range(0, len(arrays[0]), size))


def same(a, b, tolerance=1e-12):
    assert a.coef_.shape == b.coef_.shape
    scale = 1 + np.abs(b.coef_).max()
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(a.predict(Z), b.predict(Z), rtol=0, atol=tolerance * scale)


def test_ten_million_rows_in_any_chunking_agree():
    space = sa.Torus(1)
    basis = sa.invariant_basis(space, groups.sign_flips(1), max_invariant_dim=5)
    rng = np.random.default_rng(0)
    n = 10_000_000
    points = rng.uniform(-1, 1, size=(n, 1))
    targets = (1e3 + rng.normal(size=n))[:, None]  # a large mean, so that plain sums would lose digits
    chunk_moments = ChunkMoments(basis, targets=True)
    found = []
    for size in (n, 1_234_567, 50_001):
        stream = ChunkStream(chunks(size, points, targets), targets=True)
        found.append(stream.moments(chunk_moments))
    for other in found[1:]:
        assert other.count == found[0].count == n
        for name in ("weight", "features", "targets", "target_squares", "cross", "gram"):
            a, b = getattr(found[0], name).value, getattr(other, name).value
            scale = np.abs(getattr(found[0], name).value).max()
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-12 * scale, err_msg=name)


def test_moments_of_chunks_equal_exact_sums():
    """Against Python's exact summation, not against the library."""
    from math import fsum

    basis = sa.invariant_basis(SPACE, GROUP, max_invariant_dim=4)
    rng = np.random.default_rng(3)
    y = rng.normal(size=(1000, 1)) * 10.0 ** rng.integers(-8, 8, size=(1000, 1))
    parts = (ChunkMoments(basis, True, partial(invariant_moments, gram=False))(x, t) for x, t in chunks(7, X, y))
    found = pairwise_total(parts)
    values = basis.evaluate(np.abs(X))
    for j in range(basis.dim):
        exact = fsum((values[:, j] * y[:, 0]).tolist())
        scale = fsum(np.abs(values[:, j] * y[:, 0]).tolist())
        assert abs(found.cross.value[j, 0] - exact) <= 1e-15 * scale


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("outputs", [(), (2,)])
def test_an_iterator_partial_fit_and_a_parquet_file_give_the_same_model(name, outputs, tmp_path):
    y = Y if outputs else Y[:, 0]
    whole = MODELS[name]().fit(chunks(1000, X, y))
    same(MODELS[name]().fit(chunks(130, X, y)), whole)
    parts = MODELS[name]()
    for x, t in chunks(300, X, y):
        parts.partial_fit(x, t)
    same(parts, whole)
    frame = pd.DataFrame(X, columns=["a", "b"])
    names = ["y0", "y1"] if outputs else ["y0"]
    frame[names] = Y[:, : len(names)]
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=170)
    read = MODELS[name]().fit(tmp_path / "data.parquet", names if outputs else "y0")
    assert list(read.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(read.coef_, whole.coef_, rtol=0, atol=1e-12 * (1 + np.abs(whole.coef_).max()))


def test_streams_equal_the_ordinary_fit():
    ordinary = MODELS["SpecAvgRegressor"]().fit(X, Y)
    same(MODELS["SpecAvgRegressor"]().fit(chunks(97, X, Y)), ordinary, 1e-14)


def test_kernel_ridge_chosen_from_moments_predicts_as_well_as_from_features():
    rng = np.random.default_rng(0)
    noisy = Y[:, 0] + 0.1 * rng.normal(size=len(X))
    truth = np.exp(np.cos(np.pi * Z).sum(axis=1))
    streamed = MODELS["InvariantKernelRidge"]().fit(chunks(200, X, noisy))
    ordinary = MODELS["InvariantKernelRidge"]().fit(X, noisy)
    assert streamed.solver_ == "moments"
    errors = [np.sqrt(np.mean((model.predict(Z) - truth) ** 2)) for model in (streamed, ordinary)]
    assert errors[0] < 1.3 * errors[1] + 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_weights_stream_too(name):
    w = np.random.default_rng(0).uniform(size=len(X))
    same(MODELS[name]().fit(chunks(210, X, Y, w)), MODELS[name]().fit(chunks(1000, X, Y, w)))


@pytest.mark.parametrize("name", MODELS)
def test_float32_is_accepted_and_computed_in_float64(name):
    single = [a.astype(np.float32) for a in (X, Y)]
    model = MODELS[name]().fit(chunks(200, *single))
    assert model.coef_.dtype == np.float64
    same(model, MODELS[name]().fit(chunks(1000, *(a.astype(np.float64) for a in single))))


@pytest.mark.parametrize("name", MODELS)
def test_partial_fit_needs_a_cutoff_and_says_so(name):
    model = MODELS[name]().set_params(max_invariant_dim=None)
    with pytest.raises(ValueError, match="partial_fit needs an explicit cutoff"):
        model.partial_fit(X, Y)
    with pytest.raises(ValueError, match="give a cutoff"):
        model.fit(chunks(100, X, Y))


@pytest.mark.parametrize("name", MODELS)
def test_a_failure_leaves_the_model_as_it_was(name):
    model = MODELS[name]().fit(X, Y)
    before = dict(vars(model))
    bad = X.copy()
    bad[555, 1] = np.nan
    with pytest.raises(ValueError, match=r"chunk 5: X has NaN or infinity in 1 of 100 rows \(first: 55\)"):
        model.fit(chunks(100, bad, Y))
    assert vars(model) == before
    fresh = MODELS[name]()
    with pytest.raises(ValueError, match="chunk 5"):
        fresh.fit(chunks(100, bad, Y))
    assert not hasattr(fresh, "basis_")
    assert not hasattr(fresh, "n_features_in_")


def test_partial_fit_continues_after_a_failure_and_after_loading(tmp_path):
    model = MODELS["SpecAvgRegressor"]().partial_fit(X[:400], Y[:400])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[400:, :1], Y[400:])
    model.save(tmp_path / "model.specavg")
    for continued in (model, sa.load(tmp_path / "model.specavg")):
        same(continued.partial_fit(X[400:], Y[400:]), MODELS["SpecAvgRegressor"]().fit(X, Y))


def test_fit_forgets_what_partial_fit_saw():
    model = MODELS["SpecAvgRegressor"]().partial_fit(X[:400], Y[:400]).fit(X[400:], Y[400:])
    same(model, MODELS["SpecAvgRegressor"]().fit(X[400:], Y[400:]))


@pytest.mark.parametrize("name", ["SpecAvgRegressor", "InvariantKernelRidge"])
def test_partial_fit_continues_from_a_fit_on_a_stream_and_warns_of_one_in_memory(name):
    both = MODELS[name]().partial_fit(X[:400], Y[:400]).partial_fit(X[400:], Y[400:])
    streamed = MODELS[name]().fit(iter([(X[:400], Y[:400])])).partial_fit(X[400:], Y[400:])
    np.testing.assert_array_equal(streamed.coef_, both.coef_)
    model = MODELS[name]().fit(X[:400], Y[:400])
    with pytest.warns(UserWarning, match=r"what fit saw is lost.*keeps no sums.*partial_fit too.*as a stream"):
        model.partial_fit(X[400:], Y[400:])
    np.testing.assert_array_equal(model.coef_, MODELS[name]().partial_fit(X[400:], Y[400:]).coef_)


@pytest.mark.parametrize(
    "change, said",
    [
        ({"max_invariant_dim": 5, "max_eigenvalue": None, "max_dim": None}, r"cutoff was .* and is .*value=5\.0"),
        ({"group": sa.groups.trivial(X.shape[1])}, r"group was .* and is trivial"),
        ({"space": sa.Torus(X.shape[1], period=3)}, r"space was .* and is .*period=3"),
    ],
    ids=["cutoff", "group", "space"],
)
def test_pieces_on_other_functions_are_refused_with_what_changed(change, said):
    model = MODELS["InvariantKernelRidge"]().partial_fit(X[:400], Y[:400])
    model.set_params(**change)
    with pytest.raises(ValueError, match=rf"functions are not those of earlier pieces.*{said}.*clone"):
        model.partial_fit(X[400:], Y[400:])


def test_pieces_with_other_outputs_are_refused():
    model = MODELS["InvariantKernelRidge"]().partial_fit(X[:400], Y[:400, 0])
    for pieces in ((X[400:], Y[400:]), (iter([(X[400:], Y[400:])]),)):
        with pytest.raises(ValueError, match=rf"y has {Y.shape[1]} columns.*earlier pieces had 1.*clone"):
            model.partial_fit(*pieces)


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        ((iter([]),), "yields no chunks"),
        ((iter([X]),), "chunks must be tuples"),
        ((iter([(X, Y)]), Y), "y itself must be None"),
        ((iter([(X[:0], Y[:0])]),), "there are no rows"),
        ((iter([(X, Y[:5])]),), "chunk 0: X has 1000 rows but y has 5"),
        ((iter([(X, Y, -np.ones(1000))]),), "chunk 0: sample_weight must be 1000 numbers, none negative"),
        ((iter([(X, Y, np.zeros(1000))]),), "sums to zero"),
    ],
)
def test_streams_that_cannot_be_fitted_say_why(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        MODELS["SpecAvgRegressor"]().fit(*arguments)


def test_a_parquet_column_that_is_missing_or_not_a_number_is_named(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": ["x"] * len(X), "y": Y[:, 0]})
    frame.to_parquet(tmp_path / "data.parquet")
    model = MODELS["SpecAvgRegressor"]()
    with pytest.raises(ValueError, match="has no column 'z'; it has a, b, y"):
        model.fit(tmp_path / "data.parquet", "z")
    with pytest.raises(ValueError, match="the column 'b' does not hold numbers"):
        model.fit(tmp_path / "data.parquet", "y")
    with pytest.raises(ValueError, match="must be the name of its target column"):
        model.fit(tmp_path / "data.parquet")


def test_memory_does_not_grow_with_the_number_of_rows(tmp_path):
    """A Parquet file of a hundred times the memory limit; what is held at any time stays a few limits."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, limit, rng = tmp_path / "large.parquet", 2_000_000, np.random.default_rng(0)
    schema = pa.schema([(name, pa.float64()) for name in ("a", "b", "y")])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(60):
            writer.write_table(pa.table({name: rng.uniform(-1, 1, 150_000) for name in schema.names}, schema))
    model = MODELS["SpecAvgRegressor"]()
    model.fit(X, Y[:, 0])  # compile and build the basis first: they are not what is measured
    with sa.config(memory_limit=limit):
        tracemalloc.start()
        model.fit(path, "y")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert path.stat().st_size > 50 * limit
    assert peak < 8 * limit


def test_moments_add_only_where_they_are_of_the_same_thing():
    bases = [sa.invariant_basis(SPACE, GROUP, max_invariant_dim=k) for k in (4, 10)]
    a, b = (Moments.of(basis, X, Y) for basis in bases)
    with pytest.raises(ValueError, match="do not add"):
        a + b


def frames(*orders):
    """Chunks with named columns, in the given orders."""
    parts = np.array_split(np.arange(len(X)), len(orders))
    table = pd.DataFrame(X, columns=["a", "b"])
    return [(table.iloc[rows][list(order)], Y[rows]) for rows, order in zip(parts, orders, strict=True)]


def renamed(frame):
    return frame.rename(columns={"b": "c"})


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("bad", ["reordered", "renamed"])
@pytest.mark.parametrize("way", ["iterator", "partial_fit", "parquet"])
def test_chunks_with_other_columns_than_the_first_are_refused(name, bad, way, tmp_path):
    (first, y0), (second, y1) = frames("ab", "ba" if bad == "reordered" else "ab")
    second = renamed(second) if bad == "renamed" else second
    model = MODELS[name]()
    complaint = "in another order" if bad == "reordered" else "'c' are new and 'b' are missing"
    if way == "iterator":
        with pytest.raises(ValueError, match=f"chunk 1: .*{complaint}"):
            model.fit(iter([(first, y0), (second, y1)]))
        assert not hasattr(model, "coef_")
        return
    if way == "parquet":
        for i, (frame, y) in enumerate(((first, y0), (second, y1))):
            frame.assign(y=y[:, 0]).to_parquet(tmp_path / f"{i}.parquet")
        model.partial_fit(tmp_path / "0.parquet", "y")
        before = model.coef_
        with pytest.raises(ValueError, match=complaint):
            model.partial_fit(tmp_path / "1.parquet", "y")
    else:
        model.partial_fit(first, y0)
        before = model.coef_
        with pytest.raises(ValueError, match="feature names"):  # scikit-learn's own words
            model.partial_fit(second, y1)
    assert model.coef_ is before


def test_densities_take_chunks_in_an_iterator_or_a_list_with_and_without_weights():
    n, weights = 100, np.linspace(1, 2, len(X))
    for w in (None, weights):
        pairs = [(X[:n], None if w is None else w[:n]), (X[n:], None if w is None else w[n:])]
        triples = [(points, None, some) for points, some in pairs]
        given = [pairs, iter(pairs), triples, iter(triples)]
        if w is None:
            given += [[(X[:n],), (X[n:],)], iter([X[:n], X[n:]])]
        coefficients = [sa.InvariantDensity(SPACE, GROUP, max_invariant_dim=9).fit(data).coef_ for data in given]
        assert all((found == coefficients[0]).all() for found in coefficients)


def test_what_is_no_chunk_is_refused_in_our_words():
    pieces = [X[:100], X[100:]]
    for model in (sa.InvariantDensity(SPACE, max_dim=9), sa.InvariantKernelRidge(SPACE, max_dim=9)):
        with pytest.raises(TypeError, match=r"X is a list of tables, .* np.concatenate joins them. Chunks for fit are"):
            model.fit(pieces)
    with pytest.raises(TypeError, match="X is a list of tables"):
        sa.InvariantKernelRidge(SPACE, max_dim=9).fit([(points, None) for points in pieces])
    with pytest.raises(ValueError, match=r"without targets chunks must be .* got a tuple of 3 with y"):
        sa.InvariantDensity(SPACE, max_dim=9).fit([(points, points[:, 0], points[:, 0]) for points in pieces])


@pytest.mark.parametrize("name", MODELS)
def test_chunks_with_the_same_columns_and_chunks_without_names_are_taken(name):
    (first, y0), (second, y1) = frames("ab", "ab")
    whole = MODELS[name]().fit(chunks(500, X, Y))
    for other in (second, second.to_numpy()):
        found = MODELS[name]().fit(iter([(first, y0), (other, y1)]))
        np.testing.assert_allclose(found.coef_, whole.coef_, rtol=0, atol=1e-12 * (1 + np.abs(whole.coef_).max()))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shapes", [((-1,), (-1, 1)), ((-1, 1), (-1,))])
def test_targets_with_and_without_an_axis_are_the_same_targets(name, shapes):
    model = MODELS[name]()
    for rows, shape in zip((slice(0, 400), slice(400, None)), shapes, strict=True):
        model.partial_fit(X[rows], Y[rows, 0].reshape(shape))
    assert model.predict(Z).shape == Z[:, 0].reshape(shapes[0]).shape


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[ns]"])
@pytest.mark.parametrize("column", ["a", "y"])
def test_times_are_not_numbers(kind, column, tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y[:, 0]})
    frame[column] = np.arange(len(X)).astype(kind)
    frame.to_parquet(tmp_path / "data.parquet")
    with pytest.raises(ValueError, match=f"the column '{column}' does not hold numbers"):
        MODELS["SpecAvgRegressor"]().fit(tmp_path / "data.parquet", "y")
    with pytest.raises(
        ValueError, match=r"chunk 0: (X holds dates .*64\[ns\]\) in column 'a'|y holds .*64\[ns\], not num)"
    ):
        MODELS["SpecAvgRegressor"]().fit(iter([(frame[["a", "b"]], frame["y"])]))
