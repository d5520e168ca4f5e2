"""Accuracy against cost in one picture: a bubble a model, as in the paper's Figure 4."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from olinear.bench.costs.cases import ACCURACY, PLAIN_FORM, REFERENCE, TRAINED, Stage, entry_of, table_models
from olinear.bench.costs.rows import CostRow
from olinear.bench.costs.table import status
from olinear.bench.store.rows import Row
from olinear.evaluation.plots import FORECAST, HISTORY, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

SERIES = 7  # of ETTh1
LARGEST, SMALLEST = 2400.0, 14.0  # areas in square points; less could not be seen
OTHERS = "#7da7c9"
LEGEND = (1.0, 2.0, 5.0, 20.0, 50.0, 200.0, 500.0, 2000.0)  # MB
IN_LEGEND = 0.3  # of the largest: there is no room for more


@dataclass(frozen=True)
class Bubble:
    """A model: MSE, time of a step (of training, or of inference) relative to OLinear's, peak memory of one in MB."""

    name: str
    mse: float
    ratio: float
    memory: float


def find_bubbles(
    costs: Iterable[CostRow], scores: Iterable[Row], stage: Stage = "training"
) -> tuple[list[Bubble], dict[str, str]]:
    """A bubble for each model that has both, and for each of the others why it has none.

    The cost is that of the size whose accuracy is drawn: of the form TRAINED, where there is one.
    """
    forms = (PLAIN_FORM, REFERENCE, TRAINED)
    rows = [row for row in costs if row.series == SERIES and row.form in forms]
    by_name = {row.model: row for row in sorted(rows, key=lambda row: forms.index(row.form))}
    mse = mean_errors(scores)
    bubbles, missing = [], {}
    for name in dict.fromkeys([*table_models(), *by_name]):
        row = by_name.get(name)
        if row is None:
            missing[name] = "cost not measured"
            continue
        ratio, memory, error = (getattr(row, f"{stage}_{what}") for what in ("ratio", "memory_mb", "error"))
        if ratio is None or memory is None:
            missing[name] = status(error) if error else "not trained" if stage == "training" else "not measured"
        elif name not in mse:
            missing[name] = "no accuracy"
        else:
            bubbles.append(Bubble(name, mse[name], ratio, memory))
    return bubbles, missing


def mean_errors(rows: Iterable[Row]) -> dict[str, float]:
    """The MSE of each model on the task of the picture, over its seeds; OLinear-C is a variant of OLinear."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.key == ACCURACY and row.is_result:
            if row.variant.is_main:
                found.setdefault(row.model, []).append(row.scores["mse"])
            elif entry_of(str(row.variant)).of == row.model:
                found.setdefault(str(row.variant), []).append(row.scores["mse"])
    return {name: fmean(values) for name, values in found.items()}


def plot_costs(bubbles: Sequence[Bubble], missing: dict[str, str], inference: Sequence[Bubble] = ()) -> "Figure":
    """MSE against training time, both better to the lower left; the area of a bubble is memory.

    With bubbles of inference a second panel beside it, whose areas have a scale of their own.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    parts: list[tuple[Stage, Sequence[Bubble]]] = [("training", bubbles)]
    if inference:
        parts.append(("inference", inference))
    figure = Figure(figsize=(9 if len(parts) == 1 else 16, 6), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    panels: list[Any] = [figure] if len(parts) == 1 else list(figure.subfigures(1, len(parts), squeeze=False)[0])
    axes = [panel.subplots() for panel in panels]
    for axis, (stage, part) in zip(axes, parts, strict=True):
        largest = max(bubble.memory for bubble in part)
        _draw_bubbles(axis, part, largest)
        _dress(axis, largest, stage)
    figure.supxlabel(_caption(missing), fontsize=8, color=HISTORY, x=0.01, ha="left")
    figure.draw_without_rendering()  # what follows depends on where the axes come to lie
    figure.set_layout_engine("none")
    for axis, (_, part) in zip(axes, parts, strict=True):
        _place_labels(axis, part, max(bubble.memory for bubble in part), canvas.get_renderer())
    return figure


def _area(memory: float, largest: float) -> float:
    return max(LARGEST * memory / largest, SMALLEST)


def _draw_bubbles(axis: "Axes", bubbles: Sequence[Bubble], largest: float) -> None:
    for bubble in sorted(bubbles, key=lambda each: -each.memory):  # small ones in front
        colour = FORECAST if entry_of(bubble.name).forms else OTHERS
        style: dict[str, Any] = {"alpha": 0.65, "edgecolors": "white", "linewidths": 0.8, "zorder": 2}
        axis.scatter(bubble.ratio, bubble.mse, s=_area(bubble.memory, largest), color=colour, **style)


def _dress(axis: "Axes", largest: float, stage: Stage) -> None:
    axis.set_xscale("log")
    axis.margins(0.16, 0.14)  # room for the largest bubble and for labels
    axis.axvline(1, color="#bbbbbb", lw=0.8, ls=":", zorder=1)
    axis.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axis.grid(color="#eeeeee", zorder=0)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    step = "a training step" if stage == "training" else "a forecast"
    axis.set_xlabel(f"time of {step}, OLinear = 1")
    axis.set_ylabel(f"MSE on {ACCURACY.dataset}, {ACCURACY.lookback} → {ACCURACY.horizon}")
    cheaper = "cheaper to train" if stage == "training" else "cheaper to ask"
    axis.set_title(f"Lower left is better: more accurate, {cheaper}", loc="left", fontsize=11)
    sizes = [size for size in LEGEND if SMALLEST / LARGEST <= size / largest <= IN_LEGEND]
    handles = [axis.scatter([], [], s=_area(size, largest), color=OTHERS, alpha=0.65) for size in sizes]
    if handles:
        labels = [f"{size:g} MB" for size in sizes]
        text: dict[str, Any] = {"fontsize": 9, "title_fontsize": 9, "frameon": False, "handletextpad": 1.2}
        axis.figure.legend(
            handles, labels, title=f"peak memory\nof {step}", loc="outside right upper", labelspacing=2.0, **text
        )


def _caption(missing: dict[str, str]) -> str:
    """What the picture does not show."""
    text = (
        f"{SERIES} series, batches of 16; each model in the size that `olinear bench run` trains on "
        f"{ACCURACY.dataset}, but without dropout; its accuracy is the mean over seeds."
    )
    lines = [text, *([f"Not drawn: {missing_in_words(missing)}."] if missing else [])]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, 150))


def missing_in_words(missing: dict[str, str]) -> str:
    """The models that have no bubble, by reason."""
    reasons: dict[str, list[str]] = {}
    for name, reason in missing.items():
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


# Labels

Circle = tuple[float, float, float]  # centre and radius in pixels
DISTANCES = (2, 8, 16, 26, 38, 52, 70, 92)  # of a label from its bubble, in pixels
NEAR = 8  # a label that is farther away has a line to its bubble


def _place_labels(axis: "Axes", bubbles: Sequence[Bubble], largest: float, renderer: Any) -> None:
    """Each next to its bubble, at the nearest place where it covers neither another label nor a bubble."""
    pixels = axis.figure.dpi / 72  # a point
    circles: list[Circle] = []
    for bubble in bubbles:
        x, y = axis.transData.transform((bubble.ratio, bubble.mse))
        circles.append((x, y, math.sqrt(_area(bubble.memory, largest) / math.pi) * pixels))
    frame, taken = axis.get_window_extent(renderer), list["Bbox"]()
    for index in sorted(range(len(bubbles)), key=lambda each: -circles[each][2]):  # large ones leave the fewest places
        bubble, (x, y, radius) = bubbles[index], circles[index]
        strong = bool(entry_of(bubble.name).forms)
        style: dict[str, Any] = {"fontsize": 10 if strong else 9, "fontweight": "bold" if strong else "normal"}
        box = _free_place(circles[index], _size(axis, bubble.name, style, renderer), circles, taken, frame)
        taken.append(box)
        line = {"arrowstyle": "-", "color": "#999999", "lw": 0.7, "shrinkA": 0, "shrinkB": radius / pixels}
        axis.annotate(
            bubble.name,
            (bubble.ratio, bubble.mse),
            ((box.x0 - x) / pixels, (box.y0 - y) / pixels),
            textcoords="offset points",
            color=FORECAST if strong else "#333333",
            arrowprops=line if _gap(box, circles[index]) > NEAR else None,
            zorder=4,
            **style,
        )


def _size(axis: "Axes", text: str, style: dict[str, Any], renderer: Any) -> tuple[float, float]:
    """Width and height of a label, in pixels."""
    drawn = axis.text(0, 0, text, **style)
    extent = drawn.get_window_extent(renderer)
    drawn.remove()
    return extent.width, extent.height


def _free_place(
    circle: Circle, size: tuple[float, float], circles: Sequence[Circle], taken: Sequence["Bbox"], frame: "Bbox"
) -> "Bbox":
    """The first free place, going round the bubble at growing distances; the nearest to free if there is none."""
    from matplotlib.transforms import Bbox

    (x, y, radius), (width, height) = circle, size
    tried: list[tuple[int, Bbox]] = []
    for distance, step in product(DISTANCES, range(24)):
        angle, reach = math.tau * step / 24, radius + distance
        left = x + math.cos(angle) * (reach + width / 2) - width / 2
        low = y + math.sin(angle) * (reach + height / 2) - height / 2
        box = Bbox.from_bounds(left, low, width, height)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        covered = sum(_gap(box, other) <= 0 for other in circles) + int(box.count_overlaps(taken))
        if inside and not covered:
            return box
        tried.append((covered + (not inside), box))
    return min(tried, key=lambda each: each[0])[1]


def _gap(box: "Bbox", circle: Circle) -> float:
    """Pixels between a label and a bubble; 0 or less if they touch."""
    x, y, radius = circle
    near_x, near_y = min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)
    return math.hypot(near_x - x, near_y - y) - radius
