"""Audit: one chain per draft, per room and for the system; every link hashes the one before; refusals are kept."""

import json
from dataclasses import replace
from hashlib import sha256

import pytest
import rfc8785
from django.db import IntegrityError, transaction

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import AuditChain, AuditEvent, Room
from approvals.services import audit
from approvals.services.decide import decide
from approvals.services.expire import expire
from approvals.services.revise import submit
from approvals.workers import sweep
from tests.cast import Story
from tests.services import states
from tests.services.record import actions, last_event, refusals, rows
from tests.services.test_decide import edit, shown
from tests.services.test_pause import stop_channel


def links(chain: AuditChain) -> list[AuditEvent]:
    return list(chain.events.order_by("seq"))


@pytest.fixture
def told(story: Story) -> Story:
    """A room where a few things happened, some of them refused."""
    draft = states.build(story, DraftState.CONFIRMED)
    with pytest.raises(errors.Consumed):
        submit(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk)
    with pytest.raises(errors.NotFound):
        submit(actor=story.actor("dee"), clock=story.clock, draft_id=draft.pk)
    stop_channel(story)
    return story


def test_every_link_names_the_hash_of_the_one_before(told: Story) -> None:
    for chain in AuditChain.objects.all():
        before = "0" * 64
        for number, event in enumerate(links(chain), start=1):
            assert (event.seq, event.prev_hash) == (number, before)
            before = event.hash
        assert (chain.seq, chain.head) == (len(links(chain)), before)


def test_every_hash_is_that_of_the_canonical_body(told: Story) -> None:
    for event in AuditEvent.objects.all():
        assert sha256(event.body.encode()).hexdigest() == event.hash
        assert rfc8785.dumps(json.loads(event.body)).decode() == event.body


def test_the_columns_repeat_the_body(told: Story) -> None:
    for event in AuditEvent.objects.select_related("chain"):
        body = json.loads(event.body)
        assert (body["chain"], body["seq"], body["prev_hash"]) == (event.chain.key, event.seq, event.prev_hash)
        assert (body["action"], body["outcome"], body["draft_id"]) == (event.action, event.outcome, event.draft_id)
        assert (body["actor"]["label"], body["at"]) == (event.actor, audit.stamp(event.at))


def test_there_is_a_chain_for_each_draft_each_room_and_the_system(told: Story) -> None:
    story, draft = told, told.propose()
    wanted = {f"draft:{draft.pk}", f"draft:{draft.pk - 1}", f"room:{Room.objects.get().pk}", "system"}
    assert set(AuditChain.objects.values_list("key", flat=True)) == wanted
    assert story.again(draft).audit_events.values("chain").distinct().count() == 1


def test_a_link_names_who_by_which_door_from_where_and_in_which_request(story: Story) -> None:
    draft = story.propose()
    ben = replace(story.actor("ben", "web"), address="192.0.2.9", correlation_id="one-request")
    decide(actor=ben, clock=story.clock, shown=shown(story, draft), verdict=Verdict.APPROVE)
    link = last_event(action="decision.recorded")
    assert link["actor"] == {"label": "person:ben", "user_id": ben.user_id, "via": "web", "address": "192.0.2.9"}
    assert (link["correlation_id"], link["at"]) == ("one-request", "2026-11-30T12:00:00.000000Z")
    assert link["details"]["verdict"] == "approve"


def test_every_actor_is_the_one_who_acted_and_workers_are_the_system(story: Story) -> None:
    draft = states.build(story, DraftState.CONFIRMED)
    told = AuditEvent.objects.filter(draft=draft).order_by("id").values_list("action", "actor")
    who: dict[str, set[str]] = {}
    for action, actor in told:
        who.setdefault(actor, set()).add(action)
    assert who["person:ada"] == {"draft.proposed", "approval.opened", "draft.submitted"}
    assert who["person:ben"] == {"decision.recorded"}
    assert who["person:cleo"] == {"decision.recorded", "approval.approved"}
    assert who["system:dispatch_approved"] >= {"dispatch.reserved", "dispatch.began", "delivery.delivered"}
    assert who["system:reconcile_deliveries"] == {"draft.confirmed"}


def test_an_expiry_seen_by_a_person_is_still_the_systems(story: Story) -> None:
    draft = states.build(story, DraftState.IN_REVIEW)
    story.clock.now = story.approval(draft).expires_at
    with pytest.raises(errors.Expired):
        story.decide(draft, "cleo")
    assert last_event(action="draft.expired")["actor"]["label"] == "system:sweep_expired"
    assert last_event()["actor"]["label"] == "person:cleo"


# Refusals


def test_a_refusal_stays_although_what_was_asked_for_is_rolled_back(lasting_story: Story) -> None:
    story = lasting_story
    story.user["ben"].memberships.update(is_proposer=True)
    mine, other = story.propose("ben"), story.propose()
    old = shown(story, other)
    edit(story, other, "Both lifts")
    before = rows()
    for draft, what, by in (
        (mine, shown(story, mine), "ben"),
        (other, old, "cleo"),
        (other, shown(story, other), "max"),
    ):
        with pytest.raises(errors.Refusal):
            decide(actor=story.actor(by), clock=story.clock, shown=what, verdict=Verdict.APPROVE)
        assert AuditEvent.objects.order_by("id").last().draft == draft
    assert [code for _, code in refusals()] == ["not_eligible", "superseded", "not_eligible"]
    assert rows() == before


def test_a_strangers_attempt_is_kept_where_the_rooms_people_do_not_look(story: Story) -> None:
    draft = story.propose()
    heard = actions(draft)
    with pytest.raises(errors.NotFound):
        submit(actor=story.actor("dee"), clock=story.clock, draft_id=draft.pk)
    assert actions(draft) == heard
    link = last_event(action="submit.refused")
    assert (link["chain"], link["draft_id"], link["details"]["asked_for_draft"]) == ("system", None, draft.pk)


def test_a_refusal_says_what_the_person_was_told(story: Story) -> None:
    draft = story.approved()
    with pytest.raises(errors.NotEligible) as refused:
        submit(actor=story.actor("vic"), clock=story.clock, draft_id=draft.pk)
    link = last_event(action="submit.refused")
    assert (link["outcome"], link["reason"]) == ("refused", str(refused.value))
    assert link["details"]["code"] == "not_eligible"


def _bother(story: Story, times: int, by: str = "vic") -> None:
    draft_id = story.propose().pk
    for _ in range(times):
        with pytest.raises(errors.NotEligible):
            submit(actor=story.actor(by), clock=story.clock, draft_id=draft_id)


def test_nobody_floods_the_history_with_refusals(story: Story) -> None:
    _bother(story, 63)
    assert len(refusals()) == 60
    _bother(story, 1, by="max")
    assert len(refusals()) == 61


def test_a_minute_later_refusals_are_kept_again(story: Story) -> None:
    _bother(story, 61)
    story.clock.advance(seconds=59)
    _bother(story, 1)
    assert len(refusals()) == 60
    story.clock.advance(seconds=1)
    _bother(story, 1)
    assert len(refusals()) == 61


def test_what_a_flooder_does_lawfully_is_still_kept(story: Story) -> None:
    _bother(story, 61, by="max")
    stop_channel(story)
    assert last_event()["action"] == "channel.paused"


# Append only


def test_history_cannot_be_changed_or_deleted(told: Story) -> None:
    events = AuditEvent.objects.all()
    for change in (lambda: events.update(actor="person:nobody"), events.delete, AuditChain.objects.all().delete):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_sweeping_adds_one_link_and_sweeping_again_none(story: Story) -> None:
    draft = states.build(story, DraftState.APPROVED)
    story.clock.now = story.approval(draft).expires_at
    sweep.run(clock=story.clock)
    heard = actions(draft)
    sweep.run(clock=story.clock)
    expire(approval_id=story.approval(draft).pk, clock=story.clock)
    assert actions(draft) == heard
