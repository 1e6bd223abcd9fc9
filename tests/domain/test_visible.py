"""What a reviewer is shown of characters that cannot be seen, and of links that mislead."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.visible import MAX_NOTICES, Run, measure, runs, warnings

tricky = st.text(
    st.sampled_from("ab \t\n\r\u200b\u200d\ufe0f\u202e\u202a\u202c\u2066\u2069\u00a0\u2029\u2764\U0001f525")
)


def labels(text: str) -> list[tuple[str, str, int]]:
    return [(run.ghost.label, run.ghost.kind, run.count) for run in runs(text) if run.ghost]


def kinds(payload) -> list[str]:
    return [notice.kind for notice in warnings(payload)]


def test_plain_text_is_one_run():
    assert runs("Hello\n\tworld: 5 < 6\n") == [Run("Hello\n\tworld: 5 < 6\n")]
    assert runs("") == []


@pytest.mark.parametrize(
    ("char", "label", "kind"),
    [
        ("\u202e", "RLO", "bidi"), ("\u2066", "LRI", "bidi"), ("\u2067", "RLI", "bidi"), ("\u2068", "FSI", "bidi"),
        ("\u2069", "PDI", "bidi"), ("\u200f", "RLM", "bidi"), ("\u061c", "ALM", "bidi"),
        ("\u200b", "ZWSP", "zero_width"), ("\ufeff", "BOM", "zero_width"), ("\u2060", "WJ", "zero_width"),
        ("\u200d", "ZWJ", "zero_width"), ("\u00ad", "SHY", "ignorable"), ("\u3164", "U+3164", "ignorable"),
        ("\ufe0f", "U+FE0F", "ignorable"), ("\U000e0041", "U+E0041", "ignorable"), ("\u180e", "U+180E", "ignorable"),
        ("\u00a0", "NBSP", "space"), ("\u2003", "U+2003", "space"), ("\u2028", "LSEP", "space"),
        ("\u2800", "U+2800", "space"), ("\x1b", "ESC", "control"), ("\r", "CR", "control"), ("\x85", "NEL", "control"),
        ("\x7f", "DEL", "control"), ("\x00", "NUL", "control"),
    ],
)  # fmt: skip
def test_a_character_that_cannot_be_seen_becomes_a_labelled_run(char, label, kind):
    ghost = next(run for run in runs(f"a{char}b") if run.ghost)
    assert (ghost.text, ghost.ghost.label, ghost.ghost.kind) == (char, label, kind)
    assert ghost.ghost.codepoint == f"U+{ord(char):04X}"
    assert ghost.ghost.name
    assert not ghost.raw


def test_repeated_ghosts_are_one_run_and_different_ones_are_not():
    assert labels("a\u200b\u200b\u200b\ufeffb") == [("ZWSP", "zero_width", 3), ("BOM", "zero_width", 1)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("end ", [("SP", "trailing", 1)]),
        ("end  \t\nnext", [("SP", "trailing", 2), ("TAB", "trailing", 1)]),
        ("end \r\nnext", [("SP", "trailing", 1), ("CR", "control", 1)]),
        ("   \nindented: no   gap", [("SP", "trailing", 3)]),
    ],
)
def test_blanks_at_the_end_of_a_line_are_shown(text, found):
    assert labels(text) == found
    assert all(run.raw for run in runs(text) if run.ghost and run.ghost.kind == "trailing")


def reached(text: str) -> str:
    return "".join(run.text for run in runs(text) if run.in_override)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("a\u202eb\u202cc", "\u202eb\u202c"),
        ("a\u202eb\nc", "\u202eb"),
        ("a\u2067b\u202ec\u2069d", "\u2067b\u202ec\u2069"),
        ("a\u202ab\u2066c\u202cd\u2069e\u202cf", "\u202ab\u2066c\u202cd\u2069e\u202c"),
        ("a\u202cb\u2069c", ""),
        ("a\u202eb\u2029c", "\u202eb\u2029"),
        ("a\u202e", "\u202e"),
        ("a\u200eb", ""),
    ],
)
def test_the_reach_of_a_direction_control_ends_where_unicode_says(text, held):
    assert reached(text) == held


@pytest.mark.parametrize(
    "emoji", ["\u2764\ufe0f", "\u2764\ufe0f\u200d\U0001f525", "\U0001f469\U0001f3fd\u200d\U0001f680", "1\ufe0f\u20e3"]
)
def test_an_emoji_is_not_taken_apart(emoji):
    assert labels(f"so {emoji} good") == []


@pytest.mark.parametrize("text", ["a\ufe0fb", "1\ufe0f", "\u2764\ufe0f\ufe0f", "\u2764\u200db", "b\u200d\u2764"])
def test_joiners_outside_an_emoji_are_ghosts(text):
    assert labels(text)


@given(st.text() | tricky)
def test_runs_joined_are_the_text(text):
    pieces = runs(text)
    assert "".join(run.text for run in pieces) == text
    assert all(run.text for run in pieces)
    assert all(one.ghost or other.ghost or one.in_override != other.in_override for one, other in pairwise(pieces))


@given(st.text() | tricky)
def test_what_may_be_emitted_holds_no_direction_control(text):
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff") & set(
        "".join(run.text for run in runs(text) if run.raw)
    )


@pytest.mark.parametrize(
    "text", [" " * 200_000 + "x", "\u202e" * 200_000, "\u202a" * 100_000 + "\u2069" * 100_000, "\u200b\u2060" * 60_000]
)
def test_a_hostile_text_is_read_in_linear_time(text):
    began = time.process_time()
    runs(text)
    warnings({"body": text})
    assert time.process_time() - began < 5


def test_warnings_name_field_kind_and_count():
    (notice,) = warnings({"lines": ["fine", "pay\u200b no\u200bw"]})
    assert (notice.pointer, notice.kind, notice.count) == ("/lines/1", "zero_width", 2)
    assert notice.message == "This text holds characters without width (ZWSP): 2."


def test_a_ghost_in_a_key_is_told():
    (notice,) = warnings({"sum\u200bmary": "x"})
    assert notice.kind == "zero_width"
    assert notice.message.startswith("The name of this field")


def test_ordinary_payloads_give_no_warning():
    text = "Hi Mira,\n\nsee https://example.com/a?b=c or mail care@northwind.example. Grüße, 東京 ❤️"
    assert warnings({"body": text, "n": 1, "ok": None, "tags": []}) == []


def test_long_lines_and_blank_stretches_are_told():
    assert kinds({"body": "x" * 20_000}) == ["long_line"]
    (notice,) = warnings({"body": "top" + "\n" * 5001 + "hidden"})
    assert (notice.kind, notice.count) == ("blank_lines", 5000)


def test_measure_counts_what_there_is_to_read():
    facts = measure("one\n\n \nfour")
    assert (facts.characters, facts.lines, facts.longest_line, facts.longest_gap) == (11, 4, 4, 2)


def host_notice(text: str):
    (notice,) = [notice for notice in warnings(text) if notice.kind not in ("zero_width", "bidi")]
    assert notice.message.isascii()
    return notice.kind, notice.message


@pytest.mark.parametrize(
    "link",
    [
        "https://\u0430pple.com/x",
        "www.\u0430pple.com.",
        "ben@\u0430pple.com",
        "//xn--pple-43d.com",
        "HTTP://\u0410pple.com:80",
    ],
)
def test_a_foreign_letter_in_a_host_is_told_with_its_punycode(link):
    kind, message = host_notice(f"see {link} now")
    assert kind == "mixed_script"
    assert "xn--pple-43d.com" in message
    assert "Cyrillic and Latin" in message
    assert "U+0430 CYRILLIC SMALL LETTER A" in message


@pytest.mark.parametrize(
    ("link", "kind", "told"),
    [
        ("https://\u0430\u0440\u0440\u04cf\u0435.com", "international_host", "xn--80ak6aa92e.com"),
        ("https://m\u00fcnchen.example", "international_host", "xn--mnchen-3ya.example"),
        ("https://\u6771\u4eac\u30bf\u30ef\u30fc.jp", "international_host", "xn--"),
        ("https://exam\u200bple.com", "international_host", "example.com"),
        ("https://exam\uff0ecom", "international_host", "exam.com"),
        ("https://ex\u202eample.com", "invalid_host", "ex\\u202eample.com"),
        ("https://xn--zz.com", "invalid_host", "xn--zz.com"),
        ("https://" + "\u00e9" * 400 + ".com", "invalid_host", "\\xe9"),
        ("https://paypal.com@evil.example/x", "link_user", "evil.example"),
    ],
)
def test_other_misleading_hosts_are_told(link, kind, told):
    found, message = host_notice(f"({link})")
    assert found == kind
    assert told in message


@given(st.text() | tricky.map(lambda text: "https://" + text) | st.text().map(lambda text: "xn--" + text))
def test_warnings_never_crash_and_their_messages_can_be_shown(text):
    for notice in warnings({"body": text, text: "https://" + text}):
        assert notice.message.isprintable()
        assert notice.count > 0


def test_a_flood_of_warnings_is_cut_and_says_so():
    found = warnings(["\u200b"] * 10_000)
    assert len(found) == MAX_NOTICES + 1
    assert found[-1].kind == "more"
