"""Reading back what was delivered: only what reads equal is confirmed."""

import pytest

from approvals.connectors.base import Match, Verification
from approvals.models import Draft, Observation
from approvals.services.checks import LOOKS_BEFORE_A_PERSON
from tests.cast import Story
from tests.support.remote import DIFFERS, EQUAL, FakeConnector
from tests.workers.beats import REVIEW, delivery_of, look, proposed_on, seconds_until, send, stands

GONE = Verification(Match.GONE, "The remote answered 404.")
UNREADABLE = Verification(Match.UNKNOWN, "The remote answered 500.")
IMPOSSIBLE = Verification(Match.IMPOSSIBLE, "This operation declares no read-back.")


def delivered(story: Story, channel: str = "tickets") -> Draft:
    draft = proposed_on(story, channel)
    send(story)
    return draft


def test_equal_confirms(story: Story) -> None:
    draft = delivered(story)
    story.remote.verifications.append(EQUAL)
    assert look(story) == {"confirmed": 1}
    assert (story.again(draft).state, delivery_of(draft).verification) == ("confirmed", "equal")
    assert delivery_of(draft).next_check_at is None


@pytest.mark.parametrize("channel", ["tickets", "replies"])
@pytest.mark.parametrize(
    ("seen", "word"),
    [(DIFFERS, "differs"), (GONE, "gone"), (IMPOSSIBLE, "impossible")],
    ids=lambda value: str(value)[:9],
)
def test_anything_else_stays_submitted_and_says_what_was_seen(
    story: Story, channel: str, seen: Verification, word: str
) -> None:
    draft = delivered(story, channel)
    story.remote.verifications.append(seen)
    look(story)
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert (delivery_of(draft).verification, story.again(draft).reason) == (word, seen.reason)
    assert delivery_of(draft).next_check_at is None


@pytest.mark.parametrize("seen", [DIFFERS, GONE], ids=["differs", "gone"])
def test_what_a_newer_write_took_the_place_of_is_replaced(story: Story, seen: Verification) -> None:
    first = delivered(story, "replies")
    story.clock.advance(seconds=1)
    second = story.approved(resource=REVIEW, payload={"comment": "Thank you again"})
    send(story)
    story.remote.verifications += [seen, EQUAL]
    look(story)
    assert delivery_of(first).verification == "replaced"
    assert story.again(second).state == "confirmed"


def test_a_newer_ticket_takes_no_ones_place(story: Story) -> None:
    first = delivered(story)
    story.clock.advance(seconds=1)
    story.approved(payload={"summary": "Another"})
    send(story)
    story.remote.verifications += [DIFFERS, EQUAL]
    look(story)
    assert delivery_of(first).verification == "differs"


def test_an_unreadable_remote_is_asked_again_ever_later(story: Story) -> None:
    draft = delivered(story)
    waits = []
    for _ in range(4):
        story.remote.verifications.append(UNREADABLE)
        assert look(story) == {"read_unknown": 1}
        waits.append(seconds_until(story, delivery_of(draft).next_check_at))
        story.clock.advance(seconds=waits[-1])
    assert waits == sorted(waits)
    assert look(story) == {"confirmed": 1}


def test_after_many_unreadable_answers_it_is_left_as_submitted(story: Story) -> None:
    draft = delivered(story)
    for _ in range(LOOKS_BEFORE_A_PERSON):
        story.remote.verifications.append(UNREADABLE)
        look(story)
        story.clock.now = delivery_of(draft).next_check_at or story.clock.now
    assert delivery_of(draft).next_check_at is None
    assert (story.again(draft).state, delivery_of(draft).verification) == ("submitted", "")


def test_a_read_back_that_breaks_confirms_nothing(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("not today")

    draft = delivered(story)
    monkeypatch.setattr(FakeConnector, "verify", broken)
    assert look(story) == {"read_unknown": 1}
    assert story.again(draft).state == "submitted"


def test_every_read_back_is_kept_as_evidence(story: Story) -> None:
    draft = delivered(story)
    look(story)
    seen = Observation.objects.get(delivery__draft=draft)
    assert (seen.kind, seen.answer, seen.begun_at, seen.recorded_at) == (
        "verify",
        "equal",
        story.clock.now,
        story.clock.now,
    )


def test_what_is_confirmed_is_not_read_again(story: Story) -> None:
    delivered(story)
    look(story)
    story.clock.advance(days=1)
    assert look(story) == {}
