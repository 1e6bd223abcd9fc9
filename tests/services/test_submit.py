"""Submit: the newest revision comes (again) before the room, on the ground of now."""

import pytest

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.models import Draft
from approvals.services.revise import Changes, revise, submit
from approvals.services.revoke import withdraw
from tests.cast import Story
from tests.services import variations
from tests.services.record import actions, emitted, rows


def bring(story: Story, draft: Draft, by: str = "ada", version: int | None = None) -> Draft:
    return submit(actor=story.actor(by), clock=story.clock, draft_id=draft.pk, version=version)


def test_it_opens_a_pending_approval_with_the_policys_time(story: Story) -> None:
    draft = story.propose(submit=False)
    bring(story, draft)
    approval = story.approval(draft)
    assert (approval.state, approval.version, approval.required_approvals) == ("pending", 1, 2)
    assert approval.expires_at == story.clock.advance(days=7)
    assert actions(draft)[-2:] == ["approval.opened", "draft.submitted"]
    assert emitted() == []


def test_the_channels_policy_overrides_the_rooms_key_by_key(story: Story) -> None:
    story.configure(variations.channel("tickets", policy={"required_approvals": 1, "review_ttl": "1h"}))
    rules = story.approval(story.propose()).rules
    assert (rules.required_approvals, rules.review_ttl.total_seconds()) == (1, 3600)
    assert rules.dispatch_delay.total_seconds() == 0


def test_the_approval_covers_bytes_target_configuration_and_rendering(story: Story) -> None:
    draft = story.propose()
    approval = story.approval(draft)
    revision = draft.revisions.get()
    assert (approval.digest, approval.revision) == (revision.digest, revision)
    assert (approval.target, approval.target_version) == (draft.target, 1)
    assert approval.config == draft.channel.config
    assert approval.rendering_digest.startswith("sha256:")


def test_submitting_what_is_in_review_changes_nothing(story: Story) -> None:
    draft = story.propose()
    before = rows()
    assert bring(story, draft).approval_id == story.approval(draft).pk
    assert rows() == before


def test_somebody_who_saw_another_version_submits_nothing(story: Story) -> None:
    draft = story.propose(submit=False)
    with pytest.raises(errors.StaleRevision):
        bring(story, draft, version=2)
    assert story.again(draft).state == "draft"


def test_a_rejected_draft_comes_back_without_the_old_decisions(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "cleo")
    story.decide(draft, "ben", Verdict.REJECT, "No.")
    bring(story, draft)
    after = story.again(draft)
    assert (after.state, after.reason) == ("in_review", "")
    assert story.approval(draft).decisions.count() == 0


def test_a_reviewer_may_submit_and_still_decide(story: Story) -> None:
    draft = story.propose(submit=False)
    bring(story, draft, by="ben")
    assert story.decide(draft, "ben").recorded


def test_nothing_is_submitted_to_a_retired_channel(story: Story) -> None:
    draft = story.propose(submit=False)
    story.configure(variations.without_channel("tickets"))
    with pytest.raises(errors.WrongState, match="retired"):
        bring(story, draft)
    assert story.again(draft).approval is None


def test_a_draft_is_not_opened_again_beside_the_one_that_took_its_place(story: Story) -> None:
    story.configure(variations.policy(one_open_draft=True))
    first = story.propose(resource="locations/1/reviews/1")
    withdraw(actor=story.actor("ada"), clock=story.clock, draft_id=first.pk, reason="Better words.")
    second = story.propose(resource="locations/1/reviews/1")
    with pytest.raises(errors.OpenDraftExists) as refused:
        bring(story, first)
    assert refused.value.draft_id == second.pk
    with pytest.raises(errors.OpenDraftExists):
        revise(actor=story.actor("ada"), clock=story.clock, draft_id=first.pk, version=1, changes=Changes())
    assert story.again(first).state == "revoked"


def test_a_draft_is_no_rival_of_its_own(story: Story) -> None:
    story.configure(variations.policy(one_open_draft=True))
    draft = story.propose(resource="locations/1/reviews/1")
    story.decide(draft, "ben", Verdict.REJECT)
    bring(story, draft)
    assert story.again(draft).state == "in_review"
