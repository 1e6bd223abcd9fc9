"""Corrections: a reviewed draft of its own replaces what an earlier one published."""

from typing import Any

import pytest

from approvals.domain import errors
from approvals.domain.binding import Corrects
from approvals.domain.states import DraftState as T
from approvals.models import Delivery, Draft
from approvals.services import rendering
from approvals.services.corrections import corrected_by
from approvals.services.retract import retract
from approvals.services.revise import Changes, revise, submit
from approvals.services.revoke import withdraw
from tests.cast import Story
from tests.services import states
from tests.services.record import rows
from tests.support.remote import ABSENT, NOT_SENT, UNKNOWN
from tests.workers.beats import change_channel, look, send

BETTER = {"comment": "Thank you, Mia"}


def correct(story: Story, original: Draft, **proposal: Any) -> Draft:
    wanted: dict[str, Any] = {"resource": states.REVIEW, "payload": BETTER, "corrects": original.pk}
    return story.propose(**(wanted | proposal))


def approve(story: Story, draft: Draft) -> Draft:
    story.decide(draft, "ben")
    story.decide(story.again(draft), "cleo")
    return story.again(draft)


def corrected(story: Story) -> tuple[Draft, Draft]:
    """A published reply and its delivered correction."""
    original = states.published(story)
    story.clock.advance(seconds=1)
    correction = approve(story, correct(story, original))
    send(story)
    return story.again(original), story.again(correction)


def take_back(story: Story, draft: Draft) -> Draft:
    return retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")


def test_the_object_is_in_the_binding(story: Story) -> None:
    original = states.published(story)
    correction = correct(story, original)
    bound = rendering.binding_of(correction.revisions.get(number=1))
    assert bound.corrects == Corrects(str(story.approval(original).write_id), "issue42")


def test_it_is_reviewed_like_any_other_and_names_what_it_corrects(story: Story) -> None:
    original = states.published(story)
    correction = correct(story, original)
    assert (correction.state, correction.corrects_id) == ("in_review", original.pk)


@pytest.mark.parametrize("name", [lambda draft: draft.pk, lambda draft: str(draft.pk), lambda draft: draft.reference])
def test_a_draft_is_named_by_number_or_reference(story: Story, name: Any) -> None:
    original = states.published(story)
    assert correct(story, original, corrects=name(original)).corrects_id == original.pk


@pytest.mark.parametrize("name", ["RR-999", 999, "RR-", "x", -1, 1.5, True, "9" * 40, ["RR-1"]])
def test_what_names_no_draft_of_the_room_is_refused(story: Story, name: Any) -> None:
    original = states.published(story)
    with pytest.raises(errors.InvalidPayload) as refused:
        correct(story, original, corrects=name)
    assert refused.value.pointer == "/corrects"


def test_when_it_is_delivered_the_original_says_who_corrected_it(story: Story) -> None:
    original, correction = corrected(story)
    assert (original.state, corrected_by(original)) == ("confirmed", correction)


def test_a_corrected_draft_is_not_read_back_any_more(story: Story) -> None:
    original = story.approved(resource=states.REVIEW)
    send(story)
    Delivery.objects.filter(draft=original).update(next_check_at=None)
    story.clock.advance(seconds=1)
    approve(story, correct(story, original))
    send(story)
    Delivery.objects.filter(draft=original).update(next_check_at=story.clock.now)
    assert look(story) == {"taken": 1, "confirmed": 1}
    assert Delivery.objects.get(draft=original).next_check_at is None


def test_a_corrected_draft_is_not_retracted(story: Story) -> None:
    original, correction = corrected(story)
    with pytest.raises(errors.WrongState) as refused:
        take_back(story, original)
    assert correction.reference in str(refused.value)


def test_the_correction_can_be_retracted(story: Story) -> None:
    _, correction = corrected(story)
    assert take_back(story, correction).state == "retracting"


def test_a_correction_can_be_corrected(story: Story) -> None:
    _, correction = corrected(story)
    assert correct(story, correction, payload={"comment": "Third"}).corrects_id == correction.pk


def test_a_corrected_draft_is_not_corrected_again(story: Story) -> None:
    original, correction = corrected(story)
    with pytest.raises(errors.WrongState) as refused:
        correct(story, original, payload={"comment": "Third"})
    assert correction.reference in str(refused.value)


def test_one_open_correction_at_a_time(story: Story) -> None:
    original = states.published(story)
    first = correct(story, original, submit=False)
    with pytest.raises(errors.OpenDraftExists) as refused:
        correct(story, original, payload={"comment": "Other"})
    assert refused.value.draft_id == first.pk


def test_a_withdrawn_correction_makes_way_for_another(story: Story) -> None:
    original = states.published(story)
    first = correct(story, original)
    withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=first.pk, reason="No.")
    assert correct(story, original, payload={"comment": "Other"}).corrects_id == original.pk


@pytest.mark.parametrize("state", sorted(set(T) - {T.SUBMITTED, T.CONFIRMED}))
def test_only_what_is_published_can_be_corrected(story: Story, state: T) -> None:
    original = states.build(story, state)
    change_channel(story, "tickets", config={"capabilities": ["correct"]})
    of_its_kind = {"payload": BETTER, "resource": states.REVIEW}
    proposal = of_its_kind if original.channel.slug == "replies" else {"payload": {"summary": "Both lifts"}}
    before = rows()
    with pytest.raises(errors.WrongState):
        story.propose(corrects=original.pk, **proposal)
    assert rows() == before


def test_the_correction_goes_to_the_target_of_the_original(story: Story) -> None:
    original = states.published(story)
    with pytest.raises(errors.InvalidPayload) as refused:
        correct(story, original, resource="locations/9/reviews/8")
    assert refused.value.pointer == "/corrects"


def test_a_revision_stays_a_correction(story: Story) -> None:
    original = states.published(story)
    draft = correct(story, original)
    changes = Changes(payload={"comment": "Best"})
    saved = revise(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, version=1, changes=changes).draft
    bound = rendering.binding_of(saved.revisions.get(number=2))
    assert bound.corrects is not None
    assert bound.corrects.remote_id == "issue42"


def test_a_correction_of_what_was_taken_back_meanwhile_is_not_sent(story: Story) -> None:
    original = states.published(story)
    correction = correct(story, original)
    take_back(story, original)
    approve(story, correction)
    Delivery.objects.filter(draft=original).update(next_attempt_at=None)
    sent = len(story.remote.sent)
    send(story)
    after = story.again(correction)
    assert (after.state, len(story.remote.sent)) == ("revoked", sent)
    assert original.reference in after.reason


def test_a_correction_that_waits_is_cancelled_when_the_original_is_gone(story: Story) -> None:
    original = states.published(story)
    correction = approve(story, correct(story, original))
    story.remote.receipts = [NOT_SENT]
    send(story)
    take_back_anyway(story, original)
    story.clock.advance(hours=1)
    send(story)
    assert story.again(correction).state == "failed"


def take_back_anyway(story: Story, original: Draft) -> None:
    """As if the retraction had been asked for before the correction was begun."""
    draft = story.again(original)
    draft.retract()
    draft.save_move(*draft.touch(story.clock.now))
    Delivery.objects.create(
        id=story.approval(original).pk,
        state="waiting",
        kind="retract",
        approval=story.approval(original),
        draft=draft,
        target=draft.target,
        config=draft.channel.config,
        created_at=story.clock.now,
    )


def test_the_original_is_not_retracted_under_a_correction_that_may_have_arrived(story: Story) -> None:
    original = states.published(story)
    approve(story, correct(story, original))
    story.remote.receipts = [UNKNOWN]
    send(story)
    with pytest.raises(errors.WrongState):
        take_back(story, original)


def test_a_correction_submitted_late_is_checked_again(story: Story) -> None:
    original = states.published(story)
    draft = correct(story, original, submit=False)
    take_back(story, original)
    with pytest.raises(errors.WrongState):
        submit(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk)


def test_an_unknown_correction_is_looked_up_as_its_own(story: Story) -> None:
    original = states.published(story)
    correction = approve(story, correct(story, original))
    story.remote.receipts = [UNKNOWN]
    send(story)
    story.remote.lookups = [ABSENT]
    look(story)
    assert story.remote.looked_up[-1].delivery_id == story.approval(correction).write_id
