"""Settings: memory and threads, for good or for a block."""

import sys
import threading
import time

import numpy as np
import pytest

import specavg as sa
from specavg import _config, _reporting
from specavg._config import require_memory, settings
from specavg.regression import _reduced_rows


@pytest.fixture(autouse=True)
def restored():
    before = settings()
    yield
    sa.config(memory_limit=before.memory_limit, n_threads=before.n_threads, progress=before.progress)


def test_a_block_restores_what_was_there():
    before = settings()
    with sa.config(memory_limit="2 GB", n_threads=1) as inside:
        assert inside == settings()
        assert (inside.memory_limit, inside.n_threads) == (2 * 10**9, 1)
        with sa.config(n_threads=3):
            assert settings().memory_limit == 2 * 10**9
            assert settings().n_threads == 3
        assert settings().n_threads == 1
    assert settings() == before


def test_a_block_restores_after_an_error():
    before = settings()
    with pytest.raises(RuntimeError), sa.config(memory_limit=1000):
        raise RuntimeError
    assert settings() == before


def test_a_call_sets_for_good():
    sa.config(memory_limit=12_345)
    assert settings().memory_limit == 12_345


def test_blocks_of_threads_end_in_any_order():
    before, entered, overlapping = settings(), threading.Event(), threading.Event()
    seen = []

    def first():
        with sa.config(memory_limit="300 MB"):
            entered.set()
            overlapping.wait(10)

    def second():
        entered.wait(10)
        with sa.config(memory_limit="400 MB"):
            overlapping.set()
            threads[0].join(10)
            seen.append(settings().memory_limit)

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    threads[1].join(10)
    assert seen == [400_000_000]
    assert settings() == before


def test_a_block_sets_each_time_it_is_entered():
    before, block = settings(), sa.config(memory_limit="77 MB")
    for _ in range(2):
        with block as inside:
            assert inside.memory_limit == settings().memory_limit == 77_000_000
            with block:
                assert settings().memory_limit == 77_000_000
            assert settings().memory_limit == 77_000_000
        assert settings() == before


def test_a_call_within_a_block_outlasts_it():
    threads = settings().n_threads
    with sa.config(memory_limit="77 MB", n_threads=threads + 1):
        for limit in range(1000, 1100):
            sa.config(memory_limit=limit)
            assert (settings().memory_limit, settings().n_threads) == (limit, threads + 1)
        assert len(_config._layers) <= 3  # calls that are over leave nothing behind
    assert (settings().memory_limit, settings().n_threads) == (1099, threads)


def test_settings_are_seen_by_other_threads():
    seen = []
    with sa.config(n_threads=7):
        thread = threading.Thread(target=lambda: seen.append(settings().n_threads))
        thread.start()
        thread.join()
    assert seen == [7]


@pytest.mark.parametrize(
    "text, size", [("512 MiB", 512 * 2**20), ("1.5GB", 1_500_000_000), ("10 kB", 10_000), ("7", 7), (8.0, 8)]
)
def test_sizes_are_read(text, size):
    with sa.config(memory_limit=text) as inside:
        assert inside.memory_limit == size


@pytest.mark.parametrize("limit", ["much", "3 apples", "", -1, 0, float("nan"), "0 GB"])
def test_impossible_sizes_are_refused(limit):
    before = settings()
    with pytest.raises(ValueError, match="memory_limit"):
        sa.config(memory_limit=limit)
    assert settings() == before


@pytest.mark.parametrize("n", [0, -2, 1.5, "a"])
def test_impossible_thread_counts_are_refused(n):
    with pytest.raises(ValueError, match=f"n_threads must be a whole number, at least 1; got {n!r}"):
        sa.config(n_threads=n)


def test_progress_is_true_or_false():
    with pytest.raises(ValueError, match="progress must be True or False; got 'yes'"):
        sa.config(progress="yes")


def test_a_refusal_names_the_sizes_and_the_remedy():
    with sa.config(memory_limit="1 MB"), pytest.raises(MemoryError) as refusal:
        require_memory(2.5e9, "a table", "Use fewer rows.")
    text = str(refusal.value)
    assert text.startswith("a table would need 2.5 GB; the memory limit is 1 MB. Use fewer rows.")
    assert "sa.config(memory_limit=...)" in text


def test_the_default_is_half_of_what_a_container_may_use(tmp_path, monkeypatch):
    second, first = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    monkeypatch.setattr(_config, "_CONTAINER_LIMITS", (str(second), str(first)))
    machine = _config._default().memory_limit  # neither file is there
    second.write_text("max\n")
    first.write_text("9223372036854771712\n")  # how the first version writes that there is no bound
    assert _config._default().memory_limit == machine
    first.write_text("1000000\n")
    assert _config._default().memory_limit == 500_000
    second.write_text("800000\n")
    assert _config._default().memory_limit == 400_000


def test_the_default_is_a_share_of_the_machine():
    assert settings().memory_limit >= 10**8
    assert settings().n_threads >= 1


# --- progress -----------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(_reporting, "_PATIENCE", 0.0)
    monkeypatch.setattr(_reporting, "_EVERY", 0.001)


def slowly(count):
    for i in range(count):
        time.sleep(0.01)
        yield i


def test_nothing_is_said_unless_asked_for(impatient, capsys):
    assert list(_reporting.reported(slowly(3), "work", "steps")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_progress_is_said_in_a_log_at_the_end_and_by_the_outermost_work_alone(impatient, capsys):
    with sa.config(progress=True):
        inner = (i for i in _reporting.reported(slowly(2), "inner", "parts"))
        assert list(_reporting.reported(inner, "work", "steps", 2)) == [0, 1]
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "work: 2 of 2 steps, 0 s\n"


def test_progress_is_rewritten_on_a_terminal(impatient, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with sa.config(progress=True):
        list(_reporting.reported(slowly(4), "work", "steps"))
    err = capsys.readouterr().err
    assert err.count("\r") >= 2
    assert err.endswith("\rwork: 4 steps, 0 s\n")


def test_an_error_ends_the_line_and_later_work_is_reported_again(impatient, capsys):
    def failing():
        yield from slowly(2)
        raise RuntimeError

    with sa.config(progress=True):
        with pytest.raises(RuntimeError):
            list(_reporting.reported(failing(), "first", "steps"))
        list(_reporting.reported(slowly(2), "second", "steps"))
    assert capsys.readouterr().err == "first: 2 steps, 0 s\nsecond: 2 steps, 0 s\n"


def test_bases_choices_and_streams_report(impatient, capsys):
    space = sa.Torus(2, period=3.25)  # of no other test: its basis is not there yet
    X = space.sample(200, random_state=0)
    y = np.cos(2 * np.pi / 3.25 * X).sum(axis=1)
    model = sa.InvariantKernelRidge(space, sa.groups.symmetric(2), max_dim=80)
    with sa.config(progress=True):
        model.fit(X, y)
        model.fit(iter([(X, y)] * 40))
    said = capsys.readouterr().err
    assert "invariant basis on Torus(2, period=3.25): " in said
    assert "choice of spectrum and penalty: " in said
    assert "data: 40 chunks" in said


def test_one_long_step_is_announced_with_its_chunks_and_before_it_starts(impatient, capsys, monkeypatch):
    with sa.config(progress=True):
        with _reporting.announced("values", at_once=True):
            assert capsys.readouterr().err == "values ...\n"
            assert list(_reporting.counted(slowly(3), 3)) == [0, 1, 2]
            list(_reporting.reported(slowly(2), "inner", "parts"))  # says nothing of its own
        assert capsys.readouterr().err == "values: 0 s\n"
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with _reporting.announced("values"):
            list(_reporting.counted(slowly(4), 4))
    said = capsys.readouterr().err
    assert "of 4 chunks" in said
    assert said.rstrip().endswith("values: 0 s")


def test_evaluations_and_decompositions_report(impatient, capsys, monkeypatch):
    monkeypatch.setattr(_reduced_rows, "_LONG", 1e5)
    space = sa.Power(sa.Torus(2), 3)
    X = space.sample(3000, random_state=0)
    model = sa.InvariantKernelRidge(space, sa.groups.symmetric(3), max_dim=2000)
    with sa.config(progress=True):
        model.fit(X, np.cos(np.pi * X).sum(axis=1))
        fitted = capsys.readouterr().err
        model.basis_.combine(np.tile(X, (40, 1)), np.ones((model.basis_.dim, 1)))
    n = model.basis_.dim
    assert f"{n:,} functions at " in fitted
    assert f" rows by {n - 1:,} functions ...\n" in fitted
    assert f"{n:,} functions at 120,000 points: " in capsys.readouterr().err
