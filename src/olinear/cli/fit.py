"""`olinear fit`: from a data file to a model folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.common import Freq, Id, Json, Time, Value, print_json, print_table, say, say_notes
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.forecaster import Forecaster

SHOWN = (
    "series",
    "frequency",
    "rows",
    "lookback",
    "horizon",
    "model",
    "model_dim",
    "blocks",
    "batch_size",
    "parameters",
)
SCORES = ("best_epoch", "epochs", "validation_loss", "seconds")
WORDS = {"true": True, "false": False, "none": None}


def _of_model(help: str, metavar: str | None = None) -> Any:
    return typer.Option(help=help, metavar=metavar, rich_help_panel="Model")


def _of_training(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel="Training")


def fit(
    data: Annotated[str, typer.Argument(metavar="FILE", help="CSV or Parquet, wide or long; - reads CSV from a pipe.")],
    horizon: Annotated[int, typer.Option("--horizon", "-h", help="Steps to forecast.")],
    lookback: Annotated[int | None, typer.Option(help="Steps to look back on; from the data, if left out.")] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to save the model.")] = Path("model"),
    freq: Freq = None,
    time: Time = None,
    id: Id = None,
    value: Value = None,
    missing: Annotated[str, typer.Option(help="Gaps: 'bridge' or 'error'.")] = "bridge",
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same model.")] = 0,
    refit: Annotated[bool, typer.Option(help="Train again on all rows, for the chosen number of epochs.")] = False,
    context: Annotated[bool, typer.Option(help="Keep the last rows, so that predict needs no data.")] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a fit that was stopped.")] = False,
    model: Annotated[str, _of_model("Another forecaster: `olinear models` lists them.")] = "OLinear",
    option: Annotated[
        list[str] | None,
        _of_model("Of another forecaster, such as heads=4; may be repeated.", metavar="NAME=VALUE"),
    ] = None,
    model_dim: Annotated[int | None, _of_model("Width.")] = None,
    blocks: Annotated[int | None, _of_model("Number of blocks.")] = None,
    dropout: Annotated[float | None, _of_model("Share of features that a step of training leaves out.")] = None,
    rank: Annotated[int | None, _of_model("Of NormLin's factors, for many series.")] = None,
    basis: Annotated[str | None, _of_model("Orthogonal basis of both time axes; pearson.")] = None,
    validation: Annotated[float, _of_training("Share of the rows, the newest, that validates.")] = 0.2,
    max_epochs: Annotated[int | None, _of_training("Epochs at the most.")] = None,
    patience: Annotated[int | None, _of_training("Epochs without a better validation before it stops.")] = None,
    batch_size: Annotated[int | None, _of_training("Windows in a step.")] = None,
    learning_rate: Annotated[float | None, _of_training("Of Adam, at the start.")] = None,
    schedule: Annotated[str | None, _of_training("type1, type3, decay, stairs, cosine, onecycle, constant.")] = None,
    loss: Annotated[str | None, _of_training("weighted_l1, l1, l2.")] = None,
    device: Annotated[str, _of_training("auto, cpu, cuda, mps.")] = "auto",
    progress: Annotated[bool, typer.Option(help="Draw a live line while training.")] = True,
    as_json: Json = False,
) -> None:
    """Fit a model to related series and save it.

    The table is wide (a time column and one column a series) or long (unique_id, ds, y). Everything but the file and
    the horizon has a default from the data. The newest fifth of the rows validates.

    Example: olinear fit data.csv --horizon 24 --out model
    """
    from olinear.data.frames import read_file
    from olinear.forecaster import Forecaster, check_target

    reading: dict[str, Any] = {"freq": freq, "time": time, "id": id, "value": value, "missing": missing}
    parts: dict[str, Any] = {"basis": basis, "model_dim": model_dim, "blocks": blocks, "dropout": dropout, "rank": rank}
    parts |= {"model": model, "options": parse_options(option or ())}
    training: dict[str, Any] = {"validation": validation, "refit": refit, "seed": seed, "device": device, "loss": loss}
    training |= {"max_epochs": max_epochs, "patience": patience, "batch_size": batch_size}
    training |= {"learning_rate": learning_rate, "schedule": schedule, "progress": progress}
    forecaster = Forecaster(horizon, lookback, **reading, **parts, **training)
    check_target(out)
    _fit_and_save(forecaster, read_file(data), out, context=context, resume=resume)
    _tell(forecaster.report(), out, as_json)


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """`heads=4` as an option of a model: numbers, true, false and none are understood, all else is text."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not (name and equals):
            raise ConfigError(f"--option must be NAME=VALUE, such as heads=4, found {text!r}")
        if name in options:
            raise ConfigError(f"--option {name!r} is given twice: leave one out")
        options[name] = _parse_value(value)
    return options


def _parse_value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _fit_and_save(forecaster: "Forecaster", frame: Any, out: Path, *, context: bool, resume: bool) -> None:
    """Train beside a checkpoint, which goes when the model is saved."""
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    try:
        forecaster.fit(frame, checkpoint=checkpoint, resume=resume)
    except KeyboardInterrupt:
        say("\nstopped; the same command with --resume goes on from the last checkpoint")
        raise typer.Exit(130) from None
    forecaster.save(out, context=context)
    for leftover in (checkpoint, checkpoint.with_name(f"{checkpoint.name}.refit")):
        leftover.unlink(missing_ok=True)


def _tell(report: dict[str, Any], out: Path, as_json: bool) -> None:
    say_notes(report["notes"])
    if as_json:
        print_json(report | {"forecaster": report["model"], "model": str(out)})
        return
    print_table(("", ""), [(name.replace("_", " "), report[name]) for name in (*SHOWN, *SCORES) if name in report])
    say(f"saved to {out}; next: olinear predict {out} --plot forecast.png")
