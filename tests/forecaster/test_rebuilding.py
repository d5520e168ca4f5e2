"""Sizes in a folder are compared with its tensors before anything of them is built."""

import json
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from forecaster_parts import CONFIG, edit, small, waves
from torch import nn

from olinear.core import CheckpointError
from olinear.core.settings import make_settings
from olinear.forecaster import Forecaster
from olinear.forecaster.rebuilding import rebuild
from olinear.models import MODELS, build_model, default_options

FIXTURES = Path(__file__).parent.parent / "fixtures"
HUGE = (20_000, 10**9)
MOST_SECONDS = 1.0  # of work, a hundred times what it takes; a busy machine makes no difference


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """The first model without memory imports a few things."""
    Forecaster.load(FIXTURES / "model-v2")


def refused_at_once(folder: Path, **options: object) -> str:
    began = time.process_time()
    with pytest.raises(CheckpointError) as caught:
        Forecaster.load(folder, **options)
    assert time.process_time() - began < MOST_SECONDS
    assert "\n" not in str(caught.value)
    return str(caught.value)


def set_in(folder: Path, section: str, **changes: object) -> None:
    settings = json.loads((folder / CONFIG).read_text())["settings"]
    settings[section] |= changes
    edit(folder, settings=settings)


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize("name", ["horizon", "lookback"])
def test_of_the_task(tmp_path, fitted, name, size, context):
    fitted.save(tmp_path / "model", context=context)
    set_in(tmp_path / "model", "task", **{name: size})
    assert "does not fit together" in refused_at_once(tmp_path / "model")


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("name", ["blocks", "model_dim", "ff_dim", "embed_dim", "rank"])
def test_of_the_model(copy, name, size):
    set_in(copy, "model", **{name: size})
    assert "does not fit together" in refused_at_once(copy)


@pytest.mark.parametrize("version", ["model-v1", "model-v2"])
def test_of_folders_without_a_checksum(tmp_path, version):
    folder = shutil.copytree(FIXTURES / version, tmp_path / "model")
    config = json.loads((folder / CONFIG).read_text())
    part = config["settings"] if version == "model-v1" else config["settings"]["model"]
    for name in ("blocks", "model_dim"):
        for size in HUGE:
            (folder / CONFIG).write_text(json.dumps(config | {"settings": _changed(config, part, name, size)}))
            assert "does not fit together" in refused_at_once(folder)


def _changed(config: dict, part: dict, name: str, size: int) -> dict:
    settings = config["settings"]
    return settings | {name: size} if part is settings else settings | {"model": part | {name: size}}


def test_blocks_without_a_weight_are_counted_too(tmp_path, frame):
    """Empty blocks change no forecast; twenty thousand of them are no model of anybody's."""
    small(mixer="none", temporal="none").fit(frame).save(tmp_path / "model")
    set_in(tmp_path / "model", "model", blocks=10**9)
    refused_at_once(tmp_path / "model")


def whole_numbers():
    for name in MODELS:
        for option, value in default_options(name).items():
            if type(value) is int and name != "OLinear":
                yield name, option


@pytest.mark.parametrize(("name", "option"), [pytest.param(*pair, id="-".join(pair)) for pair in whole_numbers()])
def test_an_option_of_any_size_hangs_no_model(name, option):
    """Those that are no size of a weight, such as the window of a moving average, may be built."""
    options = {key: 8 for key in default_options(name) if key in ("model_dim", "ff_dim", "hidden_dim")}
    options |= {"heads": 1, "merge": 1} if name == "CARD" else {"heads": 1} if "heads" in default_options(name) else {}
    values = waves(80).drop(columns="time").to_numpy()
    weights = build_model(name, values, 24, 4, **options).state_dict()
    settings = {"horizon": 4, "lookback": 24, "model": name}
    rebuild(name, make_settings(settings | {"options": options}), 3, weights)
    for size in HUGE:
        began = time.process_time()
        with suppress(Exception):  # loading makes one kind of them all
            rebuild(name, make_settings(settings | {"options": options | {option: size}}), 3, weights)
        assert time.process_time() - began < MOST_SECONDS


class LooksAtNumbers(nn.Module):
    """A model from outside that cannot be built without memory."""

    def __init__(self, n_series: int, lookback: int, horizon: int, *, blocks: int = 1):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(lookback, lookback) for _ in range(blocks))
        self.last = nn.Linear(lookback, horizon)
        self.largest = float(self.last.weight.detach().abs().max())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.mT
        for layer in self.layers:
            x = layer(x)
        return self.last(x).mT


def test_a_model_from_outside_is_stopped_where_its_weights_end(tmp_path, frame):
    small(model=LooksAtNumbers, model_dim=None, options={"blocks": 2}).fit(frame).save(tmp_path / "model")
    Forecaster.load(tmp_path / "model", model=LooksAtNumbers)
    set_in(tmp_path / "model", "model", options={"blocks": 20_000})
    assert "far more" in refused_at_once(tmp_path / "model", model=LooksAtNumbers)


# Edits by hand, with the old checksum


@pytest.mark.parametrize(
    "changes",
    [
        {"nonnegative": [True, True, True]},
        {"series": ["b", "a", "c"]},
        {"calibration_windows": 1},
        {"time_zone": "Europe/Berlin"},
        {"notes": ["all is well"]},
        {"format_version": 2},
    ],
    ids=str,
)
def test_an_edit_by_hand_is_refused(copy, changes):
    """Whatever it would do; and the message says what to do instead."""
    edit(copy, signed=False, **changes)
    message = refused_at_once(copy)
    if "format_version" not in changes:
        assert "config.json is not as it was saved" in message
        assert "save the model again" in message


def test_another_layout_is_no_edit(copy, fitted):
    """The same content, sorted and without spaces, as another program may write it."""
    config = json.loads((copy / CONFIG).read_text())
    (copy / CONFIG).write_text(json.dumps(config, sort_keys=True, separators=(",", ":")))
    assert Forecaster.load(copy).predict().equals(fitted.predict())


def test_a_number_of_too_many_digits_is_refused(copy):
    text = (copy / CONFIG).read_text()
    (copy / CONFIG).write_text(text.replace('"horizon": 4', f'"horizon": {"4" * 5000}'))
    assert "cannot be read as a model" in refused_at_once(copy)
