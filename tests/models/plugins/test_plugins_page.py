"""The page on plug-ins is a promise: its code runs, in order, and names every mixer there is."""

import re
from pathlib import Path

import pytest

from olinear.models import MIXERS

PAGE = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text()


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "plugins_page"}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 8
    for block in blocks:
        exec(compile(block, "plugins.md", "exec"), namespace)
    assert namespace["scores"].mse < 2  # type: ignore[attr-defined]


def test_every_mixer_is_on_the_page():
    for name, build in MIXERS.items():
        assert f"| `{name}` | `{type(build(7, 16)).__name__}` |" in PAGE
