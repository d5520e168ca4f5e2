"""From rows at hand to a forecast: what was asked for, checked first, and then made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olinear.core import ConfigError, DataError
from olinear.core.runtime import Waiting
from olinear.data.frames import Panel, find_series
from olinear.forecaster.known import Past, Values
from olinear.forecaster.limits import check_levels, check_range
from olinear.forecaster.prediction import Prediction

if TYPE_CHECKING:
    from olinear.forecaster.fitted import Fitted

MOST_ROUNDS = 100  # trained horizons that forecasts may feed on themselves
ALWAYS_STEPS = 1000  # and so many steps, however short the trained horizon


@dataclass(frozen=True)
class Asked:
    """What is asked of a fitted forecaster: steps, levels of intervals, and which series by their place."""

    steps: int
    levels: list[float]
    chosen: list[int] | None = None

    @classmethod
    def of(
        cls, fitted: "Fitted", levels: Any, horizon: int | None, recursive: bool, series: Sequence[str] | str | None
    ) -> Self:
        """Refuse what this forecaster cannot do, before any rows are read."""
        trained, wanted = fitted.settings.horizon, check_levels(levels)
        steps = trained if horizon is None else horizon
        check_range(horizon=steps)
        if not isinstance(recursive, bool | np.bool_):
            raise ConfigError(f"recursive must be true or false, found {recursive!r}")
        if steps > trained:
            _check_beyond(trained, steps, recursive, bool(wanted))
        chosen = None if series is None else find_series(fitted.panel.series, series)
        return cls(int(steps), wanted, chosen)


def _check_beyond(trained: int, steps: int, recursive: bool, with_levels: bool) -> None:
    most = max(MOST_ROUNDS * trained, ALWAYS_STEPS)
    if steps > most:
        raise ConfigError(
            f"forecasts that feed on forecasts reach {most} steps from a trained horizon of {trained}, asked for "
            f"{steps}: beyond that they mean nothing; ask for horizon={most} or less, or fit with a longer horizon"
        )
    if not recursive:
        raise ConfigError(
            f"the model was trained for {trained} steps, asked for {steps}: pass recursive=True to feed forecasts "
            f"back in, or fit with horizon={steps}"
        )
    if with_levels:
        raise ConfigError(
            f"intervals are calibrated for {trained} steps, asked for {steps}: leave levels out, or fit with "
            f"horizon={steps}"
        )


def make_prediction(fitted: "Fitted", history: Panel | None, asked: Asked, waiting: Waiting) -> Prediction:
    """What follows the rows of `history`, or without it those of the fit; all series are forecast together."""
    rows = fitted.panel if history is None else history
    if not len(rows):
        raise DataError("this model was saved without context: pass the last rows, predict(data)")
    times = _times_after(rows, asked.steps)
    past = fitted.context if history is None else fitted.history(rows).at_end(fitted.settings.lookback)
    answer = fitted.answer(past)
    bounds = {level: tuple(end[0, : asked.steps] for end in answer.bounds(level)) for level in asked.levels}
    forecast = replace(rows, values=_continued(fitted, past, answer.mean, asked.steps, waiting), times=times)
    made = Prediction(rows, forecast, bounds, fitted.scaler.deviation, answer.notes())  # type: ignore[arg-type]
    return made if asked.chosen is None else made.at(asked.chosen)


def _times_after(rows: Panel, steps: int) -> Any:
    try:
        return rows.frequency.after(rows.times[-1], steps)
    except DataError as error:
        raise DataError(
            f"{steps} steps of {rows.frequency.step!r} from {rows.times[-1]} leave the calendar: ask for a shorter "
            "horizon, or correct the times"
        ) from error


def _continued(fitted: "Fitted", past: Past, mean: Values, steps: int, waiting: Waiting) -> Values:
    """`steps` ahead, feeding forecasts back in where that is more than one horizon."""
    parts, done = [mean[0]], len(mean[0])
    while done < steps:
        waiting.show(f"forecast {done} of {steps} steps")
        past = past.goes_on(parts[-1][None])
        parts.append(fitted.answer(past).mean[0])
        done += len(parts[-1])
    return np.concatenate(parts)[:steps]
