"""Attention against a causal NormLin in a pre-trained decoder (the paper's Timer): `make bench-timer` (resumable).

Two decoders of the same tokens, number of parameters, steps and seed are pre-trained on the training rows of the
datasets at hand but the target and its kin, once for each group of kin. On each target, horizon 96, every test window:

- zero-shot: as they are;
- fine-tuned: on the windows whose targets lie in the last 5 % of the training rows (lookbacks reach further back, for
  of ETTh1 that is less than one), the epoch chosen by validation rows;
- next to the last value, the last season, and what the paper printed, whose corpus cannot be had: its decoders saw
  up to a billion points of seven domains, ours what benchmarks/results/timer.csv says.

Sizes, corpus and steps were chosen by validation rows alone: `python benchmarks/timer.py --try NAME=VALUE …` trains
without the first group and prints the MSE of every fourth validation window of all targets. Writes
benchmarks/results/timer.csv, and from it timer-summary.csv. Needs OLINEAR_DATA; models are kept in --folder.
"""

import argparse
import csv
from collections.abc import Mapping
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import torch
from rows import add_row, read_rows
from torch import nn

from olinear.bench.paper import write_numbers
from olinear.cli.options import parse_options
from olinear.core.runtime import computing_in
from olinear.data.datasets import find_dataset, load_values, require
from olinear.data.frames import StandardScaler
from olinear.data.windows import Split, Windows
from olinear.evaluation import evaluate, last_value, seasonal_naive
from olinear.forecaster import Forecaster
from olinear.forecaster.service import PretrainRequest, pretrain
from olinear.training import TrainingConfig, train

HERE = Path(__file__).parent
RESULTS, SUMMARY = HERE / "results" / "timer.csv", HERE / "results" / "timer-summary.csv"
PRINTED = HERE / "timer_printed.csv"
CORPUS = ["ETTh1", "ETTh2", "ETTm1", "ETTm2", "Weather", "Exchange", "PEMS08"]
SEASONS = {"ETTh1": 24, "ETTh2": 24, "ETTm1": 96, "ETTm2": 96, "Weather": 144}  # a day
GROUPS = {"ETTh1": ["ETTh1", "ETTm1"], "ETTh2": ["ETTh2", "ETTm2"], "Weather": ["Weather"]}
MIXERS = ("normlin", "attention")
HORIZON, SHARE, SEED = 96, 0.05, 2023
TUNING = {"loss": "l2", "learning_rate": 1e-4, "max_epochs": 5, "patience": 2, "clip_norm": 1.0, "seed": SEED}
RUN: dict[str, Any] = {
    "context": 672,
    "steps": 1500,
    "patch_length": 96,
    "model_dim": 128,
    "blocks": 3,
    "every": "1,2,3,4,6,12",
}


class Target:
    """A dataset standardised by its training rows, as the paper scores it."""

    def __init__(self, name: str):
        dataset = find_dataset(name)
        raw = load_values(dataset, require(dataset))
        self.split: Split = dataset.split_rows(len(raw))
        self.values = StandardScaler.fit(raw[: len(self.split.train)]).transform(raw)

    def windows(self, span: range, lookback: int, every: int = 1) -> Windows:
        """Those whose targets lie in a span of rows; lookbacks may reach before it."""
        starts = range(max(span.start - lookback, 0), span.stop - lookback - HORIZON + 1, every)
        return Windows(self.values[: span.stop], lookback, HORIZON, starts)

    @property
    def few(self) -> range:
        """The last rows of training."""
        count = len(self.split.train)
        return range(count - int(SHARE * count), count)


def request(mixer: str, group: str, out: Path, changes: Mapping[str, Any]) -> PretrainRequest:
    """One pre-training; changes are of the sizes of a run, the model's options or the training."""
    given = RUN | dict(changes)
    sizes: dict[str, Any] = {name: given.pop(name) for name in ("context", "steps") if name in given}
    training = {name: given.pop(name) for name in (*TrainingConfig.model_fields,) if name in given}
    corpus = str(given.pop("data", ",".join(CORPUS))).split(",")
    sizes["every"] = [int(step) for step in str(given.pop("every")).split(",")]
    return PretrainRequest(
        corpus, out, [group], None, HORIZON, **sizes, options=given | {"mixer": mixer},
        training=training | {"seed": SEED}, resume=True, progress=True, notify=print,
    )  # fmt: skip


def pretrained(mixer: str, group: str, folder: Path) -> Forecaster:
    """From its folder, or trained now."""
    out = folder / f"{mixer}-without-{group}"
    return Forecaster.load(out) if out.is_dir() else pretrain(request(mixer, group, out, {})).forecaster


def tuned(forecaster: Forecaster, target: Target) -> tuple[nn.Module, dict[str, Any]]:
    """Trained further on few windows; the epoch with the lowest validation loss."""
    fitted, lookback = forecaster.fitted, forecaster.fitted.settings.lookback
    model = deepcopy(fitted.model)
    assert model is not None
    training, validation = target.windows(target.few, lookback), target.windows(target.split.validation, lookback, 4)
    report = train(model, training, validation, TrainingConfig(**TUNING, precision=fitted.precision))
    return model, facts_of(report.best_epoch, report.best_loss, report.seconds)


def facts_of(best_epoch: int, loss: float | None, seconds: float) -> dict[str, Any]:
    return {"best_epoch": best_epoch, "validation_loss": f"{loss:.4f}", "seconds": f"{seconds:.0f}"}


def score(model: Any, windows: Windows, facts: Mapping[str, Any]) -> dict[str, Any]:
    scores = evaluate(model, windows)
    blank = dict.fromkeys(("parameters", "corpus", "every", "steps", "best_epoch", "validation_loss", "seconds"), "")
    return {"mse": f"{scores.mse:.4f}", "mae": f"{scores.mae:.4f}", "windows": scores.windows} | blank | dict(facts)


def run(folder: Path) -> None:
    """Every line that is not there yet: what takes no training first, then zero-shot, then fine-tuned."""
    done = {(row["dataset"], row["way"], row["model"]) for row in read_rows(RESULTS)}
    for name in SEASONS:
        naive(name, done)
    for way, mixer, (group, targets) in product(("zero-shot", "fine-tuned"), MIXERS, GROUPS.items()):
        wanted = [name for name in targets if (name, way, mixer) not in done]
        forecaster = pretrained(mixer, group, folder) if wanted else None
        for name in wanted:
            assert forecaster is not None
            add_row(RESULTS, {"dataset": name, "way": way, "model": mixer} | measure(forecaster, name, way))
            summarise()
    summarise()


def measure(forecaster: Forecaster, name: str, way: str) -> dict[str, Any]:
    """A pre-trained decoder on every test window, as it is or trained further."""
    fitted, report, target = forecaster.fitted, forecaster.report(), Target(name)
    assert fitted.model is not None
    lookback = fitted.settings.lookback
    facts: dict[str, Any] = {
        "parameters": report["parameters"],
        "corpus": " ".join(report["pretrained_on"]),
        "every": str(RUN["every"]).replace(",", " "),
        "steps": report["max_epochs"] * report["epoch_steps"],
    }
    if way == "fine-tuned":
        model, chosen = tuned(forecaster, target)
    else:
        chosen = facts_of(report["best_epoch"], report["validation_loss"], report["seconds"])
        model = fitted.model
    with computing_in(fitted.precision, fitted.kernels):
        return score(model, target.windows(target.split.test, lookback), facts | chosen)


def naive(name: str, done: set[tuple[str, str, str]]) -> None:
    """What learns nothing, on the same windows."""
    kinds = {"last value": last_value(HORIZON), "seasonal naive": seasonal_naive(HORIZON, SEASONS[name])}
    for kind, forecast in kinds.items():
        if (name, "naive", kind) not in done:
            target = Target(name)
            windows = target.windows(target.split.test, RUN["context"])
            add_row(RESULTS, {"dataset": name, "way": "naive", "model": kind} | score(forecast, windows, {}))


def summarise() -> None:
    """The MSE of each target in one line, ours next to the paper's, and as numbers of `olinear paper`."""
    (_, *columns), *lines = summary()
    with SUMMARY.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(summary())
    ours = [(line[0], *cell) for line in lines for cell in zip(columns, line[1:], strict=True) if cell[1]]
    numbers = [{"dataset": name, "what": what, "value": value} for name, what, value in ours if "paper" not in what]
    write_numbers(HERE.parent / "results", "timer", numbers)


def summary() -> list[list[str]]:
    found = {(row["dataset"], f"{row['way']} {row['model']}"): row["mse"] for row in read_rows(RESULTS)}
    ways = [f"{way} {mixer}" for way in ("zero-shot", "fine-tuned") for mixer in MIXERS]
    naives = ["seasonal naive", "last value"]
    lines = [["dataset", *naives, *ways, *(f"paper: {way}" for way in ways)]]
    for printed in read_rows(PRINTED):
        name = printed["dataset"]
        if name in SEASONS:
            ours = [found.get((name, column), "") for column in (*(f"naive {kind}" for kind in naives), *ways)]
            lines.append([name, *ours, *(printed[way] for way in ways)])
    return lines


def attempt(changes: Mapping[str, Any], folder: Path) -> None:
    """Validation errors of all targets after a pre-training without the first group."""
    mixer = str(dict(changes).get("mixer", "normlin"))
    changes = {name: value for name, value in changes.items() if name != "mixer"}
    out = folder / "-".join(["try", mixer, *(f"{name}={value}" for name, value in sorted(changes.items()))])[:150]
    forecaster = Forecaster.load(out) if out.is_dir() else pretrain(request(mixer, "ETTh1", out, changes)).forecaster
    fitted, facts = forecaster.fitted, {"seconds": forecaster.report()["seconds"]}
    for name in SEASONS:
        target = Target(name)
        windows = target.windows(target.split.validation, fitted.settings.lookback, 4)
        assert fitted.model is not None
        with computing_in(fitted.precision, fitted.kernels):
            print(name, "left out" if name in GROUPS["ETTh1"] else "seen", score(fitted.model, windows, facts)["mse"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("timer-models"), help="where pre-trained models are kept")
    parser.add_argument("--try", nargs="*", metavar="NAME=VALUE", dest="changes", help="validation errors alone")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.changes is not None:
        attempt(parse_options(given.changes), given.folder)
    else:
        run(given.folder)


if __name__ == "__main__":
    main()
