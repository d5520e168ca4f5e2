"""A model folder is replaced so that a reader finds the old model or the new one, at any moment."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from forecaster_parts import CONFIG, assert_same_frames, small, weights_in

from olinear.core import CheckpointError, OutputError
from olinear.core.runtime import hold
from olinear.forecaster import Forecaster, publishing

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.fixture(scope="module")
def other(frame) -> Forecaster:
    return small(seed=1).fit(frame)


def age(path: Path, seconds: float = 100.0) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_older_model_is_replaced(copy, other):
    other.save(copy)
    assert_same_frames(Forecaster.load(copy).predict(), other.predict())
    assert [path.name for path in copy.parent.iterdir()] == ["model"]


def test_missing_parents_are_made(tmp_path, fitted):
    fitted.save(tmp_path / "some" / "where" / "model")
    assert_same_frames(Forecaster.load(tmp_path / "some" / "where" / "model").predict(), fitted.predict())


# Readers and savers at once


def test_the_replaced_weights_stay_for_whoever_has_read_the_old_config(copy, other, fitted):
    """A reader between two reads, and a plain copy that is under way, find one whole model."""
    before = weights_in(copy)
    age(before)
    content = (copy / CONFIG).read_bytes()
    other.save(copy)
    assert names(copy) == sorted([CONFIG, before.name, weights_in(copy).name])
    (copy / CONFIG).write_bytes(content)
    assert_same_frames(Forecaster.load(copy).predict(), fitted.predict())


def test_they_are_cleared_when_their_time_is_over(copy, other, fitted):
    before = weights_in(copy)
    other.save(copy)
    age(before)
    other.save(copy)
    assert names(copy) == sorted([CONFIG, weights_in(copy).name])


def test_a_reader_that_finds_the_weights_gone_reads_again(copy, other, monkeypatch):
    real, seen = publishing.read_config, []

    def replaced_meanwhile(folder, content):
        config = real(folder, content)
        if not seen:
            seen.append(config)
            monkeypatch.undo()
            other.save(copy)
            (copy / config.weights).unlink()
        return config

    monkeypatch.setattr(publishing, "read_config", replaced_meanwhile)
    assert_same_frames(Forecaster.load(copy).predict(), other.predict())
    assert seen


def test_the_same_model_again_keeps_its_file(copy, fitted):
    """So also where a reader holds it open and it cannot be replaced; but a damaged one is corrected."""
    path = weights_in(copy)
    number, content = path.stat().st_ino, path.read_bytes()
    fitted.save(copy)
    assert (weights_in(copy), path.stat().st_ino) == (path, number)
    path.write_bytes(content[:-1])
    fitted.save(copy)
    assert path.read_bytes() == content


def test_a_folder_of_an_earlier_format_becomes_one_of_this(tmp_path):
    """Its weights go at once: their name would look as if they were the model's."""
    folder = shutil.copytree(FIXTURES / "model-v2", tmp_path / "model")
    model = Forecaster.load(folder)
    model.save(folder)
    assert names(folder) == sorted([CONFIG, weights_in(folder).name])
    assert_same_frames(Forecaster.load(folder).predict(levels=[80]), model.predict(levels=[80]))


def test_savers_take_turns(copy, fitted, other, monkeypatch):
    """While one is in the folder another waits; one that waits in vain goes on, and clears nothing."""
    (copy / "weights-0123456789abcdef.safetensors").write_bytes(b"of the one that hangs")
    age(copy / "weights-0123456789abcdef.safetensors")
    with hold(copy / publishing.LOCK):
        done = threading.Thread(target=other.save, args=(copy,))
        done.start()
        done.join(0.3)
        assert done.is_alive()
    done.join()
    assert_same_frames(Forecaster.load(copy).predict(), other.predict())
    assert "weights-0123456789abcdef.safetensors" not in names(copy)

    (copy / "weights-0123456789abcdef.safetensors").write_bytes(b"of the one that hangs")
    age(copy / "weights-0123456789abcdef.safetensors")
    monkeypatch.setattr(publishing, "WAIT", 0.1)
    with hold(copy / publishing.LOCK):
        fitted.save(copy)
    assert_same_frames(Forecaster.load(copy).predict(), fitted.predict())
    assert "weights-0123456789abcdef.safetensors" in names(copy)


# What killed savers left


def test_the_leftovers_of_killed_savers_are_cleared(copy, other):
    left = [f".{CONFIG}.0123456789ab.part", "weights-0123456789abcdef.safetensors"]
    left.append(f".{left[1]}.0123456789ab.part")
    for name in left:
        (copy / name).write_bytes(b"half")
        age(copy / name)
    (copy / publishing.LOCK).touch()
    (copy / "README.md").write_text("mine")
    before = weights_in(copy)
    other.save(copy)
    assert names(copy) == sorted([CONFIG, "README.md", before.name, weights_in(copy).name])


def test_a_new_folder_whose_first_saver_was_killed_is_taken(tmp_path, fitted):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / publishing.LOCK).touch()
    (folder / "weights-0123456789abcdef.safetensors").write_bytes(b"half")
    with pytest.raises(CheckpointError, match=r"not a model folder: it has no config\.json$"):
        Forecaster.load(folder)
    fitted.save(folder)
    assert_same_frames(Forecaster.load(folder).predict(), fitted.predict())


def test_a_hidden_model_of_an_interrupted_save_is_found(tmp_path, fitted):
    """olinear 0.1.0 moved the old model aside before it moved the new one in, and could be killed in between."""
    hidden = tmp_path / ".model.k3_x9abz"
    shutil.copytree(FIXTURES / "model-v2", hidden)
    shutil.copytree(FIXTURES / "model-v1", tmp_path / ".model.abcdefgh")
    age(hidden, 10)
    age(tmp_path / ".model.abcdefgh", 20)
    (tmp_path / ".model.halfhalf").mkdir()
    with pytest.raises(CheckpointError, match="left a whole model in") as caught:
        Forecaster.load(tmp_path / "model")
    assert f"{hidden}: rename that" in str(caught.value)
    hidden.rename(tmp_path / "model")
    Forecaster.load(tmp_path / "model")


def test_hidden_folders_go_when_a_newer_model_is_there(tmp_path, fitted):
    """Those that an earlier version left, and nobody else's."""
    shutil.copytree(FIXTURES / "model-v2", tmp_path / ".model.k3_x9abz")
    (tmp_path / ".model.abcdefgh").mkdir()
    (tmp_path / ".model.abcdefgh" / "thesis.txt").write_text("mine")
    shutil.copytree(FIXTURES / "model-v2", tmp_path / ".model.underway")
    for name in (".model.k3_x9abz", ".model.abcdefgh"):
        age(tmp_path / name, 7200)
    age(tmp_path / ".model.underway", 0)  # the copy has the times of the fixture
    fitted.save(tmp_path / "model")
    assert names(tmp_path) == [".model.abcdefgh", ".model.underway", "model"]


# Failures


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"])
@pytest.mark.parametrize(
    ("step", "number"),
    [("write_bytes", 0), ("chmod", 0), ("replace", 0), ("write_text", 0), ("chmod", 1), ("replace", 1)],
)
def test_a_failure_of_any_step_leaves_the_old_model_whole(copy, other, saved, monkeypatch, step, number, error):
    """First the weights and then config.json are written, given their mode and renamed."""
    real, calls = getattr(Path, step), []

    def once(path, *arguments, **options):
        calls.append(path)
        if len(calls) == number + 1:
            raise error
        return real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, step, once)
        with pytest.raises(OutputError if isinstance(error, OSError) else KeyboardInterrupt):
            other.save(copy)
    assert names(copy) == names(saved)
    assert names(copy.parent) == ["model"]
    for name in names(saved):
        assert (copy / name).read_bytes() == (saved / name).read_bytes()


def test_a_new_model_is_whole_or_not_there(tmp_path, fitted, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError, match="No space left on device"):
        fitted.save(tmp_path / "some" / "model")
    assert names(tmp_path / "some") == []


# Whose folder, and whose mode


def test_a_link_to_a_model_is_followed(copy, other, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(copy)
    other.save(link)
    assert link.is_symlink()
    assert names(tmp_path) == ["link", "model"]
    for folder in (link, copy):
        assert_same_frames(Forecaster.load(folder).predict(), other.predict())


def test_a_link_to_nothing_yet_is_followed_too(fitted, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    fitted.save(tmp_path / "link")
    assert_same_frames(Forecaster.load(tmp_path / "model").predict(), fitted.predict())


def test_a_link_to_itself_is_refused(fitted, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(OutputError, match="symbolic links"):
        fitted.save(tmp_path / "link")
    with pytest.raises(CheckpointError, match="not a model folder"):
        Forecaster.load(tmp_path / "link")


def test_a_model_for_its_owner_alone_stays_so(copy, other):
    """Its weights hold the last rows."""
    (copy / CONFIG).chmod(0o600)
    other.save(copy)
    assert {(copy / name).stat().st_mode & 0o777 for name in (CONFIG, weights_in(copy).name)} == {0o600}


def test_a_copied_folder_is_the_same_model(copy, fitted, tmp_path):
    """By any means that keeps names and bytes; times and modes do not matter."""
    (tmp_path / "there").mkdir()
    for name in names(copy):
        (tmp_path / "there" / name).write_bytes((copy / name).read_bytes())
        age(tmp_path / "there" / name, 1e6)
    assert_same_frames(Forecaster.load(tmp_path / "there").predict(), fitted.predict())


def test_what_the_user_keeps_in_the_folder_stays(copy, other):
    (copy / "README.md").write_text("mine")
    other.save(copy)
    assert (copy / "README.md").read_text() == "mine"


def test_an_empty_folder_is_taken(tmp_path, fitted):
    (tmp_path / "model").mkdir()
    fitted.save(tmp_path / "model")
    assert_same_frames(Forecaster.load(tmp_path / "model").predict(), fitted.predict())


@pytest.mark.parametrize("files", [["thesis.txt"], ["config.json", "thesis.txt"]])
def test_somebodys_folder_is_never_replaced(tmp_path, fitted, files):
    """config.json is a usual name: only one that says it is of this library makes a folder a model."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in files:
        (folder / name).write_text('{"name": "mine"}')
    with pytest.raises(OutputError, match="not a model folder"):
        fitted.save(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)


def test_a_file_is_never_replaced(tmp_path, fitted):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(OutputError, match="it is a file"):
        fitted.save(tmp_path / "model")
    with pytest.raises(OutputError):
        fitted.save(tmp_path / "model" / "inside")
    assert (tmp_path / "model").read_text() == "mine"
