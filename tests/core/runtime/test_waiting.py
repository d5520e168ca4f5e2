"""Waiting within waiting: one line on the terminal, whoever has something to say."""

import pytest

from olinear.core.runtime import Waiting


def test_the_inner_one_speaks_in_the_line_of_the_outer_one(monkeypatch):
    """Two lines at a time would overwrite each other; what was not wanted outside is not shown inside either."""
    with Waiting("outer", wanted=False) as outer:
        with Waiting("inner") as inner:
            inner.show("half")
            assert outer._text == "half"
        with pytest.raises(ValueError, match="broken"), Waiting("second"):
            raise ValueError("broken")
        outer.show("done")
    with Waiting("next") as alone:
        alone.show("on its own")
    assert outer._text == "done"
    assert inner._timer is None
