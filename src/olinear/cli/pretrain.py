"""`olinear pretrain`: from several datasets to a folder that forecasts series it has never seen."""

from pathlib import Path
from typing import Annotated, Any

import typer

from olinear.cli import STOPPED
from olinear.cli.common import Json, NotesOnce, check_data_folder, print_json, print_message, print_table
from olinear.cli.options import with_settings
from olinear.core import ConfigError

# What is left out here, a test holds equal to the service's own defaults, which bring torch.
DEFAULTS = {
    "model_dim": 128,
    "blocks": 3,
    "dropout": 0.1,
    "mixer": "normlin",
    "loss": "l2",
    "learning_rate": 1e-3,
    "schedule": "onecycle",
    "batch_size": 256,
    "clip_norm": 1.0,
    "precision": "auto",
}
EVERY = "1,2,3,4,6,12"
PARTS = ("model_dim", "ff_dim", "blocks", "dropout", "mixer")
OTHERS = ("model", "basis", "embed_dim", "rank", "pre_linear", "post_linear", "temporal", "head", "affine", "fold")
PACE = ("max_epochs", "epoch_steps", "patience", "members")
SHOWN = ("horizon", "lookback", "parameters", "precision", "best_epoch", "epochs", "validation_loss", "seconds")

LeaveOut = Annotated[
    str, typer.Option(metavar="C,…", help="Datasets that it must not see; their kin are left out, too.")
]
Every = Annotated[
    str, typer.Option(metavar="1,4,…", help="Train at all rows (1), also at every fourth (4), …: more seasons.")
]
DataFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where datasets are; then OLINEAR_DATA and the cache.")
]


@with_settings("model", "training", without=(*OTHERS, *PACE), defaults=DEFAULTS)
def pretrain(
    data: Annotated[
        str, typer.Option(metavar="A,B,…", help="The paper's datasets by their names, and files of your own.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to save the model.")] = Path("pretrained"),
    leave_out: LeaveOut = "",
    every: Every = EVERY,
    data_folder: DataFolder = None,
    horizon: Annotated[int, typer.Option("--horizon", "-h", min=1, help="Steps that it forecasts.")] = 96,
    context: Annotated[int, typer.Option(min=1, help="Rows it looks back on at the most, in whole patches.")] = 672,
    patch_length: Annotated[int, typer.Option(min=1, help="Rows of a patch.")] = 96,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the optimizer; it is judged twenty times.")] = 4000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    progress: Annotated[bool, typer.Option(help="Draw a live line while training.")] = True,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Train a decoder on the series of several datasets, each patch foretelling the next, and save it.

    The folder then forecasts any rows, of whatever series, without a fit: olinear predict FOLDER rows.csv. In Python,
    Forecaster.load(FOLDER).fit(rows) goes on from its weights. Of a dataset of the paper the training rows are taken,
    of a file all but the newest fifth, which validate. ETTh1 is every fourth row of ETTm1, ETTh2 of ETTm2: to leave
    out the one is to leave out the other.

    Example: olinear pretrain --data ETTh1,ETTh2,ETTm1,ETTm2,Weather --leave-out ETTh1 --out pretrained
    """
    from olinear.forecaster.service import PretrainRequest

    check_data_folder(data_folder, "--data-folder")
    given = {name: value for name, value in settings.items() if value is not None}
    parts = {name: given.pop(name) for name in PARTS if name in given}
    request = PretrainRequest(
        _names(data),
        out,
        _names(leave_out),
        data_folder,
        horizon,
        context,
        steps,
        _numbers(every),
        {"patch_length": patch_length} | parts | given.pop("options", {}),
        given,
        resume,
        progress and not as_json,
        notify=NotesOnce(),
    )
    if not request.data:
        raise ConfigError("no data: name some datasets or files, such as --data ETTh1,ETTh2,mine.csv")
    _pretrain(request, as_json)


def _pretrain(request: Any, as_json: bool) -> None:
    from olinear.forecaster.service import pretrain as pretrain_and_save

    try:
        result = pretrain_and_save(request)
    except KeyboardInterrupt:
        print_message("\nstopped; the same command with --resume goes on from the last checkpoint")
        raise typer.Exit(STOPPED) from None
    report = result.report
    if as_json:
        print_json(report | {"model": str(result.out)})
        return
    lines = [("trained on", ", ".join(report["pretrained_on"])), ("left out", ", ".join(report["left_out"]) or "none")]
    lines += [("model", report["model"]), *(("", f"{key} {value}") for key, value in report["options"].items())]
    print_table(("", ""), [*lines, *((name.replace("_", " "), report[name]) for name in SHOWN)])
    print_message(f"saved to {result.out}; next: olinear predict {result.out} rows.csv")


def _numbers(text: str) -> list[int]:
    numbers = [int(part) if part.isdecimal() else 0 for part in _names(text)]
    if not numbers or min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ConfigError(f"every must be different whole numbers of at least 1, such as 1,4, found {text!r}")
    return numbers


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
