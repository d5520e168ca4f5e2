"""Remarks on the tasks that are worse than published."""

import pytest
from reading_parts import ILI, SMALL, paper_rows

from olinear.bench.read.remarks import read_remarks
from olinear.bench.read.summary import score_tasks
from olinear.bench.show.scores import worse_table
from olinear.core.errors import DataError

WORST = ILI._replace(horizon=6)
SCORES = score_tasks([*paper_rows(1.06, [ILI]), *paper_rows(1.2, [WORST]), *paper_rows(1.04, [SMALL])])


def test_the_worst_stands_first_and_says_why():
    table = worse_table(SCORES, {ILI: "few windows"})
    assert [row[:3] for row in table.cells] == [[*WORST], [*ILI]]
    assert [row[-1] for row in table.cells] == ["not looked into yet", "few windows"]
    assert [row[-2] for row in table.cells] == pytest.approx([1.2, 1.06])


def test_remarks_belong_to_a_model(tmp_path):
    (tmp_path / "remarks.toml").write_text('[OLinear]\n"ILI 12->3" = "few windows"\n')
    assert read_remarks(tmp_path, "OLinear") == {ILI: "few windows"}
    assert read_remarks(tmp_path, "DLinear") == {}
    assert read_remarks(tmp_path / "elsewhere", "OLinear") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[OLinear]\n"ILI 12->4" = "x"', "a remark on 'ILI 12->4', which is no task: write one as 'ILI 12->3'"),
        ('[Olinear]\n"ILI 12->3" = "x"', "a table 'Olinear', which is no model"),
        ('OLinear = "x"', "a table 'OLinear', which is no model: write one as"),
        ("ILI 12->3 = x", "is not a TOML file"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, text, words):
    (tmp_path / "remarks.toml").write_text(text)
    with pytest.raises(DataError, match=words) as caught:
        read_remarks(tmp_path, "OLinear")
    assert "remarks.toml" in str(caught.value)
