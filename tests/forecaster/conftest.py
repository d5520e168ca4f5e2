"""Fits that many tests can share."""

import shutil
from pathlib import Path

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


@pytest.fixture(scope="session")
def saved(fitted, tmp_path_factory) -> Path:
    """The folder of `fitted`; nobody may change it."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(folder)
    return folder


@pytest.fixture
def copy(saved, tmp_path) -> Path:
    """A folder to do damage to."""
    return Path(shutil.copytree(saved, tmp_path / "model"))
