"""neuralforecast's models with their defaults, scored after every so many steps as its own `predict` would be."""

import logging
import warnings
from copy import deepcopy
from typing import Any, Self

import neuralforecast
import numpy as np
import pytorch_lightning
from neuralforecast import NeuralForecast
from neuralforecast.models import NHITS, PatchTST, TSMixer, iTransformer
from neuralforecast.tsdataset import TimeSeriesDataset
from numpy.typing import NDArray
from problem import LOOKBACK, Clock, Curve, Point, Problem

MODELS = {model.__name__: model for model in (iTransformer, PatchTST, TSMixer, NHITS)}
EVERY = 40  # steps


class Kept(pytorch_lightning.Callback):
    """The weights after every so many steps, with the times; the clock stands still while they are copied."""

    def __init__(self, clock: Clock, every: int, most: float):
        super().__init__()
        self.clock, self.every, self.most = clock, every, most
        self.began, self.seconds, self.steps, self.late = 0.0, 0.0, 0, False
        self.weights: list[tuple[int, float, float, dict[str, Any]]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # the library copies its models with all that belongs to them

    def on_train_start(self, trainer: Any, module: Any) -> None:
        self.began = self.clock.now()

    def on_train_batch_end(self, trainer: Any, module: Any, *batch: Any) -> None:
        now, self.steps = self.clock.now(), trainer.global_step
        self.seconds = now - self.began
        if self.steps % self.every == 0:
            with self.clock.paused():
                self.weights.append((self.steps, self.seconds, now, deepcopy(module.state_dict())))
        if self.seconds > self.most:
            self.late = trainer.should_stop = True


def measure(name: str, problem: Problem, *, short: bool = False, most: float = float("inf")) -> Curve:
    """With `most`, a training that takes more seconds is cut, and the note says where."""
    quiet()
    kept = Kept(Clock(), 1 if short else EVERY, most)
    options = {"n_series": len(problem.series)} if MODELS[name].MULTIVARIATE else {}
    options |= {"max_steps": 3} if short else {}
    model = MODELS[name](h=problem.horizon, input_size=LOOKBACK, **options, **silent(), callbacks=[kept])
    theirs, rows = NeuralForecast(models=[model], freq=problem.frequency), problem.long(slice(problem.training))
    kept.clock = Clock()
    theirs.fit(rows)
    whole = kept.clock.now()
    (fitted,) = theirs.models
    forecasts = forecast(fitted, problem)
    problem.agree(forecasts, {row: public(theirs, problem, row) for row in problem.checked})
    last = Point(kept.steps, kept.seconds, whole, **problem.score(forecasts))
    points = []
    for steps, seconds, since, weights in kept.weights:
        fitted.load_state_dict(weights)
        points.append(Point(steps, seconds, since, **problem.score(forecast(fitted, problem))))
    note = f"ended after {most:g} s of training, at step {kept.steps} of {fitted.max_steps}" if kept.late else ""
    return Curve(f"neuralforecast {neuralforecast.__version__}", [*points, last], note)


def forecast(model: Any, problem: Problem) -> NDArray[np.float32]:
    """`b h n` from every origin, by the model's own `predict`, which knows its scaler."""
    dataset = TimeSeriesDataset.from_df(problem.long(slice(None)))[0]
    model.set_test_size(len(problem.values) - problem.training)
    flat = model.predict(dataset=dataset, step_size=1)
    model.set_test_size(0)
    return flat.reshape(len(problem.series), len(problem.origins), problem.horizon).transpose(1, 2, 0)


def public(theirs: NeuralForecast, problem: Problem, row: int) -> NDArray[np.float32]:
    """What a user gets who asks for what follows the rows up to this one."""
    found = theirs.predict(df=problem.long(slice(row)))
    value = type(theirs.models[0]).__name__
    return found.pivot(index="ds", columns="unique_id", values=value)[problem.series].to_numpy()


def silent() -> dict[str, bool]:
    """What a model takes so that its training writes nothing, neither to a terminal nor to files."""
    return dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary", "enable_checkpointing"), False)


def quiet() -> None:
    warnings.simplefilter("ignore")
    for name in ("pytorch_lightning", "lightning.pytorch", "lightning_fabric", "lightning_fabric.utilities.seed"):
        logging.getLogger(name).setLevel(logging.ERROR)
