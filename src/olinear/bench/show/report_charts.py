"""The report's charts, as inline SVG; colours come from the page's style, so that they follow its theme."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from olinear.bench.read.summary import WORSE, is_worse
from olinear.bench.show.markup import Markup, join, tag

WIDTH = 440.0  # of a whole chart: about that of a phone, so that text keeps its size there
ROW = 27.0


@dataclass(frozen=True)
class Axis:
    """A range of values laid along a range of pixels."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def place(self, value: float) -> float:
        """The pixel of a value."""
        low, high, at = (map(math.log, (self.low, self.high, value))) if self.log else (self.low, self.high, value)
        return self.start + (at - low) / (high - low) * (self.stop - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        """Round values inside: steps of 1, 2 or 5 and some zeros, or such values themselves on a logarithmic axis."""
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            for digits in ((1, 2, 5), (1, 3), (1,)):
                values = [digit * 10.0**power for power in powers for digit in digits]
                inside = [value for value in values if self.low <= value <= self.high]
                if len(inside) <= most:
                    break
            return inside
        power = math.floor(math.log10((self.high - self.low) / most))
        steps = (digit * 10.0**exponent for exponent in (power, power + 1) for digit in (1, 2, 5))
        step = next(step for step in steps if (self.high - self.low) / step <= most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(step * index, 9) for index in range(first, last + 1)]


def svg(width: float, height: float, label: str, *content: str) -> Markup:
    """A drawing as wide as its place."""
    return tag("svg", join(*content), viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def words(text: str, x: float, y: float, anchor: str = "start", kind: str | None = None) -> Markup:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)


# Bars


@dataclass(frozen=True)
class Bar:
    """A dataset's ratio; None if there is none."""

    label: str
    value: float | None


def bar_chart(bars: Sequence[Bar], label: str) -> Markup:
    """A bar each, from 1 to its ratio: to the left is better than published, to the right worse."""
    values = [bar.value for bar in bars if bar.value is not None]
    low, high = min([0.96, *values]), max([1.06, *values])
    axis = Axis(low, high, 108 + 44, WIDTH - 46)
    top, bottom = 8.0, 8.0 + ROW * len(bars)
    parts = [line(axis.place(tick), top, axis.place(tick), bottom, "grid") for tick in axis.ticks(6)]
    parts += [words(f"{tick:g}", axis.place(tick), bottom + 18, "middle", "tick") for tick in axis.ticks(6)]
    parts.append(line(axis.place(WORSE), top, axis.place(WORSE), bottom, "limit"))
    parts += [_bar(bar, top + ROW * index, axis) for index, bar in enumerate(bars)]
    parts.append(line(axis.place(1), top, axis.place(1), bottom, "one"))
    return svg(WIDTH, bottom + 28, label, *parts)


def _bar(bar: Bar, top: float, axis: Axis) -> Markup:
    base = top + ROW / 2 + 4.5
    name = words(bar.label, 100, base, "end")
    if bar.value is None:
        return tag("g", name, words("no result", axis.place(1) + 8, base, "start", "tick"))
    one, end = axis.place(1), axis.place(bar.value)
    kind = "worse" if is_worse(bar.value) else "near" if bar.value > 1 else "better"
    drawn = tag("rect", x=min(one, end), y=top + 5, width=abs(end - one), height=ROW - 10, class_=kind)
    value = words(f"{bar.value:.3f}", *((end + 5, base, "start") if bar.value > 1 else (end - 5, base, "end")))
    return tag("g", name, drawn, value, tag("title", f"{bar.label}: {bar.value:.4f}"))


# Scatters


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    kind: str  # the suite
    title: str


HEIGHT = 316.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, WIDTH - 14, 12.0, HEIGHT - 42


def value_scatter(points: Sequence[Point], names: tuple[str, str], label: str) -> Markup:
    """Logarithmic axes of the same range and the line on which both are equal."""
    values = [value for point in points for value in (point.x, point.y)]
    low, high = min(values) / 1.25, max(values) * 1.25
    x, y = Axis(low, high, LEFT, RIGHT, log=True), Axis(low, high, BOTTOM, TOP, log=True)
    equal = line(LEFT, BOTTOM, RIGHT, TOP, "one")
    return _scatter(points, x, y, names, label, equal)


def ratio_scatter(points: Sequence[Point], names: tuple[str, str], label: str) -> Markup:
    """Two ratios; the lines are at 1 on both axes and at the limit on the first."""
    x, y = (_ratio_axis([getattr(p, n) for p in points], *span) for n, span in zip("xy", _SPANS, strict=True))
    lines = join(
        line(x.place(1), BOTTOM, x.place(1), TOP, "one"),
        line(LEFT, y.place(1), RIGHT, y.place(1), "one"),
        line(x.place(WORSE), BOTTOM, x.place(WORSE), TOP, "limit"),
    )
    return _scatter(points, x, y, names, label, lines)


_SPANS = ((LEFT, RIGHT), (BOTTOM, TOP))


def _ratio_axis(values: Sequence[float], start: float, stop: float) -> Axis:
    low, high = min([0.97, *values]), max([1.07, *values])
    room = 0.04 * (high - low)
    return Axis(low - room, high + room, start, stop)


def _scatter(points: Sequence[Point], x: Axis, y: Axis, names: tuple[str, str], label: str, under: Markup) -> Markup:
    parts = []
    for tick in x.ticks():
        parts.append(line(x.place(tick), TOP, x.place(tick), BOTTOM, "grid"))
        parts.append(words(f"{tick:g}", x.place(tick), BOTTOM + 17, "middle", "tick"))
    for tick in y.ticks():
        parts.append(line(LEFT, y.place(tick), RIGHT, y.place(tick), "grid"))
        parts.append(words(f"{tick:g}", LEFT - 6, y.place(tick) + 4, "end", "tick"))
    parts.append(under)
    for point in points:
        dot = tag("title", point.title)
        parts.append(tag("circle", dot, cx=x.place(point.x), cy=y.place(point.y), r=4, class_=point.kind))
    middle = (TOP + BOTTOM) / 2
    parts.append(words(names[0], (LEFT + RIGHT) / 2, HEIGHT - 6, "middle"))
    parts.append(tag("text", names[1], transform=f"translate(13 {middle:g}) rotate(-90)", text_anchor="middle"))
    return svg(WIDTH, HEIGHT, label, *parts)


# Forecasts

FORECAST = (380.0, 170.0)


def forecast_chart(history: Sequence[float], actual: Sequence[float], forecast: Sequence[float], label: str) -> Markup:
    """What was known, what came, and what was forecast of it."""
    width, height = FORECAST
    first, ahead = min(1 - len(history), 0), max(len(actual), len(forecast), 1)
    x = Axis(first, ahead, 44, width - 8)
    values = [value for value in (*history, *actual, *forecast) if _is_drawable(value)] or [0.0]
    room = max(0.06 * (max(values) - min(values)), 1e-3 * max(map(abs, values)), 1e-6)
    y = Axis(min(values) - room, max(values) + room, height - 22, 6)
    parts = []
    for tick in y.ticks(4):
        parts.append(line(44, y.place(tick), width - 8, y.place(tick), "grid"))
        parts.append(words(f"{tick:g}", 38, y.place(tick) + 4, "end", "tick"))
    parts.append(line(x.place(0), 6, x.place(0), height - 22, "limit"))
    for step, anchor in ((first, "start"), (0, "middle"), (ahead, "end")):
        parts.append(words(f"{step:+d}" if step else "0", x.place(step), height - 6, anchor, "tick"))
    parts.append(_path(history, 1 - len(history), x, y, "history"))
    joined = history[-1:]  # lines begin where the history ends
    for kind, line_values in (("actual", actual), ("forecast", forecast)):
        parts.append(_path([*joined, *line_values], 1 - len(joined), x, y, kind))
    return svg(width, height, label, *parts)


def _path(values: Sequence[float], first: int, x: Axis, y: Axis, kind: str) -> Markup:
    """A line that is broken where a value is not a number."""
    written, pen_down = [], False
    for step, value in enumerate(values, first):
        if _is_drawable(value):
            written.append(f"{'L' if pen_down else 'M'}{x.place(step):.1f} {y.place(value):.1f}")
        pen_down = _is_drawable(value)
    return tag("path", d="".join(written), class_=kind)


def _is_drawable(value: float) -> bool:
    return abs(value) < 1e100  # nor is what is not a number
