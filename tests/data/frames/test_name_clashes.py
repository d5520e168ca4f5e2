"""A forecast's columns must not overwrite each other in silence."""

import numpy as np
import pandas as pd
import pytest

from olinear.core.errors import DataError
from olinear.data.frames import build_frame, read_panel


@pytest.mark.parametrize("other", ["a-lo-80", "cutoff"])
def test_a_series_named_like_a_column_of_the_answer_is_refused(other: str):
    frame = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=4), "a": np.arange(4.0), other: np.arange(4.0)})
    panel = read_panel(frame)
    with pytest.raises(DataError, match=other):
        build_frame(panel, {"": panel.values, "-lo-80": panel.values}, {"cutoff": panel.times})
