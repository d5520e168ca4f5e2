"""A data file and a model folder that many tests can share."""

from pathlib import Path

import pytest
from cli_parts import SMALL, done, waves


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 hours of three series."""
    path = tmp_path_factory.mktemp("data") / "waves.csv"
    waves().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fitted on `data` by the command; nobody may change it."""
    folder = tmp_path_factory.mktemp("models") / "model"
    done("fit", data, "--horizon", 4, "--out", folder, *SMALL)
    return folder
