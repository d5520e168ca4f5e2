"""How far NormLin's weights go, and at what rate."""

import pytest
import torch
from bench_parts import POWER, varied, write_data

from olinear.bench.run.running import run_job
from olinear.bench.spec.jobs import recipe
from olinear.bench.store.results import add_row, read_results
from olinear.core.errors import ConfigError
from olinear.core.settings import TrainingConfig
from olinear.nn import NormLin
from olinear.training.state import RunState
from olinear.training.tasks import Forecast


def row(variant, folder):
    job = varied(POWER, variant)
    return run_job(job, recipe(job), folder, folder / f"{job.name}.safetensors").row


def test_a_row_says_how_far_they_went(tmp_path):
    folder = write_data(tmp_path / "data")
    (plain, quick) = (row(f"epochs=1{more}", folder) for more in ("", ",normlin-rate=10"))
    assert 0 < plain.normlin_moved < quick.normlin_moved < 1
    for one in (plain, quick, row("OLinear-C,epochs=1", folder)):
        add_row(tmp_path / "results", one)
    known = {str(one.variant): one.normlin_moved for one in read_results(tmp_path / "results")}
    assert known["epochs=1"] == pytest.approx(plain.normlin_moved, rel=1e-5)
    assert known["OLinear-C,epochs=1"] is None  # nothing of it learns


def test_a_model_without_normlin_has_no_such_rate(tmp_path):
    with pytest.raises(ConfigError, match="normlin-rate is for models with a NormLin that learns"):
        row("mixers/Transformer,epochs=1,normlin-rate=10", write_data(tmp_path / "data"))


def test_a_group_of_parameters_may_have_a_rate_of_its_own():
    """The schedule is the run's, the factor stays."""
    model = NormLin(3)
    model.extra = torch.nn.Parameter(torch.zeros(2))

    def make(parameters, config):
        optimizer = torch.optim.Adam([model.extra], config.learning_rate)
        optimizer.add_param_group({"params": [model.weight], "rate_factor": 10.0})
        return optimizer

    run = RunState(model, Forecast(), TrainingConfig(learning_rate=1e-3, schedule="type1"), {}, make)
    for epoch, rate in ((1, 1e-3), (4, 2.5e-4)):
        run.position.epoch = epoch
        run.set_rate(0.0)
        assert [group["lr"] for group in run.optimizer.param_groups] == pytest.approx([rate, 10 * rate])
