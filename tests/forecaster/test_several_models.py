"""`members=`: several models in one forecaster."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from forecaster_parts import CONFIG, assert_same_frames, edit, small, values_of, waves

from olinear.core import CheckpointError, ConfigError
from olinear.forecaster import Forecaster
from olinear.forecaster.learning import checkpoints_of
from olinear.training import Callback

SCRIPT = """
import torch
torch.set_num_threads(2)
import numpy as np, pandas as pd
from olinear import Forecaster
print("begun")
rows = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)).cumsum(0), columns=["a", "b"])
rows["time"] = pd.date_range("2024", periods=120, freq="h")
f = Forecaster(4, 12, model_dim=8, max_epochs=1, members=2, refit=False).fit(rows)
print(len(f.report()["of_members"]))
"""
HERE = [Callback()]  # a callback keeps the training in this process


@pytest.fixture(scope="module")
def pair() -> Forecaster:
    return small(members=2, seed=5).fit(waves(), callbacks=HERE)


def test_the_forecast_is_the_mean_of_those_of_each_seed(pair):
    each = [values_of(small(seed=seed).fit(waves()).predict()) for seed in (5, 6)]
    assert np.allclose(values_of(pair.predict()), np.mean(each, 0), atol=1e-6)
    assert not np.allclose(*each, atol=1e-3)
    report = pair.report()
    assert [member["seed"] for member in report["of_members"]] == [5, 6]
    assert report["validation_loss"] == np.mean([member["validation_loss"] for member in report["of_members"]])
    assert report["members"] == 2


def test_a_folder_holds_them_all(pair, tmp_path):
    pair.save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model")
    assert_same_frames(loaded.predict(levels=[80]), pair.predict(levels=[80]))
    assert loaded.get_params()["members"] == 2
    settings = json.loads((tmp_path / "model" / CONFIG).read_text())["settings"]
    for count in (1, 3, 100):
        edit(tmp_path / "model", settings=settings | {"training": settings["training"] | {"members": count}})
        with pytest.raises(CheckpointError, match="members" if count > 1 else "have no"):
            Forecaster.load(tmp_path / "model")


def test_they_learn_again_each_for_its_own_epochs():
    judged, again = (small(members=2, refit=refit).fit(waves(), callbacks=HERE) for refit in (False, True))
    alone = [values_of(small(seed=seed, refit=True).fit(waves()).predict()) for seed in (0, 1)]
    assert np.allclose(values_of(again.predict()), np.mean(alone, 0), atol=1e-6)
    assert not np.allclose(values_of(again.predict()), values_of(judged.predict()), atol=1e-4)


def test_a_fit_that_was_stopped_goes_on(tmp_path):
    """Each member from its own checkpoint."""
    whole = small(members=2, max_epochs=3).fit(waves(), callbacks=HERE)

    class StopIn(Callback):
        def stepped(self, run):
            if run.config.seed == 1 and run.position.total_steps > 15:
                raise KeyboardInterrupt

    path, forecaster = tmp_path / "run", small(members=2, max_epochs=3, checkpoint_seconds=0.0)
    with pytest.raises(KeyboardInterrupt):
        forecaster.fit(waves(), checkpoint=path, callbacks=[StopIn()])
    assert all(place.exists() for place in checkpoints_of(path, 2) if place.suffix != ".refit")
    forecaster.fit(waves(), checkpoint=path, resume=True, callbacks=HERE)
    assert_same_frames(forecaster.predict(), whole.predict())


def test_a_script_needs_no_guard(tmp_path):
    """Processes do not run it again."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["begun", "2"], done.stderr


def test_numbers_that_make_no_sense_are_refused():
    for members in (0, 101, 1.5):
        with pytest.raises(ConfigError, match="members must be"):
            small(members=members)


def test_any_model_can_have_members():
    fitted = small(model="DLinear", members=3, model_dim=None).fit(waves(), callbacks=HERE).fitted
    assert len(replace(fitted).model.members) == 3
    assert Forecaster(4, 12, model="Ridge", members=2, progress=False).fit(waves()).predict().shape[0] == 4
