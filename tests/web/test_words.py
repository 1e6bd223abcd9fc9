"""Words, times and levels the pages use."""

from datetime import UTC, datetime, timedelta

import pytest

from approvals.domain.states import DraftState
from approvals.web import words
from approvals.web.cards.expiry import expiry
from approvals.web.cards.rail import OUTCOMES

NOW = datetime(2026, 3, 12, 13, 58, tzinfo=UTC)


@pytest.mark.parametrize(
    ("duration", "said"),
    [
        ({"seconds": -5}, "0 s"),
        ({"seconds": 59}, "59 s"),
        ({"minutes": 47}, "47 min"),
        ({"hours": 1, "minutes": 2}, "1 h 02 min"),
        ({"hours": 7}, "7 h"),
        ({"hours": 47}, "47 h"),
        ({"days": 3}, "3 d"),
    ],
)
def test_durations(duration, said):
    assert words.span(timedelta(**duration)) == said


@pytest.mark.parametrize(
    ("left", "level"),
    [
        ({"seconds": 0}, "over"),
        ({"minutes": 14, "seconds": 59}, "last"),
        ({"minutes": 15}, "soon"),
        ({"minutes": 59, "seconds": 59}, "soon"),
        ({"hours": 1}, "plain"),
    ],
)
def test_time_left_has_a_level(left, level):
    assert expiry(NOW + timedelta(**left), NOW).level == level


def test_no_time_is_no_level():
    assert expiry(None, NOW).level == "none"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (datetime(2026, 3, 12, 9, 5, 7, tzinfo=UTC), "09:05"),
        (datetime(2026, 3, 11, 9, 5, tzinfo=UTC), "11 Mar 09:05"),
        (datetime(2025, 12, 31, 9, 5, tzinfo=UTC), "31 Dec 2025 09:05"),
    ],
)
def test_moments_name_the_day_unless_it_is_today(at, said):
    assert words.moment(at, NOW) == said


@pytest.mark.parametrize(
    ("name", "said"), [("ticket.create", "Create ticket"), ("reply", "Reply"), ("a.b.set_state", "Set state a b")]
)
def test_operations(name, said):
    assert words.operation(name) == said


def test_counts_are_capped():
    assert (words.capped(1_000), words.capped(1_001)) == ("1,000", "more than 1,000")


@pytest.mark.parametrize("state", list(DraftState))
def test_every_state_has_its_words(state):
    assert words.STATE_LABELS[state]
    assert words.STATE_SAYS[state]
    assert state in OUTCOMES or state in (DraftState.IN_REVIEW, DraftState.APPROVED)
