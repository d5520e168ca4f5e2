"""One thread, and fits that many tests can share."""

from collections.abc import Iterator

import pandas as pd
import pytest
import torch
from forecaster_parts import small, waves

from olinear.forecaster import Forecaster


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """The models here are so small that more threads only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    return waves()


@pytest.fixture(scope="session")
def fitted(frame: pd.DataFrame) -> Forecaster:
    """Fitted on the first 130 rows of `frame`; nobody may change it."""
    return small(max_epochs=3, learning_rate=5e-3).fit(frame[:130])
