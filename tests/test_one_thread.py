"""Linear algebra on one thread for few rows, and the number of threads as it was afterwards."""

import pydoc
import threading

import numpy as np
import pytest
from scipy import linalg
from threadpoolctl import threadpool_info, threadpool_limits

import specavg as sa
from specavg.estimators._one_thread import one_thread
from specavg.regression._measured_limits import ONE_THREAD_ROWS

S2, OH = sa.Sphere(3), sa.groups.point_group("Oh")


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    assert linalg.norm(np.ones((2, 2))) == 2.0  # the libraries are loaded
    with threadpool_limits(limits=2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("this BLAS has one thread")
        yield


def test_few_rows_have_one_thread_and_many_rows_all():
    with one_thread(ONE_THREAD_ROWS):
        assert set(blas_threads()) == {1}
        with one_thread(10):
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}
    with one_thread(ONE_THREAD_ROWS + 1):
        assert set(blas_threads()) == {2}


def test_the_number_is_set_back_where_contexts_of_threads_overlap():
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def second():
        first_is_in.wait()
        with one_thread(10):
            second_is_in.set()
            first_is_out.wait()

    other = threading.Thread(target=second)
    other.start()
    with one_thread(10):
        first_is_in.set()
        second_is_in.wait()
    assert set(blas_threads()) == {2}  # though the second is still inside
    first_is_out.set()
    other.join()
    assert set(blas_threads()) == {2}


def test_it_is_set_back_after_an_error():
    with pytest.raises(KeyError), one_thread(10):
        raise KeyError
    assert set(blas_threads()) == {2}


def _gradient(X):
    return 4 * (X**3 - (X**4).sum(axis=1, keepdims=True) * X)


@pytest.mark.parametrize(
    "module, name, call",
    [
        ("specavg.regression._nested_models.Models", "compare", lambda X, y: sa.symmetry_test(X, y, S2, OH)),
        (
            "specavg.discovery._field_search",
            "_largest",
            lambda X, y: sa.discover_symmetry(X, y, S2, sa.groups.orthogonal(3)),
        ),
        (
            "specavg.estimators._gradient_data",
            "best_density",
            lambda X, y: sa.InvariantKernelRidge(S2, OH).fit(X, y, gradient=_gradient(X)),
        ),
        ("specavg.estimators._density", "chosen_fit", lambda X, y: sa.InvariantDensity(S2, OH).fit(X)),
    ],
    ids=["symmetry_test", "discover_symmetry", "gradients", "density"],
)
def test_small_matrices_of_tests_searches_and_densities_have_one_thread(monkeypatch, module, name, call):
    seen = []
    original = pydoc.locate(f"{module}.{name}")

    def spied(*args, **kwargs):
        seen.append(set(blas_threads()))
        return original(*args, **kwargs)

    monkeypatch.setattr(f"{module}.{name}", spied)
    X = S2.sample(120, random_state=0)
    call(X, (X**4).sum(axis=1) + 0.01 * np.random.default_rng(0).normal(size=120))
    assert seen
    assert all(threads == {1} for threads in seen)
    assert set(blas_threads()) == {2}
