"""URL templates: whatever a value is, the URL names one object and never another."""

import pytest

from approvals.connectors.placeholders import PlaceholderError, fill, problem

URL = "https://api.example/items/{remote_id}?by={account}"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ("41", "41"),
        ("a/b", "a%2Fb"),
        ("1?x=", "1%3Fx%3D"),
        ("a#b", "a%23b"),
        ("a b&c", "a%20b%26c"),
        ("%2e%2e", "%252e%252e"),
        ("..%2f", "..%252f"),
        ("é", "%C3%A9"),
        ("{account}", "%7Baccount%7D"),
        ("...", "..."),
    ],
)
def test_a_value_fills_one_segment(value, encoded):
    filled = fill(URL, {"remote_id": value, "account": "shop"})
    assert filled == f"https://api.example/items/{encoded}?by=shop"


@pytest.mark.parametrize("value", ["", ".", "..", "a\nb", "a\x00b", "a\x7fb", "a\u202eb", "é" * 257, None])
def test_a_value_that_would_name_something_else_is_refused(value):
    with pytest.raises(PlaceholderError) as caught:
        fill(URL, {"remote_id": value, "account": "shop"})
    assert caught.value.name == "remote_id"


def test_a_value_of_512_bytes_is_taken():
    assert fill(URL, {"remote_id": "x" * 512, "account": "shop"})


@pytest.mark.parametrize(
    "template",
    [
        "https://{account}.example/items",
        "https://api.example:{account}/items",
        "{account}://api.example/",
        "https://api.example/items?{account}=1",
        "https://api.example/{unknown}",
        "https://api.example/{}",
        "https://api.example/{remote_id",
        "https://api.example/../{remote_id}",
        "https://api.example/%2E%2e/{remote_id}",
        "https://api.example/a b",
        "https://api.example/é",
        "https://api.example\\@evil.example/",
        "https://api.example/\n",
    ],
)
def test_a_template_that_cannot_be_trusted_is_refused(template):
    assert problem(template)


def test_a_plain_template_is_taken():
    assert problem(URL) is None
