"""Ctrl-C in the middle of a real `olinear fit`."""

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
