"""A pre-trained folder: it forecasts series that it has never seen, and a fit goes on from its weights."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from olinear.cli.pretrain import DEFAULTS, EVERY
from olinear.core import CheckpointError, ConfigError, DataError
from olinear.forecaster import Forecaster
from olinear.forecaster.corpus import kept, read_corpus
from olinear.forecaster.service import PredictRequest, PretrainRequest, predict, pretrain, pretraining
from olinear.forecaster.service.pretraining import OPTIONS, TRAINING, pretraining_settings
from olinear.models import default_options
from olinear.training import StopWhen

PATCH, CONTEXT, HORIZON = 6, 24, 9


def frame(rows=200, names=("a", "b", "c"), freq="h", speed=0.4, seed=0):
    rng = np.random.default_rng(seed)
    steps = np.arange(rows)[:, None]
    values = 5 + np.sin(speed * steps + rng.uniform(0, 6, len(names))) + 0.1 * rng.normal(size=(rows, len(names)))
    return pd.DataFrame(values, columns=list(names)).assign(time=pd.date_range("2024-01-01", periods=rows, freq=freq))


def request(folder: Path, **changes) -> PretrainRequest:
    data = []
    for place, speed in enumerate((0.3, 0.5)):
        data.append(str(folder / f"{place}.csv"))
        frame(speed=speed, seed=place).to_csv(data[-1], index=False)
    options = {"patch_length": PATCH, "model_dim": 16, "blocks": 1, "heads": 2}
    given = {"data": data, "horizon": HORIZON, "context": CONTEXT, "steps": 6, "options": options}
    return PretrainRequest(**{"out": folder / "model", "training": {"batch_size": 16}} | given | changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("pretrained")
    return pretrain(request(place)).out


@pytest.fixture(scope="module")
def tuned(folder) -> Forecaster:
    return Forecaster.load(folder).set_params(max_epochs=1, progress=False).fit(frame(freq="D"))


def weights(forecaster):
    assert forecaster.fitted.model is not None
    return forecaster.fitted.model.state_dict()


class TestZeroShot:
    @pytest.mark.parametrize(("names", "freq"), [(("x",), "D"), (tuple("pqrst"), "15min")])
    def test_any_series_of_any_frequency(self, folder, names, freq):
        data = frame(names=names, freq=freq)
        found = Forecaster.load(folder).predict(data)
        assert list(found.columns) == ["time", *names]
        assert list(found["time"]) == list(pd.date_range(data["time"].iloc[-1], periods=HORIZON + 1, freq=freq)[1:])
        assert np.isfinite(found[list(names)].to_numpy()).all()

    def test_series_do_not_see_each_other(self, folder):
        forecaster, data = Forecaster.load(folder), frame()
        alone = forecaster.predict(data[["time", "b"]])
        np.testing.assert_allclose(forecaster.predict(data)["b"], alone["b"])

    def test_rows_are_scaled_by_themselves(self, folder):
        forecaster, data = Forecaster.load(folder), frame()
        other = data.assign(**{name: 1000 * data[name] - 70 for name in "abc"})
        expected = 1000 * forecaster.predict(data)[list("abc")] - 70
        np.testing.assert_allclose(forecaster.predict(other)[list("abc")], expected, rtol=1e-4)

    def test_a_short_context_is_enough_and_less_than_a_patch_is_not(self, folder):
        forecaster = Forecaster.load(folder)
        assert len(forecaster.predict(frame(PATCH + 1))) == HORIZON
        with pytest.raises(DataError, match="reads patches of 6 rows and needs 6 rows at least, found 5: pass more"):
            forecaster.predict(frame(PATCH - 1))

    def test_further_steps_feed_on_forecasts(self, folder):
        assert len(Forecaster.load(folder).predict(frame(), horizon=30, recursive=True)) == 30

    def test_gaps_and_constants_are_as_elsewhere(self, folder):
        data = frame()
        data.loc[[50, 199], "a"], data["b"] = np.nan, 3.0
        found = Forecaster.load(folder).predict(data)
        assert np.isfinite(found["a"]).all()
        assert (found["b"] == 3).all()
        assert (Forecaster.load(folder).predict(data[["time", "b"]])["b"] == 3).all()

    def test_it_has_no_rows_and_no_intervals_of_its_own(self, folder):
        forecaster = Forecaster.load(folder)
        with pytest.raises(DataError, match=r"no rows of its own: pass yours, predict\(data\)"):
            forecaster.predict()
        with pytest.raises(DataError, match="no intervals for series that it was not fitted to: leave levels out, or"):
            forecaster.predict(frame(), levels=80)
        result = predict(PredictRequest(folder, frame(), series=["b"]))
        assert [note.code for note in result.notes] == ["intervals-none"]
        assert result.prediction.forecast.series == ["b"]

    def test_a_backtest_scores_it_and_nothing_is_in_sample(self, folder):
        found = Forecaster.load(folder).backtest(frame(), windows=4)
        assert (found.windows, found.in_sample) == (4, 0)
        assert np.isfinite(found.score())


class TestFineTuning:
    def test_it_begins_with_the_weights_of_the_folder(self, folder):
        """At a rate of next to nothing it ends with them, too, where another fit would not."""
        forecaster = Forecaster.load(folder).set_params(max_epochs=1, learning_rate=1e-30, refit=True, progress=False)
        before = weights(Forecaster.load(folder))
        torch.testing.assert_close(weights(forecaster.fit(frame())), before, rtol=0, atol=1e-12)

    def test_it_learns_slower_and_is_an_ordinary_model_then(self, tuned, folder, tmp_path):
        report = tuned.report()
        assert report["learning_rate"] == pytest.approx(0.1 * Forecaster.load(folder).report()["learning_rate"])
        assert report["series"] == 3
        assert report["pretrained_on"] == Forecaster.load(folder).report()["pretrained_on"]
        levels = tuned.predict(levels=80)
        assert (levels["a-lo-80"] <= levels["a-hi-80"]).all()
        tuned.save(tmp_path / "tuned")
        pd.testing.assert_frame_equal(Forecaster.load(tmp_path / "tuned").predict(levels=80), levels)

    def test_other_shapes_cannot_begin_with_them(self, folder):
        options = {"patch_length": PATCH, "context": CONTEXT, "model_dim": 32}
        with pytest.raises(ConfigError, match="other shapes than the pre-trained one: leave those of the model"):
            Forecaster.load(folder).set_params(options=options).fit(frame())

    def test_few_rows_are_looked_back_on_by_half(self, folder):
        assert Forecaster.load(folder).choose(frame(50)).lookback == 50 // 2 - HORIZON
        assert Forecaster.load(folder).choose(frame()).lookback == CONTEXT


class TestFolder:
    def test_saved_again_it_is_the_same_to_the_last_bit(self, folder, tmp_path):
        first = Forecaster.load(folder)
        first.save(tmp_path / "again")
        second = Forecaster.load(tmp_path / "again")
        torch.testing.assert_close(weights(second), weights(first), rtol=0, atol=0)
        pd.testing.assert_frame_equal(second.predict(frame()), first.predict(frame()))
        assert second.report() == first.report()
        assert "fitted to any series, pre-trained on" in repr(second)

    def test_a_stopped_run_goes_on_and_ends_as_if_it_never_was(self, folder, tmp_path):
        place = request(tmp_path, training={"batch_size": 16, "checkpoint_seconds": 0.0})
        seen = iter(range(99))

        class Kill(StopWhen):
            def stepped(self, run):
                if next(seen) == 3:
                    raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pretrain(PretrainRequest(**vars(place) | {"callbacks": [Kill(lambda: False)]}))
        assert not place.out.exists()
        resumed = pretrain(PretrainRequest(**vars(place) | {"resume": True}))
        torch.testing.assert_close(weights(resumed.forecaster), weights(Forecaster.load(folder)), rtol=0, atol=0)
        assert not (tmp_path / "model.checkpoint").exists()

    def test_a_folder_without_series_must_be_a_pretrained_one(self, folder, tmp_path):
        from olinear.forecaster.folder import checksum

        for part in folder.iterdir():
            (tmp_path / part.name).write_bytes(part.read_bytes())
        config = json.loads((folder / "config.json").read_text())
        del config["trained"]["least_rows"]
        (tmp_path / "config.json").write_text(json.dumps(config | {"checksum": checksum(config)}))
        with pytest.raises(CheckpointError, match=r"there are no series, and trained\.least_rows is None"):
            Forecaster.load(tmp_path)


class TestCorpus:
    def test_kin_are_left_out_and_a_note_says_so(self):
        notes = []
        left = kept(["ETTm1", "etth2", "ETTh1", "Weather"], ["etth1"], notes)
        assert [each.name for each in left] == ["ETTh2", "Weather"]
        assert notes == ["ETTm1 is left out with ETTh1: both hold the same measurements"]
        with pytest.raises(ConfigError, match="Weather is given twice"):
            kept(["Weather", "weather"], [], [])
        with pytest.raises(ConfigError, match="no dataset is called 'nothing'"):
            kept(["nothing"], [], [])

    def test_no_row_beyond_the_training_rows_trains(self, tmp_path):
        """The newest fifth validates: spoilt, it changes neither the scale nor a window that trains."""
        corpora = []
        for spoilt in (False, True):
            data = frame()
            data.loc[160:, list("abc")] += 1e6 * spoilt
            data.to_csv(tmp_path / "data.csv", index=False)
            corpora.append(read_corpus([str(tmp_path / "data.csv")], [], None, CONTEXT, PATCH))
        first, second = (corpus.mixtures(1000) for corpus in corpora)
        assert first[0].checksum() == second[0].checksum()
        assert first[1].checksum() != second[1].checksum()
        assert corpora[0].training[0].values.shape == (160, 3)

    def test_a_dataset_also_trains_at_every_few_rows(self, tmp_path):
        """As far as so many rows make a window; what validates stays as it is."""
        frame().to_csv(tmp_path / "data.csv", index=False)
        plain, coarse = (
            read_corpus([str(tmp_path / "data.csv")], [], None, CONTEXT, PATCH, every) for every in ((1,), (1, 4, 9))
        )
        assert [len(each.values) for each in coarse.training] == [160, 40]
        assert torch.equal(coarse.training[1].values, plain.training[0].values[::4])
        assert coarse.mixtures(9)[1].checksum() == plain.mixtures(9)[1].checksum()
        assert len(coarse.mixtures(9)[0]) == 10

    def test_what_is_too_short_is_left_out_and_nothing_cannot_train(self, tmp_path):
        frame(30).to_csv(tmp_path / "short.csv", index=False)
        corpus = read_corpus([str(tmp_path / "short.csv")], [], None, CONTEXT, PATCH)
        with pytest.raises(DataError, match=r"nothing is left to train on: .*24 rows train, and a window has 30"):
            corpus.mixtures(1000)


def test_the_page_runs(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "pretrained")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "pretraining.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    found = {"rows": frame(50)}
    exec(compile(block, "pretraining.md", "exec"), found)
    assert found["tuned"].has_intervals


def test_the_command_shows_the_defaults_that_there_are():
    known = default_options("PatchDecoder") | OPTIONS | TRAINING
    assert {name: known[name] for name in DEFAULTS} == DEFAULTS
    assert set(TRAINING) <= set(DEFAULTS)
    assert ",".join(map(str, pretraining.EVERY)) == EVERY


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context": 25}, "context must be whole patches of 6 rows, found 25: pass context=30"),
        ({"steps": 0}, "steps must be at least 1, found 0"),
        ({"training": {"loss": "weighted_l1"}}, "loss must be 'l1' or 'l2'"),
        ({"options": {"patch_length": 6, "depth": 3}}, "PatchDecoder has no option 'depth'"),
    ],
)
def test_what_cannot_be_is_said_before_any_rows_are_read(tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        pretraining_settings(request(tmp_path, **changes))
