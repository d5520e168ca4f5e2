"""Names of any script in a picture: never a box, never a warning, with and without a font that has them."""

import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.font_manager import FontProperties, findfont

from olinear.data.frames import Frequency, Panel
from olinear.evaluation.plots import figure_notes, lettering, plot_forecast, plot_model, plot_series, save_figure
from olinear.evaluation.plots.lettering import Lettering, shorten, tidy

NAMES = ["温度", "온도", "plain"]


@pytest.fixture
def without_fonts(monkeypatch):
    """No font but matplotlib's own."""
    lettering._find_fonts.cache_clear()
    monkeypatch.setattr(lettering, "_installed", dict)
    monkeypatch.setattr(lettering, "_newly_installed", dict)
    yield
    lettering._find_fonts.cache_clear()


def panels(names: list[str] = NAMES) -> tuple[Panel, Panel]:
    import pandas as pd

    times = pd.date_range("2024-01-01", periods=60, freq="h")
    whole = Panel(np.sin(np.arange(60)[:, None] / 4 + np.arange(len(names))), times, names, Frequency("h"))
    return whole.rows(slice(50)), whole.rows(slice(50, None))


def draw_all(names: list[str] = NAMES):
    """Each picture that has names in it; a warning of matplotlib is an error in these tests."""
    history, forecast = panels(names)
    figures = [plot_forecast(history, forecast), plot_series(history), plot_model([np.eye(len(names))], names, [2, 1])]
    for figure in figures:
        FigureCanvasAgg(figure).draw()
    return figures


def test_without_a_font_names_are_numbers_and_one_note_says_what_to_install(without_fonts):
    figures = draw_all()
    for figure in figures:
        (note,) = figure_notes(figure)
        assert note.code == "plot-font"
        assert note.about == ("温度", "온도")
        assert "series 1 is 温度" in note
        assert "fonts-noto-cjk" in note
    assert [axis.get_title("left") for axis in figures[0].axes] == ["series 1", "series 2", "plain"]


def test_with_whatever_is_installed_nothing_is_a_box():
    """On any machine: each character that is drawn is in a font that is named for it, or replaced."""
    for figure in draw_all():
        for axis in figure.axes:
            texts = [axis.title, axis._left_title, *axis.get_xticklabels(), *axis.get_yticklabels()]
            for text in texts:
                files = [findfont(FontProperties(family=[each])) for each in text.get_fontfamily()]
                written = frozenset(text.get_text()) - {" ", "\N{MINUS SIGN}"}
                assert written <= set().union(*(lettering._glyphs(file, written) for file in files))


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_every_kind_of_file(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    save_figure(plot_series(panels(["温度 온도"])[0]), path)
    assert path.stat().st_size > 1000


def test_a_font_is_chosen_by_its_characters(monkeypatch):
    """The one that has the most, then what is still missing; the first of equal ones."""
    glyphs = {"own": set("abc"), "one": set("xy"), "two": set("xyz"), "three": set("w"), "same": set("xyz")}
    monkeypatch.setattr(lettering, "_glyphs", lambda path, wanted: set(wanted) & glyphs.get(path, set("abc")))
    monkeypatch.setattr(lettering, "_installed", lambda: {name: name for name in glyphs if name != "own"})
    monkeypatch.setattr(lettering, "_newly_installed", dict)
    lettering._find_fonts.cache_clear()
    assert lettering._find_fonts(("sans-serif",), frozenset("abwxyz!")) == (("two", "three"), frozenset("!"))
    lettering._find_fonts.cache_clear()


def test_a_font_that_came_after_matplotlib_first_ran_is_found(monkeypatch):
    """matplotlib keeps its list of fonts: who follows the note and installs one must not see boxes for ever."""
    monkeypatch.setattr(lettering, "_glyphs", lambda path, wanted: set(wanted) if path == "new" else set())
    monkeypatch.setattr(lettering, "_installed", dict)
    monkeypatch.setattr(lettering, "_newly_installed", lambda: {"Noto Sans CJK SC": "new"})
    lettering._find_fonts.cache_clear()
    assert lettering._find_fonts(("sans-serif",), frozenset("温")) == (("Noto Sans CJK SC",), frozenset())
    lettering._find_fonts.cache_clear()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two\nlines\tand \x00 more", "two lines and more"),
        ("zero\u200bwidth", "zerowidth"),
        ("\ud800 half", "half"),
        ("  ", ""),
        ("$x_1$", "$x_1$"),
    ],
)
def test_a_name_stands_on_one_line(name, expected):
    assert tidy(name) == expected


@pytest.mark.parametrize("longest", [5, 24, 60])
def test_long_names_are_cut_in_the_middle(longest):
    for name in ("short", "a very long name " * 9, "室外温度" * 20, "a" * 1000 + "1", "a" * 1000 + "2"):
        cut = shorten(name, longest)
        width = sum(2 if each > "\u2fff" else 1 for each in cut)
        assert width <= longest
        assert cut == name or (cut[0] == name[0] and cut[-1] == name[-1] and "…" in cut)


def test_names_no_one_would_give(without_fonts):
    """Empty, endless, of other scripts, half of them unknown: drawn without a warning, and told apart."""
    names = ["", "x" * 5000, "half 温", "$\\frac$", "霞", "العربية", "a\nb"]
    figure = plot_series(panels(names)[0])
    FigureCanvasAgg(figure).draw()
    down = sorted(figure.axes, key=lambda axis: (axis.get_position().x0, -axis.get_position().y0))
    titles = [axis.get_title("left") for axis in down]
    FigureCanvasAgg(plot_model([np.eye(len(names))], names, [2, 1])).draw()
    assert titles[0] == "series 1"
    assert titles[2] == "half ? (series 3)"
    assert titles[4] == "series 5"
    assert len(titles[1]) < 80
    assert all(re.fullmatch(r"[^\n]+", title) for title in titles)


def test_a_title_is_written_too(without_fonts):
    assert plot_forecast(*panels(["a"]), title="空気 air").get_suptitle() == "?? air"
    assert Lettering.of(["空"]).unknown == {"空"}
