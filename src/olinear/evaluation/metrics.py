"""Every metric by its name. A new one is an entry here, and is then in `evaluate`, backtests and results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

from torch import Tensor

from olinear.core import ConfigError
from olinear.evaluation import point_metrics as point
from olinear.evaluation import quantile_metrics as quantile
from olinear.evaluation.case import Ratio

Need = Literal["point", "quantiles", "past"]
Better = Literal["lower", "higher", "target"]
POINT: frozenset[Need] = frozenset({"point"})
PAST: frozenset[Need] = frozenset({"point", "past"})
QUANTILES: frozenset[Need] = frozenset({"quantiles"})


def _as_it_is(mean: Tensor) -> Tensor:
    return mean


def _one_minus(mean: Tensor) -> Tensor:
    return 1 - mean


@dataclass(frozen=True)
class Metric:
    """A score: two sums over targets, their ratio, and a function of it.

    Args:
        name: its key in scores, columns and files.
        label: its name in tables.
        about: one line.
        measure: from a `Case` (one batch and its forecast) to a `Ratio`, whose parts are summed over all batches;
            `case.mean(values)` is the usual one.
        needs: of the forecast and the rows before it.
        better: which way it improves; with `"target"`, `goal` is what it should be.
        finish: a function of the ratio, series by series.
        each_level: a family: `measure(case, level)` for each level of the intervals, in per cent, under the name
            `name_<level>`.
    """

    name: str
    label: str
    about: str
    measure: Callable[..., Ratio]
    needs: frozenset[Need] = POINT
    better: Better = "lower"
    finish: Callable[[Tensor], Tensor] = _as_it_is
    each_level: bool = False
    goal: float | None = None

    def at(self, level: float) -> Self:
        """The metric of a family for one level in per cent."""
        return replace(
            self,
            name=f"{self.name}_{level:g}",
            label=f"{self.label} {level:g} %",
            measure=partial(self.measure, level=level),
            each_level=False,
            goal=level / 100 if self.better == "target" else None,
        )


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("mse", "MSE", "mean squared error", point.squared_error),
        Metric("mae", "MAE", "mean absolute error", point.absolute_error),
        Metric("rmse", "RMSE", "root of the mean squared error", point.squared_error, finish=Tensor.sqrt),
        Metric(
            "r2",
            "R²",
            "share of each window's variance explained",
            point.unexplained,
            better="higher",
            finish=_one_minus,
        ),
        Metric("pearson", "r", "correlation with the target in each window", point.correlation, better="higher"),
        Metric("window_mase", "window MASE", "MAE over the target's own steps", point.window_scaled_error),
        Metric("mase", "MASE", "MAE over the seasonal differences of the past", point.scaled_error, PAST),
        Metric(
            "rmsse",
            "RMSSE",
            "root of the MSE over the squared seasonal differences of the past",
            point.scaled_squared_error,
            PAST,
            finish=Tensor.sqrt,
        ),
        Metric("smape", "sMAPE", "absolute error over the mean size of forecast and target", point.symmetric_error),
        Metric("wql", "WQL", "quantile loss over the size of the targets", quantile.weighted_quantile_loss, QUANTILES),
        Metric("crps", "CRPS", "mean quantile loss", quantile.ranked_probability_score, QUANTILES),
        Metric(
            "coverage",
            "coverage",
            "share of targets inside the interval",
            quantile.coverage,
            QUANTILES,
            better="target",
            each_level=True,
        ),
        Metric("width", "width", "mean width of the interval", quantile.width, QUANTILES, each_level=True),
    )
}


def find_metric(name: str) -> Metric:
    """The metric of that name; of a family with its level, such as `coverage_80`."""
    if name in METRICS:
        return METRICS[name]
    family, _, level = name.rpartition("_")
    if family in METRICS and METRICS[family].each_level:
        try:
            return METRICS[family].at(float(level))
        except ValueError:
            pass
    known = (f"{key}_<level>" if metric.each_level else key for key, metric in METRICS.items())
    raise ConfigError(f"no metric is called {name!r}: there are {', '.join(known)}")


def choose_metrics(names: Iterable[str] | None = None, levels: Sequence[float] = ()) -> dict[str, Metric]:
    """The metrics of these names, or all; families once for each level."""
    chosen: dict[str, Metric] = {}
    for name in METRICS if names is None else names:
        metric = find_metric(name)
        if metric.each_level and names is not None and not levels:
            raise ConfigError(f"{name} needs a level: ask for {name}_80, or give levels")
        members = [metric.at(level) for level in levels] if metric.each_level else [metric]
        chosen |= {name if member is metric else member.name: member for member in members}
    return chosen
