"""LightGBM by mlforecast: the lookback as lags, one model for all series, defaults; one point, its fit."""

import lightgbm
import mlforecast
import numpy as np
import pandas as pd
from mlforecast import MLForecast
from problem import LOOKBACK, Clock, Curve, Point, Problem

THREADS = 2  # as torch has; left to itself it counts cores otherwise


def measure(name: str, problem: Problem, *, short: bool = False) -> Curve:
    model = lightgbm.LGBMRegressor(n_jobs=THREADS, verbosity=-1, **({"n_estimators": 5} if short else {}))
    theirs = MLForecast(models={name: model}, freq=problem.frequency, lags=range(1, LOOKBACK + 1), num_threads=THREADS)
    rows = problem.long(slice(problem.training))
    clock = Clock()
    theirs.fit(rows)
    seconds = clock.now()
    found = theirs.predict(problem.horizon, new_df=_windows(problem))[name].to_numpy()
    shape = (len(problem.origins), len(problem.series), problem.horizon)
    scores = problem.score(found.reshape(shape).swapaxes(1, 2))
    version = f"mlforecast {mlforecast.__version__}, lightgbm {lightgbm.__version__}"
    return Curve(version, [Point(model.n_estimators, seconds, seconds, **scores)])


def _windows(problem: Problem) -> pd.DataFrame:
    """Each series of each window as a series of its own, in an order that sorting keeps."""
    past = problem.lookbacks().swapaxes(1, 2).reshape(-1, LOOKBACK)
    times = pd.date_range("2000-01-01", periods=LOOKBACK, freq=problem.frequency)
    ids = np.arange(len(past)).repeat(LOOKBACK)
    return pd.DataFrame({"unique_id": ids, "ds": np.tile(times, len(past)), "y": past.ravel()})
