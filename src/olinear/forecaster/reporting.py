"""What is said of a fitted forecaster, and what its rows look like."""

from typing import Any

from olinear.core.settings import flatten
from olinear.data.frames import Panel
from olinear.forecaster.fitted import Fitted


def report_on(fitted: Fitted) -> dict[str, Any]:
    """What was chosen, found and noticed: settings, series, frequency, training, notes."""
    settings = {name: value for name, value in flatten(fitted.settings).items() if value not in (None, {})}
    return {
        "series": len(fitted.panel.series),
        "frequency": str(fitted.panel.frequency),
        **settings,
        "parameters": sum(p.numel() for p in fitted.model.parameters()) if fitted.model else 0,
        **fitted.record,
        "notes": list(fitted.panel.notes),
    }


def describe(fitted: Fitted) -> str:
    """What it was fitted to, in a few words."""
    record = fitted.record
    return f"{len(fitted.panel.series)} series, {record['rows']} rows from {record['first']} to {record['last']}"


def read_like(panel: Panel) -> dict[str, Any]:
    """How to read further rows of a panel: on its grid, by its names and layout."""
    frequency = panel.frequency
    return {"freq": "rows" if frequency.kind == "rows" else frequency.step, "like": panel.style}
