"""Windows cut by index must be what plain slicing gives."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import DataError
from olinear.data.windows import Windows

modest = settings(max_examples=60)


@st.composite
def cases(draw) -> Windows:
    """Windows of numbered cells, beginning at all rows or at a strided part of them."""
    lookback, horizon, n_series = draw(st.integers(1, 6)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    room = draw(st.integers(1, 20))  # windows there are
    rows = lookback + horizon + room - 1
    starts = None
    if draw(st.booleans()):
        first = draw(st.integers(0, room - 1))
        starts = range(first, draw(st.integers(first + 1, room)), draw(st.integers(1, 4)))
    values = np.arange(rows * n_series, dtype=np.float32).reshape(rows, n_series)
    return Windows(values, lookback, horizon, starts)


def sliced(windows: Windows, number: int) -> tuple[np.ndarray, np.ndarray]:
    values, start = windows.values.numpy(), list(windows.starts)[number]
    middle = start + windows.lookback
    return values[start:middle], values[middle : middle + windows.horizon]


@modest
@given(cases(), st.data())
def test_a_batch_is_plain_slicing(windows, data):
    index = data.draw(st.lists(st.integers(0, len(windows) - 1), min_size=1, max_size=8))
    x, y = windows.batch(torch.tensor(index)).pair
    assert x.shape == (len(index), windows.lookback, windows.n_series)
    assert y.shape == (len(index), windows.horizon, windows.n_series)
    for row, number in enumerate(index):
        lookback, horizon = sliced(windows, number)
        np.testing.assert_array_equal(x[row], lookback)
        np.testing.assert_array_equal(y[row], horizon)


@modest
@given(cases(), st.data())
def test_the_horizon_is_cut_from_the_targets(windows, data):
    """So that a gap can be bridged for looking back and still not count as a target."""
    targets = np.where(windows.values.numpy() % 3 == 1, np.nan, -windows.values.numpy())
    pair = Windows(windows.values, windows.lookback, windows.horizon, windows.starts, targets)
    other = Windows(targets, windows.lookback, windows.horizon, windows.starts)
    index = data.draw(st.lists(st.integers(0, len(windows) - 1), min_size=1, max_size=8))
    for row, number in enumerate(index):
        x, y = (side[row] for side in pair.batch(torch.tensor(index)).pair)
        np.testing.assert_array_equal(x, sliced(windows, number)[0])
        np.testing.assert_array_equal(y, sliced(other, number)[1])


@modest
@given(cases(), st.integers(1, 25), st.booleans(), st.integers(0, 99))
def test_batches_hold_every_window_once_and_in_order(windows, size, shuffle, seed):
    """A dropped last batch is the best-known flaw of published evaluations."""
    order = torch.randperm(len(windows), generator=torch.Generator().manual_seed(seed)) if shuffle else None
    numbers = range(len(windows)) if order is None else order.tolist()
    batches = list(windows.batches(size, order))
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    assert 1 <= len(batches[-1]) <= size
    x, y = (torch.cat(side).numpy() for side in zip(*(batch.pair for batch in batches), strict=True))
    np.testing.assert_array_equal(x, np.stack([sliced(windows, number)[0] for number in numbers]))
    np.testing.assert_array_equal(y, np.stack([sliced(windows, number)[1] for number in numbers]))


@modest
@given(cases())
def test_length_counts_the_starts(windows):
    assert len(windows) == len(list(windows.starts))


def test_an_empty_order_has_no_batches():
    """An epoch killed after its last step, before it was judged, goes on with no window left."""
    windows = Windows(torch.randn(20, 2), 4, 2)
    assert list(windows.batches(4, torch.arange(0))) == []


def test_all_windows_by_default():
    windows = Windows(torch.zeros(30, 2), 8, 4)
    assert list(windows.starts) == list(range(19))
    assert windows.starts[-1] + 8 + 4 == 30


def test_one_window_fits_exactly():
    x, y = Windows(torch.arange(12.0)[:, None], 8, 4).batch(torch.tensor([0])).pair
    assert x.flatten().tolist() == list(range(8))
    assert y.flatten().tolist() == [8, 9, 10, 11]


def test_integers_become_floats():
    windows = Windows(np.arange(24).reshape(12, 2), 8, 4)
    assert windows.values.dtype == torch.get_default_dtype()
    np.testing.assert_array_equal(windows.values, np.arange(24).reshape(12, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_contiguous_float_tensor_is_shared(dtype):
    """A large dataset is held once, however many windows are cut from it."""
    values = torch.zeros(20, 2, dtype=dtype)
    windows = Windows(values, 8, 4)
    values[19, 1] = 5.0
    assert windows.values.data_ptr() == values.data_ptr()
    assert windows.batch(torch.tensor([8])).targets[0, -1, 1] == 5.0


def test_a_numpy_array_is_shared():
    values = np.zeros((20, 2), dtype=np.float32)
    assert np.shares_memory(values, Windows(values, 8, 4).values.numpy())


def test_a_transposed_tensor_is_made_contiguous():
    values = torch.arange(40.0).view(2, 20).T
    windows = Windows(values, 8, 4)
    assert windows.values.is_contiguous()
    assert torch.equal(windows.values, values)


def test_to_keeps_rows_and_starts():
    windows = Windows(torch.randn(20, 2), 8, 4, range(1, 9, 3))
    moved = windows.to(torch.device("cpu"))
    assert moved.values.data_ptr() == windows.values.data_ptr()
    assert (moved.lookback, moved.horizon, moved.starts) == (8, 4, range(1, 9, 3))


def test_to_keeps_the_targets():
    values, targets = torch.randn(20, 2), torch.randn(20, 2)
    moved = Windows(values, 8, 4, targets=targets).to(torch.device("cpu"))
    assert torch.equal(moved.targets, targets)
    assert torch.equal(moved.batch(torch.tensor([3])).targets[0], targets[11:15])


def test_to_moves_a_copy():
    windows = Windows(torch.randn(20, 2), 8, 4)
    assert windows.to(torch.device("meta")).values.device.type == "meta"
    assert windows.values.device.type == "cpu"


@pytest.mark.parametrize("shape", [(12,), (12, 2, 1)])
def test_values_must_be_rows_by_series(shape):
    with pytest.raises(DataError, match=r"must have shape \(rows, series\), found"):
        Windows(torch.zeros(shape), 8, 4)


@pytest.mark.parametrize("shape", [(20,), (19, 2), (20, 1)])
def test_targets_must_match_the_values(shape):
    with pytest.raises(DataError, match="targets must have"):
        Windows(torch.zeros(20, 2), 8, 4, targets=torch.zeros(shape))


@pytest.mark.parametrize(("lookback", "horizon"), [(0, 4), (8, 0), (-1, 4)])
def test_sizes_must_be_positive(lookback, horizon):
    with pytest.raises(DataError, match="at least 1"):
        Windows(torch.zeros(20, 2), lookback, horizon)


def test_too_few_rows_say_how_many_are_needed():
    with pytest.raises(DataError, match="need 12 rows, found 11"):
        Windows(torch.zeros(11, 2), 8, 4)


@pytest.mark.parametrize(
    "starts", [range(0), range(-1, 5), range(10), range(0, 12, 11), range(5, -3, -1), range(100, 0, -1)], ids=str
)
def test_starts_outside_the_rows_are_refused(starts):
    """Found here, not as an index error in the middle of an epoch."""
    with pytest.raises(DataError):
        Windows(torch.zeros(20, 2), 8, 4, starts)
