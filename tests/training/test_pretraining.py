"""Pre-training: the loss is that of every next patch, and a run that was stopped ends as one that was not."""

import numpy as np
import pytest
import torch

from olinear.core import Batch, Point
from olinear.data.windows import Mixture, Windows
from olinear.models.zoo.patch_decoder import PatchDecoder
from olinear.training import EveryPatch, NextPatch, StopWhen, TrainingConfig, train

PATCH, CONTEXT = 4, 12
CONFIG = TrainingConfig(loss="l2", learning_rate=5e-3, max_epochs=3, epoch_steps=8, batch_size=16, device="cpu")


def mixture(rows=60):
    rng = np.random.default_rng(0)
    waves = [np.sin(np.arange(rows)[:, None] * speed + rng.uniform(0, 6, (1, n))) for speed, n in ((0.5, 2), (0.9, 3))]
    return Mixture([Windows(wave.astype(np.float32), CONTEXT, PATCH) for wave in waves])


def fresh(mixer="normlin"):
    torch.manual_seed(0)
    return EveryPatch(PatchDecoder(1, CONTEXT, PATCH, patch_length=PATCH, model_dim=16, blocks=1, heads=2, mixer=mixer))


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_the_loss_is_over_every_patch_but_the_first(loss):
    task, batch = NextPatch(PATCH, loss), Batch(torch.randn(2, CONTEXT, 1), torch.randn(2, PATCH, 1))
    batch.past[0, 5] = torch.nan
    answer = torch.randn(2, CONTEXT, 1)
    rows = np.concatenate([batch.past.numpy(), batch.targets.numpy()], 1)
    errors = [answer[b, i, 0] - rows[b, i + PATCH, 0] for b in range(2) for i in range(CONTEXT)]
    expected = np.nanmean([abs(error) if loss == "l1" else error**2 for error in errors])
    assert float(task.loss(Point(answer), task.prepare(batch))) == pytest.approx(expected)
    assert task.count(batch) == 2 * CONTEXT - 1


@pytest.mark.parametrize("mixer", ["normlin", "attention"])
def test_a_decoder_learns_to_foretell(mixer):
    model = fresh(mixer)
    config = CONFIG.model_copy(update={"max_epochs": 8, "schedule": "constant"})
    report = train(model, mixture(), mixture(50), config, task=NextPatch(PATCH), progress=False)
    losses = [record["validation_loss"] for record in report.history]
    assert losses[-1] < 0.7 * losses[0]
    assert model.decoder(torch.randn(3, CONTEXT, 5)).shape == (3, PATCH, 5)


def test_a_stopped_run_goes_on_and_ends_as_if_it_never_was(tmp_path):
    whole, parts, task = fresh(), fresh(), NextPatch(PATCH)
    train(whole, mixture(), mixture(50), CONFIG, task=task, progress=False)
    seen = iter(range(100))
    stop = StopWhen(lambda: next(seen) > 10)
    files = {"checkpoint": tmp_path / "run", "progress": False}
    assert train(parts, mixture(), mixture(50), CONFIG, task=task, callbacks=[stop], **files).stopped
    again = fresh()
    train(again, mixture(), mixture(50), CONFIG, task=task, resume=True, **files)
    torch.testing.assert_close(again.state_dict(), whole.state_dict(), rtol=0, atol=0)
