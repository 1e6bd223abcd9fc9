"""The ETag grows with everything about a draft that its document shows, whoever or whatever changed it."""

import pytest

from approvals.connectors.base import Match, Verification
from approvals.domain.states import DraftState as T
from approvals.services import cancel, holding, outcomes, record, resolve, retract, retry
from approvals.services.begin import begin
from approvals.services.resolve import Finding
from approvals.workers import sweep
from tests.services import states
from tests.support.remote import ABSENT, DELIVERED, DIFFERS, EQUAL, FOUND, GONE, NOT_SENT, REFUSED, UNKNOWN, UNREADABLE

pytestmark = pytest.mark.django_db


@pytest.fixture
def watch(api):
    """Gives a function that fails if the document changed since the last call and its ETag did not."""
    seen = {}

    def look(draft):
        answer = api.get(f"/v1/drafts/{draft.pk}")
        document, etag = answer.json(), answer["ETag"]
        if draft.pk in seen and document != seen[draft.pk][0]:
            assert etag != seen[draft.pk][1], document["state"]
        seen[draft.pk] = document, etag
        return document

    return look


def test_every_receipt_is_news(story, watch):
    draft = story.approved()
    watch(draft)
    for receipt, state in ((NOT_SENT, "submitting"), (UNKNOWN, "delivery_unknown")):
        story.remote.receipts = [receipt]
        story.clock.advance(hours=1)
        states.send(story)
        assert watch(draft)["state"] == state


@pytest.mark.parametrize(
    ("seen", "verification"),
    [(DIFFERS, "differs"), (GONE, "gone"), (Verification(Match.IMPOSSIBLE, "No way."), "impossible"), (EQUAL, "equal")],
)
def test_what_a_read_back_saw_is_news(story, watch, seen, verification):
    draft = states.build(story, T.SUBMITTED)
    watch(draft)
    story.remote.verifications = [seen]
    states.read_back(story)
    assert watch(draft)["delivery"]["verification"] == verification


def test_what_a_look_up_saw_is_news(story, watch):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    watch(draft)
    story.remote.lookups = [ABSENT, ABSENT]
    for _ in range(2):
        states.rest(story)
        watch(draft)
    assert "retry" in watch(draft)["links"]


def test_a_send_found_by_a_look_up_is_news(story, watch):
    draft = states.build(story, T.DELIVERY_UNKNOWN)
    watch(draft)
    story.remote.lookups = [FOUND]
    states.read_back(story)
    assert watch(draft)["delivery"]["state"] == "delivered"


def test_late_evidence_is_news(story, watch):
    draft = story.approved()
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="host:1")
    started = begin(actor=story.worker, clock=story.clock, hold=hold)
    watch(draft)
    story.clock.advance(hours=1)
    sweep.run(clock=story.clock)
    assert watch(draft)["state"] == "delivery_unknown"
    settle(story, draft, "not_delivered")
    assert watch(draft)["state"] == "failed"
    record.record(
        actor=story.worker, clock=story.clock, attempt_id=started.attempt_id, token=hold.token, receipt=DELIVERED
    )
    assert watch(draft)["delivery"]["held_at"] is not None
    settle(story, draft, "not_delivered")
    assert watch(draft)["delivery"]["held_at"] is None


def test_every_step_of_a_retraction_is_news(story, watch):
    draft = states.published(story)
    watch(draft)
    retract.retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    assert watch(draft)["retraction"]["state"] == "waiting"
    for receipt, seen, state in ((REFUSED, None, "retraction_failed"), (UNKNOWN, UNREADABLE, "retraction_unknown")):
        story.remote.retractions, story.remote.verifications = [receipt], [seen] if seen else []
        states.send(story)
        assert watch(draft)["state"] == state
        states.rest(story)
        watch(draft)
        if state == "retraction_failed":
            retry.retry(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)
            watch(draft)
    story.remote.verifications = [GONE]
    story.clock.advance(hours=6)
    states.read_back(story)
    assert watch(draft)["retraction"]["verification"] == "gone"


def test_a_next_retraction_is_news(story, watch):
    draft = states.build(story, T.RETRACTING)
    states.send(story)
    story.remote.verifications = [EQUAL]
    first = watch(draft)["retraction"]["id"]
    states.rest(story)
    watch(draft)
    retry.retry(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk)
    assert watch(draft)["retraction"]["id"] != first


def test_cancelling_is_news(story, watch):
    draft = states.build(story, T.SUBMITTING)
    watch(draft)
    cancel.cancel(actor=story.actor("max"), clock=story.clock, draft_id=draft.pk, reason="No longer.")
    assert watch(draft)["delivery"]["state"] == "cancelled"


def settle(story, draft, outcome):
    """Has an operator say what is at the remote, once the horizon has passed."""
    delivery = draft.deliveries.get()
    story.clock.now = max(story.clock.now, outcomes.horizon(delivery))
    finding = Finding(outcome, "Looked there.")
    resolve.resolve(actor=story.actor("max"), clock=story.clock, delivery_id=delivery.pk, finding=finding)
