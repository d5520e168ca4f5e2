"""Splits along time: which rows train, validate and test."""

from dataclasses import dataclass
from typing import Self

from olinear.core import ConfigError, DataError


@dataclass(frozen=True)
class Split:
    """Three neighbouring spans of rows. A window belongs to the span that holds all of its targets.

    Validation and test windows look back into the span before, so that their first target is their first own
    row; training windows read training rows only. `borrow=False` keeps every window inside its own span (the
    custom of the PEMS datasets).
    """

    train: range
    validation: range
    test: range
    borrow: bool = True

    @classmethod
    def by_counts(cls, train: int, validation: int, test: int, *, borrow: bool = True) -> Self:
        """So many rows each, from the start."""
        if min(train, validation, test) < 0:
            raise ConfigError(f"a split needs counts of 0 or more, found {train}, {validation}, {test}")
        second, third = train + validation, train + validation + test
        return cls(range(train), range(train, second), range(second, third), borrow)

    @classmethod
    def by_ratio(cls, rows: int, train: float = 0.7, test: float = 0.2, *, borrow: bool = True) -> Self:
        """`int(train · rows)` rows to train, `int(test · rows)` at the end to test, those between to validate."""
        if not (train > 0 and test >= 0 and train + test <= 1):
            raise ConfigError(f"train and test must be shares that sum to at most 1, found {train} and {test}")
        n_train, n_test = int(train * rows), int(test * rows)
        return cls.by_counts(n_train, rows - n_train - n_test, n_test, borrow=borrow)

    def starts(self, span: range, lookback: int, horizon: int) -> range:
        """The first rows of all windows whose targets lie in `span`."""
        borrows = self.borrow and span != self.train
        first = max(span.start - lookback, 0) if borrows else span.start
        last = span.stop - lookback - horizon
        if last < first:
            needed = horizon if borrows and span.start >= lookback else lookback + horizon
            raise DataError(
                f"rows {span.start} to {span.stop - 1} hold no window: lookback {lookback} and horizon {horizon} need "
                f"{needed} rows, found {len(span)}: pass more rows, or a shorter lookback or horizon"
            )
        return range(first, last + 1)
