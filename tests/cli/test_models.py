"""`olinear models`: one line for each model of the registry."""

import subprocess

from cli_parts import SCRIPT, done, strict_json

from olinear.models import MODELS, default_options, summary


def test_every_model_has_its_line():
    """Whole, however long: piped into grep it must still say what the model is."""
    header, *lines = done("models").out.splitlines()
    assert header.split() == ["model", "parameters", "what", "it", "is"]
    assert [line.split()[0] for line in lines] == list(MODELS)
    for name, line in zip(MODELS, lines, strict=True):
        assert line.endswith(f"  {summary(name)}")


def test_parameters_are_those_of_the_defaults():
    lines = {line.split()[0]: line for line in done("models").out.splitlines()}
    assert " 18,624 " in lines["DLinear"]
    assert " 841,568 " in lines["iTransformer"]


def test_what_is_solved_says_so():
    lines = {line.split()[0]: line for line in done("models").out.splitlines()}
    records = {record["name"]: record for record in strict_json(done("models", "--json").out)}
    for name, record in records.items():
        assert record["closed_form"] == ("closed form" in lines[name].removesuffix(summary(name)))
        assert record["closed_form"] == (record["parameters"] == 0)


def test_for_machines():
    records = {record["name"]: record for record in strict_json(done("models", "--json").out)}
    assert list(records) == list(MODELS)
    traits = records["RLinear"].pop("traits")
    assert (traits["outputs"], traits["closed_form"]) == (["point"], False)
    assert records["RLinear"] == {
        "name": "RLinear",
        "parameters": 9_326,
        "closed_form": False,
        "summary": summary("RLinear"),
        "options": default_options("RLinear"),
        "package": "olinear",
    }


def test_as_a_script():
    run = subprocess.run([SCRIPT, "models"], capture_output=True, check=True, text=True, timeout=120)
    assert len(run.stdout.splitlines()) == len(MODELS) + 1
    assert run.stderr == ""
