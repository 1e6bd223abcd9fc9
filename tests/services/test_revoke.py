"""Revoke: authority is taken away by its approval's name alone, until sending has begun."""

from uuid import UUID

import pytest

from approvals.domain import errors
from approvals.domain.actor import system
from approvals.domain.states import DraftState
from approvals.models import Draft
from approvals.services import begin, give_up, holding, opening
from approvals.services.revoke import revoke
from tests.cast import Story
from tests.services import states
from tests.services.record import actions, emitted, last_event, outcome, rows
from tests.services.test_revise import TWO, save


def take_away(
    story: Story, draft: Draft, by: str = "ben", why: str = "Not now.", approval_id: UUID | None = None
) -> Draft:
    approval_id = approval_id or story.approval(draft).pk
    return revoke(actor=story.actor(by), clock=story.clock, approval_id=approval_id, reason=why)


@pytest.mark.parametrize(
    ("state", "events"),
    [(DraftState.IN_REVIEW, ["revocation"]), (DraftState.APPROVED, ["issuance", "revocation"])],
)
def test_a_live_approval_ends_and_the_sink_is_told(story: Story, state: DraftState, events: list[str]) -> None:
    draft = states.build(story, state)
    take_away(story, draft)
    after = story.again(draft)
    assert (after.state, after.reason) == ("revoked", "Not now.")
    assert outcome(story.approval(draft)) == "revoked"
    assert emitted() == events


def test_what_was_revoked_is_never_sent(story: Story) -> None:
    draft = story.approved()
    take_away(story, draft, "max")
    assert states.send(story) == {}
    assert story.remote.sent == []


def test_a_worker_that_had_reserved_it_finds_the_gate_closed(story: Story) -> None:
    draft = story.approved()
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="w1")
    assert hold is not None
    take_away(story, draft)
    answer = begin.begin(actor=story.worker, clock=story.clock, hold=hold)
    give_up.give_up(actor=story.worker, clock=story.clock, hold=hold, answer=answer)
    assert "not in a state that covers a send" in answer.sentence
    assert story.again(draft).state == "revoked"
    assert actions(draft)[-2:] == ["dispatch.released", "begin.refused"]


def test_what_a_worker_has_begun_is_consumed(story: Story) -> None:
    draft = story.approved()
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="w1")
    assert isinstance(begin.begin(actor=story.worker, clock=story.clock, hold=hold), opening.Begun)
    before = rows()
    with pytest.raises(errors.Consumed):
        take_away(story, draft)
    assert rows() == before


@pytest.mark.parametrize("why", ["", "  \n", "x" * 1001, "\x00"])
def test_it_takes_a_reason(story: Story, why: str) -> None:
    draft = story.approved()
    with pytest.raises(errors.InvalidPayload) as refused:
        take_away(story, draft, why=why)
    assert refused.value.pointer == "/reason"
    assert story.again(draft).state == "approved"


def test_it_is_never_refused_as_stale_but_leads_to_the_live_approval(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    save(story, draft, payload=TWO)
    with pytest.raises(errors.Superseded) as refused:
        take_away(story, draft, approval_id=old.pk)
    assert refused.value.successor_id == story.approval(draft).pk
    assert story.again(draft).state == "in_review"


def test_revoking_twice_tells_the_sink_once(story: Story) -> None:
    draft = story.approved()
    take_away(story, draft)
    with pytest.raises(errors.Revoked):
        take_away(story, draft)
    assert emitted() == ["issuance", "revocation"]


def test_the_system_may_revoke_and_is_named(story: Story) -> None:
    draft = story.approved()
    robot = system("apply_config", via="command")
    revoke(actor=robot, clock=story.clock, approval_id=story.approval(draft).pk, reason="Retired.")
    assert last_event(action="draft.revoked")["actor"] == {
        "label": "system:apply_config",
        "user_id": None,
        "via": "command",
        "address": "",
    }
