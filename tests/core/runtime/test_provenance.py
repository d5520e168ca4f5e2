"""With what a result was made."""

import subprocess
from pathlib import Path

import numpy as np
import torch

from olinear.core.runtime import provenance


def test_versions():
    found = provenance.versions()
    for word in ("olinear 0", f"torch {torch.__version__}", f"numpy {np.__version__}", "python 3."):
        assert word in found


def test_commit(tmp_path, monkeypatch):
    """Of the checkout this runs from, marked if it was changed; nothing where git knows nothing of it."""
    found = provenance.commit()
    root = Path(__file__).parents[3]
    here = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if here.returncode == 0 and found:
        assert here.stdout.startswith(found.rstrip("+"))
        assert len(found.rstrip("+")) == 10
    monkeypatch.setattr(provenance, "SOURCE", tmp_path)
    assert provenance.commit() == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit() == ""
