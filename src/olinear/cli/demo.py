"""`olinear demo`: the main job on the embedded dataset."""

from typing import Annotated

import typer

LOOKBACK, HORIZON = 96, 24


def demo(
    max_epochs: Annotated[int, typer.Option(min=1, help="Epochs at the most; fewer are quicker and worse.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="Of the weights, the shuffle and dropout.")] = 0,
) -> None:
    """Train OLinear on the embedded air-quality data and score it on the last fifth, beside a last-value forecast."""
    import torch

    from olinear.evaluation import evaluate, last_value
    from olinear.frames import StandardScaler, bridge_gaps, load_demo
    from olinear.nn import OLinear
    from olinear.training import TrainingConfig, train
    from olinear.windows import Split, Windows

    frame = load_demo()
    raw = bridge_gaps(frame.drop(columns="time"))
    split = Split.by_ratio(len(raw))
    values = StandardScaler.fit(raw[: len(split.train)]).transform(raw)
    training, validation, test = (
        Windows(values, LOOKBACK, HORIZON, split.starts(span, LOOKBACK, HORIZON))
        for span in (split.train, split.validation, split.test)
    )
    typer.echo(
        f"Beijing air quality: {len(raw)} hours, {raw.shape[1]} series; {LOOKBACK} hours predict the next {HORIZON}."
    )

    torch.manual_seed(seed)
    model = OLinear.for_data(values[: len(split.train)], LOOKBACK, HORIZON, model_dim=128, dropout=0.2)
    typer.echo(f"Training on {len(training)} windows ...")
    report = train(model, training, validation, TrainingConfig(max_epochs=max_epochs, seed=seed))
    typer.echo(f"Best of {report.epochs} epochs on validation: {report.best_epoch}. It took {report.seconds:.0f} s.")

    typer.echo(f"\nOn the last fifth ({len(test)} windows, standardised scale):")
    typer.echo(f"{'':12}{'MSE':>8}{'MAE':>8}")
    device = next(model.parameters()).device
    for name, forecaster in (("OLinear", model), ("last value", last_value(HORIZON))):
        scores = evaluate(forecaster, test.to(device))
        typer.echo(f"{name:12}{scores.mse:8.3f}{scores.mae:8.3f}")
