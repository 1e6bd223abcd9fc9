"""Decide: one reviewer's verdict on exactly what was shown, counted once."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, transaction

from approvals.domain import errors
from approvals.domain.gate import Verdict
from approvals.models import Decision, Draft, Exclusion, OutboxEvent, Revision, User
from approvals.services import audit, decide, expire, outbox
from approvals.services.decide import Shown
from approvals.services.propose import Proposal, propose
from approvals.services.revise import Changes, revise
from approvals.services.revoke import revoke
from tests.cast import Clock, Story
from tests.services import states, variations
from tests.services.record import actions, emitted, last_event, outcome, refusals, rows
from tests.support.walls import lifted

APPROVE, REJECT, REQUEST_CHANGES = Verdict.APPROVE, Verdict.REJECT, Verdict.REQUEST_CHANGES
VERDICTS = [APPROVE, REJECT, REQUEST_CHANGES]


def shown(story: Story, draft: Draft) -> Shown:
    approval = story.approval(draft)
    return Shown(approval.pk, approval.version, approval.digest)


def say(story: Story, what: Shown, by: str = "ben", verdict: Verdict = APPROVE, **more: Any) -> decide.Decided:
    return decide.decide(actor=story.actor(by), clock=story.clock, shown=what, verdict=verdict, **more)


def edit(story: Story, draft: Draft, summary: str, by: str = "ada") -> Draft:
    changes, version = Changes(payload={"summary": summary}), story.again(draft).version
    return revise(actor=story.actor(by), clock=story.clock, draft_id=draft.pk, version=version, changes=changes).draft


# Counting


def test_the_threshold_approves_exactly_when_it_is_met(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    assert story.again(draft).state == "in_review"
    story.decide(draft, "cleo")
    assert story.again(draft).state == "approved"
    assert story.approval(draft).decision_count == 2
    assert emitted() == ["issuance"]


def test_one_person_counts_once_whatever_the_door_and_however_often(story: Story) -> None:
    draft = story.propose()
    what = shown(story, draft)
    for via in ("web", "api", *["api"] * 10):
        decide.decide(actor=story.actor("ben", via), clock=story.clock, shown=what, verdict=APPROVE)
    assert Decision.objects.count() == 1
    assert story.again(draft).state == "in_review"


def test_a_decision_keeps_what_was_shown_when_and_by_which_door(story: Story) -> None:
    draft = story.propose()
    what = replace(shown(story, draft), shown_at=story.clock.now)
    story.clock.advance(seconds=40)
    say(story, what, comment="Looks right.")
    decision = Decision.objects.get()
    assert (decision.version, decision.digest, decision.via) == (1, what.digest, "api")
    assert decision.shown_at == what.shown_at
    assert (decision.decided_at, decision.comment) == (story.clock.now, "Looks right.")
    assert last_event(action="decision.recorded")["details"]["shown_at"] == "2026-11-30T12:00:00.000000Z"


def test_one_rejection_rejects_and_says_who_and_why(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben", REJECT, "Wrong building.")
    after = story.again(draft)
    assert (after.state, after.reason) == ("rejected", "ben: Wrong building.")
    assert outcome(story.approval(draft)) == "rejected"
    assert emitted() == []


def test_a_reject_threshold_of_two_needs_two(story: Story) -> None:
    story.configure(variations.policy(reject_threshold=2))
    draft = story.propose()
    story.decide(draft, "ben", REJECT)
    assert story.again(draft).state == "in_review"
    story.decide(draft, "cleo", REJECT)
    assert story.again(draft).state == "rejected"


def test_a_rejection_below_the_threshold_does_not_count_as_an_approval(story: Story) -> None:
    story.configure(variations.policy(reject_threshold=2))
    draft = story.propose()
    story.decide(draft, "ben", REJECT)
    story.decide(draft, "cleo")
    assert story.again(draft).state == "in_review"


def test_asking_for_changes_ends_the_review_at_once(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    story.decide(draft, "cleo", REQUEST_CHANGES, "Name the floor.")
    assert story.again(draft).state == "changes_requested"
    assert outcome(story.approval(draft)) == "rejected"


def test_a_requirement_counts_members_of_its_group_only(story: Story) -> None:
    legal = [{"group": "legal", "minimum": 1}]
    story.configure(variations.policy(required_approvals=1, requirements=legal))
    draft = story.propose()
    story.decide(draft, "cleo")
    assert story.again(draft).state == "in_review"
    story.decide(draft, "ben")
    assert story.again(draft).state == "approved"


def test_leaving_the_group_after_approving_no_longer_meets_the_requirement(story: Story) -> None:
    legal = [{"group": "legal", "minimum": 1}]
    story.configure(variations.policy(requirements=legal))
    draft = story.propose()
    story.decide(draft, "ben")
    story.user["ben"].memberships.update(groups=[])
    story.decide(draft, "cleo")
    assert story.again(draft).state == "in_review"


def test_an_earlier_approver_without_standing_does_not_help_to_meet_the_threshold(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    User.objects.filter(username="ben").update(is_active=False)
    story.decide(draft, "cleo")
    assert story.again(draft).state == "in_review"
    assert Decision.objects.filter(reviewer=story.user["ben"]).exists()


def test_the_policy_of_the_opening_counts_although_it_was_loosened_since(story: Story) -> None:
    draft = story.propose()
    story.configure(variations.policy(required_approvals=1))
    story.decide(draft, "ben")
    assert story.again(draft).state == "in_review"


# Twice


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_same_answer_again_is_told_as_recorded(story: Story, verdict: Verdict) -> None:
    draft = story.propose()
    first = story.decide(draft, "ben", verdict)
    again = say(story, shown(story, draft), verdict=verdict, comment="Once more.")
    assert (first.recorded, again.recorded) == (True, False)
    assert again.decision == first.decision
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("later", ["superseded", "revoked", "expired", "approved", "consumed", "rejected"])
def test_the_same_answer_is_told_as_recorded_whatever_happened_since(story: Story, later: str) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    what = shown(story, draft)
    _end(story, draft, later)
    assert not say(story, what).recorded
    assert Decision.objects.filter(reviewer=story.user["ben"]).count() == 1


def test_another_verdict_of_the_same_person_is_refused_while_one_stands(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    with pytest.raises(errors.AlreadyDecided):
        story.decide(draft, "ben", REJECT)
    assert refusals() == [("decide.refused", "already_decided")]
    assert Decision.objects.count() == 1


def test_nobody_records_a_taken_back_by_deciding(story: Story) -> None:
    draft = story.propose()
    with pytest.raises(errors.InvalidPayload) as refused:
        story.decide(draft, "ben", Verdict.TAKEN_BACK)
    assert refused.value.pointer == "/verdict"
    assert not Decision.objects.exists()


# Only what is current


def _end(story: Story, draft: Draft, how: str) -> None:
    approval = story.approval(draft)
    if how == "superseded":
        edit(story, draft, "Both lifts are stuck")
    elif how == "revoked":
        revoke(actor=story.actor("max"), clock=story.clock, approval_id=approval.pk, reason="No.")
    elif how == "expired":
        story.clock.now = approval.expires_at
        expire.expire(approval_id=approval.pk, clock=story.clock)
    elif how == "rejected":
        story.decide(draft, "cleo", REJECT)
    else:
        story.decide(draft, "cleo")
        if how == "consumed":
            states.send(story)


ENDED = {
    "superseded": errors.Superseded,
    "revoked": errors.Revoked,
    "expired": errors.Expired,
    "rejected": errors.WrongState,
}


@pytest.mark.parametrize("how", ENDED)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_an_approval_that_ended_is_not_decided_on(story: Story, how: str, verdict: Verdict) -> None:
    draft = story.propose()
    what = shown(story, draft)
    _end(story, draft, how)
    before = rows()
    with pytest.raises(ENDED[how]):
        say(story, what, verdict=verdict)
    assert rows() == before


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_revision_that_was_replaced_names_its_successor(story: Story, verdict: Verdict) -> None:
    draft = story.propose()
    what = shown(story, draft)
    edit(story, draft, "Both lifts are stuck")
    with pytest.raises(errors.Superseded) as refused:
        say(story, what, verdict=verdict)
    assert refused.value.successor_id == story.approval(draft).pk
    assert refusals() == [("decide.refused", "superseded")]


def test_two_edits_later_both_old_revisions_are_refused(story: Story) -> None:
    draft = story.propose()
    old = [shown(story, draft), shown(story, edit(story, draft, "Two"))]
    edit(story, draft, "Three")
    for what in old:
        with pytest.raises(errors.Superseded):
            say(story, what)
    assert not Decision.objects.exists()


@pytest.mark.parametrize("wrong", [{"version": 2}, {"digest": "sha256:" + "0" * 64}, {"version": 0}, {"digest": ""}])
def test_a_wrong_version_or_digest_is_stale(story: Story, wrong: dict[str, Any]) -> None:
    draft = story.propose()
    before = rows()
    with pytest.raises(errors.StaleRevision):
        say(story, replace(shown(story, draft), **wrong))
    assert rows() == before
    assert refusals() == [("decide.refused", "stale_revision")]


def test_the_live_approval_with_the_old_bytes_is_stale(story: Story) -> None:
    draft = story.propose()
    old = shown(story, draft)
    edit(story, draft, "Both lifts are stuck")
    new = shown(story, draft)
    for mixed in (replace(new, digest=old.digest), replace(new, version=old.version)):
        with pytest.raises(errors.StaleRevision):
            say(story, mixed)


def test_a_shortened_digest_is_no_digest(story: Story) -> None:
    what = shown(story, story.propose())
    with pytest.raises(errors.StaleRevision):
        say(story, replace(what, digest=what.digest[:11]))


def test_an_approval_ended_with_the_same_bytes_leads_to_the_live_one(story: Story) -> None:
    draft = story.propose(resource="locations/1/reviews/1")
    what = shown(story, draft)
    story.configure(variations.channel("replies", config={"tone": "kind"}))
    assert shown(story, draft).digest == what.digest
    with pytest.raises(errors.Superseded) as refused:
        say(story, what)
    assert refused.value.successor_id == story.approval(draft).pk


def test_bytes_restored_do_not_revive_their_approval(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    edit(story, draft, "Both lifts are stuck")
    edit(story, draft, "The lift is stuck")
    fresh = story.approval(draft)
    assert (fresh.digest, fresh.state) == (old.digest, "pending")
    assert fresh.decisions.count() == 0
    assert states.send(story) == {}


def test_approvals_of_another_draft_of_the_same_target_do_not_count(story: Story) -> None:
    first, second = story.propose(), story.propose()
    story.decide(first, "ben")
    story.decide(second, "cleo")
    assert story.approval(first).digest == story.approval(second).digest
    assert {story.again(first).state, story.again(second).state} == {"in_review"}


def test_an_approval_that_does_not_exist_yet_is_not_found(story: Story) -> None:
    draft = story.propose()
    with pytest.raises(errors.NotFound):
        say(story, replace(shown(story, draft), approval_id=uuid4()))
    story.decide(draft, "cleo")
    assert story.again(draft).state == "in_review"


def test_moved_ground_is_refused_and_a_new_approval_is_opened(story: Story) -> None:
    draft = story.propose()
    old = story.approval(draft)
    story.remote.flavour = "2"  # the connector was upgraded under way
    with pytest.raises(errors.TargetChanged, match="rendered differently"):
        say(story, shown(story, draft))
    fresh = story.approval(draft)
    assert (outcome(old), fresh.state) == ("superseded", "pending")
    assert fresh.rendering_digest != old.rendering_digest
    assert not Decision.objects.exists()


def test_a_stricter_policy_nobody_applied_yet_to_the_approval_is_moved_ground(story: Story) -> None:
    draft = story.propose()
    story.again(draft).room.__class__.objects.update(policy={"required_approvals": 3})
    with pytest.raises(errors.TargetChanged, match="stricter"):
        story.decide(draft, "ben")
    assert story.approval(draft).required_approvals == 3


# Who


def test_the_author_does_not_decide(story: Story) -> None:
    both = variations.member("ben", "proposer", "reviewer")
    story.configure(both)
    draft = story.propose("ben")
    with pytest.raises(errors.NotEligible) as refused:
        story.decide(draft, "ben")
    assert refused.value.reason == "author"
    assert refusals() == [("decide.refused", "not_eligible")]


def test_the_person_an_agent_acts_for_does_not_decide(story: Story) -> None:
    story.configure(variations.member("ada", "proposer", "reviewer"))
    draft = story.propose("reply-bot")
    with pytest.raises(errors.NotEligible):
        story.decide(draft, "ada")


def _agent_of(story: Story, *persons: str) -> None:
    document = variations.member("ada", "proposer", "reviewer")
    document["users"][-1]["acts_for"] = list(persons)
    story.configure(document)


def test_an_unbound_token_bars_everybody_the_agent_may_act_for(story: Story) -> None:
    _agent_of(story, "ada", "cleo")
    draft = story.propose("reply-bot", acts_for="ada")
    for name in ("ada", "cleo"):
        with pytest.raises(errors.NotEligible):
            story.decide(draft, name)
    assert story.decide(draft, "ben").recorded


def test_a_bound_token_bars_the_person_it_is_bound_to_only(story: Story) -> None:
    _agent_of(story, "ada", "cleo")
    bound = replace(story.actor("reply-bot"), acts_for_id=story.user["ada"].pk)
    wanted = Proposal("tickets", "ticket.create", {"summary": "x"})
    draft = propose(actor=bound, clock=story.clock, room_slug="facilities", proposal=wanted)
    assert story.decide(draft, "cleo").recorded
    with pytest.raises(errors.NotEligible):
        story.decide(draft, "ada")


def test_a_reviewer_who_edits_does_not_decide_any_more(story: Story) -> None:
    draft = story.propose()
    edit(story, draft, "Both lifts are stuck", by="cleo")
    with pytest.raises(errors.NotEligible):
        story.decide(draft, "cleo")
    assert story.decide(draft, "ben").recorded


def test_an_author_of_an_earlier_revision_stays_barred(story: Story) -> None:
    draft = story.propose()
    edit(story, draft, "Both lifts are stuck", by="cleo")
    edit(story, draft, "All lifts are stuck")
    with pytest.raises(errors.NotEligible):
        story.decide(draft, "cleo")


def test_changing_the_author_by_hand_lets_nobody_through(story: Story) -> None:
    story.configure(variations.member("ada", "proposer", "reviewer"))
    draft = story.propose()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE approvals_draft SET author_id = %s", [story.user["max"].pk])
    with pytest.raises(errors.NotEligible):
        story.decide(draft, "ada")


def test_being_a_superuser_lets_no_author_through(story: Story) -> None:
    story.configure(variations.member("ada", "proposer", "reviewer"))
    User.objects.filter(username="ada").update(is_superuser=True, is_staff=True)
    draft = story.propose()
    for via in ("web", "api", "admin"):
        what = shown(story, draft)
        with pytest.raises(errors.NotEligible):
            decide.decide(actor=story.actor("ada", via), clock=story.clock, shown=what, verdict=APPROVE)


def test_a_draft_whose_authors_are_not_known_is_decided_by_nobody(story: Story) -> None:
    draft = story.propose()
    with lifted():
        Exclusion.objects.all().delete()
    with pytest.raises(errors.NotEligible, match="not known"):
        story.decide(draft, "ben")


def test_somebody_who_lost_the_role_or_was_deactivated_does_not_decide(story: Story) -> None:
    draft = story.propose()
    story.user["ben"].memberships.update(is_reviewer=False, is_viewer=True)
    with pytest.raises(errors.NotEligible):
        story.decide(draft, "ben")
    User.objects.filter(username="cleo").update(is_active=False)
    with pytest.raises(errors.NotFound):
        story.decide(draft, "cleo")


# Closed doors


def test_a_missing_wall_stops_decisions(story: Story) -> None:
    draft = story.propose()
    with lifted(), pytest.raises(errors.Unavailable):
        story.decide(draft, "ben")
    assert story.decide(draft, "ben").recorded


@pytest.mark.broken_on_purpose
def test_altered_bytes_stop_decisions(story: Story) -> None:
    draft = story.propose()
    with lifted():
        Revision.objects.update(canonical=b"{}")
    with pytest.raises(errors.Unavailable):
        story.decide(draft, "ben")
    assert not Decision.objects.exists()


def test_a_comment_that_cannot_be_stored_is_refused(story: Story) -> None:
    draft = story.propose()
    with pytest.raises(errors.InvalidPayload) as refused:
        story.decide(draft, "ben", comment="half \ud800")
    assert refused.value.pointer == "/comment"


@pytest.mark.parametrize("fails", ["emit", "append"])
def test_an_approval_that_cannot_be_told_does_not_happen(
    story: Story, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    before = rows()
    what = shown(story, draft)
    monkeypatch.setattr(outbox if fails == "emit" else audit, fails, lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        say(story, what, by="cleo")
    assert rows() == before
    assert not OutboxEvent.objects.exists()


def _no_commit() -> None:
    raise OperationalError("the server went away")


def test_a_commit_that_fails_leaves_no_event(lasting_story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = lasting_story.propose()
    lasting_story.decide(draft, "ben")
    before, heard = rows(), actions(draft)
    what = shown(lasting_story, draft)
    monkeypatch.setattr(connection, "_commit", _no_commit)
    with pytest.raises(OperationalError):
        say(lasting_story, what, by="cleo")
    monkeypatch.undo()
    assert (rows(), actions(draft)) == (before, heard)


def test_deciding_inside_anothers_transaction_is_a_programming_error(lasting_story: Story) -> None:
    draft = lasting_story.propose()
    with transaction.atomic(), pytest.raises(RuntimeError):
        lasting_story.decide(draft, "ben")


# Times


def test_an_approval_gives_a_new_time_to_live_from_now(story: Story) -> None:
    draft = story.propose()
    assert story.approval(draft).expires_at == story.clock.advance(days=7)
    story.clock.advance(days=-6)
    story.decide(draft, "ben")
    story.decide(draft, "cleo")
    assert story.approval(draft).expires_at == story.clock.advance(hours=24)


def test_what_is_not_to_go_out_yet_lives_from_then_on(story: Story, clock: Clock) -> None:
    then = clock.advance(days=3)
    clock.advance(days=-3)
    approval = story.approval(story.approved(not_before=then))
    assert (approval.dispatch_at, approval.approved_at) == (then, clock.now)
    assert approval.expires_at == clock.advance(days=4)


def test_nothing_is_sent_before_not_before(story: Story) -> None:
    then = story.clock.advance(hours=2)
    story.clock.advance(hours=-2)
    draft = story.approved(not_before=then)
    story.clock.advance(hours=2, seconds=-1)
    assert states.send(story) == {}
    story.clock.advance(seconds=1)
    assert states.send(story) == {"delivered": 1}
    assert story.again(draft).state == "submitted"


def test_the_dispatch_delay_is_an_undo_window(story: Story) -> None:
    story.configure(variations.policy(dispatch_delay="10s"))
    draft = story.approved()
    story.clock.advance(seconds=9)
    assert states.send(story) == {}
    decide.take_back(actor=story.actor("cleo"), clock=story.clock, approval_id=story.approval(draft).pk)
    story.clock.advance(seconds=10)
    assert states.send(story) == {}


def test_the_draft_waits_in_the_queue_until_its_approval_expires(story: Story) -> None:
    draft = story.again(story.propose())
    assert (draft.queue_rank, draft.due_at) == (1, story.approval(draft).expires_at)
    draft = story.again(draft)
    story.decide(draft, "ben", REJECT)
    assert story.again(draft).queue_rank == 7
