"""Resolve: a person's word settles what nobody else can, with evidence, late enough, and never an author's."""

import pytest

from approvals.domain import errors
from approvals.domain.states import DraftState as T
from approvals.models import Delivery, Draft, Membership, Observation, Target
from approvals.services.resolve import Finding, resolve
from approvals.services.retract import retract
from tests.cast import Story
from tests.services import states
from tests.services.record import last_event, refusals, rows
from tests.support.remote import ABSENT, ACCEPTED, DELIVERED, NOT_SENT, REFUSED, UNKNOWN, UNSEEN
from tests.workers.beats import GRACE_SECONDS, LEASE_SECONDS, begun, change_channel, claim_of, hand_in, look, send, tidy

SEEN = Finding("delivered", "I see it in the tracker.", "issue77")
NOT_SEEN = Finding("not_delivered", "The tracker's log has no such request.")


def newest(draft: Draft) -> Delivery:
    return Delivery.objects.filter(draft_id=draft.pk).order_by("kind", "-created_at").first()


def settle(story: Story, draft: Draft, finding: Finding, by: str = "max") -> Draft:
    return resolve(actor=story.actor(by), clock=story.clock, delivery_id=newest(draft).pk, finding=finding)


def stands(draft: Draft) -> tuple[str, str, str]:
    return Draft.objects.get(pk=draft.pk).state, newest(draft).state, claim_of(draft).state


def past_horizon(story: Story) -> None:
    story.clock.advance(seconds=LEASE_SECONDS + GRACE_SECONDS)


def unknown_reply(story: Story) -> Draft:
    draft = story.approved(resource=states.REVIEW)
    story.remote.receipts = [UNKNOWN]
    send(story)
    return draft


def test_seen_is_submitted_with_the_id_and_frees_the_target(story: Story) -> None:
    draft = unknown_reply(story)
    settle(story, draft, SEEN)
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert newest(draft).remote_id == "issue77"


def test_seen_is_still_read_back(story: Story) -> None:
    draft = unknown_reply(story)
    settle(story, draft, SEEN)
    assert look(story) == {"confirmed": 1}


def test_not_seen_is_failed_and_frees_the_target(story: Story) -> None:
    draft = unknown_reply(story)
    past_horizon(story)
    settle(story, draft, NOT_SEEN)
    assert stands(draft) == ("failed", "refused", "idle")
    assert story.again(draft).reason == NOT_SEEN.evidence


def test_not_seen_is_refused_while_a_stopped_worker_may_still_send(story: Story) -> None:
    draft = unknown_reply(story)
    story.clock.advance(seconds=LEASE_SECONDS + GRACE_SECONDS - 1)
    before = rows()
    with pytest.raises(errors.WrongState) as refused:
        settle(story, draft, NOT_SEEN)
    assert "2026-11-30T12:03:00" in str(refused.value)
    assert rows() == before


def test_what_was_said_is_kept_with_who_said_it(story: Story) -> None:
    draft = unknown_reply(story)
    settle(story, draft, SEEN)
    kept = Observation.objects.get(kind="resolution")
    assert (kept.answer, kept.evidence["by"], kept.evidence["evidence"]) == ("delivered", "person:max", SEEN.evidence)
    assert last_event(action="delivery.resolved")["actor"]["label"] == "person:max"


@pytest.mark.parametrize("name", ["ada", "ben", "cleo", "vic", "reply-bot"])
def test_only_an_operator_may(story: Story, name: str) -> None:
    draft = unknown_reply(story)
    with pytest.raises(errors.NotEligible):
        settle(story, draft, SEEN, by=name)


def test_a_stranger_finds_nothing(story: Story) -> None:
    draft = unknown_reply(story)
    with pytest.raises(errors.NotFound):
        settle(story, draft, SEEN, by="dee")


@pytest.mark.parametrize("author", ["ada", "reply-bot"])
def test_an_author_may_not_even_as_operator(story: Story, author: str) -> None:
    draft = story.approved(by=author, resource=states.REVIEW)
    story.remote.receipts = [UNKNOWN]
    send(story)
    Membership.objects.filter(user__username="ada").update(is_operator=True)
    with pytest.raises(errors.NotEligible) as refused:
        settle(story, draft, SEEN, by="ada")
    assert refused.value.reason == "author"
    assert refusals()[-1] == ("resolve.refused", "not_eligible")


@pytest.mark.parametrize(
    ("finding", "pointer"),
    [
        (Finding("yes", "I saw it."), "/outcome"),
        (Finding(None, "I saw it."), "/outcome"),
        (Finding("delivered", "  "), "/evidence"),
        (Finding("delivered", None), "/evidence"),
        (Finding("delivered", "I saw it.", ".."), "/remote_id"),
        (Finding("delivered", "I saw it.", "a\nb"), "/remote_id"),
        (Finding("delivered", "I saw it.", 7), "/remote_id"),
    ],
)
def test_a_finding_that_says_too_little_is_refused(story: Story, finding: Finding, pointer: str) -> None:
    draft = unknown_reply(story)
    with pytest.raises(errors.InvalidPayload) as refused:
        settle(story, draft, finding)
    assert refused.value.pointer == pointer


@pytest.mark.parametrize("state", [T.SUBMITTING, T.SUBMITTED, T.CONFIRMED, T.FAILED, T.RETRACTED, T.RETRACTION_FAILED])
def test_a_settled_outcome_is_not_settled_again(story: Story, state: T) -> None:
    draft = states.build(story, state)
    past_horizon(story)
    with pytest.raises(errors.WrongState):
        settle(story, draft, SEEN)


def test_seen_counts_the_target_once_and_sends_the_rival_back(story: Story) -> None:
    draft = unknown_reply(story)
    rival = story.approved(resource=states.REVIEW, payload={"comment": "Rival"})
    before = Target.objects.get(pk=draft.target_id).version
    settle(story, draft, SEEN)
    assert Target.objects.get(pk=draft.target_id).version == before + 1
    assert story.again(rival).state == "in_review"


def held_reply(story: Story, last: object) -> Draft:
    """A first attempt that said delivered only after a second one was told otherwise."""
    draft = story.approved(resource=states.REVIEW)
    first = begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS + 1)
    tidy(story)
    look_absent_twice(story)
    story.remote.receipts = [last]
    send(story)
    hand_in(story, first, DELIVERED)
    return draft


def look_absent_twice(story: Story) -> None:
    story.remote.lookups = [ABSENT, ABSENT]
    look(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    look(story)


def test_held_evidence_that_was_true_is_submitted(story: Story) -> None:
    draft = held_reply(story, REFUSED)
    assert newest(draft).held_at is not None
    settle(story, draft, SEEN)
    assert (stands(draft), newest(draft).held_at) == (("submitted", "delivered", "idle"), None)


def test_held_evidence_that_was_false_lets_the_delivery_go_on(story: Story) -> None:
    draft = held_reply(story, NOT_SENT)
    past_horizon(story)
    settle(story, draft, NOT_SEEN)
    assert (stands(draft), newest(draft).held_at) == (("submitting", "waiting", "idle"), None)


def test_gone_is_retracted(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    settle(story, draft, SEEN)
    assert stands(draft) == ("retracted", "delivered", "idle")


def test_not_gone_is_failed_after_the_horizon(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    with pytest.raises(errors.WrongState):
        settle(story, draft, NOT_SEEN)
    past_horizon(story)
    settle(story, draft, NOT_SEEN)
    assert stands(draft) == ("retraction_failed", "refused", "idle")


@pytest.mark.parametrize(("finding", "state"), [(SEEN, "retracted"), (NOT_SEEN, "retraction_failed")])
def test_an_accepted_retraction_nobody_can_read_back_is_settled(story: Story, finding: Finding, state: str) -> None:
    change_channel(story, "replies", config={"capabilities": ["lookup", "retract"]})
    draft = story.approved(resource=states.REVIEW)
    send(story)
    retract(actor=story.actor("ben"), clock=story.clock, draft_id=draft.pk, reason="Wrong shop.")
    story.remote.retractions = [ACCEPTED]
    send(story)
    past_horizon(story)
    settle(story, draft, finding)
    assert stands(draft) == (state, "delivered", "idle")


def test_look_ups_end_with_a_person_and_say_so(story: Story) -> None:
    draft = unknown_reply(story)
    story.remote.lookups = [UNSEEN] * 20
    for _ in range(20):
        story.clock.advance(hours=2)
        look(story)
    assert newest(draft).next_check_at is None
    assert len(story.remote.looked_up) == 12
    assert "Somebody has to record" in story.again(draft).reason
