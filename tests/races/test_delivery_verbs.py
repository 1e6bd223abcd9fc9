"""An operator, a worker and a late answer at the same instant: one wins, lawfully, and nothing is undone twice."""

from functools import partial

import pytest

from approvals.connectors.base import Receipt
from approvals.domain.errors import Conflict, WrongState
from approvals.models import Attempt, AuditEvent, Delivery, Draft, Target
from approvals.services import record, resolve
from approvals.services.cancel import cancel
from approvals.services.resolve import Finding
from approvals.services.retract import retract
from approvals.services.retry import retry
from approvals.workers import dispatch, reconcile
from tests.cast import Story
from tests.races.threads import together
from tests.support.remote import DELIVERED, FOUND, NOT_SENT, REFUSED, UNKNOWN
from tests.workers.beats import begun, tidy

ROUNDS = 5


def count(draft: Draft, action: str) -> int:
    return AuditEvent.objects.filter(draft=draft, action=action, outcome="success").count()


def write_of(draft: Draft) -> Delivery:
    return Delivery.objects.get(draft_id=draft.pk, kind="write")


def reply(story: Story, number: int, receipt: Receipt) -> Draft:
    draft = story.approved(resource=f"locations/9/reviews/{number}", payload={"comment": f"Reply {number}"})
    story.remote.receipts = [receipt]
    dispatch.run(concurrency=1, clock=story.clock)
    return story.again(draft)


def say(story: Story, draft: Draft, outcome: str) -> Draft:
    finding = Finding(outcome, "I looked.", "issue42")
    delivery_id = write_of(draft).pk
    return resolve.resolve(actor=story.actor("max"), clock=story.clock, delivery_id=delivery_id, finding=finding)


@pytest.mark.slow
def test_two_people_retract_at_once(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS):
        draft = reply(story, number, DELIVERED)
        found = together(
            *(
                lambda d=draft, name=name: retract(
                    actor=story.actor(name), clock=story.clock, draft_id=d.pk, reason="Wrong shop."
                )
                for name in ("ben", "cleo", "ben", "max")
            )
        )
        assert [done.state for done in found] == ["retracting"] * 4
        assert Delivery.objects.filter(draft=draft, kind="retract").count() == 1


@pytest.mark.slow
def test_a_person_and_a_late_answer_settle_it_once(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS):
        draft = story.approved(resource=f"locations/9/reviews/{number}", payload={"comment": f"Reply {number}"})
        attempt = _lost(story, draft)
        before = Target.objects.get(pk=draft.target_id).version
        together(
            lambda d=draft: say(story, d, "delivered"),
            lambda a=attempt: record.record(
                actor=story.worker, clock=story.clock, attempt_id=a.pk, token=a.token, receipt=DELIVERED
            ),
        )
        assert story.again(draft).state == "submitted"
        assert count(draft, "delivery.delivered") == 1
        assert Target.objects.get(pk=draft.target_id).version == before + 1


def _lost(story: Story, draft: Draft) -> Attempt:
    """An attempt whose worker was stopped in the middle of its send, past its lease."""
    begun(story, draft)
    story.clock.advance(seconds=61)
    tidy(story)
    return Attempt.objects.get(delivery__draft=draft)


@pytest.mark.slow
def test_a_look_up_and_a_person_settle_it_once(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS):
        draft = reply(story, number, UNKNOWN)
        story.remote.lookups = [FOUND]
        story.clock.advance(seconds=1)
        said, _ = together(
            lambda d=draft: say(story, d, "delivered"), lambda: reconcile.run(concurrency=1, clock=story.clock)
        )
        assert isinstance(said, Draft | WrongState)
        assert count(draft, "delivery.delivered") == 1


@pytest.mark.slow
def test_a_cancel_and_the_dispatcher(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS):
        draft = _waiting(story, number)
        story.clock.advance(hours=1)
        sent = len(story.remote.sent)
        ended, _ = together(
            lambda d=draft: cancel(actor=story.actor("max"), clock=story.clock, draft_id=d.pk, reason="No."),
            lambda: dispatch.run(concurrency=1, clock=story.clock),
        )
        went = len(story.remote.sent) - sent
        assert isinstance(ended, Conflict if went else Draft)
        assert story.again(draft).state == ("submitted" if went else "failed")


def _waiting(story: Story, number: int) -> Draft:
    draft = story.approved(payload={"summary": f"Ticket {number}"})
    story.remote.receipts = [NOT_SENT]
    dispatch.run(concurrency=1, clock=story.clock)
    return draft


@pytest.mark.slow
def test_retry_pressed_by_two_sends_once(lasting_story: Story) -> None:
    story = lasting_story
    for number in range(ROUNDS):
        draft = reply(story, number, REFUSED)
        sent = len(story.remote.sent)
        press = partial(retry, actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)
        found = together(press, press, lambda: dispatch.run(concurrency=1, clock=story.clock))
        assert not [one for one in found if isinstance(one, Exception) and not isinstance(one, Conflict)]
        dispatch.run(concurrency=1, clock=story.clock)
        assert len(story.remote.sent) == sent + 1
        assert story.again(draft).state == "submitted"
