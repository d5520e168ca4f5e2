"""The table of results in its four formats."""

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest
from reading_parts import ILI, SMALL, paper_rows, row

from olinear.bench.read.summary import average_datasets, score_tasks, summarise
from olinear.bench.show.scores import dataset_table, summary_lines, task_table
from olinear.bench.show.tables import (
    FORMATS,
    Column,
    ResultTable,
    escape_latex,
    to_csv,
    to_latex,
    to_markdown,
    to_terminal,
    write_text,
)
from olinear.core.errors import OutputError

ROWS = [row(SMALL, 0.300, 0.340, 2023), row(SMALL, 0.306, 0.342, 2024), *paper_rows(1.1, [ILI])]
SCORES = score_tasks(ROWS)
TABLE = task_table(SCORES)
ODD = ResultTable([Column("na|me", False), Column("a_b")], [["[red] x|y_z & 50%", 1.0], ["\\", None]], {(0, 1)})


def test_the_cells_of_a_task():
    ours, ili = SCORES
    names = [column.name for column in TABLE.columns]
    assert names[:4] == ["dataset", "lookback", "horizon", "seeds"]
    assert names[4:10] == ["MSE", "MSE spread", "paper MSE", "MSE ratio", "best other MSE", "best other in MSE"]
    assert names[10:] == [name.replace("MSE", "MAE") for name in names[4:10]]
    assert TABLE.texts[0][:10] == [
        "ETTm1",
        "96",
        "96",
        "2",
        "0.303",
        "0.0042",
        "0.302",
        "1.003",
        "0.310",
        "TimeMixer++",
    ]
    assert TABLE.texts[0][10:] == ["0.341", "0.0014", "0.334", "1.021", "0.334", "TimeMixer++"]
    assert TABLE.cells[1][4] == ili.mse.ours
    assert TABLE.texts[1][5] == ""  # one seed has no spread
    assert TABLE.bold == {(0, 4)} | ({(1, 4)} if ili.mse.best else set()) | ({(1, 10)} if ili.mae.best else set())
    assert ours.mse.best
    assert not ours.mae.best


def test_one_metric_is_the_same_cells():
    for metric, first in (("MSE", 4), ("MAE", 10)):
        one = task_table(SCORES, [metric])
        assert [row[4:] for row in one.cells] == [row[first : first + 6] for row in TABLE.cells]
        assert one.bold == {(index, 4) for index, place in TABLE.bold if place == first}


# Formats


def test_markdown_to_the_letter():
    """README holds a copy of this form; it may not move unseen."""
    keys = [SMALL, SMALL._replace(horizon=192)]
    scores = score_tasks(paper_rows(1.0, keys))
    found = to_markdown(dataset_table(average_datasets(scores)), summary_lines(summarise(scores)))
    assert found == (
        "| dataset | tasks | of | MSE | paper MSE | MSE ratio | MAE | paper MAE | MAE ratio |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        "| ETTm1 | 2 | 4 | 0.330 | 0.330 | 1.000 | 0.349 | 0.349 | 1.000 |\n"
        "\n"
        "- 2 of 140 tasks, mean over 1 seed each.\n"
        "- Ours / published OLinear, mean over tasks: MSE 1.000, MAE 1.000; above 1.05 in MSE: 0 tasks.\n"
        "- Best MSE among itself and the eleven other published models: ours on 1 of 2 tasks, published OLinear on 1.\n"
        "- Best MAE among itself and the eleven other published models: ours on 1 of 2 tasks, published OLinear on 1.\n"
    )


def test_markdown_marks_and_escapes():
    assert to_markdown(TABLE).splitlines()[2].startswith("| ETTm1 | 96 | 96 | 2 | **0.303** | 0.0042 | 0.302 |")
    lines = to_markdown(ODD).splitlines()
    assert lines[0] == "| na\\|me | a_b |"
    assert lines[2] == "| [red] x\\|y_z & 50% | **1.000** |"
    assert lines[3] == "| \\\\ |  |"


def test_csv_comes_back():
    """Six digits, as the results are kept; the summary would be no row of it."""
    rows = list(csv.DictReader(io.StringIO(to_csv(TABLE, ["a line"]))))
    assert len(rows) == 2
    for read, cells in zip(rows, TABLE.cells, strict=True):
        for column, cell in zip(TABLE.columns, cells, strict=True):
            text = read[column.name]
            if isinstance(cell, float):
                assert float(text) == pytest.approx(cell, rel=1e-5)
            else:
                assert text == ("" if cell is None else str(cell))


def test_csv_quotes():
    table = ResultTable([Column("a", False)], [['x, "y"\nz']])
    assert list(csv.reader(io.StringIO(to_csv(table)))) == [["a"], ['x, "y"\nz']]


def test_latex():
    lines = to_latex(TABLE, ["50 % done"]).splitlines()
    assert lines[0] == "\\begin{tabular}{lrrrrrrrrlrrrrrl}"
    assert [lines[1], lines[3], lines[-3], lines[-2]] == ["\\toprule", "\\midrule", "\\bottomrule", "\\end{tabular}"]
    assert lines[4].startswith("ETTm1 & 96 & 96 & 2 & \\textbf{0.303} & 0.0042 & 0.302 & 1.003 & 0.310 & TimeMixer++ &")
    assert lines[-1] == "% 50 % done"
    assert {line.count("&") for line in lines[4:-3]} == {15}
    assert to_latex(ODD).splitlines()[4] == "[red] x|y\\_z \\& 50\\% & \\textbf{1.000} \\\\"


def test_latex_is_escaped():
    assert escape_latex(r"a_b & 5% $x^2$ #1 {~} \n") == (
        r"a\_b \& 5\% \$x\textasciicircum{}2\$ \#1 \{\textasciitilde{}\} \textbackslash{}n"
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_compiles(tmp_path):
    head = "\\documentclass[landscape]{article}\\usepackage{booktabs}\\begin{document}\\tiny\n"
    (tmp_path / "t.tex").write_text(head + to_latex(TABLE, ["50 % done"]) + "\\end{document}\n")
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=60)


def test_terminal():
    lines = to_terminal(TABLE, ["a line"]).splitlines()
    heading = next(index for index, line in enumerate(lines) if line.startswith("dataset"))
    assert lines[heading + 1].split() == TABLE.texts[0]
    assert lines[-2:] == ["", "a line"]
    assert "[red] x|y_z & 50%" in to_terminal(ODD)  # no markup


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_an_empty_table(write):
    assert write(task_table([]), summary_lines(summarise([]))).endswith("\n")


# Words


def test_lines_count_seeds_and_tasks():
    lines = summary_lines(summarise(SCORES))
    assert lines[0] == "2 of 140 tasks, mean over 1 to 2 seeds each."
    assert lines[1] == (
        f"Ours / published OLinear, mean over tasks: MSE {(0.303 / 0.302 + 1.1) / 2:.3f}, "
        f"MAE {(0.341 / 0.334 + 1.1) / 2:.3f}; above 1.05 in MSE: 1 task."
    )


def test_no_task_is_said():
    assert summary_lines(summarise([])) == ["0 of 140 tasks have a result."]


def test_what_cannot_be_written_is_named(tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        write_text("x", tmp_path / "none" / "t.md")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        write_text("x", tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="no devices")
def test_a_device_is_written_to_and_stays():
    """`--out /dev/stdout` may not put a file in its place."""
    write_text("x", Path("/dev/null"))
    assert Path("/dev/null").is_char_device()
