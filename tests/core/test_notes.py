"""A note is text for people and an object for programs, wherever it goes."""

import copy
import json
import pickle

from olinear.core import Note, as_note


def test_a_note_is_text_and_more():
    note = Note("series-constant", "a and b never move", ["a", "b"])
    assert note == f"{note}" == "a and b never move"
    assert note.as_object() == {"code": "series-constant", "text": "a and b never move", "about": ["a", "b"]}
    assert as_note(json.loads(json.dumps(note.as_object()))).as_object() == note.as_object()


def test_text_of_earlier_versions_is_a_note():
    assert as_note("rows were sorted").as_object() == {"code": "note", "text": "rows were sorted", "about": []}
    note = Note("rows-sorted", "rows were sorted")
    assert as_note(note) is note


def test_it_survives_copies_and_processes():
    note = Note("series-constant", "a never moves", ["a"])
    for same in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
        assert same.as_object() == note.as_object()
