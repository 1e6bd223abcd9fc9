"""When to try again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.domain.retry import backoff, retry_after

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = 3600.0
jitters = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(0, 2.5), (1, 2.5), (2, 5), (3, 10), (4, 20), (11, 1800), (10**9, 1800)]
)
def test_the_wait_doubles_up_to_the_cap(attempts, seconds):
    assert backoff(attempts, jitter=0) == seconds


def test_jitter_spreads_the_wait_over_its_upper_half():
    assert backoff(3, jitter=0) == 10
    assert backoff(3, jitter=0.5) == 15
    assert 19.99 < backoff(3, jitter=0.9999) < 20


@given(st.integers(1, 8), jitters, jitters)
def test_below_the_cap_every_wait_is_longer_than_the_one_before(attempts, one, other):
    assert backoff(attempts, jitter=one) < backoff(attempts + 1, jitter=other)


@given(st.integers(), jitters, st.floats(0.1, 100), st.floats(1, 1e6))
def test_no_wait_is_negative_or_above_the_cap(attempts, jitter, base, cap):
    assert 0 < backoff(attempts, base=base, cap=cap, jitter=jitter) <= cap


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("1.5", 1.5),
        ("9" * 30, HOUR),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
        ("Sunday, 01-Mar-26 12:02:00 GMT", 120),
        ("Sun Mar  1 12:02:00 2026", 120),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        (format_datetime(NOW + timedelta(days=3650), usegmt=True), HOUR),
        (str(10 * 365 * 86400), HOUR),
    ],
)
def test_retry_after_gives_seconds_within_the_cap(header, seconds):
    assert retry_after(header, NOW, HOUR) == seconds


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "soon",
        "-5",
        "nan",
        "inf",
        "1e3",
        "\u0661\u0662",
        "1.",
        "1,5",
        "9" * 5000,
        "Sun, 99 Foo 2026",
        "1 2 3 4 5 6 7",
    ],
)
def test_retry_after_that_says_nothing_usable_is_none(header):
    assert retry_after(header, NOW, HOUR) is None


@given(
    st.text(max_size=70)
    | st.from_regex(r"\A\w{3}, \d{1,9} (Jan|Dec) \d{1,9} \d{1,9}:\d{1,9}(:\d{1,9})? [+-]?\d{1,9}\Z")
)
def test_retry_after_never_crashes(header):
    wait = retry_after(header, NOW, HOUR)
    assert wait is None or 0 <= wait <= HOUR
