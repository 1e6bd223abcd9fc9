"""Differences lose nothing: without the deleted pieces they are the new text, without the added ones the old."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.binding import TargetRef, bind
from approvals.web import diff
from approvals.web.cards import changes, payload

TEXT = st.text(alphabet="ab \t\n.,é\u200b\u202e\u00a0", max_size=40)
LEAF = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "0", "a", "[0]"])
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["0", "a", "[0]"]), inner, max_size=2),
)
PAYLOAD = st.dictionaries(st.sampled_from(["a", "b", "[0]"]), VALUE, max_size=3)


def texts(pieces):
    return [(piece.tag, piece.text) for piece in pieces]


@given(TEXT, TEXT)
def test_both_texts_can_be_read_off(before, after):
    pieces = diff.compare(before, after)
    assert "".join(piece.text for piece in pieces if piece.tag != "del") == after
    assert "".join(piece.text for piece in pieces if piece.tag != "ins") == before


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("within 30 days", "within 14 days", [("", "within "), ("del", "30"), ("ins", "14"), ("", " days")]),
        ("a", "a ", [("", "a"), ("ins", " ")]),
        ("a", "a\n", [("", "a"), ("ins", "\n")]),
        ("we will, we can", "they do", [("del", "we will, we can"), ("ins", "they do")]),
        ("e\u0301", "\u00e9", [("del", "e\u0301"), ("ins", "\u00e9")]),
        ("same", "same", [("", "same")]),
        ("", "", []),
    ],
)
def test_words_are_compared_not_letters(before, after, expected):
    assert texts(diff.compare(before, after)) == expected


def test_a_ghost_that_is_cut_stays_a_ghost():
    pieces = diff.compare("a\u200b\u200b b", "a\u200b c")
    assert all(run.ghost for piece in pieces for run in piece.runs if "\u200b" in run.text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("word " * 40_000, "wort " * 40_000),
        ("\n" * 100_000, "x\n" * 50_000),
        (" ".join(str(n % 300) for n in range(20_000)), " ".join(str(n % 301) for n in range(20_000))),
    ],
    ids=["one line", "line ends", "numbers"],
)
def test_large_texts_are_compared_in_time(before, after):
    began = time.process_time()
    diff.compare(before, after)
    assert time.process_time() - began < 10


@given(PAYLOAD, PAYLOAD)
def test_payloads_without_a_difference_are_equal(before, after):
    place = TargetRef("c", "a", "r")
    old, new = (bind(operation="o", target=place, payload=value) for value in (before, after))
    found = changes.difference(old, new, numbers=(1, 2))
    assert (not found.fields) == (old.canonical == new.canonical)


def test_a_moved_destination_is_said_first():
    old = bind(operation="o", target=TargetRef("c", "a", "r"), payload={"x": 1})
    new = bind(operation="p", target=TargetRef("c", "a", "s"), payload={"x": 1})
    found = changes.difference(old, new, numbers=(1, 2))
    assert [(place.label, place.before, place.after) for place in found.destination] == [
        ("resource", "r", "s"),
        ("operation", "o", "p"),
    ]


def test_a_changed_kind_is_named():
    old = bind(operation="o", target=TargetRef("c", "a", "r"), payload={"x": "1"})
    new = bind(operation="o", target=TargetRef("c", "a", "r"), payload={"x": 1})
    assert [field.facts for field in changes.difference(old, new, numbers=(1, 2)).fields] == ["was text, is number"]


@pytest.mark.parametrize(
    ("step", "shown"),
    [(0, "[0]"), ("[0]", '"[0]"'), ("name", "name"), ("größe", "größe"), ("", '""'), ("a b", '"a b"')],
)
def test_a_key_is_never_mistaken_for_a_place_in_a_list(step, shown):
    assert payload.step_name(step) == shown
