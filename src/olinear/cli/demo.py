"""`olinear demo`: the main job, from data to picture, on the embedded dataset."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.common import print_message, print_table
from olinear.cli.worth import print_worth

if TYPE_CHECKING:
    from olinear.data.frames import Panel
    from olinear.forecaster import Backtest, Prediction

LOOKBACK, HORIZON = 96, 24


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write what it makes.")] = Path("demo-output"),
    max_epochs: Annotated[int | None, typer.Option(min=1, help="Fewer epochs are quicker and worse.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of weights, shuffle and dropout.")] = 0,
) -> None:
    """Fit OLinear to two years of hourly air quality in Beijing, score it on the last fifth, and draw a forecast.

    Writes forecast.csv, forecast.png and the model folder. Data: UCI Beijing PM2.5, Liang et al. 2015, CC BY 4.0.

    Example: olinear demo --out demo-output
    """
    from olinear.core import OutputError
    from olinear.data.datasets import load_demo
    from olinear.data.frames import write_file
    from olinear.forecaster import Forecaster

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{out} cannot be made: {error.strerror}") from error
    frame = load_demo()
    known = int(0.8 * len(frame))
    test = len(frame) - known
    print_message(
        f"Beijing air quality, {len(frame)} hours of {frame.shape[1] - 1} series: fitting the first {known} hours ..."
    )
    forecaster = Forecaster(HORIZON, LOOKBACK, seed=seed, max_epochs=max_epochs).fit(frame[:known])
    report = forecaster.report()
    print_message(f"best of {report['epochs']} epochs on validation: {report['best_epoch']}; {report['seconds']:.0f} s")

    if "worth" in report:
        print_worth(report["worth"], f"On the newest {report['worth']['rows']} hours of those, which no choice saw")
        typer.echo()

    _print_scores(forecaster.backtest(frame, windows=test - HORIZON + 1, stride=1, levels=[90]))

    origin = known + (test - HORIZON) // 2  # a day in the middle of the last fifth, whatever it looks like
    prediction = forecaster.predict_panel(frame[:origin], levels=[80, 95])
    write_file(prediction.to_frame(), str(out / "forecast.csv"))
    forecaster.save(out / "model")
    made = "forecast.csv and model"
    if _draw(prediction, forecaster.read(frame).rows(slice(origin, origin + HORIZON)), out / "forecast.png"):
        made = "forecast.csv, forecast.png and model"
    print_message(f"wrote {made} to {out}; next: olinear inspect {out}/model")


def _print_scores(scores: "Backtest") -> None:
    rows = [
        (name, scores.score(name, metric="standardised_mse"), scores.score(name, metric="standardised_mae"))
        for name in ("OLinear", "last value", "seasonal naive", "drift")
    ]
    title = f"The last fifth, {scores.windows} windows of {HORIZON} hours, standardised scale"
    print_table(("", "MSE", "MAE"), rows, title=title)
    typer.echo(f"90 % intervals hold {scores.score(metric='coverage_90'):.1%} of the values.")


def _draw(prediction: "Prediction", actual: "Panel", path: Path) -> bool:
    """The forecast next to the actual values, where matplotlib is installed."""
    from olinear.core import MissingDependencyError
    from olinear.evaluation.plots import save_figure

    try:
        save_figure(prediction.plot(actual), path)
    except MissingDependencyError as error:
        print_message(f"note: {error}")
        return False
    return True
