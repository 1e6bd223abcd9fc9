"""Reading back a retraction: only what is seen to be gone, late enough, is retracted."""

from datetime import datetime, timedelta

from django.conf import settings

from approvals.connectors.base import Match, Verification
from approvals.domain.actor import Actor
from approvals.domain.states import ClaimState, DeliveryState, DraftState
from approvals.models import Attempt, Delivery, DispatchClaim, Draft, Observation
from approvals.permissions import Verb, require
from approvals.services import audit, checks, claims, corrections, door, locks, outcomes, retract
from approvals.services.checks import Check
from approvals.services.door import Clock, Subject

STILL_THERE = "It is still readable at the remote."
UNPROVEN = "Nobody could read back whether it is gone. Somebody has to look there and record it."
_THERE = (Match.EQUAL, Match.DIFFERS)


def record_read_back(*, actor: Actor, clock: Clock, check: Check, seen: Verification) -> int | None:
    """Settles a retraction by what a read-back saw: gone, still there, or still unknown.

    Too early a look decides nothing: the request may act for as long as the in-flight horizon lasts. Gives the id of
    an exclusive target whose version grew.
    """
    return door.run(
        lambda: _record(actor=actor, clock=clock, check=check, seen=seen),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=check.draft_id),
    )


def gone(
    delivery: Delivery, draft: Draft, attempt: Attempt | None, *, reason: str, actor: Actor, now: datetime
) -> int | None:
    """Moves a draft to retracted, on proof. Inside a door, with everything locked."""
    moved = None
    if delivery.state != DeliveryState.DELIVERED:
        moved = outcomes.deliver(delivery, draft, remote_id="", reason=reason, actor=actor, now=now)
    delivery.verification = Delivery.Verification.GONE
    delivery.next_check_at = None
    delivery.save_move("verification", "next_check_at")
    if attempt is not None:
        claims.settle(delivery, attempt, known=True, now=now)
    draft.verify_gone()
    draft.reason = ""
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="draft.retracted", now=now, reason=reason, delivery_id=str(delivery.pk))
    return moved


def still_there(
    delivery: Delivery,
    draft: Draft,
    attempt: Attempt,
    *,
    reason: str,
    actor: Actor,
    now: datetime,
    verification: str = Delivery.Verification.NONE,
) -> None:
    """Says that what was to go is still public. Inside a door, with everything locked."""
    if delivery.held_at is not None and delivery.state != DeliveryState.UNKNOWN:
        release_hold(delivery, draft, reason=reason, actor=actor, now=now)
        return
    if delivery.state == DeliveryState.UNKNOWN:
        drop_hold(delivery)
        outcomes.to_refused(delivery, draft, attempt, reason=reason, actor=actor, now=now)
        claims.settle(delivery, attempt, known=True, now=now)
        return
    delivery.verification = verification
    delivery.next_check_at = None
    delivery.save_move("verification", "next_check_at")
    draft.fail_retraction()
    draft.reason = reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="retraction.ineffective", now=now, reason=reason)


def release_hold(delivery: Delivery, draft: Draft, *, reason: str, actor: Actor, now: datetime) -> None:
    """Lets a held delivery go on: the late evidence was looked at, and it did not happen. Inside a door."""
    delivery.held_at = delivery.next_check_at = None
    delivery.reason = reason[:1000]
    delivery.save_move("held_at", "next_check_at", "reason")
    draft.save_move(*draft.touch(now))
    audit.of_draft(draft, actor=actor, action="delivery.released", now=now, reason=reason)


def drop_hold(delivery: Delivery) -> None:
    """Forgets late evidence about an unknown delivery: what was seen since answers it. Inside a door."""
    if delivery.held_at is not None:
        delivery.held_at = None
        delivery.save_move("held_at")


def is_unproven(delivery: Delivery, draft: Draft) -> bool:
    """True of the draft's newest retraction while it was accepted, but nobody has seen what became of the object.

    Of an earlier one nothing is open any more, whatever the draft is doing now.
    """
    if not outcomes.is_retraction(delivery) or delivery.state != DeliveryState.DELIVERED:
        return False
    newest = retract.newest(draft)
    is_newest = newest is not None and newest.pk == delivery.pk
    return is_newest and draft.state in (DraftState.RETRACTING, DraftState.RETRACTION_UNKNOWN)


def _record(*, actor: Actor, clock: Clock, check: Check, seen: Verification) -> int | None:
    require(actor, Verb.WORK)
    target_id = Delivery.objects.values_list("target_id", flat=True).get(pk=check.delivery_id)
    locks.target(target_id)
    locks.dispatch_claim(target_id)
    draft = locks.draft(check.draft_id)
    delivery = locks.delivery(check.delivery_id)
    now = clock()
    checks.observe(delivery, check, Observation.Kind.VERIFY, seen.match.value, seen.reason, seen.evidence, now)
    if delivery.attempt_count != check.attempt_number or not _is_open(delivery, draft):
        return None
    attempt = delivery.attempts.get(number=check.attempt_number)
    decides_from = outcomes.in_flight_until(attempt)
    if seen.match in (Match.GONE, *_THERE) and check.begun_at < decides_from:
        _look_at(delivery, decides_from)
    elif seen.match == Match.GONE or (seen.match == Match.DIFFERS and _is_replaced(draft)):
        return gone(delivery, draft, attempt, reason=seen.reason, actor=actor, now=now)
    elif seen.match == Match.DIFFERS and _is_anothers_turn(delivery):
        _look_at(delivery, now + timedelta(seconds=settings.REVIEWROOM_LEASE_SECONDS))
    elif seen.match in _THERE:
        word, why = seen.match.value, f"{STILL_THERE} {seen.reason}"
        still_there(delivery, draft, attempt, reason=why, actor=actor, now=now, verification=word)
    else:
        _not_told(delivery, draft, seen, actor=actor, now=now)
    return None


def _is_open(delivery: Delivery, draft: Draft) -> bool:
    """True while a read-back may settle it: unknown, held with no attempt under way, or accepted and unproven."""
    if delivery.state == DeliveryState.DELIVERED:
        return is_unproven(delivery, draft)
    held = delivery.held_at is not None and delivery.state != DeliveryState.SENDING
    return delivery.state == DeliveryState.UNKNOWN or held


def _is_replaced(draft: Draft) -> bool:
    """True where what stands at an exclusive target is a newer write of ours: the object itself is gone."""
    write = corrections.write_of(draft)
    return write is not None and retract.is_overwritten(write)


def _is_anothers_turn(delivery: Delivery) -> bool:
    """True while another delivery to an exclusive target is under way or in doubt: what differs may be its work."""
    busy = (ClaimState.SENDING, ClaimState.UNCERTAIN)
    claims_of_others = DispatchClaim.objects.filter(target_id=delivery.target_id, state__in=busy)
    is_exclusive: bool = delivery.config.channel.is_exclusive
    return is_exclusive and claims_of_others.exclude(delivery_id=delivery.pk).exists()


def _look_at(delivery: Delivery, moment: datetime) -> None:
    delivery.next_check_at = moment
    delivery.save_move("next_check_at")


def _not_told(delivery: Delivery, draft: Draft, seen: Verification, *, actor: Actor, now: datetime) -> None:
    goes_on = seen.match == Match.UNKNOWN and checks.look_later(delivery, now)
    if not goes_on:
        delivery.next_check_at = None
        draft.reason = UNPROVEN
        if draft.state == DraftState.RETRACTING and delivery.state == DeliveryState.DELIVERED:
            draft.lose_retraction()
    delivery.save_move("check_count", "next_check_at")
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(
        draft, actor=actor, action="retraction.checked", now=now, reason=seen.reason, answer=seen.match.value
    )
