"""The page on forecasting is a promise: its code runs, and its commands and options are there."""

import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from olinear.cli.fit import fit
from olinear.evaluation import metrics

PAGE = (Path(__file__).parents[2] / "docs" / "forecasting.md").read_text()


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(metrics, "METRICS", dict(metrics.METRICS))  # the page adds one
    namespace: dict[str, Any] = {"__name__": "forecasting_page"}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "forecasting.md", "exec"), namespace)
    low, high = namespace["low"], namespace["high"]
    assert low.shape == high.shape == (1, 24, namespace["rows"].shape[1])
    assert (low < high).all()


def test_every_option_of_fit_on_the_page_is_one():
    told = {name for line in re.findall(r"olinear fit [^`]*", PAGE) for name in re.findall(r"--([a-z-]+)", line)}
    assert {"model", "option"} <= told
    assert {name.replace("-", "_") for name in told} <= set(signature(fit).parameters)
