"""Look-ups: what settles an unknown outcome, what proves absence, and who sends again after it."""

from datetime import timedelta

import pytest

from approvals.models import AuditEvent, Delivery, Observation
from approvals.services import checks, reconcile
from tests.cast import Story
from tests.support.remote import ABSENT, FOUND, REFUSED, UNKNOWN, UNSEEN, FakeConnector
from tests.workers.beats import (
    GRACE_SECONDS,
    LEASE_SECONDS,
    begun,
    change_channel,
    claim_of,
    delivery_of,
    look,
    made_unknown,
    proposed_on,
    proven_absent,
    seconds_until,
    send,
    stands,
    tidy,
)


def look_now(story: Story) -> dict[str, int]:
    """Looks although the schedule would wait."""
    Delivery.objects.update(next_check_at=story.clock.now)
    return look(story)


def after_the_lease(story: Story) -> None:
    story.clock.advance(seconds=LEASE_SECONDS)


# What a look-up sees


@pytest.mark.parametrize("channel", ["tickets", "replies"])
def test_found_is_delivered_and_frees_the_target(story: Story, channel: str) -> None:
    draft = made_unknown(story, proposed_on(story, channel))
    story.remote.lookups.append(FOUND)
    assert look(story) == {"found": 1}
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert delivery_of(draft).remote_id == FOUND.remote_id


def test_found_is_found_while_the_lease_still_runs(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups.append(FOUND)
    look(story)
    assert story.again(draft).state == "submitted"


def test_an_unclear_answer_leaves_it_unknown_and_asks_again_ever_later(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    waits = []
    for _ in range(4):
        assert look(story) == {"unknown": 1}
        waits.append(seconds_until(story, delivery_of(draft).next_check_at))
        story.clock.advance(seconds=waits[-1])
    assert waits == sorted(waits)
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")


def test_a_look_up_that_breaks_is_an_unclear_answer(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("not today")

    draft = made_unknown(story, story.approved())
    monkeypatch.setattr(FakeConnector, "lookup", broken)
    assert look(story) == {"unknown": 1}
    assert Observation.objects.get(delivery__draft=draft).reason == "The look-up failed: RuntimeError."


def test_every_look_is_kept_as_evidence(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    story.remote.lookups += [UNSEEN, FOUND]
    look(story)
    look_now(story)
    assert list(Observation.objects.filter(delivery__draft=draft).order_by("id").values_list("kind", "answer")) == [
        ("lookup", "unknown"),
        ("lookup", "found"),
    ]


def test_a_look_up_asks_about_the_delivery_and_sends_nothing(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    look(story)
    assert story.remote.looked_up[0].delivery_id == delivery_of(draft).pk
    assert len(story.remote.sent) == 1


def test_an_unknown_delivery_is_not_sent_by_dispatching_again(story: Story) -> None:
    made_unknown(story, story.approved())
    for _ in range(3):
        story.clock.advance(minutes=10)
        assert send(story) == {}
    assert len(story.remote.sent) == 1


def test_one_look_is_taken_by_one_worker(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    taken = checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=delivery_of(draft).pk)
    assert taken is not None
    assert checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=taken.delivery_id) is None


def test_a_look_whose_worker_died_is_taken_again_after_a_lease(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=delivery_of(draft).pk)
    assert look(story) == {}
    after_the_lease(story)
    story.remote.lookups.append(FOUND)
    assert look(story) == {"found": 1}


# What proves absence


def absent_at(story: Story, *offsets: float) -> str:
    """Looks at these seconds after the send, seeing nothing each time; gives the delivery's state."""
    draft = made_unknown(story, proposed_on(story, "replies"))
    sent_at = story.clock.now
    for offset in offsets:
        story.clock.now = sent_at + timedelta(seconds=offset)
        story.remote.lookups.append(ABSENT)
        look_now(story)
    return delivery_of(draft).state


def test_two_absences_a_grace_apart_after_the_lease_are_proof(story: Story) -> None:
    assert absent_at(story, LEASE_SECONDS, LEASE_SECONDS + GRACE_SECONDS) == "waiting"


def test_one_absence_is_no_proof(story: Story) -> None:
    assert absent_at(story, LEASE_SECONDS * 10) == "unknown"


def test_an_absence_before_the_leases_end_does_not_count(story: Story) -> None:
    assert absent_at(story, LEASE_SECONDS - 1, LEASE_SECONDS + GRACE_SECONDS) == "unknown"


def test_two_absences_closer_than_the_grace_are_no_proof(story: Story) -> None:
    assert absent_at(story, LEASE_SECONDS, LEASE_SECONDS + GRACE_SECONDS - 1) == "unknown"


def test_a_third_absence_counts_from_the_first(story: Story) -> None:
    assert absent_at(story, LEASE_SECONDS, LEASE_SECONDS + 60, LEASE_SECONDS + GRACE_SECONDS) == "waiting"


def test_the_grace_counts_from_when_the_first_was_recorded(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    after_the_lease(story)
    check = checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=delivery_of(draft).pk)
    assert check is not None
    story.clock.advance(seconds=15)  # a slow remote
    reconcile.record_lookup(actor=story.worker, clock=story.clock, check=check, found=ABSENT)
    story.clock.advance(seconds=GRACE_SECONDS - 1)
    story.remote.lookups.append(ABSENT)
    look_now(story)
    assert delivery_of(draft).state == "unknown"


def test_an_unclear_answer_in_between_neither_proves_nor_spoils(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, UNSEEN, ABSENT]
    after_the_lease(story)
    look_now(story)
    story.clock.advance(seconds=GRACE_SECONDS / 2)
    look_now(story)
    assert delivery_of(draft).state == "unknown"
    story.clock.advance(seconds=GRACE_SECONDS / 2)
    look_now(story)
    assert delivery_of(draft).state == "waiting"


def test_unclear_answers_alone_are_never_proof(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    for _ in range(4):
        story.clock.advance(seconds=GRACE_SECONDS)
        look_now(story)
    assert delivery_of(draft).state == "unknown"


def test_the_schedule_itself_reaches_the_proof(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT] * 3
    for _ in range(3):
        look(story)
        story.clock.now = delivery_of(draft).next_check_at or story.clock.now
    assert delivery_of(draft).state == "waiting"


def test_absences_of_an_earlier_attempt_prove_nothing_about_a_later_one(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, ABSENT, ABSENT]
    story.remote.receipts.append(UNKNOWN)
    proven_absent(story)
    assert send(story) == {"unknown": 1}
    after_the_lease(story)
    look_now(story)
    assert stands(draft) == ("delivery_unknown", "unknown", "uncertain")


def test_a_look_begun_before_a_later_attempt_says_nothing_about_it(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, ABSENT]
    after_the_lease(story)
    look_now(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    Delivery.objects.update(next_check_at=story.clock.now)
    slow = checks.begin_check(actor=story.worker, clock=story.clock, delivery_id=delivery_of(draft).pk)
    assert slow is not None
    look_now(story)
    begun(story, draft)
    reconcile.record_lookup(actor=story.worker, clock=story.clock, check=slow, found=ABSENT)
    assert stands(draft) == ("submitting", "sending", "sending")


def test_the_lease_of_an_interrupted_send_is_waited_for_too(story: Story) -> None:
    draft = proposed_on(story, "replies")
    begun(story, draft)
    after_the_lease(story)
    tidy(story)
    story.remote.lookups += [ABSENT, ABSENT]
    look(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    look(story)
    assert stands(draft) == ("submitting", "waiting", "idle")


# What follows


def test_a_receiver_that_dedupes_gets_it_again_under_the_same_id_and_bytes(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, ABSENT]
    proven_absent(story)
    assert send(story) == {"delivered": 1}
    first, second = story.remote.sent
    assert (first.delivery_id, first.request) == (second.delivery_id, second.request)
    assert stands(draft) == ("submitted", "delivered", "idle")


def test_it_is_sent_again_only_once(story: Story) -> None:
    made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, ABSENT]
    proven_absent(story)
    send(story)
    assert send(story) == {}
    assert len(story.remote.sent) == 2


def test_a_no_after_proven_absence_is_believed(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    story.remote.lookups += [ABSENT, ABSENT]
    proven_absent(story)
    story.remote.receipts.append(REFUSED)
    send(story)
    assert stands(draft) == ("failed", "refused", "idle")


@pytest.mark.parametrize(("channel", "claim"), [("tickets", "idle"), ("replies", "uncertain")])
def test_a_receiver_that_does_not_dedupe_waits_for_a_person(story: Story, channel: str, claim: str) -> None:
    change_channel(story, "replies", idempotent=False)
    draft = made_unknown(story, proposed_on(story, channel))
    story.remote.lookups += [ABSENT, ABSENT]
    proven_absent(story)
    story.clock.advance(hours=1)
    assert send(story) == look(story) == {}
    assert stands(draft) == ("delivery_unknown", "unknown", claim)
    assert "somebody has to send it again" in story.again(draft).reason


def test_an_unknown_write_holds_an_exclusive_target_until_it_is_settled(story: Story) -> None:
    change_channel(story, "replies", idempotent=False)
    made_unknown(story, proposed_on(story, "replies"))
    second = proposed_on(story, "replies")
    for _ in range(3):
        assert send(story) == {}
        story.clock.advance(hours=1)
    story.remote.lookups.append(FOUND)
    look_now(story)
    assert send(story) == {}
    assert story.again(second).state == "in_review"


def test_settling_is_audited_as_the_reconcilers_doing(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    story.remote.lookups.append(FOUND)
    look(story)
    event = AuditEvent.objects.get(draft=draft, action="delivery.delivered")
    assert event.actor == "system:reconcile_deliveries"


def test_a_settled_delivery_is_not_looked_up_again(story: Story) -> None:
    draft = made_unknown(story, story.approved())
    story.remote.lookups.append(FOUND)
    look(story)
    look(story)
    assert (len(story.remote.looked_up), story.again(draft).state) == (1, "confirmed")


def test_the_claim_of_an_exclusive_target_keeps_its_epoch_while_uncertain(story: Story) -> None:
    draft = made_unknown(story, proposed_on(story, "replies"))
    before = claim_of(draft)
    look(story)
    after = claim_of(draft)
    assert (before.epoch, before.token, before.lease_until) == (after.epoch, after.token, after.lease_until)
