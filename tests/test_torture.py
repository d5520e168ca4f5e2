"""The tortures of `make torture`, a few cases of each: nothing that must never happen does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "benchmarks" / "torture" / "run.py"


def test_all_of_it_takes_half_an_hour_at_the_most():
    minutes = re.findall(r"^    Part\(\"\w+\", (\d+)\),$", RUN.read_text(), re.MULTILINE)
    assert len(minutes) >= 5
    assert sum(map(int, minutes)) <= 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="its savers are forks of one process")
def test_a_short_torture_ends_well():
    """Damaged folders and checkpoints, killed savers, several processes and one name."""
    done = subprocess.run([sys.executable, str(RUN), "--short"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'cases'") >= 12
