"""`olinear paper`: the list, an item, and how to answer it."""

import pytest
from cli_parts import done, refused, strict_json

from olinear.bench.paper import items


@pytest.mark.parametrize("command", ["list", "show", "run"])
def test_help_has_an_example(command):
    assert f"Example: olinear paper {command}" in " ".join(done("paper", command, "--help").out.split())


def test_the_list_for_machines(tmp_path):
    found = strict_json(done("paper", "list", "--json", "--results", str(tmp_path)).out)
    assert len(found) == len(items())
    assert {"name", "claim", "command", "verdict"} <= found[0].keys()


def test_the_list_for_people(tmp_path):
    shown = done("paper", "list", "--kind", "Figures", "--results", str(tmp_path)).out
    assert "jacobians" in shown
    assert "long-term" not in shown
    refused("paper", "list", "--kind", "poems")


def test_an_item_says_what_it_rests_on(tmp_path):
    shown = done("paper", "show", "long-term", "--results", str(tmp_path)).out
    assert "olinear bench run --suite long" in shown
    assert "open: none of 28 cells at hand has a result" in shown
    assert "did you mean" in refused("paper", "show", "longterm")


def test_a_dry_run_runs_nothing(tmp_path):
    assert done("paper", "run", "long-term", "--dry-run").out.startswith("olinear bench run --suite long &&")
    assert not list(tmp_path.iterdir())
