import json

import pytest
from django.core.management import CommandError

from approvals.domain.states import DraftState
from approvals.models import User
from approvals.services import holding, pause
from approvals.workers import dispatch
from tests.services import states
from tests.support.remote import NOT_SENT, UNKNOWN


@pytest.fixture
def explained(command):
    def call(draft):
        return json.loads(command("explain", draft.reference, "--format", "json"))

    return call


def test_a_draft_in_review_says_what_is_missing(story, explained):
    draft = story.propose()
    story.decide(draft, "ben")
    assert explained(draft)["because"] == ["It waits for 1 more of 2 approvals."]


def test_a_group_that_is_missing_is_named(story, explained):
    draft = story.propose()
    room = draft.room
    room.policy = {"required_approvals": 1, "requirements": [{"group": "legal", "minimum": 1}]}
    room.save()
    again = story.propose(payload={"summary": "Another"})
    assert "It needs 1 from the group legal and has 0." in explained(again)["because"]


def test_an_approval_that_no_longer_counts_is_named(story, explained):
    draft = story.approved()
    User.objects.filter(username="ben").update(is_active=False)
    assert any("The approval of ben does not count" in sentence for sentence in explained(draft)["because"])


def test_an_approved_draft_says_when_it_is_due(story, explained):
    draft = story.approved(not_before=story.clock.now.replace(year=2027))
    assert explained(draft)["because"][0].startswith("It is due at 2027-11-30T12:00:00.000000Z: ")


def test_a_draft_that_nothing_holds_back_asks_for_the_worker(story, explained):
    assert "check that run_worker is running" in explained(story.approved())["next"][0]


def test_all_reasons_of_the_gate_are_told(story, explained):
    draft = story.approved()
    pause.pause_room(actor=story.actor("max"), clock=story.clock, room=draft.room, reason="Stop.")
    story.clock.advance(days=2)
    causes = [reason["cause"] for reason in explained(draft)["gate"]["reasons"]]
    assert causes == ["expired", "paused"]


def test_a_waiting_delivery_says_when_it_is_tried_again(story, explained):
    draft = story.approved()
    story.remote.receipts.append(NOT_SENT)
    dispatch.run(concurrency=1, clock=story.clock)
    assert explained(draft)["because"][0].startswith("The next attempt is at 2026-11-30T12:00")


def test_an_unknown_delivery_is_not_sent_on_a_guess(story, explained):
    draft = story.approved()
    story.remote.receipts.append(UNKNOWN)
    dispatch.run(concurrency=1, clock=story.clock)
    assert "not sent again on a guess" in explained(draft)["because"][0]


def test_attempts_are_listed(story, explained):
    draft = story.approved()
    story.remote.receipts.append(UNKNOWN)
    dispatch.run(concurrency=1, clock=story.clock)
    assert [attempt["outcome"] for attempt in explained(draft)["attempts"]] == ["unknown"]


def test_another_draft_on_the_same_target_is_named(story, explained):
    first = story.approved(resource="locations/1/reviews/1", payload={"comment": "Thank you"})
    story.clock.advance(seconds=1)
    second = story.approved(resource="locations/1/reviews/1", payload={"comment": "Thanks"})
    story.remote.receipts.append(UNKNOWN)
    dispatch.run(concurrency=1, clock=story.clock)
    assert any(f"{first.reference} asked for may still arrive" in sentence for sentence in explained(second)["because"])


def test_a_draft_never_submitted_says_so(story, explained):
    assert "never submitted" in explained(story.propose(submit=False))["because"][0]


def test_the_text_has_a_section_for_everything(story, command):
    draft = story.approved()
    dispatch.run(concurrency=1, clock=story.clock)
    printed = command("explain", draft.reference)
    assert [
        name for name in ("approval", "dispatch claim", "delivery", "attempt 1", "gate") if name not in printed
    ] == []


def test_a_retraction_is_shown_with_its_own_attempts(story, command):
    draft = states.build(story, DraftState.RETRACTION_FAILED)
    printed = command("explain", draft.reference)
    shown = ("still public", "-> An operator retracts it again", "\nretraction attempt 1", "\nverify", "begin_retract")
    assert [name for name in shown if name not in printed] == []


def test_the_claim_of_a_retraction_serves_its_draft(story, explained):
    draft = states.build(story, DraftState.RETRACTING)
    holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="host:1")
    claim = explained(draft)["dispatch_claim"]
    assert (claim["serves"], claim["serves_this_draft"]) == (draft.reference, True)


def test_corrections_are_named_on_both_sides(story, explained):
    original = states.published(story)
    newer = story.propose(resource=states.REVIEW, payload={"comment": "Thanks"}, corrects=original.pk)
    assert explained(newer)["corrections"]["corrects"] == original.reference
    assert explained(original)["corrections"]["corrections_under_way"] == [newer.reference]


def test_looking_changes_nothing(story, explained):
    draft = story.approved()
    story.clock.advance(days=2)
    explained(draft)
    assert story.again(draft).state == "approved"


@pytest.mark.parametrize("word", ["RR-999999", "999999"])
def test_an_unknown_draft_is_said(db, command, word):
    with pytest.raises(CommandError, match="There is no draft RR-999999"):
        command("explain", word)


def test_what_is_no_reference_is_wrong_usage(command):
    with pytest.raises(CommandError, match="like RR-1042"):
        command("explain", "lift")
