"""What a run computes with: as asked for, as the run it goes on with, or as a measurement says."""

import pytest
import torch
from torch import nn
from training_parts import equal, noise, small_olinear, weights_of

from olinear.core import Batch, ConfigError
from olinear.core.runtime import (
    check_precision,
    computing_in,
    has_bfloat16,
    has_onednn,
    large_product,
    present_precision,
    quicker_precision,
)
from olinear.data.windows import Windows
from olinear.models import answer, for_inference
from olinear.nn import OLinear
from olinear.training import Forecast, StopWhen, TrainingConfig, train
from olinear.training import precision as settling

CPU = torch.device("cpu")


class Products(nn.Module):
    """Says what kind of numbers its products are."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.seen: list[torch.dtype] = []

    def forward(self, x):  # b t n
        y = self.layer(x)
        self.seen.append(y.dtype)
        return y


def test_products_are_of_the_precision_and_answers_of_float32():
    model, batch = Products(), Batch(torch.randn(2, 5, 3))
    for precision, kind in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        with computing_in(precision):
            assert answer(model, batch).point.dtype == torch.float32
            assert present_precision() == precision
        assert model.seen[-1] == kind
    assert present_precision() == "float32"


def test_an_olinear_keeps_its_normalisation_in_float32():
    """A level of 10,000 with a deviation of 1 would be lost in the eight bits of bfloat16."""
    torch.manual_seed(0)
    model = OLinear(3, 24, 8, model_dim=32, blocks=1).eval()
    x = torch.randn(4, 24, 3)
    with torch.no_grad():
        plain = model(x)
        with computing_in("bfloat16"):
            near, far = (answer(model, Batch(x + level)).point for level in (0.0, 10_000.0))
    assert (near - plain).abs().max() < 0.05 * plain.abs().max()
    assert (far - 10_000 - plain).abs().max() < 0.1 * plain.abs().max()


def config(**settings):
    return TrainingConfig(max_epochs=3, batch_size=4, seed=3, **settings)


def run(model, path=None, resume=False, callbacks=(), **settings):
    return train(
        model, noise(), noise(seed=1), config(**settings), progress=False, checkpoint=path, resume=resume,
        callbacks=callbacks,
    )  # fmt: skip


@pytest.fixture
def quick(monkeypatch):
    """A machine on which bfloat16 pays for whatever is asked."""
    monkeypatch.setattr(settling, "LEAST", 0)
    monkeypatch.setattr(settling, "_measured", {})
    monkeypatch.setattr(settling, "has_bfloat16", lambda device: True)
    monkeypatch.setattr(settling, "quicker_precision", lambda step, *_: (step(), "bfloat16")[1])


def made(seed: int = 0) -> OLinear:
    torch.manual_seed(seed)
    return small_olinear()


def test_auto_is_what_the_measurement_says(quick):
    model, other = made(), made()
    assert run(model, precision="auto").precision == "bfloat16"
    assert run(other, precision="bfloat16").precision == "bfloat16"
    assert equal(weights_of(model), weights_of(other)), "the measurement leaves no trace"


def test_small_models_are_not_measured(monkeypatch):
    monkeypatch.setattr(settling, "has_bfloat16", lambda device: True)
    monkeypatch.setattr(settling, "quicker_precision", lambda *_: pytest.fail("measured"))
    assert run(made(), precision="auto").precision == "float32"


def test_it_is_measured_once(quick, monkeypatch):
    times = []
    monkeypatch.setattr(settling, "quicker_precision", lambda *_: times.append(1) or "bfloat16")
    for _ in range(3):
        run(made(), precision="auto")
    assert len(times) == 1


@pytest.mark.parametrize("later", ["float32", "bfloat16"])
def test_a_resumed_run_goes_on_as_it_began(quick, monkeypatch, tmp_path, later):
    """Whatever a measurement would say now."""
    whole = made()
    run(whole, precision="auto")
    part, steps = made(), []
    path = tmp_path / "run"
    run(part, path, callbacks=[StopWhen(lambda: steps.append(1) or len(steps) > 30)], precision="auto")
    monkeypatch.setattr(settling, "_measured", {})
    monkeypatch.setattr(settling, "quicker_precision", lambda *_: later)
    again = made(1)
    assert run(again, path, resume=True, precision="auto").precision == "bfloat16"
    assert equal(weights_of(again), weights_of(whole))


def test_bfloat16_is_chosen_if_it_is_quicker_by_more_than_noise(monkeypatch):
    """With a clock of our own."""
    cost = {"float32": 1.0, "bfloat16": 1.0}
    monkeypatch.setattr("olinear.core.runtime.precision.has_bfloat16", lambda device: device.type == "cpu")

    def best_times(*sides, **_):
        found = []
        for side in sides:
            seen.clear()
            side()
            found.append(cost[seen[0]])
        return found

    seen: list[str] = []
    monkeypatch.setattr("olinear.core.runtime.precision.best_times", best_times)
    for factor, expected in ((1.0, "float32"), (1.1, "float32"), (1.3, "bfloat16"), (0.5, "float32")):
        cost["bfloat16"] = 1 / factor
        assert quicker_precision(lambda: seen.append(present_precision()), CPU) == expected
    assert quicker_precision(lambda: pytest.fail("measured"), torch.device("meta")) == "float32"


def test_a_real_measurement_takes_no_time():
    found = quicker_precision(lambda: None, CPU)
    assert found == "float32"
    assert has_bfloat16(torch.device("meta")) is False
    assert isinstance(has_bfloat16(CPU), bool)


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="precision='bfloat16' is for the CPU and CUDA, found mps"):
        check_precision("bfloat16", torch.device("mps"))
    check_precision("float32", torch.device("mps"))


def test_a_model_that_cannot_be_counted_is_measured(quick, monkeypatch):
    """Rather than guessed at."""

    class Stubborn(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(24, 8)

        def forward(self, x):  # b t n
            float(x.sum())  # which a tensor without memory has not
            return self.layer(x.mT).mT

    torch.manual_seed(0)
    rows = torch.randn(120, 3)
    report = train(
        Stubborn(), Windows(rows[:90], 24, 8), Windows(rows[80:], 24, 8), config(precision="auto"), progress=False
    )
    assert report.precision == "bfloat16"


def test_a_large_model_is_judged_by_a_product(quick, monkeypatch):
    """One step of it would take longer than the measurement may."""
    monkeypatch.setattr(settling, "LARGE", 1)
    monkeypatch.setattr(settling, "_step", lambda *_: pytest.fail("a step was measured"))
    assert run(made(), precision="auto").precision == "bfloat16"
    for kernels in ("torch", "onednn"):
        for precision, kind in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
            with computing_in(precision, kernels):
                assert large_product(CPU)().dtype == kind


@pytest.mark.skipif(not has_onednn(), reason="this torch has no such kernels of oneDNN")
@pytest.mark.parametrize("began", ["torch", "onednn"])
def test_a_resumed_run_keeps_its_kernels(monkeypatch, tmp_path, began):
    """Whatever is quicker now: otherwise its last bits would be others."""
    monkeypatch.setattr("olinear.nn.products.LEAST", 0)
    monkeypatch.setattr(settling, "quicker_kernels", lambda: began)
    whole, part, steps, path = made(), made(), [], tmp_path / "run"
    assert run(whole).kernels == began
    run(part, path, callbacks=[StopWhen(lambda: steps.append(1) or len(steps) > 30)])
    monkeypatch.setattr(settling, "quicker_kernels", lambda: "torch" if began == "onednn" else "onednn")
    again = made(1)
    assert run(again, path, resume=True).kernels == began
    assert equal(weights_of(again), weights_of(whole))


def test_cuda_goes_the_same_way(monkeypatch):
    """As far as a processor can tell: asked for its units, waited for after each step, with torch's own kernels."""
    cuda, waited = torch.device("cuda"), []
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: not including_emulation)
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr("olinear.core.runtime.precision.best_times", lambda *sides, **_: [2.0, 1.0])
    assert has_bfloat16(cuda)
    assert quicker_precision(lambda: None, cuda) == "bfloat16"
    assert waited == [cuda, cuda]
    check_precision("bfloat16", cuda)
    found = settling.settle(made(), noise(), Forecast(), config(precision="bfloat16"), cuda, None)
    assert found == ("bfloat16", "torch")


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_and_forecasting_need_no_processor(precision):
    """On a device of another kind, which has no memory and no kernels of its own: no step asks for a number."""
    model, batch = made().to("meta"), Batch(torch.empty(20, 8, 2, device="meta"))
    with computing_in(precision, "onednn"):
        point = answer(model, batch).point
        point.sum().backward()
        assert (point.shape, point.dtype) == ((20, 4, 2), torch.float32)
    compact = for_inference(made(), precision).to("meta")
    with torch.inference_mode(), computing_in(precision, "onednn"):
        assert answer(compact, batch).point.device.type == "meta"
