"""Pictures: what a reader of one must find in it, and that a file is written whole or not at all."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.dates import num2date
from matplotlib.figure import Figure

from olinear.core.errors import MissingDependencyError, OutputError
from olinear.data.frames import Frequency, Panel
from olinear.evaluation import plots
from olinear.evaluation.plots import plot_correlation, plot_forecast, plot_model, save_figure
from olinear.forecaster import Forecaster

HISTORY, STEPS = 60, 8


def panels(n_series: int = 2, steps: int = STEPS, times: pd.Index | None = None, kind: str = "calendar"):
    """A history and what follows it, of sines."""
    if times is None:
        times = pd.date_range("2024-01-01", periods=HISTORY + steps, freq="h")
    values = np.sin(np.arange(len(times))[:, None] / 4 + np.arange(n_series))
    names = [f"series {index}" for index in range(n_series)]
    whole = Panel(values, times, names, Frequency("1" if kind == "integer" else "h", kind))
    return whole.rows(slice(HISTORY)), whole.rows(slice(HISTORY, None))


def bounds_of(forecast: Panel, *levels: float):
    return {level: (forecast.values - level / 100, forecast.values + level / 100) for level in levels}


def lines(axis, colour: str):
    return [line for line in axis.lines if to_hex(line.get_color()) == colour]


def shades(axis) -> list[PolyCollection]:
    return [part for part in axis.collections if isinstance(part, PolyCollection)]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def draw(figure: Figure) -> None:
    """Render it: a mistake in an axis shows only then."""
    FigureCanvasAgg(figure).draw()


@pytest.mark.parametrize(("n_series", "shown"), [(1, 1), (6, 6), (7, 6)])
def test_one_panel_a_series_and_six_at_the_most(n_series, shown):
    """What is left out is said in the title; every panel has its series' name."""
    figure = plot_forecast(*panels(n_series))
    assert [axis.get_title("left") for axis in figure.axes] == [f"series {index}" for index in range(shown)]
    title = figure.get_suptitle()
    assert title == ("" if n_series <= 6 else f"the first 6 of {n_series} series")


def test_a_picture_has_an_end():
    """A thousand panels would be higher than any picture can be."""
    figure = plot_forecast(*panels(70), most=70)
    assert (len(figure.axes), figure.get_suptitle()) == (60, "the first 60 of 70 series")


def test_the_title_stays_when_series_are_left_out():
    assert plot_forecast(*panels(7), title="Air").get_suptitle() == "Air (the first 6 of 7 series)"
    assert plot_forecast(*panels(2), title="Air").get_suptitle() == "Air"


def test_the_lines_are_the_data():
    """History, forecast and actual values, each in its colour, series by series."""
    history, forecast = panels(2)
    actual = forecast.rows(slice(0, 5))
    figure = plot_forecast(history, forecast, actual=actual)
    for index, axis in enumerate(figure.axes):
        for colour, panel in ((plots.HISTORY, history), (plots.FORECAST, forecast), (plots.ACTUAL, actual)):
            (line,) = lines(axis, colour)
            np.testing.assert_array_equal(line.get_ydata(), panel.values[:, index])
            assert len(line.get_xdata()) == len(panel)


def test_the_legend_names_what_is_drawn():
    history, forecast = panels(2)
    assert legend(plot_forecast(history, forecast)) == ["history", "forecast"]
    figure = plot_forecast(history, forecast, bounds_of(forecast, 80, 95), forecast)
    assert sorted(legend(figure)) == ["80 % interval", "95 % interval", "actual", "forecast", "history"]


def test_every_interval_is_shaded_the_narrow_ones_darker():
    """The wide one is drawn first, so that it does not hide the narrow one."""
    history, forecast = panels(2)
    figure = plot_forecast(history, forecast, bounds_of(forecast, 50, 95, 80))
    for axis in figure.axes:
        found = shades(axis)
        assert [part.get_label() for part in found] == ["95 % interval", "80 % interval", "50 % interval"]
        heights = [np.ptp(part.get_paths()[0].vertices[:, 1]) for part in found]
        assert heights == sorted(heights, reverse=True)
        alphas = [part.get_alpha() for part in found]
        assert alphas == sorted(alphas)
        assert alphas[0] < alphas[-1]


@pytest.mark.parametrize("levels", [(), (80,)])
def test_a_forecast_of_one_step_is_visible(levels):
    """A line through one point draws nothing: there must be a mark."""
    history, forecast = panels(1, steps=1)
    figure = plot_forecast(history, forecast, bounds_of(forecast, *levels))
    (line,) = lines(figure.axes[0], plots.FORECAST)
    assert line.get_marker() == "o"
    draw(figure)
    (longer,) = lines(plot_forecast(*panels(1)).axes[0], plots.FORECAST)
    assert longer.get_marker() == "None"


def test_the_interval_of_one_step_is_visible():
    """A shade between two curves of one point has no area: the picture must still differ from one without width."""
    history, forecast = panels(1, steps=1)
    pictures = []
    for width in (0.0, 0.8):
        figure = plot_forecast(history, forecast, {80: (forecast.values - width, forecast.values + width)})
        figure.axes[0].set_ylim(-3, 3)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba()).copy())
    assert (pictures[0] != pictures[1]).any()


def test_a_time_zone_is_shown_in_its_own_hours():
    """The marks lie on full hours of the clock on the wall, half past in UTC."""
    times = pd.date_range("2024-06-01", periods=HISTORY + STEPS, freq="h", tz="Asia/Kolkata")
    figure = plot_forecast(*panels(1, times=times))
    draw(figure)
    axis = figure.axes[0]
    ticks = [num2date(tick, tz=times.tz) for tick in axis.get_xticks()]
    assert {(tick.hour % 6, tick.minute) for tick in ticks} == {(0, 0)}
    assert "12:00" in [label.get_text() for label in axis.get_xticklabels()]


def test_whole_numbers_stay_whole_numbers():
    history, forecast = panels(1, times=pd.RangeIndex(1900, 1900 + HISTORY + STEPS), kind="integer")
    figure = plot_forecast(history, forecast)
    draw(figure)
    labels = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert "1920" in labels


def test_without_history_there_is_still_a_forecast():
    history, forecast = panels(1)
    figure = plot_forecast(history.rows(slice(0, 0)), forecast)
    draw(figure)
    assert legend(figure) == ["forecast"]


def test_gaps_in_the_history_are_gaps_in_the_line():
    history, forecast = panels(1)
    history.values[10:20] = np.nan
    figure = plot_forecast(history, forecast)
    draw(figure)
    (line,) = lines(figure.axes[0], plots.HISTORY)
    assert np.isnan(line.get_ydata()[10:20].astype(float)).all()


def test_no_axis_is_stretched_over_next_to_nothing():
    """Rain of 0.01 mm where 10 is usual must not look like a storm; what moves is drawn as it is."""
    history, forecast = panels(2)
    for panel in (history, forecast):
        panel.values[:, 0] *= 1e-3
    figure = plot_forecast(history, forecast, std=np.array([1.0, 1.0]))
    low, high = figure.axes[0].get_ylim()
    assert high - low == pytest.approx(0.2)
    assert low < history.values[:, 0].min() < history.values[:, 0].max() < high
    assert np.ptp(figure.axes[1].get_ylim()) == np.ptp(plot_forecast(history, forecast).axes[1].get_ylim())


def test_a_prediction_draws_itself():
    """Three horizons of history, at least 48 steps; the intervals and the actual values, if known."""
    times = pd.date_range("2024-01-01", periods=150, freq="h")
    frame = pd.DataFrame({"time": times, "a": np.sin(np.arange(150) / 2), "b": np.cos(np.arange(150) / 3)})
    forecaster = Forecaster(4, 12, model_dim=8, max_epochs=1, progress=False).fit(frame[:140])
    prediction = forecaster.predict_panel(frame[:140], levels=[80])
    figure = prediction.plot(forecaster.read(frame).rows(slice(140, 144)), title="Waves")
    draw(figure)
    (line,) = lines(figure.axes[0], plots.HISTORY)
    assert len(line.get_xdata()) == 48
    assert sorted(legend(figure)) == ["80 % interval", "actual", "forecast", "history"]
    assert figure.get_suptitle() == "Waves"
    assert len(lines(forecaster.predict_panel().plot().axes[1], plots.HISTORY)[0].get_xdata()) == 12  # all there is


# Correlations and models


def test_correlations_share_one_scale():
    """Side by side they can be compared only if a colour means the same in both."""
    before, after = np.full((5, 5), 0.9), np.eye(5)
    figure = plot_correlation(before, after)
    draw(figure)
    images = [axis.images[0] for axis in figure.axes if axis.images]
    assert [image.get_clim() for image in images] == [(-1, 1), (-1, 1)]
    np.testing.assert_array_equal(images[0].get_array(), before)
    np.testing.assert_array_equal(images[1].get_array(), after)


@pytest.mark.parametrize(("blocks", "drawn"), [(0, 0), (5, 3)])
def test_a_model_shows_its_spectrum_and_its_first_blocks(blocks, drawn):
    mixing = [np.full((4, 4), 0.25)] * blocks
    figure = plot_model(mixing, list("abcd"), [3.0, 1.0])
    draw(figure)
    images = [axis for axis in figure.axes if axis.images and axis.get_title()]
    assert [axis.get_title() for axis in images] == [
        f"NormLin of block {index}: row takes from column" for index in range(1, drawn + 1)
    ]
    (spectrum,) = [axis for axis in figure.axes if axis.get_title().startswith("share of the variance")]
    np.testing.assert_allclose(spectrum.lines[0].get_ydata(), [75, 100])
    for axis in images:
        assert [label.get_text() for label in axis.get_yticklabels()] == list("abcd")


def test_many_series_are_not_labelled():
    figure = plot_model([np.eye(26)], [f"s{i}" for i in range(26)], [])
    draw(figure)
    assert "s3" not in [label.get_text() for label in figure.axes[0].get_xticklabels()]


def test_a_model_without_spectrum_and_blocks_can_be_drawn():
    """No series varied in training and blocks=0: an empty picture is better than a crash."""
    draw(plot_model([], ["a"], []))


# Files


PNG = b"\x89PNG"


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", PNG), ("a.PNG", PNG), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("a", PNG)]
)
def test_the_kind_follows_from_the_ending(tmp_path, name, start):
    save_figure(plot_forecast(*panels(1)), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.xyz", "a.csv", "a.parquet"])
def test_an_ending_that_is_no_picture(tmp_path, name):
    with pytest.raises(OutputError, match=r"use an ending such as \.png") as caught:
        save_figure(plot_forecast(*panels(1)), tmp_path / name)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder(tmp_path):
    with pytest.raises(OutputError, match="cannot be written: No such file"):
        save_figure(plot_forecast(*panels(1)), tmp_path / "none" / "a.png")


def test_a_failure_leaves_the_old_picture(tmp_path, monkeypatch):
    """Written under another name, then renamed: a reader sees the old one or the new one."""
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    figure = plot_forecast(*panels(1))

    def fail(self, path, **_):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Figure, "savefig", fail)
        with pytest.raises(OutputError, match="No space left on device"):
            save_figure(figure, target)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    save_figure(figure, target)
    assert target.read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    "draw_one",
    [
        lambda: plot_forecast(*panels(1)),
        lambda: plot_correlation(np.eye(2), np.eye(2)),
        lambda: plot_model([], ["a"], [1.0]),
    ],
)
def test_without_matplotlib_it_says_what_to_install(monkeypatch, draw_one):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'olinear\[plot\]'"):
        draw_one()


def test_nothing_is_left_open():
    """Figures are made without pyplot, which keeps every figure of a long run in memory."""
    before = "matplotlib.pyplot" in sys.modules
    draw(plot_forecast(*panels(1)))
    assert ("matplotlib.pyplot" in sys.modules) == before
