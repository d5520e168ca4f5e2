"""Every case of the corpus through the reader: read right, or refused naming the option and read right with it."""

import pytest
from dialect_parts import Case, cases, check, check_refusal

from olinear.core import OLinearError
from olinear.data.frames import read_panel


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_dialect_is_read_right_or_refused_with_a_way_out(tmp_path, case: Case):
    path = case.saved(tmp_path)
    if case.answer is None:
        with pytest.raises(OLinearError) as caught:
            read_panel(path)
        check_refusal(case, str(caught.value))
    for settings, answer in case.readings():
        check(answer, read_panel(path, **settings))
