"""The habits of the project: its metadata, workflows, templates and hooks agree with each other and with the code."""

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from plain_yaml import children, read_yaml

from olinear import __version__

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def pins() -> dict[str, str]:
    """What constraints.txt pins, by normalised name."""
    lines = re.findall(r"^([\w.-]+)==(\S+)$", read(ROOT / "constraints.txt"), re.MULTILINE)
    return {plain(name): version for name, version in lines}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(*extras: str) -> list[Requirement]:
    project = PROJECT["project"]
    lines = [line for extra in extras for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in lines or project["dependencies"]]


def pythons() -> list[str]:
    return re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))


# The version


def test_the_version_stands_in_one_place():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/olinear/__init__.py"
    assert "version" not in read_yaml(read(ROOT / "CITATION.cff"))
    quoted = [path for path in (ROOT / "src").rglob("*.py") if f'"{__version__}"' in read(path)]
    assert quoted == [ROOT / "src" / "olinear" / "__init__.py"]


def test_the_changelog_begins_with_the_version_or_what_comes_next():
    newest = re.findall(r"^## (\S+)", read(ROOT / "CHANGELOG.md"), re.MULTILINE)[0]
    assert newest in (__version__, "Unreleased")


# The command as a module


def python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def test_the_module_is_the_command():
    assert python("-m", "olinear", "--version") == f"olinear {__version__}\n"


WORKER = """
import multiprocessing, sys
sys.modules["__main__"].__file__ = sys.argv[0] = {file!r}  # as if this process had begun with that file
worker = multiprocessing.get_context("spawn").Process(target=print, args=("worked",))
worker.start()
worker.join()
sys.exit(worker.exitcode)
"""


def test_a_worker_of_the_module_does_not_run_the_command_again():
    """A spawned process imports the file its parent began with, and has its arguments: here `--version`."""
    spec = find_spec("olinear.__main__")
    assert spec is not None
    assert python("-c", WORKER.format(file=spec.origin), "--version") == "worked\n"


# Pythons and packages


def test_the_pythons_are_the_same_everywhere():
    known = pythons()
    assert known == sorted(known, key=lambda version: int(version.partition(".")[2]))
    matrix = read_yaml(read(GITHUB / "workflows" / "tests.yml"))["jobs.pytest.strategy.matrix.python"]
    assert re.findall(r'"([\d.]+)"', matrix) == known
    assert PROJECT["project"]["requires-python"] == f">={known[0]}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{known[0].replace('.', '')}"


def test_every_pin_is_in_its_range():
    """And what is needed is pinned, so that a checkout of today works in a year."""
    extras = PROJECT["project"]["optional-dependencies"]
    for requirement in [*requirements(), *requirements(*extras)]:
        if requirement.name != "olinear":
            pin = pins()[plain(requirement.name)]
            assert requirement.specifier.contains(pin), f"{requirement} but {pin}"


def test_the_runtime_needs_have_an_upper_bound():
    """A next major version may break what nobody has tried."""
    for requirement in requirements():
        assert {specifier.operator for specifier in requirement.specifier} == {">=", "<"}, requirement


# Workflows


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_what_it_needs(path: Path):
    """Least permissions, one run at a time, an end to every job."""
    found = read_yaml(read(path))
    assert {"name", "permissions", "concurrency", "jobs"} <= {key.split(".")[0] for key in found}
    assert found["name"] == path.stem
    assert any(key == "on" or key.startswith("on.") for key in found)
    assert children(found, "permissions") == ["contents"]
    assert found["permissions.contents"] == "read"
    assert found["concurrency.group"].startswith(f"{path.stem}-")
    for job in children(found, "jobs"):
        if f"jobs.{job}.uses" not in found:
            assert found[f"jobs.{job}.runs-on"]
            assert 0 < int(found[f"jobs.{job}.timeout-minutes"]) <= 60


def test_only_publishing_may_do_more_than_read():
    granted = {
        f"{path.stem}.{key}": value
        for path in WORKFLOWS
        for key, value in read_yaml(read(path)).items()
        if ".permissions" in key and value
    }
    assert granted == {"release.jobs.publish.permissions.id-token": "write"}


def test_publishing_waits_for_tests_and_runs_on_tags_only():
    found = read_yaml(read(GITHUB / "workflows" / "release.yml"))
    assert children(found, "on") == ["push"]
    assert children(found, "on.push") == ["tags"]
    assert found["jobs.publish.needs"] == "[tests, build]"
    assert found["jobs.publish.environment"] == "release"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_major_version_and_files_are_there(path: Path):
    text = read(path)
    uses = [value for key, value in read_yaml(text).items() if re.search(r"(^|\.)uses$", key)]
    assert uses
    for value in uses:
        if value.startswith("./"):
            assert (ROOT / value).is_file()
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", value), value
    for name in re.findall(r"tests/\w+\.py|constraints\.txt|pyproject\.toml|CHANGELOG\.md", text):
        assert (ROOT / name).is_file(), name


# Templates


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_can_be_shown(path: Path):
    """The keys without which GitHub refuses it; some answer is required, or empty issues come."""
    found = read_yaml(read(path))
    assert {"name", "description", "labels"} <= set(found)
    count = len({key.split(".")[0] for key in found if key.startswith("body[")})
    names = []
    for index in range(count):
        entry = f"body[{index}]"
        kind = found[f"{entry}.type"]
        assert kind in {"markdown", "textarea", "input", "dropdown", "checkboxes"}
        if kind == "markdown":
            assert found[f"{entry}.attributes.value"]
            continue
        names.append(found[f"{entry}.id"])
        assert found[f"{entry}.attributes.label"]
        if kind in ("dropdown", "checkboxes"):
            assert any(key.startswith(f"{entry}.attributes.options[0]") for key in found)
    assert len(set(names)) == len(names) > 0
    assert "true" in {value for key, value in found.items() if key.endswith(".required")}


def test_there_is_a_form_for_each_kind_of_report():
    assert {path.stem for path in FORMS} == {"bug", "feature", "data", "result"}
    assert read_yaml(read(GITHUB / "ISSUE_TEMPLATE" / "config.yml")) == {"blank_issues_enabled": "false"}


def test_the_commands_that_templates_name_exist():
    from typer.main import get_command

    from olinear.cli.app import app

    text = "\n".join(read(path) for path in [*FORMS, ROOT / "SECURITY.md", GITHUB / "pull_request_template.md"])
    named = re.findall(r"`olinear ((?:data |bench )?[a-z]+)", text)
    assert len(named) >= 4
    for words in named:
        command = get_command(app)
        for word in words.split():
            command = command.commands[word]


# Hooks


def test_commit_hooks_are_the_pinned_tools():
    found = read_yaml(read(ROOT / ".pre-commit-config.yaml"))
    assert [value for key, value in found.items() if key.endswith(".repo")] == ["local"]
    entries = [value for key, value in found.items() if key.endswith(".entry")]
    dev = {requirement.name for requirement in requirements("dev")}
    assert [entry.split()[0] for entry in entries] == [".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy"]
    for entry in entries:
        tool = Path(entry.split()[0]).name
        assert tool in dev
        assert tool in pins()


# Addresses

PLACES = ("src", "tests", "docs", "benchmarks", "tools", ".github")
TEXT = {".py", ".pyi", ".md", ".toml", ".yml", ".yaml", ".cff", ".txt", ".html", ".css", ".js"}
# Hosts that are facts: licences and standards, where datasets are, and names reserved for examples.
HOSTS = {
    "127.0.0.1",
    "www.w3.org",  # the name space of SVG
    "creativecommons.org",
    "example.org",
    "gis.cdc.gov",
    "github.com",
    "raw.githubusercontent.com",
    "semver.org",
    "www.bls.gov",
    "www.kaggle.com",
}


def texts() -> list[Path]:
    inside = [path for place in PLACES for path in (ROOT / place).rglob("*") if path.suffix in TEXT]
    return sorted([*inside, *(path for path in ROOT.iterdir() if path.is_file() and path.suffix in TEXT)])


def test_no_address_is_invented():
    """No e-mail address at all; a web address only of a host that is known to be right."""
    pages = texts()
    assert len(pages) > 200
    for path in pages:
        text = read(path).replace("\\", "")  # a pattern's escapes
        assert not re.findall(r"[\w.+-]+@[\w-]+\.[a-z]{2,}\b", text), path
        assert set(re.findall(r"https?://([\w.-]*\w)", text)) <= HOSTS, path
