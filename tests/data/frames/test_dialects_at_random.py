"""A table written in any dialect is read as it was, or refused; it is never read as something else."""

import datetime

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core import OLinearError
from olinear.data.frames import read_panel

FORMS = ["%Y-%m-%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%b-%Y", "%b %d, %Y", "%d/%m/%y", "%Y/%m/%d"]
CLOCKS = ["%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%Y-%m-%d %H:%M:%S.%f", "%s"]


@st.composite
def dialects(draw: st.DrawFn) -> tuple[str, pd.DatetimeIndex, np.ndarray]:
    form = draw(st.sampled_from(FORMS + CLOCKS))
    step = draw(st.sampled_from(["15min", "h"] if form in CLOCKS else ["D", "D", "MS", "W-SUN"]))
    first = datetime.datetime(2023, 1, 1) + datetime.timedelta(days=draw(st.integers(0, 600)))
    times = pd.date_range(first, periods=draw(st.integers(3, 40)), freq=step)
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    places = draw(st.sampled_from([0, 1, 2, 3]))
    values = np.round(rng.normal(size=(len(times), 2)) * draw(st.sampled_from([1, 30, 1e3, 1e5])), places) + 0.0
    values[rng.random(values.shape) < draw(st.sampled_from([0, 0.1]))] = np.nan
    values[:2] = rng.integers(1, 9, (2, 2))
    sep, comma = draw(st.sampled_from(",;\t|")), draw(st.booleans())
    group, empty = draw(st.sampled_from(["", ","])), draw(st.sampled_from(["", "NA", "-"]))
    if sep == "," and comma:
        group = ""  # where commas separate cells, a point is taken for a decimal point

    def quoted(cell: str) -> str:
        return f'"{cell}"' if sep in cell else cell

    def number(value: float) -> str:
        cell = f"{value:{group}.{places}f}"
        return empty if value != value else quoted(cell.translate(str.maketrans(".,", ",."))) if comma else quoted(cell)

    stamps = [str(int(time.timestamp())) if form == "%s" else time.strftime(form) for time in times]
    lines = [
        ["date", "Höhe", "p.m"],
        *([quoted(at), *map(number, row)] for at, row in zip(stamps, values, strict=True)),
    ]
    return draw(st.sampled_from(["\n", "\r\n"])).join(map(sep.join, lines)), times, values


@settings(max_examples=100, deadline=None)
@given(dialects(), st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]))
def test_any_dialect_is_read_right_or_refused(tmp_path_factory, dialect, encoding):
    text, times, values = dialect
    path = tmp_path_factory.getbasetemp() / "random.csv"
    path.write_bytes(text.encode(encoding))
    try:
        read = read_panel(path)
    except OLinearError:
        return
    assert read.series == ["Höhe", "p.m"]
    assert list(read.times) == list(times)
    np.testing.assert_array_equal(read.values, values)
