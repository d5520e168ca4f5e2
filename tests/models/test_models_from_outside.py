"""A model of somebody else: a module, a class, or a package that is installed."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from olinear.core import Card, CheckpointError, ConfigError, MissingDependencyError, Registry, Traits
from olinear.forecaster import Forecaster
from olinear.models import MODELS, build_model, card_of, traits_of

ROWS = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)


class Net(nn.Module):
    """One linear layer along time."""

    def __init__(self, n_series: int, lookback: int, horizon: int, *, bias: bool = True):
        super().__init__()
        self.layer = nn.Linear(lookback, horizon, bias=bias)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        return self.layer(x.mT).mT  # b h n


def frame(rows: int = 120) -> pd.DataFrame:
    time = pd.date_range("2024-01-01", periods=rows, freq="h")
    waves = np.sin(np.arange(rows)[:, None] / 4 + np.arange(2))
    return pd.DataFrame(waves, columns=["a", "b"]).assign(time=time)


def small(model, **options) -> Forecaster:
    return Forecaster(4, 12, model=model, max_epochs=2, progress=False, **options)


def test_a_class_is_fitted_saved_and_loaded_by_whoever_has_it(tmp_path):
    f = small(Net, options={"bias": False}).fit(frame())
    assert f.report()["model"].endswith(":Net")
    assert f.fitted.model.layer.bias is None
    f.save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model", model=Net)
    pd.testing.assert_frame_equal(loaded.predict(levels=[80]), f.predict(levels=[80]), check_exact=True)
    loaded.fit(frame())  # again, as it was saved
    with pytest.raises(CheckpointError, match=r"not registered here: pass the class.*model=…"):
        Forecaster.load(tmp_path / "model")
    with pytest.raises(CheckpointError, match="given was OLinear"):
        Forecaster.load(tmp_path / "model", model="OLinear")


def test_a_module_is_copied_and_its_folder_needs_one_like_it(tmp_path):
    module = Net(2, 12, 4)
    before = module.layer.weight.clone()
    f = small(module).fit(frame())
    assert torch.equal(module.layer.weight, before), "the caller's module is left alone"
    assert not torch.equal(f.fitted.model.layer.weight, before)
    f.save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model", model=Net(2, 12, 4))
    pd.testing.assert_frame_equal(loaded.predict(), f.predict(), check_exact=True)
    with pytest.raises(CheckpointError, match="does not fit together"):
        Forecaster.load(tmp_path / "model", model=Net(2, 13, 4))


def test_a_module_takes_no_options():
    with pytest.raises(ConfigError, match="has no option 'bias'"):
        small(Net(2, 12, 4), options={"bias": True}).fit(frame())


@pytest.mark.parametrize("model", [3, dict, np.zeros(2)], ids=str)
def test_what_is_no_model_is_refused(model):
    with pytest.raises(ConfigError, match="a model is a name, a class of torch modules or a module"):
        Forecaster(4, model=model)


def test_a_class_says_what_it_can_do():
    class Together(Net):
        """Depends on its batch."""

        traits = Traits(batch_dependent=True)

    assert traits_of(Together(2, 12, 4)).batch_dependent
    assert not traits_of(Net(2, 12, 4)).batch_dependent
    assert card_of(Together).about == "Depends on its batch."


def test_a_registered_class_has_a_name():
    registry = Registry([])
    registry.add(Card("Net", f"{__name__}:Net", "A layer."))
    assert registry.find("net").options() == {"bias": True}
    assert registry.card_of(Net).name == "Net"
    with pytest.raises(ConfigError, match="already, but for capitals"):
        registry.add(Card("NET", f"{__name__}:Net"))
    with pytest.raises(ConfigError, match="no model is called 'Nat': there are Net"):
        registry.find("Nat")


def test_a_card_whose_package_is_not_there_names_it():
    card = Card("Far", "far_away.models:Far", package="far-away")
    with pytest.raises(MissingDependencyError, match=r"the package far-away.*pip install far-away"):
        card.load()
    with pytest.raises(ConfigError, match=r"the package olinear has no olinear\.nn:Far"):
        Card("Far", "olinear.nn:Far").load()


def test_names_build_as_before():
    assert type(build_model("dlinear", ROWS, 12, 4)) is MODELS.find("DLinear").load()


# A package that is really installed

PACKAGE = {
    "tiny_plugin.py": '''
from torch import nn

from olinear.core import Card, Traits


class Tiny(nn.Module):
    """The mean of the lookback, scaled."""

    def __init__(self, n_series, lookback, horizon, *, power=1):
        super().__init__()
        self.horizon, self.power = horizon, power
        self.scale = nn.Parameter(__import__("torch").ones(n_series))

    def forward(self, x):
        return (x.mean(1, keepdim=True) * self.scale**self.power).expand(-1, self.horizon, -1)


card = Card("Tiny", "tiny_plugin:Tiny", "The mean of the lookback, scaled.", Traits(any_length=True))
''',
    "tiny_plugin-0.3.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-plugin\nVersion: 0.3\n",
    "tiny_plugin-0.3.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny_plugin-0.3.dist-info/entry_points.txt": "[olinear.models]\nTiny = tiny_plugin:card\n",
    "tiny_plugin-0.3.dist-info/RECORD": "",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder into which pip has installed the package."""
    folder = tmp_path_factory.mktemp("plugin")
    wheel = folder / "tiny_plugin-0.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for name, text in PACKAGE.items():
            file.writestr(name, text)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


def olinear(*arguments: object, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process that has the package, or not."""
    environment = dict(os.environ)
    if site is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(site), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", "from olinear.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_an_installed_package_brings_its_model(installed, tmp_path):
    """It is listed, fitted, saved and loaded by name; without the package its folder names it."""
    data, folder = tmp_path / "data.csv", tmp_path / "model"
    frame().to_csv(data, index=False)
    listed = json.loads(olinear("models", "--json", site=installed).stdout)
    (tiny,) = (one for one in listed if one["name"] == "Tiny")
    assert tiny["summary"] == "The mean of the lookback, scaled."
    assert tiny["options"] == {"power": 1}
    fit = ("fit", data, "-h", 4, "--lookback", 12, "--model", "tiny", "--option", "power=2", "--out", folder)
    done = olinear(*fit, site=installed)
    assert not done.returncode, done.stderr
    done = olinear("predict", folder, site=installed)
    assert not done.returncode, done.stderr
    assert len(done.stdout.splitlines()) == 5
    origin = json.loads((folder / "config.json").read_text())["origin"]
    assert origin == {"place": "tiny_plugin:Tiny", "package": "tiny-plugin", "version": "0.3", "registered": True}
    refused = olinear("predict", folder)
    assert refused.returncode == 2
    assert "package tiny-plugin (0.3 when it was saved), which is not installed here: pip install" in refused.stderr


def test_a_broken_package_spoils_only_its_own_model(tmp_path):
    """It is named when it is asked for; everything else goes on."""
    place = tmp_path / "broken_plugin-1.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1\n")
    (place / "entry_points.txt").write_text("[olinear.models]\nBroken = broken_plugin:Net\n")
    listed = olinear("models", "--json", site=tmp_path)
    assert not listed.returncode, listed.stderr
    (broken,) = (one for one in json.loads(listed.stdout) if one["name"] == "Broken")
    assert "cannot be imported" in broken["summary"]
    data = tmp_path / "data.csv"
    frame().to_csv(data, index=False)
    refused = olinear("fit", data, "-h", 4, "--model", "Broken", site=tmp_path)
    assert refused.returncode == 2
    assert "package broken-plugin, which cannot be imported" in refused.stderr
