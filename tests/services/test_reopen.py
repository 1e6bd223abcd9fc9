"""Reopen: an approval whose ground moved goes back to review, and nothing given on the old ground counts."""

from collections.abc import Callable

import pytest

from approvals.domain.states import DraftState
from approvals.models import Approval, Draft, Revision, User
from approvals.selectors.counting import tally
from approvals.services import ground
from approvals.services.ground import reopen_if_moved
from tests.cast import Story
from tests.services import states, variations
from tests.services.record import actions, emitted, last_event, outcome, rows
from tests.support.walls import lifted

REVIEW = "locations/1/reviews/1"


def reopen(story: Story, draft: Draft) -> bool:
    return reopen_if_moved(approval_id=story.approval(draft).pk, clock=story.clock)


def test_the_second_reply_to_one_review_goes_back_when_the_first_is_published(story: Story) -> None:
    first = story.approved(resource=REVIEW)
    story.clock.advance(seconds=1)
    second = story.approved(resource=REVIEW, payload={"comment": "Thanks!"})
    old = story.approval(second)
    assert states.send(story) == {"delivered": 1}
    fresh = story.approval(second)
    assert (story.again(first).state, story.again(second).state) == ("submitted", "in_review")
    assert (outcome(old), fresh.state, fresh.target_version) == ("superseded", "pending", 2)
    assert len(story.remote.sent) == 1


def test_tickets_do_not_move_each_others_ground(story: Story) -> None:
    drafts = [story.approved(payload={"summary": str(n)}) for n in range(3)]
    assert states.send(story) == {"delivered": 3}
    assert {story.again(draft).state for draft in drafts} == {"submitted"}


def _upgraded(story: Story) -> None:
    story.remote.flavour = "2"


def _reconfigured(story: Story) -> None:
    story.configure(variations.channel("tickets", config={"capabilities": ["lookup"]}))


@pytest.mark.parametrize(
    ("move", "why"), [(_upgraded, "rendered differently"), (_reconfigured, "configuration changed")]
)
def test_approved_bytes_on_moved_ground_are_reviewed_again(
    story: Story, move: Callable[[Story], None], why: str
) -> None:
    draft = story.approved()
    old = story.approval(draft)
    move(story)
    reopen_if_moved(approval_id=old.pk, clock=story.clock)
    fresh = story.approval(draft)
    assert why in story.again(draft).reason
    assert (outcome(old), fresh.state, fresh.digest) == ("superseded", "pending", old.digest)
    assert Approval.objects.get(pk=old.pk).superseded_by == fresh


def test_the_dispatcher_sends_nothing_on_moved_ground(story: Story) -> None:
    draft = story.approved()
    _upgraded(story)
    assert states.send(story) == {"stopped": 1}
    assert story.again(draft).state == "in_review"
    assert story.remote.sent == []


def _deactivated(name: str) -> None:
    User.objects.filter(username=name).update(is_active=False)


def _demoted(name: str) -> None:
    User.objects.get(username=name).memberships.update(is_reviewer=False)


@pytest.mark.parametrize("lose", [_deactivated, _demoted])
def test_an_approver_without_standing_sends_it_back_and_history_still_names_them(
    story: Story, lose: Callable[[str], None]
) -> None:
    draft = story.approved()
    old = story.approval(draft)
    lose("ben")
    assert states.send(story) == {"stopped": 1}
    assert (story.again(draft).state, outcome(old)) == ("in_review", "revoked")
    assert old.decisions.filter(reviewer__username="ben", verdict="approve").exists()
    assert emitted(old) == ["issuance", "revocation"]
    assert story.remote.sent == []


@pytest.mark.parametrize("lose", [_deactivated, _demoted])
def test_the_recount_names_who_still_counts(story: Story, lose: Callable[[str], None]) -> None:
    approval = story.approval(story.approved())
    lose("ben")
    assert tally(approval).approvals == {story.user["cleo"].pk}
    assert not tally(approval).meets(approval.rules)


def test_a_requirement_is_counted_again_before_sending(story: Story) -> None:
    story.configure(variations.policy(requirements=[{"group": "legal", "minimum": 1}]))
    draft = story.approved()
    story.user["ben"].memberships.update(groups=[])
    assert states.send(story) == {"stopped": 1}
    assert story.again(draft).state == "in_review"


def test_a_stricter_policy_moves_what_is_pending_only(story: Story) -> None:
    pending, approved = story.propose(), story.approved()
    story.configure(variations.policy(required_approvals=3))
    assert story.approval(pending).required_approvals == 3
    assert story.approval(approved).required_approvals == 2
    assert states.send(story) == {"delivered": 1}


def test_it_happens_once(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    _upgraded(story)
    assert reopen_if_moved(approval_id=old.pk, clock=story.clock)
    before = rows()
    assert not reopen_if_moved(approval_id=old.pk, clock=story.clock)
    assert not reopen(story, draft)
    assert rows() == before


def test_the_history_says_who_and_why(story: Story) -> None:
    draft = story.approved()
    _upgraded(story)
    reopen(story, draft)
    assert actions(draft)[-3:] == ["approval.superseded", "approval.opened", "draft.reopened"]
    told = last_event(action="draft.reopened")
    assert told["actor"]["label"] == "system:dispatch_approved"
    assert told["details"]["approval_id"] == str(story.approval(draft).pk)


def test_what_expired_is_not_reopened(story: Story) -> None:
    draft = story.approved()
    _upgraded(story)
    story.clock.now = story.approval(draft).expires_at
    assert not reopen(story, draft)
    assert story.again(draft).state == "approved"


@pytest.mark.parametrize("canonical", [b"{}", b"not json", b""])
def test_altered_bytes_are_never_sent_and_the_approval_is_revoked(story: Story, canonical: bytes) -> None:
    draft = story.approved()
    _alter(canonical)
    assert states.send(story) == {"stopped": 1}
    after = story.again(draft)
    assert (after.state, after.reason.split(":")[0]) == ("revoked", "integrity")
    assert "digest_mismatch" in actions(draft)
    assert emitted() == ["issuance", "revocation"]
    assert story.remote.sent == []


def test_one_altered_character_is_enough(story: Story) -> None:
    draft = story.approved()
    _alter(bytes(Revision.objects.get().canonical).replace(b"lift", b"lifd"))
    assert states.send(story) == {"stopped": 1}
    assert "digest_mismatch" in actions(draft)


def _alter(canonical: bytes) -> None:
    """What somebody with rights on the database could do after taking the walls down."""
    with lifted():
        Revision.objects.update(canonical=canonical)


def test_everything_on_a_moved_target_is_found(story: Story) -> None:
    drafts = [story.propose(resource=REVIEW, payload={"comment": str(n)}) for n in range(3)]
    story.approved(resource=REVIEW)
    states.send(story)
    assert {story.approval(draft).target_version for draft in drafts} == {2}
    assert {story.again(draft).state for draft in drafts} == {DraftState.IN_REVIEW}


def test_a_receipt_of_an_append_channel_moves_nothing(story: Story) -> None:
    draft = story.propose()
    story.approved()
    states.send(story)
    ground.reopen_on(draft.target_id, actor=story.worker, clock=story.clock)
    assert story.approval(draft).target_version == 1
    assert "draft.reopened" not in actions(draft)
