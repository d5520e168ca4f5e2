"""The tortures of `make torture`, a few cases of each: nothing that must never happen does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "benchmarks" / "torture" / "run.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="its savers are forks of one process")
def test_a_short_torture_ends_well():
    """Damaged folders and checkpoints, killed savers, several processes and one name."""
    done = subprocess.run([sys.executable, str(RUN), "--short"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'cases'") >= 12
