"""Ours: `Forecaster` with its defaults, scored after each epoch with the weights it would leave if it ended there."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from problem import LOOKBACK, Clock, Curve, Point, Problem
from torch import Tensor

from olinear import Forecaster, __version__
from olinear.training import Callback
from olinear.training.state import RunState

OPTIONS: dict[str, dict[str, Any]] = {
    "olinear": {"precision": "float32"},
    "olinear, precision=auto": {"precision": "auto"},  # the default
}


class Kept(Callback):
    """The best weights after each epoch, with the times. The run replaces them and never changes them: no copy."""

    def __init__(self, clock: Clock):
        self.clock, self.began = clock, 0.0
        self.epochs: list[tuple[int, float, float, Mapping[str, Tensor]]] = []

    def started(self, run: RunState) -> None:
        self.began = self.began or self.clock.now()  # a second training, on all rows, is a part of the whole

    def judged(self, run: RunState, record: dict[str, float]) -> None:
        now = self.clock.now()
        self.epochs.append((run.position.total_steps, now - self.began, now, run.best))

    def ended(self, run: RunState) -> None:
        self.seconds = self.clock.now() - self.began


def measure(name: str, problem: Problem, *, short: bool = False) -> Curve:
    options = OPTIONS[name] | ({"max_epochs": 2, "model_dim": 16} if short else {})
    rows, lookbacks = problem.wide(slice(problem.training)), problem.lookbacks()
    clock = Clock()
    kept = Kept(clock)
    forecaster = Forecaster(problem.horizon, LOOKBACK, progress=False, **options).fit(rows, callbacks=[kept])
    whole, fitted = clock.now(), forecaster.fitted
    points: list[Point] = []
    for (steps, seconds, since, weights), before in zip(kept.epochs, [None, *kept.epochs], strict=False):
        if before is not None and weights is before[-1]:
            scores = {"mae": points[-1].mae, "mse": points[-1].mse}
        else:
            model = deepcopy(fitted.model)
            model.load_state_dict(weights)
            scores = problem.score(replace(fitted, model=model).forecast(lookbacks)[0])
        points.append(Point(steps, seconds, since, **scores))
    forecasts = fitted.forecast(lookbacks)[0]
    public = {row: forecaster.predict(problem.wide(slice(row)))[problem.series].to_numpy() for row in problem.checked}
    problem.agree(forecasts, public)
    points.append(Point(points[-1].steps, kept.seconds, whole, **problem.score(forecasts)))
    return Curve(f"olinear {__version__}", points, f"computed in {fitted.precision}")
