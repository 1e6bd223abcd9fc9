"""The byte view: every byte once, in order, at its offset."""

import html
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.binding import TargetRef, bind
from approvals.web.cards import canonical

PLACE = TargetRef("http", "account", "resource")


def rows(payload):
    bound = bind(operation="o", target=PLACE, payload=payload)
    return bound.canonical, list(canonical.text_rows(bound.canonical))


def plain(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


@given(st.dictionaries(st.text('abc"\\\n:,{}', max_size=30), st.text('abc"\\\nü€:,', max_size=200), max_size=5))
def test_the_rows_are_the_bytes(payload):
    whole, found = rows(payload)
    assert "".join(plain(row.cells[0]) for row in found).encode() == whole


@given(st.text("aü€😀\n", max_size=400))
def test_offsets_count_bytes_and_lines_are_short(text):
    whole, found = rows({"t": text})
    sizes = [len(plain(row.cells[0]).encode()) for row in found]
    assert [row.offset for row in found] == [sum(sizes[:index]) for index in range(len(sizes))]
    assert max(sizes) <= canonical.LINE_BYTES
    assert sum(sizes) == len(whole)


def test_keys_escapes_and_ghosts_are_told_apart():
    _, found = rows({"key": "a\nb\u200b\u200b"})
    markup = "".join(row.cells[0] for row in found)
    assert '<span class="bytes-key">&quot;key&quot;</span>' in markup
    assert '<span class="escape">\\n</span>' in markup
    assert '<span class="ghost">ZWSP ×2</span>' in markup
    assert "\u200b" not in markup


def test_a_text_that_looks_like_a_key_is_none():
    _, found = rows({"k": '"x":1'})
    assert "".join(row.cells[0] for row in found).count('bytes-key">&quot;k') == 1
    assert 'bytes-key">\\' not in "".join(row.cells[0] for row in found)


@pytest.mark.parametrize("text", ["x" * 200_000, "\n" * 100_000, "\u200b" * 60_000, "é" * 100_000])
def test_the_largest_payloads_are_laid_out_in_time(text):
    began = time.process_time()
    rows({"t": text})
    assert time.process_time() - began < 10
