"""Take back: a decision is undone by a further row, and what it made possible goes with it."""

from uuid import UUID

import pytest

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import Approval, Decision, Draft
from approvals.services.decide import take_back
from tests.cast import Story
from tests.services import states
from tests.services.record import emitted, last_event, outcome, rows
from tests.services.test_revise import TWO, save


def undo(story: Story, draft: Draft, by: str = "ben", approval_id: UUID | None = None) -> Draft:
    approval_id = approval_id or story.approval(draft).pk
    return take_back(actor=story.actor(by), clock=story.clock, approval_id=approval_id)


def test_it_is_one_more_row_and_the_old_one_stays(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben", comment="Fine.")
    undo(story, draft)
    assert list(Decision.objects.order_by("seq").values_list("verdict", "seq")) == [("approve", 1), ("taken_back", 2)]
    assert story.again(draft).state == "in_review"


def test_it_no_longer_counts(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    undo(story, draft)
    story.decide(draft, "cleo")
    assert story.again(draft).state == "in_review"


def test_afterwards_one_decides_anew(story: Story) -> None:
    draft = story.propose()
    for verdict in (Verdict.APPROVE, Verdict.REJECT):
        if Decision.objects.exists():
            undo(story, draft)
        assert story.decide(draft, "ben", verdict).recorded
    assert story.again(draft).state == "rejected"


def test_the_same_verdict_after_a_taken_back_is_a_new_decision(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    undo(story, draft)
    assert story.decide(draft, "ben").recorded
    assert story.decide(draft, "cleo").recorded
    assert story.again(draft).state == "approved"


def test_an_approved_draft_returns_to_review_with_nothing_carried_over(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    undo(story, draft, "cleo")
    fresh = story.approval(draft)
    assert (story.again(draft).state, outcome(old)) == ("in_review", "revoked")
    assert (fresh.state, fresh.version, fresh.decisions.count()) == ("pending", 1, 0)
    assert Approval.objects.get(pk=old.pk).superseded_by is None
    assert emitted(old) == ["issuance", "revocation"]
    assert states.send(story) == {}


def test_the_reason_names_who_took_it_back(story: Story) -> None:
    draft = story.approved()
    undo(story, draft, "cleo")
    assert story.again(draft).reason == "cleo took their decision back."
    assert last_event(action="approval.revoked")["actor"]["label"] == "person:cleo"


def test_there_must_be_a_decision_of_ones_own(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    before = rows()
    with pytest.raises(errors.WrongState, match="No decision of yours"):
        undo(story, draft, "cleo")
    assert rows() == before


def test_taking_back_twice_is_refused(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    undo(story, draft)
    with pytest.raises(errors.WrongState):
        undo(story, draft)
    assert Decision.objects.count() == 2


def test_it_is_never_refused_as_stale(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    save(story, draft, title="Other", payload=TWO)
    story.decide(draft, "ben")
    assert undo(story, draft).version == 2


def test_of_an_ended_approval_it_leads_to_the_live_one(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    old = story.approval(draft)
    save(story, draft, payload=TWO)
    with pytest.raises(errors.Superseded) as refused:
        undo(story, draft, approval_id=old.pk)
    assert refused.value.successor_id == story.approval(draft).pk


@pytest.mark.parametrize("state", [DraftState.IN_REVIEW, DraftState.APPROVED])
def test_what_expired_gets_no_new_review_by_it(story: Story, state: DraftState) -> None:
    draft = states.build(story, state)
    story.clock.now = story.approval(draft).expires_at
    with pytest.raises(errors.Expired):
        undo(story, draft)
    assert story.again(draft).state == "expired"
    assert Approval.objects.count() == 1


def test_once_sending_has_begun_it_is_too_late(story: Story) -> None:
    draft = states.build(story, DraftState.SUBMITTING)
    with pytest.raises(errors.Consumed):
        undo(story, draft)
    assert outcome(story.approval(draft)) == "consumed"


def test_a_former_reviewer_takes_nothing_back(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    story.user["ben"].memberships.update(is_reviewer=False, is_viewer=True)
    with pytest.raises(errors.NotEligible):
        undo(story, draft)
