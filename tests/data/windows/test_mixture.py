"""A mixture gives each dataset the same share, and no row that its windows do not have."""

import numpy as np
import pytest
import torch

from olinear.core import DataError
from olinear.data.windows import Mixture, Windows

LOOKBACK, HORIZON = 6, 2
SIZES = {"long": (40, 1), "wide": (20, 3), "few": (9, 2)}


def numbered(rows, n_series, first):
    """Every value another number, which says where it is from."""
    return first + np.arange(rows)[:, None] + 1000.0 * np.arange(n_series)


def parts(starts=None):
    return [
        Windows(numbered(*size, 10_000 * place), LOOKBACK, HORIZON, starts) for place, size in enumerate(SIZES.values())
    ]


def all_of(mixture, size=7):
    batches = list(mixture.batches(size))
    assert all(len(batch) <= size for batch in batches)
    return torch.cat([torch.cat(batch.pair, 1) for batch in batches])[..., 0].numpy()  # b t+h


def test_every_window_is_one_of_one_series_as_it_stands_there():
    found = all_of(Mixture(parts()))
    assert (np.diff(found, axis=1) == 1).all()
    known = {float(values[start, column]) for values, starts in ((part.values, part.starts) for part in parts())
             for start in starts for column in range(values.shape[1])}  # fmt: skip
    assert set(found[:, 0].tolist()) == known  # none is left out, and none is made up


@pytest.mark.parametrize("each", [None, 4, 200])
def test_datasets_have_equal_shares_whatever_their_sizes(each):
    mixture = Mixture(parts(), each)
    assert len(mixture) == 3 * mixture.each
    order = torch.arange(len(mixture))
    of, _, _ = mixture.places(order)
    assert torch.bincount(of).tolist() == [mixture.each] * 3
    for stretch in of.split(9):
        assert int(torch.bincount(stretch, minlength=3).max() - torch.bincount(stretch, minlength=3).min()) <= 1


def test_few_of_many_are_spread_evenly_and_many_of_few_equally_often():
    first = all_of(Mixture(parts()[:1], each=11))[:, 0]
    assert (np.diff(first) == 3).all()
    _, counts = np.unique(all_of(Mixture(parts()[2:], each=12))[:, 0], return_counts=True)
    assert counts.tolist() == [3] * 4


def test_only_rows_of_the_windows_are_read():
    """Those of later rows, such as a test split, are not: whatever stands there changes nothing."""
    before = all_of(Mixture(parts(range(2))))
    spoilt = parts(range(2))
    for part in spoilt:
        part.targets[LOOKBACK + HORIZON + 1 :] = torch.nan
    assert np.array_equal(all_of(Mixture(spoilt)), before)


def test_what_is_missing_stays_unknown_on_both_sides():
    values = numbered(20, 1, 0)
    values[5] = np.nan
    found = all_of(Mixture([Windows(np.zeros((20, 1)), LOOKBACK, HORIZON, targets=values)]))
    assert int(np.isnan(found).sum()) == 6  # as many windows as hold that row
    assert Mixture([Windows(values, LOOKBACK, HORIZON)]).is_finite()


def test_the_order_chooses_and_equal_data_have_equal_checksums():
    mixture = Mixture(parts())
    order = torch.tensor([5, 0, 5])
    (batch,) = mixture.batches(3, order)
    assert batch.past.shape == (3, LOOKBACK, 1)
    assert torch.equal(batch.past[0], batch.past[2])
    assert not list(mixture.batches(3, order[:0]))
    assert mixture.checksum() == Mixture(parts()).checksum() == mixture.to(torch.device("cpu")).checksum()
    assert mixture.checksum() != Mixture(parts(range(2))).checksum()
    assert mixture.checksum(1) != mixture.checksum()


def test_datasets_of_different_windows_are_no_mixture():
    other = Windows(numbered(20, 1, 0), LOOKBACK, HORIZON + 1)
    with pytest.raises(DataError, match=r"one lookback and horizon, found \[\(6, 2\), \(6, 3\)\]"):
        Mixture([*parts(), other])
    with pytest.raises(DataError, match="found none"):
        Mixture([])
