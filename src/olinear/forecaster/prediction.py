"""A forecast with what it was made from."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from olinear.core import Note
from olinear.data.frames import FrameStyle, Panel, build_frame
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

    def plot(self, actual: Panel | None = None, title: str = "") -> "Figure":
        """A picture: three horizons of history (at least 48 steps), the forecast, intervals and what came, if known."""
        from olinear.evaluation.plots import plot_forecast

        history = self.history.rows(slice(-max(3 * len(self.forecast), 48), None))
        return plot_forecast(history, self.forecast, self.bounds, actual, self.deviation, title)
