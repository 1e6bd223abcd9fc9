"""Looks and words about a delivery while something newer is under way: they wait, or count for nothing."""

from datetime import timedelta

import pytest

from approvals.domain import errors
from approvals.models import Delivery, Draft
from approvals.services import checks, undoing
from approvals.services.resolve import Finding, resolve
from approvals.services.retract import newest, retract
from approvals.services.retry import retry
from tests.cast import Story
from tests.services.states import REVIEW
from tests.support.remote import ACCEPTED, DELIVERED, DIFFERS, EQUAL, FOUND, GONE, Verification
from tests.workers.beats import (
    GRACE_SECONDS,
    LEASE_SECONDS,
    begun,
    deduping_tickets,
    delivery_of,
    hand_in,
    look,
    proposed_on,
    send,
    stands,
    tidy,
)

SEEN = Finding(outcome="delivered", evidence="I saw it there.", remote_id="issue42")
NOT_SEEN = Finding(outcome="not_delivered", evidence="It is not there.")


def held_while_sending(story: Story) -> Draft:
    """The first attempt's answer comes late, and says delivered, while the second attempt is under way."""
    deduping_tickets(story)
    draft = story.approved()
    first = begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    story.clock.advance(seconds=10)
    begun(story, draft)
    hand_in(story, first, DELIVERED)
    assert delivery_of(draft).held_at is not None
    return draft


def settle(story: Story, delivery: Delivery, finding: Finding) -> None:
    resolve(actor=story.actor("max"), clock=story.clock, delivery_id=delivery.pk, finding=finding)


def accepted_retraction(story: Story) -> Draft:
    draft = proposed_on(story, "replies")
    send(story)
    retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    story.remote.retractions = [ACCEPTED]
    send(story)
    return draft


def rival(story: Story) -> Draft:
    story.clock.advance(seconds=1)
    return story.approved(resource=REVIEW, payload={"comment": "Another"})


def test_nobodys_word_settles_what_is_being_sent(story: Story) -> None:
    draft = held_while_sending(story)
    with pytest.raises(errors.WrongState):
        settle(story, delivery_of(draft), SEEN)
    assert stands(draft) == ("submitting", "sending", "sending")


def test_no_look_up_settles_what_is_being_sent(story: Story) -> None:
    draft = held_while_sending(story)
    story.remote.lookups = [FOUND]
    assert look(story) == {"found": 1}
    assert stands(draft) == ("submitting", "sending", "sending")
    assert delivery_of(draft).next_check_at == story.clock.now + timedelta(seconds=LEASE_SECONDS)


def test_not_seen_answers_late_evidence_about_an_unknown_delivery(story: Story) -> None:
    draft = held_while_sending(story)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    settle(story, delivery_of(draft), NOT_SEEN)
    assert (stands(draft)[:2], delivery_of(draft).held_at) == (("failed", "refused"), None)


@pytest.mark.parametrize("seen", [EQUAL, GONE])
def test_a_read_back_of_an_earlier_retraction_says_nothing_of_the_next(story: Story, seen: Verification) -> None:
    draft = accepted_retraction(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    first = newest(draft)
    asked = [checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=first.pk)]
    story.clock.advance(seconds=LEASE_SECONDS)
    asked.append(checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=first.pk))
    undoing.record_read_back(actor=story.worker, clock=story.clock, check=asked[0], seen=EQUAL)
    retry(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)
    undoing.record_read_back(actor=story.worker, clock=story.clock, check=asked[1], seen=seen)
    assert (story.again(draft).state, newest(draft).state) == ("retracting", "waiting")


def test_nobodys_word_about_an_earlier_retraction_counts_for_the_next(story: Story) -> None:
    draft = accepted_retraction(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    first = newest(draft)
    story.remote.verifications = [EQUAL]
    look(story)
    retry(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)
    with pytest.raises(errors.WrongState):
        settle(story, first, SEEN)
    assert story.again(draft).state == "retracting"


def test_what_a_newer_write_replaced_is_gone(story: Story) -> None:
    draft = accepted_retraction(story)
    rival(story)
    send(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    story.remote.verifications = [DIFFERS, DIFFERS]
    look(story)
    assert story.again(draft).state == "retracted"


def test_what_differs_while_another_write_is_under_way_proves_nothing(story: Story) -> None:
    draft = accepted_retraction(story)
    begun(story, rival(story))
    story.clock.advance(seconds=GRACE_SECONDS)
    story.remote.verifications = [DIFFERS]
    look(story)
    assert story.again(draft).state == "retracting"
    assert newest(draft).next_check_at == story.clock.now + timedelta(seconds=LEASE_SECONDS)


def test_what_differs_by_nobodys_write_is_still_public(story: Story) -> None:
    draft = accepted_retraction(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    story.remote.verifications = [DIFFERS]
    look(story)
    assert story.again(draft).state == "retraction_failed"
