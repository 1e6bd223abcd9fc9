"""JSON pointers, by the examples of RFC 6901, section 5."""

import pytest

from approvals.domain import pointer

DOCUMENT = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, " ": 7, "0": "zero"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/m~0n", 8),
        ("/ ", 7),
        ("/0", "zero"),
    ],
)
def test_a_pointer_leads_to_its_value(text, value):
    assert pointer.resolve(DOCUMENT, text) == value


@pytest.mark.parametrize(
    "text", ["/foo/2", "/foo/-", "/foo/01", "/foo/-1", "/foo/\u0661", "/none", "/foo/0/x", "/foo/" + "9" * 30]
)
def test_a_pointer_that_leads_nowhere_says_so(text):
    with pytest.raises(LookupError):
        pointer.resolve(DOCUMENT, text)


@pytest.mark.parametrize("text", ["foo", "/a~", "/a~2b", "#/foo"])
def test_text_that_is_no_pointer_is_refused(text):
    with pytest.raises(ValueError, match="not a JSON pointer"):
        pointer.parse(text)


def test_a_tilde_is_escaped_before_a_slash():
    assert pointer.build(["~1", "a/b", 0]) == "/~01/a~1b/0"
