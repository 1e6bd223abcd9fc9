"""Receipts that come after the sweeper gave up on their attempt, or after somebody else went on."""

import pytest

from approvals.connectors.base import Receipt
from approvals.models import Draft, Observation
from approvals.services.opening import Begun
from tests.cast import Story
from tests.support.remote import ABSENT, DELIVERED, FOUND, NOT_SENT, REFUSED, UNKNOWN
from tests.workers.beats import (
    LEASE_SECONDS,
    attempt_of,
    begun,
    claim_of,
    deduping_tickets,
    delivery_of,
    go,
    hand_in,
    hand_in_for,
    look,
    made_unknown,
    proposed_on,
    proven_absent,
    reserve,
    send,
    stands,
    stop,
    tidy,
)

SETTLING = [
    pytest.param(DELIVERED, "submitted", "delivered", id="delivered"),
    pytest.param(REFUSED, "failed", "refused", id="refused"),
    pytest.param(NOT_SENT, "submitting", "waiting", id="not_sent"),
]


def fallen_silent(story: Story, channel: str) -> tuple[Draft, Begun]:
    """Gives a draft whose worker's lease ran out, and the attempt that worker had begun."""
    draft = proposed_on(story, channel)
    attempt = begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    assert tidy(story) == {"unknown": 1}
    return draft, attempt


@pytest.mark.parametrize("channel", ["tickets", "replies"])
@pytest.mark.parametrize(("receipt", "draft_state", "delivery_state"), SETTLING)
def test_a_receipt_outranks_the_sweepers_guess(
    story: Story, channel: str, receipt: Receipt, draft_state: str, delivery_state: str
) -> None:
    draft, attempt = fallen_silent(story, channel)
    assert hand_in(story, attempt, receipt).matched
    assert stands(draft) == (draft_state, delivery_state, "idle")
    assert attempt_of(draft).outcome == receipt.outcome


@pytest.mark.parametrize(("channel", "claim"), [("tickets", "idle"), ("replies", "uncertain")])
def test_a_late_unknown_finishes_the_attempt_and_settles_nothing(story: Story, channel: str, claim: str) -> None:
    draft, attempt = fallen_silent(story, channel)
    assert hand_in(story, attempt, UNKNOWN).matched
    assert stands(draft) == ("delivery_unknown", "unknown", claim)
    assert attempt_of(draft).outcome == "unknown"


def test_a_late_receipt_leaves_a_target_alone_that_serves_another(story: Story) -> None:
    first, attempt = fallen_silent(story, "tickets")
    second = story.approved(payload={"summary": "Another"})
    begun(story, second)
    hand_in(story, attempt, DELIVERED)
    claim = claim_of(second)
    assert story.again(first).state == "submitted"
    assert (claim.state, claim.approval_id) == ("sending", story.approval(second).pk)


def test_a_second_receipt_for_one_attempt_is_kept_as_evidence(story: Story) -> None:
    draft = story.approved()
    attempt = begun(story, draft)
    hand_in(story, attempt, NOT_SENT)
    assert not hand_in(story, attempt, REFUSED).matched
    seen = Observation.objects.get(kind="late_result")
    assert (seen.attempt_number, seen.answer, seen.reason) == (1, "refused", REFUSED.reason)
    assert stands(draft) == ("submitting", "waiting", "idle")


def test_late_evidence_of_a_delivery_holds_what_waits(story: Story) -> None:
    draft = story.approved()
    attempt = begun(story, draft)
    hand_in(story, attempt, NOT_SENT)
    hand_in(story, attempt, DELIVERED)
    story.clock.advance(minutes=10)
    assert delivery_of(draft).held_at is not None
    assert send(story) == {}
    assert stands(draft) == ("submitting", "waiting", "idle")


@pytest.mark.parametrize("said", [NOT_SENT, REFUSED])
def test_held_evidence_is_confirmed_by_a_look_up(story: Story, said: Receipt) -> None:
    draft = story.approved()
    attempt = begun(story, draft)
    hand_in(story, attempt, said)
    hand_in(story, attempt, DELIVERED)
    story.remote.lookups.append(FOUND)
    assert look(story) == {"found": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert delivery_of(draft).held_at is None


def test_no_number_of_absences_lifts_held_evidence(story: Story) -> None:
    draft = story.approved()
    attempt = begun(story, draft)
    hand_in(story, attempt, NOT_SENT)
    hand_in(story, attempt, DELIVERED)
    story.remote.lookups += [ABSENT] * 3
    proven_absent(story)
    story.clock.advance(minutes=10)
    look(story)
    assert send(story) == {}
    assert delivery_of(draft).held_at is not None


def test_late_evidence_about_what_is_delivered_holds_nothing(story: Story) -> None:
    draft = story.approved()
    attempt = begun(story, draft)
    hand_in(story, attempt, DELIVERED)
    assert not hand_in(story, attempt, DELIVERED).matched
    assert delivery_of(draft).held_at is None


def test_an_earlier_attempts_late_yes_holds_the_delivery_while_a_later_one_is_open(story: Story) -> None:
    deduping_tickets(story)
    draft, first = fallen_silent(story, "tickets")
    story.clock.advance(seconds=10)
    begun(story, draft)
    assert not hand_in(story, first, DELIVERED).matched
    assert stands(draft) == ("submitting", "sending", "sending")
    assert delivery_of(draft).held_at is not None


def test_an_earlier_attempts_late_no_moves_nothing(story: Story) -> None:
    deduping_tickets(story)
    draft, first = fallen_silent(story, "tickets")
    story.clock.advance(seconds=10)
    second = begun(story, draft)
    hand_in(story, first, REFUSED)
    hand_in(story, second, REFUSED)
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")


def test_evidence_confirmed_while_the_target_is_reserved_gives_the_target_back(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, ABSENT, FOUND]
    proven_absent(story)
    hold = reserve(story, draft)  # whose worker is about to send again, or died right here
    hand_in_for(story, attempt_of(draft), DELIVERED)
    look(story)
    assert stands(draft) == ("submitted", "delivered", "idle")
    answer = go(story, hold)
    stop(story, hold, answer)
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert len(story.remote.sent) == 1
