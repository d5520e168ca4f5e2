"""The report's drawings and the markup they are made of."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olinear.bench.show.markup import Markup, tag
from olinear.bench.show.report_charts import Axis, Bar, bar_chart, forecast_chart


def test_a_line_is_broken_where_a_value_is_missing():
    drawn = forecast_chart([0.0, math.nan, 1.0, 2.0], [], [], "x")
    (history,) = re.findall(r'd="([^"]*)" class="history"', drawn)
    assert re.sub(r"[\d. ]+", "", history) == "MML"


def test_bars_are_as_long_as_their_ratios():
    """From the line at 1, to scale, on the right side of it."""
    drawn = bar_chart([Bar("a", 0.9), Bar("b", 1.2), Bar("c", None), Bar("d", 1.0)], "bars")
    found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)
    (x1, w1), (x2, w2), (_, w3) = [(float(x), float(width)) for x, width in found]
    assert w2 == pytest.approx(2 * w1, abs=0.2)
    assert x1 + w1 == pytest.approx(x2, abs=0.2)
    assert w3 == 0


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_ticks_are_inside_and_in_order(low, span, log):
    low = abs(low) + 1e-3 if log else low
    axis = Axis(low, low + span if not log else low * (1.1 + span), 10, 200, log)
    ticks = axis.ticks()
    assert ticks == sorted(set(ticks))
    assert all(9.9 <= axis.place(tick) <= 200.1 for tick in ticks)
    if not log:
        assert 2 <= len(ticks) <= 8
    assert (axis.place(axis.low), axis.place(axis.high)) == pytest.approx((10, 200))


def test_markup():
    inside = tag("b", "<&>", class_="x y", stroke_width=1.25, none=None)
    assert inside == '<b class="x y" stroke-width="1.2">&lt;&amp;&gt;</b>'
    assert tag("p", inside, Markup("<br>"), title='"') == f'<p title="&quot;">{inside}<br></p>'
