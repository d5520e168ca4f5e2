"""The promise of checkpoints, kept by real processes: killed at any moment, a run ends as if it never was."""

import dataclasses
import json
import multiprocessing
import random
import signal
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from training_parts import HORIZON, LOOKBACK

from olinear.data.windows import Windows
from olinear.nn import OLinear
from olinear.training import TrainingConfig, train
from olinear.training.checkpoints import load_checkpoint

KILLS = 4


def run(folder: Path, pause: float) -> None:
    """One run of 8 epochs of 8 steps, or what is left of it; every step is saved and takes at least `pause`."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    values = torch.randn(60, 2).cumsum(0)
    training, validation = (Windows(part, LOOKBACK, HORIZON) for part in (values[:40], values[30:]))
    model = OLinear(2, LOOKBACK, HORIZON, model_dim=8, blocks=1, dropout=0.2)
    model.register_forward_hook(lambda *_: time.sleep(pause))
    config = TrainingConfig(
        learning_rate=0.01, batch_size=4, max_epochs=8, average_decay=0.9, clip_norm=1.0, checkpoint_seconds=0
    )
    report = train(model, training, validation, config, checkpoint=folder / "run", resume=True, progress=False)
    save_file(model.state_dict(), folder / "final")
    (folder / "report.json").write_text(json.dumps(dataclasses.asdict(report)))


def wait_for_a_save(process: multiprocessing.Process, path: Path) -> None:
    """Until the process has written a checkpoint of its own."""

    def stamp() -> int:
        return path.stat().st_mtime_ns if path.exists() else 0

    before, deadline = stamp(), time.monotonic() + 60
    process.start()
    while stamp() == before and process.is_alive():
        assert time.monotonic() < deadline, "no checkpoint in a minute"
        time.sleep(0.005)


def outcome(folder: Path) -> dict:
    report = json.loads((folder / "report.json").read_text())
    del report["seconds"]
    for record in report["history"]:
        del record["seconds"]
    return report


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_at_random_moments_it_ends_the_same(tmp_path):
    """The killed processes are forked from one that has imported torch, to save time; the last is a new one."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    forked = multiprocessing.get_context("forkserver")
    forked.set_forkserver_preload(["olinear.nn", "olinear.training", "torch._dynamo"])
    chance = random.Random(2023)
    places = []
    for _ in range(KILLS):
        process = forked.Process(target=run, args=(killed, 0.03))
        wait_for_a_save(process, killed / "run")
        time.sleep(chance.uniform(0.0, 0.7))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL), "see the captured standard error"
        if process.exitcode:
            position = load_checkpoint(killed / "run")[1]["position"]
            places.append((position["epoch"], position["step"]))
    assert len(places) >= 3, "the kills came too late to hit a running process"
    assert places == sorted(places)  # each part went on where the one before it ended
    assert len({epoch for epoch, _ in places}) >= 2
    assert any(0 < step < 8 for _, step in places)

    last = multiprocessing.get_context("spawn").Process(target=run, args=(killed, 0.0))
    last.start()
    last.join()
    assert last.exitcode == 0, "see the captured standard error"
    run(whole, 0.0)
    assert outcome(killed) == outcome(whole)
    first, second = load_file(whole / "final"), load_file(killed / "final")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
