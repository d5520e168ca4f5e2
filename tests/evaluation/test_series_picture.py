"""The series as they came: gaps, outliers, what stopped and what never moves, each to be seen in the picture."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from olinear.data.frames import Frequency, Panel
from olinear.evaluation.analysis import describe_series, find_outliers
from olinear.evaluation.plots import figure_notes, plot_series

ROWS = 100


def panel(rows: int = ROWS, **columns: np.ndarray) -> Panel:
    times = pd.date_range("2024-01-01", periods=rows, freq="h")
    return Panel(np.column_stack(list(columns.values())), times, list(columns), Frequency("h"))


def wave(rows: int = ROWS) -> np.ndarray:
    return np.sin(np.arange(rows) / 4)


def labels(axis) -> list[str]:
    return axis.get_legend_handles_labels()[1]


@pytest.mark.parametrize(("count", "most", "shown"), [(1, None, 1), (5, None, 5), (13, None, 12), (13, 13, 13)])
def test_twelve_series_at_the_most_unless_they_are_named(count, most, shown):
    figure = plot_series(panel(**{f"s{index}": wave() for index in range(count)}), most=most)
    down = sorted(figure.axes, key=lambda axis: (axis.get_position().x0, -axis.get_position().y0))
    assert [axis.get_title("left") for axis in down] == [f"s{index}" for index in range(shown)]
    left_out = shown < count
    assert figure.get_suptitle() == ("the first 12 of 13 series" if left_out else "")
    assert [note.code for note in figure_notes(figure)] == (["plot-first-series"] if left_out else [])


def test_gaps_are_shaded_from_value_to_value():
    gappy = wave()
    gappy[[10, 11, 12, 50]] = np.nan
    figure = plot_series(panel(gappy=gappy, whole=wave()))
    times = panel(whole=wave()).times
    spans = [patch.get_extents().bounds for patch in figure.axes[0].patches]
    expected = [(times[9], times[13]), (times[49], times[51])]
    axis = figure.axes[0]
    for (left, _, width, _), (first, last) in zip(spans, expected, strict=True):
        ends = axis.transData.inverted().transform([(left, 0), (left + width, 0)])[:, 0]
        np.testing.assert_allclose(ends, [axis.convert_xunits(first), axis.convert_xunits(last)], atol=1e-6)
    assert not figure.axes[1].patches


def test_an_outlier_is_marked_and_rules_no_axis():
    """One cell of 1e20 leaves the wave a wave, and a tenth of −9999 too."""
    spike, sentinel = wave(), wave() + 30
    spike[30] = 1e20
    sentinel[::10] = -9999
    figure = plot_series(panel(spike=spike, sentinel=sentinel))
    FigureCanvasAgg(figure).draw()
    assert [np.ptp(axis.get_ylim()) < 5 for axis in figure.axes] == [True, True]
    assert [axis.get_title("right") for axis in figure.axes] == ["1 outlier (1e+20)", "10 outliers (-9999)"]
    assert [labels(axis) for axis in figure.axes] == [["outlier"], ["outlier"]]


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        (np.full(ROWS, 5.0), "constant at 5"),
        (np.where(np.arange(ROWS) > 89, np.nan, wave()), "no value in the last 10 rows"),
        (np.where(np.arange(ROWS) > 98, np.nan, wave()), "no value in the last row"),
        (np.full(ROWS, np.nan), "no value at all"),
        (np.where(np.arange(ROWS) > 89, np.nan, 5.0), "constant at 5, no value in the last 10 rows"),
        (wave(), ""),
    ],
    ids=["constant", "stale", "a row", "empty", "both", "fine"],
)
def test_what_a_person_should_see_at_once(values, remark):
    figure = plot_series(panel(a=values))
    FigureCanvasAgg(figure).draw()
    assert figure.axes[0].get_title("right") == remark


def test_values_between_gaps_are_points():
    """A line through single values shows none of them."""
    sparse = np.where(np.arange(ROWS) % 3 == 0, wave(), np.nan)
    dots = [line for line in plot_series(panel(sparse=sparse)).axes[0].lines if line.get_marker() == "."]
    np.testing.assert_array_equal(dots[0].get_ydata(), sparse[::3])


def test_many_rows_are_thinned_and_keep_every_extreme():
    """A hundred thousand rows are drawn as a few thousand, among them the single high one and the single gap."""
    values = wave(100_000)
    values[54_321], values[777] = 3.0, np.nan
    figure = plot_series(panel(100_000, a=values))
    drawn = figure.axes[0].lines[0].get_ydata()
    assert len(drawn) < 4000
    assert (np.nanmax(drawn), np.nanmin(drawn)) == (3.0, np.nanmin(values))
    assert len(figure.axes[0].patches) == 1


def test_outliers_by_another_formula():
    """Away from the median by 30 times the median of what is away at all."""
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=500),
        rng.standard_cauchy(500),
        np.where(rng.random(500) < 0.9, 0, rng.exponential(3)),
    ):
        away = np.abs(values - np.median(values))
        expected = away > 30 * np.median(away[away > 0])
        np.testing.assert_array_equal(find_outliers(values), expected)
    assert not find_outliers(rng.normal(size=10_000)).any()
    assert not find_outliers(np.full(9, np.nan)).any()
    assert not find_outliers(np.r_[np.zeros(50), 1.0]).any(), "the only value that moves is no outlier"


def test_the_end_of_a_series_is_described():
    values = np.column_stack([np.r_[1.0, 2.0, np.nan, np.nan], np.full(4, 7.0), np.full(4, np.nan)])
    rows = describe_series(values, list("abc"))
    assert [(row.missing, row.stale, row.constant) for row in rows] == [(2, 2, False), (0, 0, True), (4, 4, False)]
