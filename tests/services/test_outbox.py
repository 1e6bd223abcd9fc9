"""Outbox: what the audit sink is told, key by key, in the order in which it became true for each approval."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import rfc8785
from django.db import IntegrityError, transaction

from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import Approval, Draft, OutboxEvent
from approvals.services.decide import take_back
from approvals.services.expire import expire
from approvals.services.revoke import revoke, withdraw
from tests.cast import Story
from tests.services import states, variations
from tests.services.record import emitted
from tests.services.test_decide import edit


def told(approval: Approval, event_class: str) -> dict[str, Any]:
    return json.loads(OutboxEvent.objects.get(approval=approval, event_class=event_class).payload)


def test_the_payload_is_the_sinks_event_key_by_key(story: Story, settings: Any) -> None:
    settings.REVIEWROOM_TENANT, settings.REVIEWROOM_SCOPE = "acme", "shops"
    draft = story.approved()
    approval, event = story.approval(draft), OutboxEvent.objects.get()
    assert json.loads(event.payload) == {
        "schema_version": "audit-core.event.v1alpha1",
        "event_id": str(event.event_id),
        "observed_at": "2026-11-30T12:00:00.000000Z",
        "tenant": "acme",
        "scope": "shops",
        "source": "approval-engine",
        "actor": "person:cleo",
        "action": "approval.issuance",
        "resource": f"approval:{approval.pk}",
        "outcome": "success",
        "reason": None,
        "details": {
            "class": "issuance",
            "approval_id": str(approval.pk),
            "binding_digest": approval.digest,
            "superseded_by": None,
            "draft_id": draft.pk,
            "revision": 1,
            "target_id": draft.target_id,
            "target_version": 1,
        },
    }


def test_the_row_agrees_with_its_payload(story: Story) -> None:
    approval = story.approval(story.approved())
    event = OutboxEvent.objects.get()
    assert (event.approval, event.event_class, event.created_at) == (approval, "issuance", story.clock.now)
    assert (event.drained_at, event.attempts, event.next_attempt_at) == (None, 0, story.clock.now)
    assert rfc8785.dumps(json.loads(event.payload)).decode() == event.payload


def test_using_it_is_told_as_the_dispatchers(story: Story) -> None:
    draft = states.build(story, DraftState.SUBMITTED)
    use = told(story.approval(draft), "use")
    assert (use["actor"], use["action"], use["reason"]) == ("system:dispatch_approved", "approval.use", None)


def test_use_says_that_authority_is_spent_not_that_it_arrived(story: Story) -> None:
    draft = states.build(story, DraftState.FAILED)
    assert emitted(story.approval(draft)) == ["issuance", "use"]


def test_a_supersession_names_the_successor_and_why(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    edit(story, draft, "Both lifts are stuck")
    event = told(old, "supersession")
    assert UUID(event["details"]["superseded_by"]) == story.approval(draft).pk
    assert (event["actor"], event["reason"]) == ("person:ada", "Replaced by revision 2.")


def test_a_revocation_says_why_and_names_no_successor(story: Story) -> None:
    draft = story.approved()
    approval_id = story.approval(draft).pk
    revoke(actor=story.actor("max"), clock=story.clock, approval_id=approval_id, reason="Wrong lift.")
    event = told(story.approval(draft), "revocation")
    assert (event["actor"], event["reason"]) == ("person:max", "Wrong lift.")
    assert event["details"]["superseded_by"] is None


def test_an_agents_doing_is_told_as_the_agents(story: Story) -> None:
    draft = story.propose("reply-bot")
    old = story.approval(draft)
    edit(story, draft, "Both lifts are stuck", by="reply-bot")
    assert told(old, "supersession")["actor"] == "agent:reply-bot"


def _edit(story: Story, draft: Draft) -> None:
    edit(story, draft, "Both lifts are stuck")


def _reconfigure(story: Story, draft: Draft) -> None:
    story.configure(variations.channel("tickets", config={"tone": "kind"}))


def _retire(story: Story, draft: Draft) -> None:
    story.configure(variations.without_channel("tickets"))


def _withdraw(story: Story, draft: Draft) -> None:
    withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk, reason="Mended.")


def _revoke(story: Story, draft: Draft) -> None:
    revoke(actor=story.actor("ben"), clock=story.clock, approval_id=story.approval(draft).pk, reason="No.")


@pytest.mark.parametrize("state", [DraftState.IN_REVIEW, DraftState.APPROVED])
@pytest.mark.parametrize(
    ("end", "event"),
    [
        (_edit, "supersession"),
        (_reconfigure, "supersession"),
        (_retire, "revocation"),
        (_withdraw, "revocation"),
        (_revoke, "revocation"),
    ],
)
def test_an_end_is_told_also_of_what_was_still_pending(
    story: Story, state: DraftState, end: Callable[[Story, Draft], None], event: str
) -> None:
    draft = states.build(story, state)
    approval = story.approval(draft)
    end(story, draft)
    assert emitted(approval) == ["issuance"] * (state == DraftState.APPROVED) + [event]


def test_expiry_and_rejection_are_not_told(story: Story) -> None:
    for verdict in (Verdict.REJECT, Verdict.REQUEST_CHANGES):
        story.decide(story.propose(), "ben", verdict)
    late = story.propose()
    story.clock.now = story.approval(late).expires_at
    assert expire(approval_id=story.approval(late).pk, clock=story.clock)
    assert emitted() == []


@pytest.mark.parametrize("state", [DraftState.DRAFT, DraftState.IN_REVIEW])
def test_opening_and_deciding_below_the_threshold_are_not_told(story: Story, state: DraftState) -> None:
    states.build(story, state)
    assert emitted() == []


def test_each_approval_has_a_history_of_its_own_in_order(story: Story) -> None:
    draft = story.approved()
    first = story.approval(draft)
    take_back(actor=story.actor("ben"), clock=story.clock, approval_id=first.pk)
    for name in ("ben", "cleo"):
        story.decide(draft, name)
    states.send(story)
    assert emitted(first) == ["issuance", "revocation"]
    assert emitted(story.approval(draft)) == ["issuance", "use"]


def test_no_verdict_no_comment_and_no_content_is_told(story: Story) -> None:
    draft = story.propose(payload={"summary": "the-content"}, title="the-title", note="the-note")
    for name in ("ben", "cleo"):
        story.decide(draft, name, comment="the-comment")
    payload = OutboxEvent.objects.get().payload
    assert not [word for word in ("the-", "verdict", "comment", '"approve"') if word in payload]


def test_event_ids_are_never_the_same(story: Story) -> None:
    states.build(story, DraftState.SUBMITTED)
    states.build(story, DraftState.SUBMITTED)
    ids = list(OutboxEvent.objects.values_list("event_id", flat=True))
    assert len(ids) == len(set(ids)) == 4


def test_what_will_be_told_does_not_change(story: Story) -> None:
    story.approved()
    events = OutboxEvent.objects.all()
    for change in ({"payload": "{}"}, {"event_class": "use"}, {"created_at": story.clock.advance(days=1)}):
        with pytest.raises(IntegrityError), transaction.atomic():
            events.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        events.delete()
