"""Prints seconds of a warm `predict` of one window, neuralforecast's iTransformer and ours, as JSON: for speed.py."""

import json
import sys
from pathlib import Path

import pandas as pd
import torch

sys.path.insert(0, str(Path(__file__).parent))
from neural import quiet, silent

from olinear import Forecaster
from olinear.core.runtime import best_times
from olinear.data.datasets import find_dataset, read_table, require

ROWS = 1000


def main() -> None:
    """Both are fitted for one step or epoch on the same rows: how long they take matters here, not what they say."""
    import neuralforecast
    from neuralforecast.models import iTransformer

    torch.set_num_threads(2)
    quiet()
    values = read_table(require(find_dataset("ETTh1"))).values[:ROWS]
    names = [f"s{index}" for index in range(values.shape[1])]
    wide = pd.DataFrame(values, columns=names).assign(time=pd.date_range("2016-07-01", periods=ROWS, freq="h"))
    long = wide.melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})
    sizes = {"h": 96, "input_size": 96, "n_series": len(names), "hidden_size": 512, "max_steps": 1}
    theirs = neuralforecast.NeuralForecast(models=[iTransformer(**sizes, **silent())], freq="h")
    theirs.fit(long)
    ours = Forecaster(96, 96, model_dim=512, max_epochs=1, precision="auto", progress=False).fit(wide)
    times = best_times(theirs.predict, ours.predict, seconds=12.0, turn=0.5)
    precision = ours.fitted.precision
    print(json.dumps([*times, neuralforecast.__version__, precision]))


if __name__ == "__main__":
    main()
