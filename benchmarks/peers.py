"""Other libraries, measured next to ours (extra `peers`)."""

import logging
import os
import warnings
from pathlib import Path

import pandas as pd


def forecaster_against_itransformer() -> tuple[float, float, str]:
    """Seconds of a warm `predict` of one window of ETTh1, 96 -> 96, width 512: theirs, ours; and their version.

    Both are fitted for one step or epoch on the same rows: what they predict does not matter here, how long it takes
    does. neuralforecast's other settings are its defaults.
    """
    import neuralforecast
    from neuralforecast.models import iTransformer

    from olinear import Forecaster
    from olinear.core.runtime import best_times

    warnings.simplefilter("ignore")
    for name in ("pytorch_lightning", "lightning.pytorch", "lightning_fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        raise ImportError("set OLINEAR_DATA to the folder that holds ETTh1.csv")
    wide = pd.read_csv(Path(folder) / "ETTh1.csv", parse_dates=["date"])[:1000]
    long = wide.melt("date", var_name="unique_id", value_name="y").rename(columns={"date": "ds"})
    model = iTransformer(
        h=96, input_size=96, n_series=7, hidden_size=512, max_steps=1, enable_progress_bar=False, logger=False
    )
    theirs = neuralforecast.NeuralForecast(models=[model], freq="h")
    theirs.fit(long)
    ours = Forecaster(96, 96, model_dim=512, max_epochs=1, progress=False).fit(wide)
    times = best_times(theirs.predict, ours.predict, seconds=12.0, turn=0.5)
    return times[0], times[1], neuralforecast.__version__
