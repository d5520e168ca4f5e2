"""A pre-trained model that is not fitted to any series, and the forecaster that it is for those at hand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from olinear.core import DataError
from olinear.data.frames import Panel, StandardScaler, bridge_gaps
from olinear.forecaster.choosing import as_given
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.limits import are_whole
from olinear.forecaster.noticing import without_spikes

# What fine-tuning chooses from the rows as any fit does.
FROM_ROWS = ("batch_size", "schedule", "max_epochs", "epoch_steps", "patience", "holdout", "refit")
SLOWER = 0.1  # of the rate of pre-training, from which fine-tuning begins


def for_series(general: Fitted, panel: Panel, ahead: int = 0) -> tuple[Fitted, Panel]:
    """The forecaster of these series, scaled by these rows, and the rows as it sees them; `ahead` of them are left."""
    panel = without_spikes(panel)
    if general.settings.reading.missing == "error":
        panel.refuse_gaps()
    least = general.record["least_rows"]
    if len(panel) < least + ahead:
        raise DataError(
            f"this pre-trained model reads patches of {least} rows and needs {least + ahead} rows at least, found "
            f"{len(panel)}: pass more rows"
        )
    settings = general.settings
    lookback = min(settings.lookback, len(panel) - ahead)
    settings = settings.model_copy(update={"task": settings.task.model_copy(update={"lookback": lookback})})
    low, high = np.nanmin(panel.values, axis=0), np.nanmax(panel.values, axis=0)
    context = replace(panel, values=bridge_gaps(panel.values)[-lookback:], times=panel.times[-lookback:])
    scaler = StandardScaler.fit(panel.values)
    model = general.model if (high > low).any() else None
    found = Fitted(settings, context, high > low, low >= 0, scaler, model, None, general.source)
    found.stale, found.whole = found.history(panel).at_end(1).stale[0], are_whole(panel.values)
    found.record = general.record | {"first": str(panel.times[0]), "last": str(panel.times[-1]), "rows": len(panel)}
    return found, panel


def tuning_settings(general: Fitted) -> dict[str, Any]:
    """The settings of a fit that begins with its weights, as given; the others are chosen from the rows."""
    rate = SLOWER * general.settings.training.learning_rate
    return as_given(general.settings) | dict.fromkeys(FROM_ROWS) | {"learning_rate": rate}


def for_rows(given: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Those settings for so many rows: of few, half may be lookback."""
    return {**given, "lookback": max(min(given["lookback"], rows // 2 - given["horizon"]), 1)}
