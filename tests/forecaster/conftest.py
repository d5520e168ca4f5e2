"""Fits that many tests can share."""

import pandas as pd
import pytest
from forecaster_parts import small, waves

from olinear.forecaster import Forecaster


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    return waves()


@pytest.fixture(scope="session")
def fitted(frame: pd.DataFrame) -> Forecaster:
    """Fitted on the first 130 rows of `frame`; nobody may change it."""
    return small(max_epochs=3, learning_rate=5e-3).fit(frame[:130])
