"""Revise: changed bytes are a new revision, and no approval of the old ones survives it."""

from typing import Any

import pytest

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.domain.states import DraftState
from approvals.models import Approval, Draft, OutboxEvent, Revision
from approvals.services.expire import expire
from approvals.services.revise import Changes, Revised, revise
from tests.cast import Story
from tests.services import states, variations
from tests.services.record import actions, emitted, outcome, refusals, rows


def save(
    story: Story, draft: Draft, by: str = "ada", version: int | None = None, submit: bool = True, **changes: Any
) -> Revised:
    return revise(
        actor=story.actor(by),
        clock=story.clock,
        draft_id=draft.pk,
        version=version or story.again(draft).version,
        changes=Changes(**changes),
        submit=submit,
    )


TWO = {"summary": "Both lifts are stuck"}


@pytest.mark.parametrize("approvers", [["ben"], ["ben", "cleo"]])
def test_new_bytes_void_every_approval_of_the_old_ones(story: Story, approvers: list[str]) -> None:
    draft = story.propose()
    for name in approvers:
        story.decide(draft, name)
    old = story.approval(draft)
    save(story, draft, payload=TWO)
    fresh = story.approval(draft)
    assert (outcome(old), story.again(draft).state) == ("superseded", "in_review")
    assert (fresh.version, fresh.state, fresh.decisions.count()) == (2, "pending", 0)
    assert emitted(old)[-1] == "supersession"
    assert OutboxEvent.objects.filter(event_class="supersession").count() == 1
    assert states.send(story) == {}


def test_the_links_lead_forward_and_back(story: Story) -> None:
    draft = story.propose()
    old = story.approval(draft)
    save(story, draft, payload=TWO)
    fresh = story.approval(draft)
    assert Approval.objects.get(pk=old.pk).superseded_by == fresh
    assert list(fresh.supersedes.all()) == [old]


@pytest.mark.parametrize("tail", [" ", "\t", "\n"])
def test_a_blank_at_the_end_is_a_new_revision(story: Story, tail: str) -> None:
    draft = story.approved()
    saved = save(story, draft, payload={"summary": "The lift is stuck" + tail})
    assert saved.changed
    assert story.again(draft).state == "in_review"


@pytest.mark.parametrize("same", [{"summary": "The lift is stuck", "n": 1}, {"n": 1.0, "summary": "The lift is stuck"}])
def test_a_save_that_changes_no_byte_costs_no_approval(story: Story, same: dict[str, Any]) -> None:
    draft = story.approved(payload={"summary": "The lift is stuck", "n": 1})
    before, heard = rows(), actions(draft)
    assert not save(story, draft, payload=same).changed
    assert (rows(), actions(draft)) == (before, heard)


def test_the_same_words_in_another_form_of_unicode_are_other_bytes(story: Story) -> None:
    draft = story.propose(payload={"summary": "caf\u00e9"})
    assert save(story, draft, payload={"summary": "cafe\u0301"}).changed
    assert len(set(Revision.objects.values_list("digest", flat=True))) == 2


def test_a_draft_of_no_review_stays_one(story: Story) -> None:
    draft = story.propose(submit=False)
    save(story, draft, payload=TWO, submit=False)
    after = story.again(draft)
    assert (after.state, after.version, after.approval) == ("draft", 2, None)


def test_a_rejected_draft_is_edited_and_submitted_in_one_step(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben", Verdict.REJECT, "No.")
    save(story, draft, payload=TWO)
    after = story.again(draft)
    assert (after.state, after.version, after.reason) == ("in_review", 2, "")


def test_submitting_the_same_bytes_again_opens_a_new_approval_for_the_same_revision(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben", Verdict.REJECT)
    old = story.approval(draft)
    assert not save(story, draft).changed
    fresh = story.approval(draft)
    assert (fresh.state, fresh.version, outcome(old)) == ("pending", 1, "rejected")
    assert fresh.pk != old.pk


def test_an_edit_made_on_an_old_version_overwrites_nothing(story: Story) -> None:
    draft = story.propose()
    save(story, draft, by="cleo", payload=TWO)
    before = rows()
    with pytest.raises(errors.StaleRevision, match="You edited version 1"):
        save(story, draft, version=1, payload={"summary": "Mine"})
    assert rows() == before
    assert refusals() == [("revise.refused", "stale_revision")]


@pytest.mark.parametrize("words", [{"title": "Other"}, {"note": "Other"}, {"context": {"seen": True}}])
@pytest.mark.parametrize("state", [DraftState.IN_REVIEW, DraftState.APPROVED])
def test_the_proposers_words_are_fixed_while_an_approval_lives(
    story: Story, state: DraftState, words: dict[str, Any]
) -> None:
    draft = states.build(story, state)
    before = rows()
    with pytest.raises(errors.WrongState, match="Title, note and context are fixed"):
        save(story, draft, **words)
    assert rows() == before


def test_the_proposers_words_change_with_the_bytes(story: Story) -> None:
    draft = story.approved()
    save(story, draft, payload=TWO, title="Report both lifts", note="The other one too.")
    after = story.again(draft)
    assert (after.title, after.note, after.state) == ("Report both lifts", "The other one too.", "in_review")


def test_the_proposers_words_alone_are_no_revision(story: Story) -> None:
    draft = story.propose(submit=False)
    saved = save(story, draft, title="Other", submit=False)
    after = story.again(draft)
    assert (saved.changed, after.title, after.version) == (False, "Other", 1)
    assert after.seq > draft.seq


def test_another_resource_is_another_action(story: Story) -> None:
    draft = story.approved(resource="locations/1/reviews/1")
    old = story.approval(draft)
    save(story, draft, resource="locations/1/reviews/2")
    fresh = story.approval(draft)
    assert outcome(old) == "superseded"
    assert (fresh.target.resource, fresh.state) == ("locations/1/reviews/2", "pending")
    assert fresh.digest != old.digest


def test_another_channel_is_another_action(story: Story) -> None:
    draft = story.propose()
    save(story, draft, channel="replies", operation="reply.upsert", resource="locations/1/reviews/1")
    after = story.again(draft)
    assert (after.channel.slug, after.operation) == ("replies", "reply.upsert")
    assert story.approval(draft).config.channel == after.channel


def test_a_fault_is_named_and_nothing_is_kept(story: Story) -> None:
    draft = story.approved()
    before = rows()
    with pytest.raises(errors.InvalidPayload) as refused:
        save(story, draft, payload={"wrong": 1})
    assert refused.value.pointer == "/payload"
    assert rows() == before


def test_the_agent_of_a_draft_edits_it_for_the_same_person(story: Story) -> None:
    draft = story.propose("reply-bot")
    save(story, draft, by="reply-bot", payload=TWO)
    assert {revision.acts_for for revision in Revision.objects.all()} == {story.user["ada"]}


def test_a_revision_says_who_wrote_it(story: Story) -> None:
    draft = story.propose("reply-bot")
    save(story, draft, by="ben", payload=TWO)
    second = Revision.objects.get(number=2)
    assert (second.author, second.acts_for) == (story.user["ben"], None)
    assert story.again(draft).author == story.user["reply-bot"]


def test_an_edit_of_what_expired_unseen_starts_a_review(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    story.clock.now = old.expires_at
    save(story, draft, payload=TWO)
    assert story.approval(draft).state == "pending"
    assert not expire(approval_id=old.pk, clock=story.clock)


def test_a_failed_draft_is_never_revised(story: Story) -> None:
    draft = states.build(story, DraftState.FAILED)
    with pytest.raises(errors.Consumed):
        save(story, draft, payload=TWO)
    assert Revision.objects.count() == 1


def test_a_draft_takes_no_place_that_another_holds(story: Story) -> None:
    story.configure(variations.policy(one_open_draft=True))
    story.propose(resource="locations/1/reviews/1")
    draft = story.propose(resource="locations/1/reviews/2")
    with pytest.raises(errors.OpenDraftExists):
        save(story, draft, resource="locations/1/reviews/1")


def test_an_edit_into_a_duplicate_is_refused(story: Story) -> None:
    story.configure(variations.policy(duplicates="refuse"))
    story.propose(payload=TWO)
    draft = story.propose()
    with pytest.raises(errors.Duplicate):
        save(story, draft, payload=TWO)
    assert story.again(draft).version == 1


def test_going_back_to_ones_own_earlier_bytes_is_no_duplicate(story: Story) -> None:
    story.configure(variations.policy(duplicates="refuse"))
    draft = story.propose()
    save(story, draft, payload=TWO)
    assert save(story, draft, payload={"summary": "The lift is stuck"}).changed
