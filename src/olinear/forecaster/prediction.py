"""A forecast with what it was made from."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from olinear.core import Note
from olinear.data.frames import FrameStyle, Panel, at_places, build_frame, find_series, pick_series
from olinear.forecaster.intervals import bound_columns
from olinear.forecaster.known import Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Prediction:
    """A forecast with what it was made from; `bounds` maps a level to its lower and upper values `[steps, series]`."""

    history: Panel
    forecast: Panel
    bounds: dict[float, tuple[Values, Values]]
    deviation: Values  # of each series in training: what counts as movement in a picture
    notes: list[Note] = field(default_factory=list)  # what a person should know, such as series without recent values

    def to_frame(self, style: FrameStyle | None = None) -> Any:
        """The forecast as a frame of the user's kind, or of another style."""
        columns = {"": self.forecast.values} | bound_columns(self.bounds)
        return build_frame(replace(self.forecast, style=style or self.forecast.style), columns)

    def pick(self, series: Sequence[str] | str) -> Self:
        """The same forecast of some series alone, in the order asked for."""
        return self.at(find_series(self.forecast.series, series))

    def at(self, places: Sequence[int]) -> Self:
        """The same forecast of the series at some places."""
        chosen = list(places)
        return replace(
            self,
            history=at_places(self.history, chosen),
            forecast=at_places(self.forecast, chosen),
            bounds={level: (low[:, chosen], high[:, chosen]) for level, (low, high) in self.bounds.items()},
            deviation=self.deviation[chosen],
        )

    def plot(
        self, actual: Panel | None = None, title: str = "", *, series: Sequence[str] | str | None = None
    ) -> "Figure":
        """A picture: three horizons of history (at least 48 steps), forecast, intervals and actual values, if known.

        The first six series, or those of `series`, as many as are named.
        """
        from olinear.evaluation.plots import plot_forecast

        shown = self if series is None else self.pick(series)
        known = actual if actual is None or series is None else pick_series(actual, shown.forecast.series)
        history = shown.history.rows(slice(-max(3 * len(shown.forecast), 48), None))
        most = None if series is None else len(shown.forecast.series)
        return plot_forecast(history, shown.forecast, shown.bounds, known, shown.deviation, title, most=most)
