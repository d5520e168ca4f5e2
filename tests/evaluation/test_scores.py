"""Scores are means over every window: the numbers that are compared with the paper's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.overrides import TorchFunctionMode

from olinear.data.windows import Windows
from olinear.evaluation import evaluate, last_value, window_errors
from olinear.nn import OLinear


def errors(model, windows: Windows) -> np.ndarray:
    """Forecast minus target of every window, one at a time by slicing."""
    values, rows = windows.values, []
    for start in windows.starts:
        middle = start + windows.lookback
        forecast = model(values[None, start:middle])[0].detach()
        rows.append((forecast - windows.targets[middle : middle + windows.horizon]).double().numpy())
    return np.stack(rows)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 99))
def test_scores_are_means_over_all_windows(room, batch_size, seed):
    """The last, smaller batch counts by its windows, neither dropped nor weighted as a full one."""
    values = torch.randn(12 + room - 1, 3, generator=torch.Generator().manual_seed(seed)).cumsum(0)
    windows = Windows(values, 8, 4)
    scores = evaluate(last_value(4), windows, batch_size)
    error = errors(last_value(4), windows)
    assert scores.windows == room
    assert scores.mse == pytest.approx(np.mean(error**2), rel=1e-6)
    assert scores.mae == pytest.approx(np.mean(np.abs(error)), rel=1e-6)


def test_scores_of_a_module_over_strided_windows():
    torch.manual_seed(0)
    model = OLinear(2, 8, 4, model_dim=8, blocks=1).eval()
    windows = Windows(torch.randn(40, 2), 8, 4, range(1, 28, 2))
    scores = evaluate(model, windows, 5)
    error = errors(model, windows)
    assert scores.windows == 14
    assert scores.mse == pytest.approx(np.mean(error**2), rel=1e-5)
    assert scores.mae == pytest.approx(np.mean(np.abs(error)), rel=1e-5)


def scale_free(model, windows: Windows) -> dict[str, float]:
    """R², r and MASE by the text of the paper's appendix: one window and series at a time, in float64."""
    found: dict[str, list[float]] = {"r2": [], "pearson": [], "window_mase": []}
    for start in windows.starts:
        middle = start + windows.lookback
        forecasts = model(windows.values[None, start:middle])[0].detach().double().numpy().T
        targets = windows.targets[middle : middle + windows.horizon].double().numpy().T
        for forecast, y in zip(forecasts, targets, strict=True):
            if np.isnan(y).any():
                continue
            total, naive = ((y - y.mean()) ** 2).sum(), abs(np.diff(y)).sum() / max(len(y) - 1, 1)
            if total >= 1e-5:
                found["r2"].append(1 - ((y - forecast) ** 2).sum() / total)
            if np.sqrt(total * ((forecast - forecast.mean()) ** 2).sum()) >= 1e-5:
                found["pearson"].append(np.corrcoef(forecast, y)[0, 1])
            if naive >= 1e-5:
                found["window_mase"].append(abs(y - forecast).mean() / naive)
    return {name: float(np.mean(values)) if values else np.nan for name, values in found.items()}


@settings(max_examples=30)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 30), st.integers(0, 99))
def test_scale_free_scores_by_numpy(room, horizon, batch_size, seed):
    """Each window and series counts once, whatever the batches."""
    torch.manual_seed(seed)
    windows = Windows(torch.randn(8 + horizon + room - 1, 3).cumsum(0) + 5, 8, horizon)
    layer = torch.randn(horizon, 8) / 3
    scores = evaluate(lambda x: layer @ x, windows, batch_size)
    for name, value in scale_free(lambda x: layer @ x, windows).items():
        assert getattr(scores, name) == pytest.approx(value, rel=1e-3, abs=1e-4, nan_ok=True), name


def test_targets_that_hardly_move_are_left_out_of_the_scale_free_scores():
    """Their ratio would be noise over nothing, and outweigh all others in the mean."""
    values = torch.randn(60, 3, generator=torch.Generator().manual_seed(0)).cumsum(0)
    values[20:40, 1] = 2.0
    values[:, 2] = 1.0 + 1e-6 * torch.arange(60)
    windows = Windows(values, 8, 4)

    def model(x):
        return x[:, -4:].flip(1)

    scores, expected = evaluate(model, windows, 7), scale_free(model, windows)
    for name, value in expected.items():
        assert getattr(scores, name) == pytest.approx(value, rel=1e-4), name
    assert scores.mse == pytest.approx(np.mean(errors(model, windows) ** 2), rel=1e-5)
    constant = evaluate(model, Windows(values[:, 2:], 8, 4))
    assert np.isnan([constant.r2, constant.pearson, constant.window_mase]).all()
    assert constant.mse < 1e-9


def test_missing_targets_are_left_out_of_the_scale_free_scores():
    values = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)).cumsum(0)
    targets = values.clone()
    targets[20:22, 1] = torch.nan
    windows = Windows(values, 8, 4, targets=targets)

    def model(x):
        return x[:, -4:].flip(1)

    scores = evaluate(model, windows, 5)
    for name, value in scale_free(model, windows).items():
        assert getattr(scores, name) == pytest.approx(value, rel=1e-4), name


def test_scale_free_scores_of_known_forecasts():
    """The target itself, its mean, its negative, and the value of the step before."""
    wave = torch.sin(torch.arange(40.0) / 3)[:, None]
    later = torch.cat([wave[8:], torch.zeros(8, 1)])

    def ahead(x, shift=0):
        first = (wave[:, 0, None] == x[:, 0, 0]).float().argmax(0)
        return torch.stack([later[start - shift : start - shift + 6] for start in first])

    windows = Windows(wave, 8, 6, range(1, 20))
    perfect = evaluate(ahead, windows)
    assert (perfect.r2, perfect.window_mase) == (1.0, 0.0)
    assert perfect.pearson == pytest.approx(1)
    mean = evaluate(lambda x: ahead(x).mean(1, keepdim=True).expand(-1, 6, -1), windows)
    assert mean.r2 == pytest.approx(0, abs=1e-5)
    assert np.isnan(mean.pearson)
    assert evaluate(lambda x: 3 - 2 * ahead(x), windows).pearson == pytest.approx(-1)
    assert 0.9 < evaluate(lambda x: ahead(x, 1), windows).window_mase < 1.1


def test_a_perfect_forecast_scores_zero():
    windows = Windows(torch.ones(20, 2), 8, 4)
    scores = evaluate(last_value(4), windows)
    assert (scores.mse, scores.mae) == (0.0, 0.0)


def test_missing_targets_are_left_out():
    values = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)).cumsum(0)
    targets = values.clone()
    targets[5:25, 1] = torch.nan
    windows = Windows(values, 8, 4, targets=targets)
    scores = evaluate(last_value(4), windows, 5)
    error = errors(last_value(4), windows)
    assert scores.mse == pytest.approx(np.nanmean(error**2), rel=1e-6)
    assert scores.mae == pytest.approx(np.nanmean(np.abs(error)), rel=1e-6)


def test_missing_forecasts_are_no_good_forecasts():
    """A model that broke down must not win the comparison."""
    scores = evaluate(lambda x: x[:, -4:] * torch.nan, Windows(torch.randn(30, 2), 8, 4))
    assert np.isnan(scores.mse)
    assert np.isnan(scores.mae)


def test_dropout_is_off_and_nothing_else_changes():
    """Scoring a model must neither train it nor disturb the random state of the caller."""
    model = OLinear(2, 8, 4, model_dim=8, blocks=1, dropout=0.5).train()
    windows = Windows(torch.randn(30, 2), 8, 4)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    values, random = windows.values.clone(), torch.get_rng_state()
    first = evaluate(model, windows, 7)
    model.train()
    assert evaluate(model, windows, 7) == first
    assert not model.training
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(windows.values, values)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_no_gradients_are_recorded():
    """A graph kept over a whole test set would fill the memory."""
    seen = []

    class Watcher(nn.Module):
        def forward(self, x):
            seen.append(torch.is_grad_enabled())
            return x[:, -4:]

    evaluate(Watcher(), Windows(torch.randn(30, 2), 8, 4))
    assert seen == [False]
    assert torch.is_grad_enabled()


class AskedWindows(Windows):
    """Windows that note where they are asked to go, and stay."""

    asked: tuple[str, ...] = ()

    def to(self, device):
        self.asked += (device.type,)
        return self


class Copies(nn.Module):
    """Repeats its last rows, and has a tensor somewhere."""

    def __init__(self, kind: str = "", device: str = "meta"):
        super().__init__()
        if kind == "parameter":
            self.weight = nn.Parameter(torch.zeros(1, device=device))
        elif kind == "buffer":
            self.register_buffer("weight", torch.zeros(1, device=device))

    def forward(self, x):
        return x[:, -4:]


@pytest.mark.parametrize("score", [evaluate, window_errors])
@pytest.mark.parametrize("kind", ["parameter", "buffer"])
def test_windows_go_where_the_model_is(score, kind):
    """Training leaves a model on the graphics card; the user's windows are still in the memory."""
    windows = AskedWindows(torch.randn(30, 2), 8, 4)
    score(Copies(kind), windows)
    assert windows.asked == ("meta",)


@pytest.mark.parametrize("score", [evaluate, window_errors])
@pytest.mark.parametrize("model", [Copies(), last_value(4)], ids=["module", "function"])
def test_windows_stay_where_they_are_for_a_model_without_tensors(score, model):
    """It computes anywhere, so that the user chooses."""
    windows = AskedWindows(torch.randn(30, 2), 8, 4)
    score(model, windows)
    assert windows.asked == ()


def test_the_errors_of_windows_come_back_to_the_windows():
    """Two models on two devices are compared by them."""
    windows = Windows(torch.randn(30, 2), 8, 4)
    found = window_errors(Copies("buffer", "cpu"), windows)
    assert found.device == windows.values.device
    np.testing.assert_allclose(found, [(e**2).mean() for e in errors(Copies(), windows)], rtol=1e-6)


class WithoutDoubles(TorchFunctionMode):
    """Apple's MPS in the CPU's clothes: it has no float64, but for what `cpu()` brings home."""

    def __init__(self) -> None:
        super().__init__()
        self.home: list[torch.Tensor] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.double and not any(args[0] is tensor for tensor in self.home):
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        result = function(*args, **(kwargs or {}))
        if function is torch.Tensor.cpu:
            self.home.append(result)
        return result


@pytest.mark.parametrize("score", [evaluate, window_errors])
def test_a_device_without_doubles_scores_too(score):
    windows = Windows(torch.randn(30, 2), 8, 4)
    expected = score(Copies(), windows)
    with WithoutDoubles():
        found = score(Copies(), windows)
    assert torch.equal(found, expected) if score is window_errors else found == expected
