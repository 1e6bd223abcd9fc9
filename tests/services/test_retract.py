"""Retract: published things are taken back by a delivery of their own, and only a read-back proves it."""

from uuid import uuid5

import pytest

from approvals.connectors.base import Outcome, Receipt
from approvals.domain import errors
from approvals.domain.states import DraftState as T
from approvals.models import Delivery, Draft, Target
from approvals.services.pause import pause_channel
from approvals.services.retract import retract
from approvals.services.retry import retry
from tests.cast import Story
from tests.services import states
from tests.services.record import actions, refusals, rows
from tests.support.remote import ACCEPTED, DIFFERS, EQUAL, GONE, NOT_SENT, REFUSED, UNKNOWN, UNREADABLE
from tests.workers.beats import change_channel, claim_of, look, send

WITHOUT_READ_BACK = {"capabilities": ["lookup", "retract"]}


def ask(story: Story, draft: Draft, by: str = "ben", reason: str = "Wrong shop.") -> Draft:
    return retract(actor=story.actor(by), clock=story.clock, draft_id=draft.pk, reason=reason)


def again(story: Story, draft: Draft) -> Draft:
    return retry(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)


def undoing_of(draft: Draft) -> Delivery:
    return Delivery.objects.filter(draft_id=draft.pk, kind="retract").order_by("created_at").last()


def stands(draft: Draft) -> tuple[str, str, str]:
    """The states of a draft, its newest retraction and its target's dispatch claim."""
    return Draft.objects.get(pk=draft.pk).state, undoing_of(draft).state, claim_of(draft).state


def test_asking_makes_one_delivery_that_waits(story: Story) -> None:
    draft = states.published(story)
    ask(story, draft)
    assert stands(draft) == ("retracting", "waiting", "idle")
    assert undoing_of(draft).pk == uuid5(draft.approval_id, "retract:1")
    assert actions(draft)[-1] == "retraction.requested"


def test_asking_twice_changes_nothing(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    before = rows()
    ask(story, draft, by="max")
    assert rows() == before


def test_a_reason_is_required(story: Story) -> None:
    draft = states.published(story)
    with pytest.raises(errors.InvalidPayload) as refused:
        ask(story, draft, reason=" ")
    assert refused.value.pointer == "/reason"


def test_the_undoing_names_the_object_and_has_an_id_of_its_own(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    send(story)
    (job,) = story.remote.retracted
    assert job.remote_id == "issue42"
    assert (job.delivery_id, job.retraction_id) == (story.approval(draft).write_id, undoing_of(draft).pk)


def test_what_the_remote_accepts_is_retracting_until_it_reads_back_as_gone(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    send(story)
    assert stands(draft) == ("retracting", "delivered", "idle")
    story.remote.verifications = [GONE]
    states.rest(story)
    assert stands(draft) == ("retracted", "delivered", "idle")
    assert undoing_of(draft).verification == "gone"


def test_gone_counts_only_a_grace_after_the_request(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    send(story)
    story.clock.advance(seconds=119)
    assert look(story) == {}
    story.clock.advance(seconds=1)
    story.remote.verifications = [GONE]
    assert look(story) == {"retraction_gone": 1}
    assert story.again(draft).state == "retracted"


@pytest.mark.parametrize("seen", [EQUAL, DIFFERS], ids=["equal", "differs"])
def test_accepted_and_still_readable_is_failed_and_says_so(story: Story, seen: object) -> None:
    draft = states.build(story, T.RETRACTING)
    send(story)
    story.remote.verifications = [seen]
    states.rest(story)
    assert stands(draft) == ("retraction_failed", "delivered", "idle")
    assert "still readable" in story.again(draft).reason


def test_after_an_ineffective_one_the_next_retraction_begins(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    send(story)
    story.remote.verifications = [EQUAL]
    states.rest(story)
    again(story, draft)
    assert undoing_of(draft).pk == uuid5(draft.approval_id, "retract:2")
    send(story)
    story.remote.verifications = [GONE]
    states.rest(story)
    assert story.again(draft).state == "retracted"


def test_refused_stays_public_and_can_be_asked_for_again(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_FAILED)
    assert (stands(draft), story.again(draft).reason) == (("retraction_failed", "refused", "idle"), REFUSED.reason)
    first = undoing_of(draft).pk
    again(story, draft)
    assert (stands(draft), undoing_of(draft).pk) == (("retracting", "waiting", "idle"), first)


def test_unknown_holds_the_target_and_is_settled_by_reading(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    assert stands(draft) == ("retraction_unknown", "unknown", "uncertain")
    story.remote.verifications = [GONE]
    states.rest(story)
    assert stands(draft) == ("retracted", "delivered", "idle")


def test_unknown_and_still_there_is_refused(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    story.remote.verifications = [EQUAL]
    states.rest(story)
    assert stands(draft) == ("retraction_failed", "refused", "idle")


def test_unknown_is_never_sent_again_on_a_guess(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    story.remote.verifications = [UNREADABLE]
    states.rest(story)
    send(story)
    assert len(story.remote.retracted) == 1
    with pytest.raises(errors.WrongState):
        again(story, draft)


def test_nothing_sent_waits_and_is_tried_again(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    story.remote.retractions = [NOT_SENT]
    send(story)
    assert stands(draft) == ("retracting", "waiting", "idle")
    story.clock.advance(hours=1)
    send(story)
    assert stands(draft) == ("retracting", "delivered", "idle")
    assert len(story.remote.retracted) == 2


@pytest.mark.parametrize("receipt", [ACCEPTED, UNKNOWN], ids=["accepted", "unknown"])
def test_what_cannot_be_read_back_waits_for_a_person(story: Story, receipt: Receipt) -> None:
    change_channel(story, "replies", config=WITHOUT_READ_BACK)
    draft = story.approved(resource=states.REVIEW)
    send(story)
    ask(story, draft)
    story.remote.retractions = [receipt]
    send(story)
    assert story.again(draft).state == "retraction_unknown"
    assert undoing_of(draft).next_check_at is None


def test_a_read_back_that_never_tells_ends_with_a_person(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    send(story)
    story.remote.verifications = [UNREADABLE] * 20
    for _ in range(20):
        story.clock.advance(hours=2)
        look(story)
    assert stands(draft) == ("retraction_unknown", "delivered", "idle")
    assert "Somebody has to look" in story.again(draft).reason


def test_only_one_version_is_counted_for_an_undoing(story: Story) -> None:
    draft = states.published(story)
    before = Target.objects.get(pk=draft.target_id).version
    ask(story, draft)
    send(story)
    story.remote.verifications = [GONE]
    states.rest(story)
    assert Target.objects.get(pk=draft.target_id).version == before + 1


def test_a_channel_that_cannot_retract_says_so(story: Story) -> None:
    draft = states.build(story, T.CONFIRMED)
    with pytest.raises(errors.Unsupported):
        ask(story, draft)


def test_an_object_without_an_id_cannot_be_named(story: Story) -> None:
    draft = story.approved(resource=states.REVIEW)
    story.remote.receipts = [Receipt(Outcome.DELIVERED, "Created.")]
    send(story)
    with pytest.raises(errors.Unsupported) as refused:
        ask(story, draft)
    assert "id" in str(refused.value)


def test_what_a_newer_write_replaced_cannot_be_undone(story: Story) -> None:
    first = states.published(story)
    story.clock.advance(seconds=1)
    story.approved(resource=states.REVIEW, payload={"comment": "Newer"})
    send(story)
    with pytest.raises(errors.TargetChanged):
        ask(story, first)


def test_a_write_that_comes_first_cancels_the_undoing(story: Story) -> None:
    first = states.published(story)
    story.clock.advance(seconds=1)
    second = story.approved(resource=states.REVIEW, payload={"comment": "Newer"})
    ask(story, first)
    Delivery.objects.filter(draft=first, kind="retract").update(next_attempt_at=story.clock.advance(seconds=1))
    send(story)
    assert story.again(second).state == "submitted"
    assert stands(first) == ("retraction_failed", "cancelled", "idle")
    assert story.remote.retracted == []


def test_a_paused_channel_makes_it_wait(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    pause_channel(actor=story.actor("max"), clock=story.clock, channel=draft.channel, reason="Audit.")
    send(story)
    assert (stands(draft), story.remote.retracted) == (("retracting", "waiting", "idle"), [])


@pytest.mark.parametrize("state", sorted(set(T) - {T.SUBMITTED, T.CONFIRMED, T.RETRACTING}))
def test_nothing_else_can_be_retracted(story: Story, state: T) -> None:
    draft = states.build(story, state)
    before = rows()
    with pytest.raises(errors.WrongState):
        ask(story, draft)
    assert rows() == before
    assert refusals()[-1] == ("retract.refused", "wrong_state")


def test_the_write_is_not_compared_any_more(story: Story) -> None:
    draft = story.approved(resource=states.REVIEW)
    send(story)
    ask(story, draft)
    assert Delivery.objects.get(draft=draft, kind="write").next_check_at is None
