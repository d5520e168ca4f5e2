"""The embedded dataset."""

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def load_demo() -> "pd.DataFrame":
    """Two years of hourly air quality and weather in Beijing: `time` and seven series, some values missing.

    UCI Beijing PM2.5, Liang et al. 2015, CC BY 4.0; `ATTRIBUTION.md` next to the file says what was changed.
    """
    import pandas as pd

    with as_file(files("olinear.data.datasets") / "files" / "beijing_air.csv.gz") as path:
        return pd.read_csv(path, parse_dates=["time"])
