"""Pictures of the analysis: every panel says what it shows, and scales are what they claim to be."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from olinear.evaluation.analysis import Spectrum, decorrelation, window_views
from olinear.evaluation.plots import (
    Curve,
    CurvePanel,
    DomainPicture,
    MatrixPanel,
    plot_compaction,
    plot_curves,
    plot_domains,
    plot_matrices,
)


def with_images(figure):
    return [axis for axis in figure.axes if axis.images]


def test_matrices_have_titles_notes_and_scales():
    matrix = np.array([[0.5, -0.25], [0.0, 0.1]])
    kinds = {"weights": (0, 0.5), "correlation": (-1, 1), "signed": (-0.5, 0.5)}
    panels = [MatrixPanel(matrix, kind, f"note {kind}", kind) for kind in kinds]
    figure = plot_matrices([panels, [MatrixPanel(matrix, most=0.2)]], ["first", "second"], labels=["a", "b"])
    axes = with_images(figure)
    assert [(axis.get_title(), axis.get_xlabel()) for axis in axes[:3]] == [(k, f"note {k}") for k in kinds]
    assert [axis.images[0].get_clim() for axis in axes] == [*kinds.values(), (0, 0.2)]
    assert [axes[0].get_ylabel(), axes[3].get_ylabel()] == ["first", "second"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["a", "b"]
    FigureCanvasAgg(figure).draw()


def test_curves_of_one_name_have_one_colour_and_one_entry():
    panels = [
        CurvePanel("one", [Curve("a", [1, 2], [3, 4]), Curve("a, counted", [1], [3], "marks", like="a")]),
        CurvePanel("two", [Curve("a", [1, 2], [1, 2]), Curve("b", [1, 2], [5, 6])], log=(True, True), limits=(1, None)),
    ]
    figure = plot_curves(panels)
    lines = [line for axis in figure.axes for line in axis.lines]
    assert lines[0].get_color() == lines[1].get_color() == lines[2].get_color() != lines[3].get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "a, counted", "b"]
    assert figure.axes[1].get_xscale() == "log"
    assert figure.axes[1].get_ylim()[0] == 1


def test_compaction_ends_at_all_of_the_variance():
    figure = plot_compaction({"data": {"pearson": Spectrum([3, 1]), "identity": Spectrum([2, 2])}})
    assert [line.get_ydata()[-1] for line in figure.axes[0].lines] == [100, 100]


def test_a_row_for_each_dataset():
    values = np.random.default_rng(0).normal(size=(200, 2)).cumsum(0)
    found = decorrelation(values, 8)
    picture = DomainPicture("walk", window_views(values[:, 0], found.basis), found)
    figure = plot_domains([picture] * 2)
    assert len(with_images(figure)) == 6
    lines = [axis for axis in figure.axes if axis.lines and not axis.images]
    np.testing.assert_allclose(lines[1].lines[0].get_ydata(), abs(picture.views.features[0]))
