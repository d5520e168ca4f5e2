"""`olinear fit`: from a data file to a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from olinear.cli.common import Freq, Id, Json, Time, Value, print_json, print_table, say, say_notes

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
    model: Annotated[
        str, typer.Option(help="Another forecaster: `olinear models` lists them.", rich_help_panel="Model")
    ] = "OLinear",
    model_dim: Annotated[int | None, typer.Option(help="Width.", rich_help_panel="Model")] = None,
    blocks: Annotated[int | None, typer.Option(help="Number of blocks.", rich_help_panel="Model")] = None,
    dropout: Annotated[float | None, typer.Option(rich_help_panel="Model")] = None,
    rank: Annotated[
        int | None, typer.Option(help="Of NormLin's factors, for many series.", rich_help_panel="Model")
    ] = None,
    basis: Annotated[
        str | None, typer.Option(help="Orthogonal basis of both time axes; pearson.", rich_help_panel="Model")
    ] = None,
    max_epochs: Annotated[int | None, typer.Option(rich_help_panel="Training")] = None,
    batch_size: Annotated[int | None, typer.Option(rich_help_panel="Training")] = None,
    learning_rate: Annotated[float | None, typer.Option(rich_help_panel="Training")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mps.", rich_help_panel="Training")] = "auto",
    progress: Annotated[bool, typer.Option(help="Draw a live line while training.")] = True,
    as_json: Json = False,
) -> None:
    """Fit a model to related series and save it.

    The table is wide (a time column and one column a series) or long (unique_id, ds, y). Everything but the file and
    the horizon has a default from the data. The newest fifth of the rows validates.

    Example: olinear fit data.csv --horizon 24 --out model
    """
    from olinear.forecaster import Forecaster
    from olinear.forecaster.storage import check_target
    from olinear.frames import read_file

    forecaster = Forecaster(
        horizon,
        lookback,
        freq=freq,
        time=time,
        id=id,
        value=value,
        missing=missing,  # type: ignore[arg-type]
        refit=refit,
        seed=seed,
        basis=basis,
        model=model,
        model_dim=model_dim,
        blocks=blocks,
        dropout=dropout,
        rank=rank,
        batch_size=batch_size,
        learning_rate=learning_rate,
        max_epochs=max_epochs,
        device=device,
        progress=progress,
    )
    check_target(out)
    frame = read_file(data)
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    try:
        forecaster.fit(frame, checkpoint=checkpoint, resume=resume)
    except KeyboardInterrupt:
        say("\nstopped; the same command with --resume goes on from the last checkpoint")
        raise typer.Exit(130) from None
    forecaster.save(out, context=context)
    for leftover in (checkpoint, checkpoint.with_name(f"{checkpoint.name}.refit")):
        leftover.unlink(missing_ok=True)
    report = forecaster.report()
    say_notes(report["notes"])
    if as_json:
        print_json(report | {"forecaster": report["model"], "model": str(out)})
        return
    print_table(("", ""), [(name.replace("_", " "), report[name]) for name in (*SHOWN, *SCORES) if name in report])
    say(f"saved to {out}; next: olinear predict {out} --plot forecast.png")
