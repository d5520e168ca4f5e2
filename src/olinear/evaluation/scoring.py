"""Forecasts and targets in, scores out: one pass over any number of windows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from olinear.core import Batch, ConfigError, DataError, Output, Point
from olinear.core.runtime import on_same_device
from olinear.data.windows import Windows
from olinear.evaluation.case import Case, Context
from olinear.evaluation.metrics import Metric, Need, choose_metrics
from olinear.models import answer


@dataclass(frozen=True, repr=False)
class Scores(Mapping[str, float]):
    """The value of each metric by its name, on the scale of the data given; `scores.mse` is `scores["mse"]`.

    A score is NaN where nothing could be scored. The paper's numbers are on the standardised scale.
    """

    together: Mapping[str, float]
    windows: int
    each: tuple[Mapping[str, float], ...] = ()

    def by_series(self) -> list["Scores"]:
        """The scores of each series by itself."""
        return [Scores(values, self.windows) for values in self.each]

    def __getitem__(self, name: str) -> float:
        return self.together[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.together)

    def __len__(self) -> int:
        return len(self.together)

    def __getattr__(self, name: str) -> float:
        known = self.__dict__.get("together", {})  # a copy in the making has none yet
        if name not in known:
            raise AttributeError(f"there is no score called {name!r}: there are {', '.join(known)}")
        return float(known[name])

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.6g}" for name, value in self.together.items())
        return f"Scores({values}, windows={self.windows})"


class Scorer:
    """Gathers scores batch by batch: exact means, summed in float64, over all series and for each.

    Args:
        metrics: names such as `["mse", "coverage_80"]`; by default all that the forecasts allow.
        context: levels, season and scale.
    """

    def __init__(self, metrics: Iterable[str] | None = None, context: Context | None = None):
        self.context = context or Context()
        self._metrics = choose_metrics(metrics, self.context.levels)
        self._all_wanted = metrics is not None
        self._sums: dict[str, tuple[Tensor, Tensor]] = {}  # above, below: `n` each
        self.windows = 0
        self.targets = 0

    @torch.no_grad()
    def add(self, output: Output, batch: Batch) -> None:
        """Score the forecasts of one batch."""
        case = Case(output, batch, self.context)
        self._check(case)
        if not self.windows:
            self._metrics = self._possible(output)
        for name, metric in self._metrics.items():
            above, below = (_sum(part) for part in metric.measure(case))
            before = self._sums.get(name, (0.0, 0.0))
            self._sums[name] = before[0] + above, before[1] + below
        self.windows += len(batch)
        self.targets += int(case.present.sum())

    def scores(self) -> Scores:
        """The scores of everything added."""
        if not self.windows:
            raise DataError("there are no forecasts to score")
        together: dict[str, float] = {}
        each: dict[str, list[float]] = {}
        for name, metric in self._metrics.items():
            above, below = self._sums[name]
            together[name] = float(metric.finish(above.sum() / below.sum()))
            each[name] = metric.finish(above / below).tolist()
        rows = zip(*each.values(), strict=True)
        return Scores(together, self.windows, tuple(dict(zip(each, row, strict=True)) for row in rows))

    def _possible(self, output: Output) -> dict[str, Metric]:
        """The metrics that this kind of output can be scored by."""
        given: set[Need] = {"point", "past"} if isinstance(output, Point) else {"point", "past", "quantiles"}
        possible = {name: metric for name, metric in self._metrics.items() if metric.needs <= given}
        if self._all_wanted and len(possible) < len(self._metrics):
            name = next(name for name in self._metrics if name not in possible)
            raise ConfigError(f"{name} needs quantiles, and these forecasts are points: leave it out")
        return possible

    def _check(self, case: Case) -> None:
        found, wanted = tuple(case.forecast.shape), tuple(case.target.shape)
        if found != wanted:
            raise DataError(f"the forecast must have shape {wanted}, found {found}")
        scale = self.context.scale
        if scale is not None and scale.absolute.shape != wanted[-1:]:
            raise DataError(f"the scale must have {wanted[-1]} series, found shape {tuple(scale.absolute.shape)}")


def _sum(part: Tensor) -> Tensor:
    """Over all but the series, in float64: at home, for Apple's MPS has no doubles."""
    return part.cpu().flatten(0, -2).sum(0, dtype=torch.float64)


def score(
    pairs: Iterable[tuple[Output, Batch]], metrics: Iterable[str] | None = None, context: Context | None = None
) -> Scores:
    """The scores of forecasts and the batches they belong to."""
    scorer = Scorer(metrics, context)
    for output, batch in pairs:
        scorer.add(output, batch)
    return scorer.scores()


@torch.no_grad()
def evaluate(
    model: Callable[..., Any],
    windows: Windows,
    batch_size: int = 128,
    metrics: Iterable[str] | None = None,
    context: Context | None = None,
) -> Scores:
    """The scores of a model over every window, missing targets (NaN) left out; no batch is dropped.

    A module is put in evaluation mode, and the windows go to its device.

    Args:
        model: a module, or a function `b t n -> b h n`.
        windows: whose lookbacks it sees and whose targets it is compared with.
        batch_size: windows at a time.
        metrics: names from `METRICS`; by default all that the model's answers allow.
        context: levels of intervals, season, and the scale of the past.
    """
    if isinstance(model, nn.Module):
        windows = on_same_device(model.eval(), windows)
    scorer = Scorer(metrics, context)
    for batch in windows.batches(batch_size):
        scorer.add(answer(model, batch), batch)
    if not scorer.targets:
        raise DataError("every target of these windows is missing: there is nothing to score")
    return scorer.scores()


@torch.no_grad()
def window_errors(model: Callable[..., Any], windows: Windows, batch_size: int = 128) -> Tensor:
    """The MSE of each window by itself, `[windows]`, missing targets left out: what two models are compared by."""
    at_home = windows.values.device
    if isinstance(model, nn.Module):
        windows = on_same_device(model.eval(), windows)
    batches = windows.batches(batch_size)
    errors = (answer(model, batch).point - batch.targets for batch in batches)
    return torch.cat([error.square().flatten(1).nanmean(1) for error in errors]).to(at_home)
