"""Write the model folder that every later release must load: `python tools/make_fixture.py FOLDER`.

Run it once for each format version, never again for an old one: `tests/fixtures/model-v1` is a promise.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from olinear import Forecaster


def main() -> None:
    folder = Path(sys.argv[1])
    if folder.exists():
        sys.exit(f"{folder} exists: a fixture is made once")
    hours = np.arange(240)
    waves = np.sin(2 * np.pi * hours[:, None] / 24 + np.array([0.0, 1.0, 2.0])) * [5.0, 2.0, 0.5] + [20.0, 0.0, 3.0]
    noise = np.random.default_rng(0).normal(size=waves.shape) * [0.5, 0.2, 0.05]
    frame = pd.DataFrame(waves + noise, columns=["north", "south", "west"])
    frame.insert(0, "time", pd.date_range("2025-03-25", periods=len(frame), freq="h", tz="Europe/Berlin"))
    frame["constant"] = 7
    frame.loc[50:55, "south"] = np.nan
    forecaster = Forecaster(6, 24, model_dim=8, blocks=1, max_epochs=3, progress=False).fit(frame)
    forecaster.save(folder)
    forecaster.predict(levels=[80, 95]).to_csv(folder.with_name(f"{folder.name}-forecast.csv"), index=False)


if __name__ == "__main__":
    main()
