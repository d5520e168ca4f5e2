"""What was measured wrong in the first version, measured again: `python benchmarks/torture/defects.py` (a minute).

What other tortures measure (stale series, late series, damage, kills, sharing, size) is theirs. One row a measurement
in benchmarks/results/torture/defects.csv; rows that are there are not measured again.
"""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, Row
from rows import add_row, read_rows
from shapes import HORIZON, LOOKBACK, made_up

from olinear import Forecaster
from olinear.core import OLinearError

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "defects.csv"
KNOWN, ROWS = 1500, 2000
HELD = (0.72, 0.92)


def fit(frame: pd.DataFrame, **options: object) -> Forecaster:
    given = {"model_dim": 32, "max_epochs": 6, "refit": False} | options
    return Forecaster(HORIZON, LOOKBACK, progress=False, **given).fit(frame)  # type: ignore[arg-type]


def shifted_below_zero() -> float:
    """The same rows, above zero while fitting and below it afterwards: what the 80 % interval of the shifted holds."""
    frame = made_up("season", ROWS)
    frame["s0"] += 5
    forecaster = fit(frame[:KNOWN])
    later = frame[KNOWN - LOOKBACK :].assign(s0=lambda rows: rows["s0"] - 20)
    return forecaster.backtest(later, windows=200, stride=1, levels=[80]).score(series="s0", metric="coverage_80")


def negative_counts() -> float:
    """The share of negative forecasts of counts."""
    frame = made_up("counts", ROWS)
    forecasts = fit(frame[:KNOWN]).backtest(frame[KNOWN - LOOKBACK :], windows=200, stride=1).forecasts
    return float((forecasts[list(frame.columns[1:])] < 0).to_numpy().mean())


def moves_later() -> float:
    """Constant in training, a random walk afterwards: what the 80 % interval holds of it."""
    inside = []
    frame = made_up("season", 600)
    forecaster = fit(frame[:400].assign(s0=7.0), max_epochs=1)
    for seed in range(200):
        walk = np.cumsum(np.random.default_rng(seed).normal(size=200))
        frame.loc[:399, "s0"], frame.loc[400:, "s0"] = 7.0, 7 + walk
        origin = 440 + seed % 120
        prediction = forecaster.predict_panel(frame[:origin], levels=[80])
        low, high = (end[:, 0] for end in prediction.bounds[80.0])
        actual = frame["s0"][origin : origin + HORIZON].to_numpy()
        inside.append(((actual >= low) & (actual <= high)).mean())
    return float(np.mean(inside))


def fits_in_threads() -> int:
    """Of twelve fits, two at a time in threads, how many ended in other weights than the fit alone."""
    frame = made_up("season", 400)
    alone = fit(frame, max_epochs=2).predict()
    ended: list[bool] = []

    def run() -> None:
        with suppress(OLinearError):  # refused, in one line
            ended.append(fit(frame, max_epochs=2).predict().equals(alone))

    for _ in range(6):
        pair = [threading.Thread(target=run) for _ in range(2)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
    if not ended:
        raise RuntimeError("every fit was refused: one of two must go on")
    return ended.count(False)


def shuffled_rows() -> float:
    """The largest difference between forecasts from long rows and from the same rows shuffled."""
    long = made_up("season", 400).melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})
    one, other = (fit(rows, max_epochs=1).predict()["y"] for rows in (long, long.sample(frac=1, random_state=1)))
    return float(np.abs(one.to_numpy() - other.to_numpy()).max())


def a_billion_steps() -> float:
    """Seconds until a horizon of a billion steps is refused."""
    forecaster = fit(made_up("season", 400), max_epochs=1)
    began = time.monotonic()
    try:
        forecaster.predict(horizon=10**9, recursive=True)
    except OLinearError:
        return time.monotonic() - began
    raise RuntimeError("a billion steps were not refused")


MEASURES: dict[str, tuple[Callable[[], float], str, float, float]] = {
    # what is measured: how, the figure, and what it may be at the least and at the most
    "a series shifted below zero after the fit": (shifted_below_zero, "its 80 % interval holds", *HELD),
    "counts": (negative_counts, "share of negative forecasts", 0, 0),
    "a constant that moves after the fit": (moves_later, "its 80 % interval holds", *HELD),
    "twelve fits in threads": (fits_in_threads, "other weights than alone", 0, 0),
    "shuffled rows of a long table": (shuffled_rows, "largest difference of forecasts", 0, 0),
    "--recursive --horizon 1000000000": (a_billion_steps, "seconds until it is refused", 0, 1),
}


def figures(rows: Sequence[Row]) -> list[Figure]:
    found = {row["what"]: float(row["measured"]) for row in rows}
    lines = []
    for what, (_, figure, least, most) in MEASURES.items():
        limit = f"{most:g}" if not least else f"{least:g} to {most:g}"
        lines.append(Figure(what, figure, limit, f"{found[what]:.3g}", least <= found[what] <= most))
    return lines


def main() -> None:
    done = {row["what"] for row in read_rows(RESULTS)}
    for what, (measure, *_) in MEASURES.items():
        if what not in done:
            add_row(RESULTS, {"what": what, "measured": f"{measure():.6g}"})


if __name__ == "__main__":
    main()
