"""Withdraw: an author takes a draft off the table, and its live approval with it."""

import pytest

from approvals.domain import errors
from approvals.domain.states import DRAFT, DraftState
from approvals.models import Draft
from approvals.services.revise import submit
from approvals.services.revoke import withdraw
from tests.cast import Story
from tests.services import states
from tests.services.record import actions, emitted, rows
from tests.services.test_revise import TWO, save


def pull(story: Story, draft: Draft, by: str = "ada", why: str = "Mended.") -> Draft:
    return withdraw(actor=story.actor(by), clock=story.clock, draft_id=draft.pk, reason=why)


@pytest.mark.parametrize("state", sorted(DRAFT.edge("withdraw").sources))
def test_a_live_approval_is_revoked_with_it_and_only_that_is_told(story: Story, state: DraftState) -> None:
    draft = states.build(story, state)
    told = emitted()
    live = draft.approval is not None and draft.approval.is_live
    pull(story, draft)
    assert story.again(draft).reason == "Mended."
    assert emitted() == told + ["revocation"] * live
    assert actions(draft)[-1] == "draft.withdrawn"


def test_the_person_acted_for_and_an_operator_may(story: Story) -> None:
    for name in ("ada", "max"):
        assert pull(story, story.propose("reply-bot"), by=name).state == "revoked"


def test_it_names_the_draft_only_and_is_never_stale(story: Story) -> None:
    draft = story.propose()
    save(story, draft, payload=TWO)
    assert pull(story, draft).version == 2


def test_it_takes_a_reason(story: Story) -> None:
    draft = story.propose()
    with pytest.raises(errors.InvalidPayload):
        pull(story, draft, why=" ")


def test_what_was_approved_and_then_withdrawn_is_not_sent(story: Story) -> None:
    draft = story.approved()
    pull(story, draft)
    assert states.send(story) == {}
    assert story.again(draft).state == "revoked"


def test_an_approval_after_the_withdrawal_is_refused(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    pull(story, draft)
    before = rows()
    with pytest.raises(errors.Revoked):
        story.decide(draft, "cleo")
    assert rows() == before


def test_a_withdrawn_draft_may_be_submitted_again(story: Story) -> None:
    draft = story.approved()
    pull(story, draft)
    submit(actor=story.actor("ada"), clock=story.clock, draft_id=draft.pk)
    after = story.again(draft)
    assert (after.state, after.reason) == ("in_review", "")
    assert story.approval(draft).decisions.count() == 0
