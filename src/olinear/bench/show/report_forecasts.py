"""The report's forecasts: windows that the runner left next to the results, drawn."""

from collections import defaultdict
from pathlib import Path

from pydantic import BaseModel, ValidationError

from olinear.bench.read.summary import Selection
from olinear.bench.show.markup import Markup, join, tag
from olinear.bench.show.report_charts import forecast_chart
from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.task import published
from olinear.models import MAIN


class Window(BaseModel):
    """One series around one origin: what was known, what came, what was forecast."""

    start: int
    series: str
    history: list[float]
    actual: list[float]
    forecast: list[float]


class Forecasts(BaseModel):
    """A file of `results/forecasts`: the chosen windows of one job."""

    dataset: str
    lookback: int
    horizon: int
    variant: str
    seed: int
    windows: list[Window]
    model: str = MAIN

    @property
    def key(self) -> TaskKey:
        return TaskKey(self.dataset, self.lookback, self.horizon)


def read_forecasts(results_folder: Path, selection: Selection) -> tuple[list[Forecasts], list[str]]:
    """The forecasts of a selection in the order of the published tables, and a note on each file that is none."""
    found, notes = [], []
    for path in sorted((results_folder / "forecasts").glob("*.json")):
        try:
            found.append(Forecasts.model_validate_json(path.read_bytes()))
        except (ValidationError, OSError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.strerror
            notes.append(f"{path.name} could not be read: {first}")
    order = {key: index for index, key in enumerate(published())}
    wanted = set(selection.tasks)
    chosen = [
        item
        for item in found
        if (item.model, item.variant) == (selection.model, "main") and item.key in wanted and item.windows
    ]
    return sorted(chosen, key=lambda item: (order[item.key], item.seed)), notes


def forecast_section(results_folder: Path, selection: Selection) -> Markup:
    """A drawing for each window, one dataset after the other; a note if there is none."""
    forecasts, notes = read_forecasts(results_folder, selection)
    by_dataset: dict[str, list[Forecasts]] = defaultdict(list)
    for item in forecasts:
        by_dataset[item.dataset].append(item)
    parts = [tag("h2", "Forecasts")]
    if by_dataset:
        kinds = (("history", "what was known"), ("actual", "what came"), ("forecast", "our forecast"))
        legend = [tag("span", tag("i", class_=kind), name, class_="key") for kind, name in kinds]
        parts.append(tag("p", *legend, " Standardised values; steps from the last known one."))
    else:
        parts.append(tag("p", f"None is drawn: {results_folder / 'forecasts'} has no windows of these tasks."))
    for index, (dataset, items) in enumerate(by_dataset.items()):
        drawn = [_figure(item, window) for item in items for window in item.windows]
        title = tag("summary", f"{dataset}: {len(drawn)} {'window' if len(drawn) == 1 else 'windows'}")
        inside = tag("div", *drawn, class_="forecasts")
        parts.append(tag("details", title, inside, open="" if index == 0 else None))
    parts += [tag("p", note, class_="note") for note in notes]
    return tag("section", join(*parts), id="forecasts")


def _figure(item: Forecasts, window: Window) -> Markup:
    name = f"{item.key}, series {window.series}, test window {window.start}, seed {item.seed}"
    chart = forecast_chart(window.history, window.actual, window.forecast, f"Forecast of {name}")
    return tag("figure", chart, tag("figcaption", name))
