"""Sizes of models for the size of the data, where the user gives none."""

from typing import Any


def of_olinear(windows: int, n_series: int) -> dict[str, Any]:
    """Small data gets a small model; what does not follow from the data is named, so that a folder holds it."""
    return {
        "model_dim": 64 if windows < 500 else 128 if windows < 20000 else 256,
        "blocks": 1 if windows < 500 else 2,
        "dropout": 0.1,
        "basis": "pearson",
        "embed_dim": 16,
    }
