"""The free text around a draft: taken as it is, or refused where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.errors import InvalidPayload
from approvals.domain.words import REASON_LIMIT, TEXT_LIMIT, TITLE_LIMIT, checked

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def refusal_of(text: object, **options) -> InvalidPayload:
    with pytest.raises(InvalidPayload) as caught:
        checked(text, pointer="/title", **options)
    return caught.value


@given(storable)
def test_text_is_taken_as_it_is(text):
    assert checked(text, pointer="/note") == text


@pytest.mark.parametrize("text", [None, 5, True, b"bytes", ["a"], {}])
def test_what_is_no_text_is_refused(text):
    assert refusal_of(text).pointer == "/title"


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u00a0"])
def test_required_text_must_say_something(text):
    assert str(refusal_of(text, required=True)) == "Give a title."


def test_text_that_is_not_required_may_be_empty():
    assert checked("", pointer="/note") == ""


@pytest.mark.parametrize("limit", [TITLE_LIMIT, REASON_LIMIT, TEXT_LIMIT])
def test_text_may_be_as_long_as_its_limit_and_no_longer(limit):
    assert checked("ä" * limit, pointer="/title", limit=limit)
    assert f"may have {limit:,}" in str(refusal_of("ä" * (limit + 1), limit=limit))


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "ok\udfff", "\udc00\ud800"])
def test_what_no_database_stores_is_refused(text):
    assert refusal_of(text).pointer == "/title"


def test_a_whole_emoji_is_stored():
    assert checked("\U0001f600", pointer="/title") == "\U0001f600"
