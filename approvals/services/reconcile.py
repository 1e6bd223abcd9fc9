"""Reconcile: settle an unknown write by looking it up at the remote, and confirm what was delivered."""

from datetime import datetime, timedelta

from django.conf import settings

from approvals.connectors.base import Capability, Lookup, Match, Sighting, Verification
from approvals.domain.actor import Actor
from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Attempt, Delivery, Draft, Observation
from approvals.permissions import Verb, require
from approvals.services import audit, checks, claims, door, locks, outcomes, rendering, retract
from approvals.services.checks import Check
from approvals.services.door import Clock, Subject


def record_lookup(*, actor: Actor, clock: Clock, check: Check, found: Lookup) -> int | None:
    """Settles an unknown (or held) delivery by what a look-up saw: found, absent or still unknown.

    Gives the id of an exclusive target whose version grew.
    """
    return door.run(
        lambda: _record_lookup(actor=actor, clock=clock, check=check, found=found),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=check.draft_id),
    )


def record_verification(*, actor: Actor, clock: Clock, check: Check, seen: Verification) -> None:
    """Confirms a delivered write that reads back equal, or says how it differs."""
    door.run(
        lambda: _record_verification(actor=actor, clock=clock, check=check, seen=seen),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=check.draft_id),
    )


def is_proven_absent(delivery: Delivery, attempt: Attempt) -> bool:
    """True after two look-ups of the newest attempt that saw nothing, far enough apart.

    The first begins no earlier than the lease's end, the second at least the absent grace after the first was
    recorded; a look-up in between that could not tell proves nothing either way.
    """
    grace = timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS)
    absences = delivery.observations.filter(
        kind=Observation.Kind.LOOKUP,
        answer=Sighting.ABSENT.value,
        attempt_number=attempt.number,
        begun_at__gte=attempt.lease_until,
    ).order_by("id")
    first = absences.first()
    return first is not None and absences.filter(begun_at__gte=first.recorded_at + grace).exists()


def _record_lookup(*, actor: Actor, clock: Clock, check: Check, found: Lookup) -> int | None:
    require(actor, Verb.WORK)
    seen = Delivery.objects.get(pk=check.delivery_id)
    locks.target(seen.target_id)
    locks.dispatch_claim(seen.target_id)
    draft = locks.draft(check.draft_id)
    delivery = locks.delivery(check.delivery_id)
    now = clock()
    kind = Observation.Kind.LOOKUP
    checks.observe(delivery, check, kind, found.sighting.value, found.reason, found.evidence, now)
    if delivery.attempt_count != check.attempt_number:
        return None
    if delivery.state in (DeliveryState.DELIVERED, DeliveryState.SENDING):
        return None  # settled, or held while an attempt is under way: that one speaks first
    attempt = delivery.attempts.get(number=check.attempt_number)
    if found.sighting == Sighting.FOUND:
        return _found(delivery, draft, attempt, found, actor=actor, now=now)
    if delivery.state != DeliveryState.UNKNOWN and delivery.held_at is None:
        return None  # a late receipt settled it while the remote was asked
    if found.sighting == Sighting.ABSENT and delivery.held_at is None and is_proven_absent(delivery, attempt):
        _absent(delivery, draft, attempt, actor=actor, now=now)
    else:
        _look_again(delivery, draft, attempt, found, actor=actor, now=now)
    return None


def _found(
    delivery: Delivery, draft: Draft, attempt: Attempt, found: Lookup, *, actor: Actor, now: datetime
) -> int | None:
    remote_id = found.remote_id or ""
    moved = outcomes.deliver(delivery, draft, remote_id=remote_id, reason=found.reason, actor=actor, now=now)
    claims.settle(delivery, attempt, known=True, now=now)
    return moved


def _absent(delivery: Delivery, draft: Draft, attempt: Attempt, *, actor: Actor, now: datetime) -> None:
    """Frees a delivery that provably never arrived; only a receiver that dedupes gets it again by itself."""
    can = rendering.capabilities(delivery.config, draft.operation)
    if Capability.IDEMPOTENCY_KEY not in can:
        reason = "It is not at the remote, but the remote cannot tell a repeat from a new one: somebody has to send it "
        _leave_to_a_person(delivery, draft, reason=f"{reason}again.", action="absent", actor=actor, now=now)
        return
    reason = "It is not at the remote, so it is sent again under the same id."
    send_again(delivery, draft, attempt, reason=reason, now=now)
    audit.of_draft(draft, actor=actor, action="delivery.absent", now=now, reason=reason)


def send_again(delivery: Delivery, draft: Draft, attempt: Attempt, *, reason: str, now: datetime) -> None:
    """Makes a write that is proven absent due again. Inside a door, with everything locked."""
    delivery.wait()
    delivery.reason = reason
    delivery.settled_through = attempt.number
    delivery.next_attempt_at = now
    delivery.next_check_at = None
    delivery.save_move("reason", "settled_through", "next_attempt_at", "next_check_at", held_at=None)
    draft.resend()
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now))
    claims.settle(delivery, attempt, known=True, now=now)


def _leave_to_a_person(
    delivery: Delivery, draft: Draft, *, reason: str, action: str, actor: Actor, now: datetime
) -> None:
    delivery.reason = reason
    delivery.next_check_at = None
    delivery.save_move("reason", "next_check_at", "check_count")
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action=f"delivery.{action}", now=now, reason=reason)


def _look_again(
    delivery: Delivery, draft: Draft, attempt: Attempt, found: Lookup, *, actor: Actor, now: datetime
) -> None:
    """Plans the next look: an absence is counted again after lease and grace, whatever cannot tell backs off."""
    if found.sighting == Sighting.ABSENT and delivery.held_at is None:
        grace = timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS)
        delivery.next_check_at = max(now + grace, attempt.lease_until)
    elif not checks.look_later(delivery, now):
        said = "The remote could not be asked" if found.sighting == Sighting.UNKNOWN else "It was not found"
        reason = f"{said} in {delivery.check_count} look-ups ({found.reason}) Somebody has to record what is there."
        _leave_to_a_person(delivery, draft, reason=reason[:1000], action="unsettled", actor=actor, now=now)
        return
    delivery.save_move("check_count", "next_check_at")
    draft.save_move(*draft.touch(now))
    audit.of_draft(
        draft, actor=actor, action="delivery.checked", now=now, reason=found.reason, answer=found.sighting.value
    )


def _record_verification(*, actor: Actor, clock: Clock, check: Check, seen: Verification) -> None:
    require(actor, Verb.WORK)
    draft = locks.draft(check.draft_id)
    delivery = locks.delivery(check.delivery_id)
    now = clock()
    checks.observe(delivery, check, Observation.Kind.VERIFY, seen.match.value, seen.reason, seen.evidence, now)
    if draft.state != DraftState.SUBMITTED:
        return
    if seen.match != Match.UNKNOWN or not checks.look_later(delivery, now):
        delivery.next_check_at = None
        delivery.verification = _verification(delivery, seen.match)
    delivery.save_move("check_count", "next_check_at", "verification")
    if seen.match == Match.EQUAL:
        draft.confirm()
    draft.reason = "" if seen.match == Match.EQUAL else seen.reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(
        draft,
        actor=actor,
        action="draft.confirmed" if seen.match == Match.EQUAL else "delivery.checked",
        now=now,
        reason=seen.reason,
        answer=seen.match.value,
    )


def _verification(delivery: Delivery, match: Match) -> str:
    if match == Match.UNKNOWN:
        return Delivery.Verification.NONE
    if match in (Match.DIFFERS, Match.GONE) and retract.is_overwritten(delivery):
        return Delivery.Verification.REPLACED
    return Delivery.Verification(match.value)
