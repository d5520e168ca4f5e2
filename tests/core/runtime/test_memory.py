"""How much memory may be taken: amounts and shares are read, and a container's limit counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olinear.core import ConfigError
from olinear.core.runtime import format_bytes, free_memory, memory, memory_budget, parse_memory, within_memory

FREE = 8 * 10**9


@pytest.fixture
def machine(monkeypatch):
    """A machine with 8 GB free and no control groups."""
    monkeypatch.setattr(memory, "_free_on_this_machine", lambda: FREE)
    monkeypatch.setattr(memory, "_groups", list)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2GB", 2 * 10**9),
        ("500MB", 5 * 10**8),
        ("1.5 gb", 15 * 10**8),
        ("1GiB", 2**30),
        ("2g", 2 * 10**9),
        ("4096", 4096),
        (4096, 4096),
        (3e9, 3 * 10**9),
        ("50%", FREE // 2),
        (0.5, FREE // 2),
        ("0.5", FREE // 2),
        ("100%", FREE),
        (None, FREE // 4),
    ],
)
def test_amounts_and_shares(machine, given, expected):
    assert parse_memory(given) == expected


@pytest.mark.parametrize("given", ["", "much", "2XB", "-1GB", "0", 0, -5, "120%", "%", True, [1], float("nan"), "1e9"])
def test_what_is_no_amount_is_refused_before_any_work(given):
    with pytest.raises(ConfigError, match="memory must be an amount such as '2GB'"), within_memory(given):
        pytest.fail("the work has begun")


def test_the_innermost_amount_holds(machine):
    with within_memory("1GB"):
        assert memory_budget() == 10**9
        with within_memory(0.5):
            assert memory_budget() == FREE // 2
        assert memory_budget() == 10**9
    assert memory_budget() == FREE // 4


@given(st.integers(1, 10**15))
def test_sizes_in_words_are_read_back(size):
    assert parse_memory(format_bytes(size).replace("bytes", "b")) == pytest.approx(size, rel=0.06) or size == 1


@pytest.mark.parametrize(
    "names",
    [
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ],
)
def test_a_containers_limit_counts(monkeypatch, tmp_path, names):
    """Less what is used, but for files that are only cached; `max` is no limit."""
    limit, used, cache = names
    (tmp_path / limit).write_text("1000000000\n")
    (tmp_path / used).write_text("400000000\n")
    (tmp_path / "memory.stat").write_text(f"anon 3\n{cache} 100000000\n")
    monkeypatch.setattr(memory, "_free_on_this_machine", lambda: FREE)
    monkeypatch.setattr(memory, "_groups", lambda: [tmp_path, tmp_path / "nothing"])
    assert free_memory() == 700_000_000
    (tmp_path / limit).write_text("max\n")
    assert free_memory() == FREE


def test_where_the_system_does_not_say(monkeypatch):
    monkeypatch.setattr(memory, "_free_on_this_machine", lambda: None)
    monkeypatch.setattr(memory, "_groups", list)
    assert free_memory() == memory.UNKNOWN


def test_here_some_is_free():
    assert 2**24 < free_memory() < 2**50
