"""What the measured curves say: the time to a given error, the headline, a table and a picture."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

OURS = ("olinear", "olinear, precision=auto")
RIVAL, GROUND = "NHITS", "embedded"
WANTED = {"bfloat16 units": 1.5, "no bfloat16 units": 1.0}  # of precision=auto, by the machine
NEVER = "never"

Row = Mapping[str, str]
Run = list[Row]  # the points of one fit, in order


def by_method(rows: Iterable[Row]) -> dict[tuple[str, str], list[Run]]:
    """The repetitions of each (data, method)."""
    runs: dict[tuple[str, str, str], Run] = {}
    for row in rows:
        runs.setdefault((row["data"], row["method"], row["repetition"]), []).append(row)
    found: dict[tuple[str, str], list[Run]] = {}
    for (data, method, _), run in runs.items():
        found.setdefault((data, method), []).append(run)
    return found


def target(runs: list[Run]) -> float:
    """The MAE that a method ends with: the lowest, if repetitions differ."""
    return min(float(run[-1]["mae"]) for run in runs)


def reached(runs: list[Run], mae: float) -> float | None:
    """Seconds since the call of `fit` until an error is reached for the first time: the best of the repetitions."""
    times = [float(point["fit_seconds"]) for run in runs for point in run if float(point["mae"]) <= mae]
    return min(times, default=None)


def quickest(runs: list[Run]) -> Run:
    return min(runs, key=lambda run: float(run[-1]["fit_seconds"]))


def headline(rows: Iterable[Row]) -> list[dict[str, str]]:
    """How many times sooner ours has the error that the rival ends with, on the embedded data.

    A rival whose training was cut has no such error.
    """
    found = by_method(rows)
    rival = [run for run in found.get((GROUND, RIVAL), []) if not run[-1]["note"]]
    lines = []
    for method in OURS if rival else ():
        ours = found.get((GROUND, method))
        if ours is None:
            continue
        mae = target(rival)
        theirs, here = reached(rival, mae), reached(ours, mae)
        wanted = WANTED[ours[0][-1]["machine"]] if method != OURS[0] else 1.0
        ratio = NEVER if here is None else f"{theirs / here:.2f}"
        lines.append(
            {
                "what": f"time of {RIVAL} to its final MAE / of {method} to the same",
                "MAE": f"{mae:.4f}",
                f"{RIVAL}, s": f"{theirs:.1f}",
                "ours, s": _seconds(here),
                "ratio": ratio,
                "wanted": f"{wanted:g}",
                "whole fit / whole fit": f"{_whole(rival) / _whole(ours):.2f}",
            }
        )
    return lines


def kept(line: Mapping[str, str]) -> bool:
    return line["ratio"] != NEVER and float(line["ratio"]) >= float(line["wanted"])


def summary(rows: Iterable[Row]) -> list[dict[str, str]]:
    """A line for each method and dataset: how long it fits, what it ends with, when it has the rival's last error."""
    found = by_method(rows)
    lines = []
    for (data, method), runs in found.items():
        run = quickest(runs)
        rival = found.get((data, RIVAL))
        sooner = "" if rival is None else _seconds(reached(runs, target(rival)))
        lines.append(
            {
                "data": data,
                "method": method,
                "fit, s": f"{_whole(runs):.1f}",
                "MAE": f"{float(run[-1]['mae']):.3f}",
                "MSE": f"{float(run[-1]['mse']):.3f}",
                f"s to {RIVAL}'s last MAE": sooner,
                "version": run[-1]["version"],
                "note": run[-1]["note"],
            }
        )
    return lines


def _seconds(found: float | None) -> str:
    return NEVER if found is None else f"{found:.1f}"


def _whole(runs: list[Run]) -> float:
    return float(quickest(runs)[-1]["fit_seconds"])


def write(path: Path, lines: list[dict[str, str]]) -> None:
    """A small table, whole."""
    if lines:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


def draw(rows: Iterable[Row], path: Path) -> None:
    """A panel for each dataset: the MAE against the seconds since the call of `fit`."""
    from matplotlib.figure import Figure

    found = by_method(rows)
    datasets, methods = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    figure = Figure(figsize=(4.2 * len(datasets), 4.6), layout="constrained")
    for axis, data in zip(figure.subplots(1, len(datasets), squeeze=False)[0], datasets, strict=True):
        for index, method in enumerate(methods):
            if (data, method) in found:
                _draw_curve(axis, quickest(found[data, method]), method, f"C{index}")
        axis.set(title=data, xscale="log", xlabel="seconds since the call of fit")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_ylim(*_limits([runs for (where, _), runs in found.items() if where == data]))
        axis.grid(alpha=0.3, which="both")
    figure.axes[0].set_ylabel("MAE on the rows after those of training")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 * len(datasets), frameon=False, fontsize=9)
    figure.savefig(path, dpi=120)


def _draw_curve(axis: Any, run: Run, name: str, colour: str) -> None:
    seconds, errors = ([float(point[key]) for point in run] for key in ("fit_seconds", "mae"))
    axis.plot(
        seconds, errors, color=colour, lw=2.2 if name in OURS else 1.3, label=name, ls="--" if "=" in name else "-"
    )
    axis.plot(seconds[-1], errors[-1], marker="o", color=colour)


def _limits(found: list[list[Run]]) -> tuple[float, float]:
    """So that all ends are seen, and not every beginning."""
    errors = [float(point["mae"]) for runs in found for run in runs for point in run]
    last = [float(run[-1]["mae"]) for runs in found for run in runs]
    low, high = min(errors), max(last)
    room = 0.15 * (high - low) or 0.05 * high
    return low - room, high + 3 * room
