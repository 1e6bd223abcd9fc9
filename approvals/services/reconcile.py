"""Reconcile: settle an unknown outcome by reading the remote back, and confirm what was delivered."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import SystemRandom
from uuid import UUID

from django.conf import settings

from approvals.connectors.base import Capability, Job, Lookup, Match, Sighting, Verification
from approvals.domain import retry
from approvals.domain.actor import Actor
from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Attempt, Delivery, Draft, Observation
from approvals.permissions import Verb, require
from approvals.services import audit, door, locks, record, rendering
from approvals.services.door import Clock, Subject

UNREADABLE_AFTER = 12
"""Read-backs without an answer before a delivery is left as submitted, for a person."""
_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class Check:
    """One look at the remote, taken by one worker: what to ask, and the attempt it speaks about."""

    delivery_id: UUID
    draft_id: int
    attempt_number: int
    begun_at: datetime
    wants_lookup: bool
    job: Job


def begin_check(*, actor: Actor, clock: Clock, delivery_id: UUID) -> Check | None:
    """Takes a due check for this worker; None if it is taken, settled or not due."""

    def body() -> Check | None:
        require(actor, Verb.WORK)
        delivery = locks.delivery(delivery_id)
        now = clock()
        if delivery.next_check_at is None or delivery.next_check_at > now:
            return None
        delivery.next_check_at = now + timedelta(seconds=settings.REVIEWROOM_LEASE_SECONDS)
        delivery.save_move("next_check_at")
        return _check(delivery, now)

    return door.run(body, actor=actor, verb=Verb.WORK)


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


def _check(delivery: Delivery, now: datetime) -> Check:
    approval = delivery.approval
    revision = approval.revision
    return Check(
        delivery_id=delivery.pk,
        draft_id=delivery.draft_id,
        attempt_number=delivery.attempt_count,
        begun_at=now,
        wants_lookup=delivery.state != DeliveryState.DELIVERED,
        job=Job(
            request=rendering.render(revision, delivery.pk, delivery.config),
            binding=rendering.binding_of(revision),
            delivery_id=delivery.pk,
            settings=rendering.settings_of(delivery.config),
            operation=revision.operation,
            remote_id=delivery.remote_id or None,
        ),
    )


def _record_lookup(*, actor: Actor, clock: Clock, check: Check, found: Lookup) -> int | None:
    require(actor, Verb.WORK)
    seen = Delivery.objects.get(pk=check.delivery_id)
    locks.target(seen.target_id)
    locks.dispatch_claim(seen.target_id)
    draft = locks.draft(check.draft_id)
    delivery = locks.delivery(check.delivery_id)
    now = clock()
    _observe(delivery, check, Observation.Kind.LOOKUP, found.sighting.value, found.reason, found.evidence, now)
    if delivery.attempt_count != check.attempt_number or delivery.state == DeliveryState.DELIVERED:
        return None
    attempt = delivery.attempts.get(number=check.attempt_number)
    if found.sighting == Sighting.FOUND:
        return _found(delivery, draft, attempt, found, actor=actor, now=now)
    if delivery.state != DeliveryState.UNKNOWN and delivery.held_at is None:
        return None  # a late receipt settled it while the remote was asked
    if found.sighting == Sighting.ABSENT and delivery.held_at is None and is_proven_absent(delivery, attempt):
        _absent(delivery, draft, attempt, actor=actor, now=now)
    else:
        _look_again(delivery, draft, found, actor=actor, now=now)
    return None


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


def _found(
    delivery: Delivery, draft: Draft, attempt: Attempt, found: Lookup, *, actor: Actor, now: datetime
) -> int | None:
    moved = record.deliver(delivery, draft, remote_id=found.remote_id or "", reason=found.reason, actor=actor, now=now)
    record.settle_claim(delivery, attempt, known=True, now=now)
    return moved


def _absent(delivery: Delivery, draft: Draft, attempt: Attempt, *, actor: Actor, now: datetime) -> None:
    """Frees a delivery that provably never arrived; only a receiver that dedupes gets it again by itself."""
    can = rendering.capabilities(delivery.config, draft.operation)
    if Capability.IDEMPOTENCY_KEY not in can:
        _wait_for_a_person(delivery, draft, actor=actor, now=now)
        return
    reason = "It is not at the remote, so it is sent again under the same id."
    delivery.wait()
    delivery.reason = reason
    delivery.settled_through = attempt.number
    delivery.next_attempt_at = now
    delivery.next_check_at = None
    delivery.save_move("reason", "settled_through", "next_attempt_at", "next_check_at")
    draft.resend()
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now))
    record.settle_claim(delivery, attempt, known=True, now=now)
    audit.of_draft(draft, actor=actor, action="delivery.absent", now=now, reason=reason)


def _wait_for_a_person(delivery: Delivery, draft: Draft, *, actor: Actor, now: datetime) -> None:
    reason = (
        "It is not at the remote, but the remote cannot tell a repeat from a new one: somebody has to send it again."
    )
    delivery.reason = reason
    delivery.next_check_at = None
    delivery.save_move("reason", "next_check_at")
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="delivery.absent", now=now, reason=reason)


def _look_again(delivery: Delivery, draft: Draft, found: Lookup, *, actor: Actor, now: datetime) -> None:
    delivery.check_count += 1
    delivery.next_check_at = now + _until_next_look(delivery, found.sighting)
    delivery.save_move("check_count", "next_check_at")
    draft.save_move(*draft.touch(now))
    audit.of_draft(
        draft, actor=actor, action="delivery.checked", now=now, reason=found.reason, answer=found.sighting.value
    )


def _until_next_look(delivery: Delivery, sighting: Sighting) -> timedelta:
    """Gives the wait before the next look-up: absence is counted after the lease and the grace, the rest backs off."""
    if sighting == Sighting.ABSENT:
        return timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS)
    return timedelta(seconds=retry.backoff(delivery.check_count, jitter=_random.random()))


def _record_verification(*, actor: Actor, clock: Clock, check: Check, seen: Verification) -> None:
    require(actor, Verb.WORK)
    draft = locks.draft(check.draft_id)
    delivery = locks.delivery(check.delivery_id)
    now = clock()
    _observe(delivery, check, Observation.Kind.VERIFY, seen.match.value, seen.reason, seen.evidence, now)
    if draft.state != DraftState.SUBMITTED:
        return
    delivery.check_count += 1
    if seen.match == Match.UNKNOWN and delivery.check_count < UNREADABLE_AFTER:
        wait = retry.backoff(delivery.check_count, jitter=_random.random())
        delivery.next_check_at = now + timedelta(seconds=wait)
    else:
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
    if match in (Match.DIFFERS, Match.GONE) and _is_overwritten(delivery):
        return Delivery.Verification.REPLACED
    return Delivery.Verification(match.value)


def _is_overwritten(delivery: Delivery) -> bool:
    """True if a newer write to the same exclusive target was delivered."""
    newer = Delivery.objects.filter(target_id=delivery.target_id, kind="write", delivered_at__gt=delivery.delivered_at)
    return delivery.config.channel.is_exclusive and newer.exists()


def _observe(
    delivery: Delivery,
    check: Check,
    kind: Observation.Kind,
    answer: str,
    reason: str,
    evidence: dict[str, object],
    now: datetime,
) -> None:
    Observation.objects.create(
        delivery=delivery,
        kind=kind,
        attempt_number=check.attempt_number,
        answer=answer,
        reason=reason[:1000],
        evidence=evidence,
        begun_at=check.begun_at,
        recorded_at=now,
    )
