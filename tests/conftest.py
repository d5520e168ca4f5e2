"""What all tests share: reproducible random numbers, the optional datasets, and a count of what they miss."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from tiny_llm import write_gguf

NEEDS_DATA = "for want of data"

torch.set_num_threads(1)  # small tensors: a second thread only waits, and badly so on a busy machine
settings.register_profile("untimed", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _folder(variable: str) -> Path:
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{NEEDS_DATA}: set {variable}")
    return Path(folder)


@pytest.fixture
def dataset_folder() -> Path:
    """The benchmark datasets, found as a user would have them."""
    return _folder("OLINEAR_DATA")


@pytest.fixture
def paper_folder() -> Path:
    """The paper's tables and matrices."""
    return _folder("OLINEAR_PAPER")


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has no dataset yet; its empty cache folder is given."""
    from olinear.data.datasets import cache_folder

    monkeypatch.delenv("OLINEAR_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    folder = cache_folder()
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def _tiny_llm_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("gguf") is None:
        pytest.skip(f"{NEEDS_DATA}: install the extra llm")
    return write_gguf(tmp_path_factory.mktemp("llm") / "tiny.gguf")


@pytest.fixture
def tiny_llm(_tiny_llm_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A language model of a few thousand weights, which is what LLMTime asks."""
    monkeypatch.setenv("OLINEAR_LLM", str(_tiny_llm_file))
    return _tiny_llm_file


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    wanting = [report for report in skipped if NEEDS_DATA in str(report.longrepr)]
    terminalreporter.write_line(f"skipped {NEEDS_DATA}: {len(wanting)}")
