"""Ctrl-C in the middle of a real `olinear fit`."""

import os
import signal
import sys
import time

import pytest
from cli_parts import done, started, waves


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for another process")
def test_ctrl_c_then_resume(tmp_path, caplog):
    """It exits with 130, leaves no model folder, says how to resume; --resume finishes what was begun."""
    waves(250).to_csv(tmp_path / "data.csv", index=False)
    folder, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    size = ["--lookback", 12, "--model-dim", 8, "--batch-size", 4]
    arguments = ["fit", tmp_path / "data.csv", "--horizon", 4, "--out", folder, *size, "--max-epochs", 12]
    process = started(*arguments)
    try:
        deadline = time.monotonic() + 60
        while not checkpoint.exists():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline, "no checkpoint in a minute"
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert out == ""
    assert "--resume" in err
    assert "Traceback" not in err
    assert checkpoint.exists()
    assert not folder.exists()
    with caplog.at_level("INFO", "olinear.training"):
        done(*arguments, "--resume")
    assert "resumed" in caplog.text
    assert "epoch 1/12" not in caplog.text  # that one was done
    assert not checkpoint.exists()
    assert done("predict", folder).out.count("\n") == 5


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for another process, and no named pipes")
def test_ctrl_c_in_a_forecast(tmp_path, model):
    """While it reads: 130, one line, and nothing half-written."""
    pipe = tmp_path / "data.csv"
    os.mkfifo(pipe)
    process = started("predict", model, pipe, "--out", tmp_path / "f.csv", "--plot", tmp_path / "f.png")
    try:
        writer = os.open(pipe, os.O_WRONLY)  # waits until it is read from
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        os.close(writer)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out, err) == (130, "", "\nstopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
