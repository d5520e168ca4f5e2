"""Which rows train, validate and test: a leak here would make every published number worthless."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError, DataError
from olinear.data.windows import Split

modest = settings(max_examples=100)
counts = st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
sizes = st.integers(1, 12)


def targets(start: int, lookback: int, horizon: int) -> range:
    return range(start + lookback, start + lookback + horizon)


def starts_or_none(split: Split, part: range, lookback: int, horizon: int) -> range | None:
    try:
        return split.starts(part, lookback, horizon)
    except DataError:
        return None


def parts(split: Split) -> tuple[range, range, range]:
    return split.train, split.validation, split.test


@modest
@given(counts, sizes, sizes, st.booleans())
def test_no_target_lies_outside_its_part(counts, lookback, horizon, borrow):
    split = Split.by_counts(*counts, borrow=borrow)
    for part in parts(split):
        for start in starts_or_none(split, part, lookback, horizon) or ():
            assert start >= 0
            assert all(row in part for row in targets(start, lookback, horizon))


@modest
@given(counts, sizes, sizes, st.booleans())
def test_no_training_window_reads_a_later_row(counts, lookback, horizon, borrow):
    split = Split.by_counts(*counts, borrow=borrow)
    starts = starts_or_none(split, split.train, lookback, horizon)
    assume(starts is not None)
    read = {row for start in starts for row in range(start, start + lookback + horizon)}
    assert read <= set(split.train)
    assert not read & (set(split.validation) | set(split.test))


@modest
@given(counts, sizes, sizes)
def test_the_first_target_of_a_later_part_is_its_first_own_row(counts, lookback, horizon):
    """Papers compare the same test rows at every lookback only because of this."""
    split = Split.by_counts(*counts)
    for part in (split.validation, split.test):
        assume(part.start >= lookback and len(part) >= horizon)
        starts = split.starts(part, lookback, horizon)
        assert targets(starts[0], lookback, horizon)[0] == part[0]
        assert targets(starts[-1], lookback, horizon)[-1] == part[-1]


@modest
@given(counts, sizes)
def test_every_later_row_is_a_target_at_horizon_one(counts, lookback):
    split = Split.by_counts(*counts)
    assume(counts[0] >= lookback)
    for part in (split.validation, split.test):
        assert [start + lookback for start in split.starts(part, lookback, 1)] == list(part)


@modest
@given(counts, sizes, sizes)
def test_without_borrowing_windows_stay_inside(counts, lookback, horizon):
    split = Split.by_counts(*counts, borrow=False)
    for part in parts(split):
        starts = starts_or_none(split, part, lookback, horizon)
        if len(part) < lookback + horizon:
            assert starts is None
        else:
            assert starts[0] == part[0]
            assert starts[-1] + lookback + horizon == part.stop
            assert starts.step == 1


@modest
@given(counts, sizes, sizes, st.booleans())
def test_all_windows_there_could_be_are_there(counts, lookback, horizon, borrow):
    split = Split.by_counts(*counts, borrow=borrow)
    for part in parts(split):
        reachable = range(part.stop) if borrow else part
        expected = [start for start in reachable if all(row in part for row in targets(start, lookback, horizon))]
        assert list(starts_or_none(split, part, lookback, horizon) or ()) == expected


@modest
@given(st.integers(1, 400), st.floats(0.1, 0.8), st.floats(0, 0.2))
def test_the_parts_of_a_ratio_tile_the_rows(rows, train, test):
    split = Split.by_ratio(rows, train, test)
    assert [*split.train, *split.validation, *split.test] == list(range(rows))


def test_counts_of_etth1():
    """12, 4 and 4 months of hours, as every published ETTh1 result uses them."""
    split = Split.by_counts(8640, 2880, 2880)
    assert parts(split) == (range(8640), range(8640, 11520), range(11520, 14400))
    assert [len(split.starts(part, 96, 96)) for part in parts(split)] == [8449, 2785, 2785]
    assert split.starts(split.test, 96, 96)[0] == 11520 - 96


@pytest.mark.parametrize(
    ("rows", "train", "test", "expected"),
    [
        (966, 0.7, 0.2, (676, 97, 193)),  # ILI
        (966, 0.6, 0.2, (579, 194, 193)),
        (335, 0.7, 0.2, (234, 34, 67)),  # COVID-19
        (335, 0.6, 0.2, (201, 67, 67)),
    ],
)
def test_ratios_round_down_and_validation_takes_the_rest(rows, train, test, expected):
    assert tuple(len(part) for part in parts(Split.by_ratio(rows, train, test))) == expected


def test_the_default_ratio_is_seven_one_two():
    assert Split.by_ratio(966) == Split.by_ratio(966, 0.7, 0.2)


def test_a_ratio_passes_borrow_on():
    assert Split.by_ratio(100).borrow
    assert not Split.by_ratio(100, borrow=False).borrow


@pytest.mark.parametrize("counts", [(-1, 5, 5), (5, -1, 5), (5, 5, -1)])
def test_negative_counts_are_refused(counts):
    with pytest.raises(ConfigError, match="-1"):
        Split.by_counts(*counts)


@pytest.mark.parametrize(("train", "test"), [(0, 0.2), (-0.1, 0.2), (0.7, -0.1), (0.9, 0.2), (float("nan"), 0.2)])
def test_shares_that_are_none_are_refused(train, test):
    with pytest.raises(ConfigError, match="at most 1"):
        Split.by_ratio(100, train, test)


@pytest.mark.parametrize(("borrow", "needed"), [(True, 6), (False, 16)])
def test_a_part_too_short_says_what_it_needs(borrow, needed):
    split = Split.by_counts(50, 5, 20, borrow=borrow)
    with pytest.raises(DataError, match=rf"rows 50 to 54 .* need {needed} rows, found 5"):
        split.starts(split.validation, 10, 6)


def test_a_borrowed_lookback_needs_rows_to_borrow():
    split = Split.by_counts(3, 10, 0)
    with pytest.raises(DataError, match="need 16 rows, found 10"):
        split.starts(split.validation, 12, 4)
    with pytest.raises(DataError, match="found 0"):
        split.starts(split.test, 2, 1)
