"""Settings: memory and threads, for good or for a block."""

import threading

import pytest

import specavg as sa
from specavg._config import require_memory, settings


@pytest.fixture(autouse=True)
def restored():
    before = settings()
    yield
    sa.config(memory_limit=before.memory_limit, n_threads=before.n_threads)


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


@pytest.mark.parametrize("n", [0, -2])
def test_impossible_thread_counts_are_refused(n):
    with pytest.raises(ValueError, match="n_threads must be at least 1"):
        sa.config(n_threads=n)


def test_a_refusal_names_the_sizes_and_the_remedy():
    with sa.config(memory_limit="1 MB"), pytest.raises(MemoryError) as refusal:
        require_memory(2.5e9, "a table", "Use fewer rows.")
    text = str(refusal.value)
    assert text.startswith("a table would need 2.5 GB; the memory limit is 1 MB. Use fewer rows.")
    assert "sa.config(memory_limit=...)" in text


def test_the_default_is_a_share_of_the_machine():
    assert settings().memory_limit >= 10**8
    assert settings().n_threads >= 1
