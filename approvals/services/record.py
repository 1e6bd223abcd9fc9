"""Record: what a connector returned becomes state. A receipt outranks the sweeper's guess."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.connectors.base import Outcome, Receipt
from approvals.domain.actor import Actor
from approvals.domain.states import ClaimState, DeliveryState
from approvals.models import Attempt, Delivery, DispatchClaim, Draft, Observation
from approvals.permissions import Verb, require
from approvals.services import audit, claims, door, locks, outcomes, pause
from approvals.services.door import Clock, Subject


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a receipt did: `matched` is False for late evidence; `moved_target_id` names a target whose version grew."""

    matched: bool
    moved_target_id: int | None = None


def record(*, actor: Actor, clock: Clock, attempt_id: int, token: UUID, receipt: Receipt) -> Recorded:
    """Finishes an attempt with its receipt and moves delivery, draft and dispatch claim with it.

    A receipt for anything but the newest attempt of a delivery that is sending or unknown is kept as evidence; if it
    says delivered, the delivery is held for a person.
    """
    draft_id = Attempt.objects.values_list("delivery__draft_id", flat=True).get(pk=attempt_id)
    return door.run(
        lambda: _record(actor=actor, clock=clock, attempt_id=attempt_id, token=token, receipt=receipt),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=draft_id),
    )


def keep_prepared(*, attempt_id: int, token: UUID, prepared: dict[str, Any]) -> bool:
    """Stores what the connector fetched before posting; False if the attempt is finished or another's."""
    open_attempt = Attempt.objects.filter(pk=attempt_id, token=token, finished_at=None)
    return bool(open_attempt.update(prepared=prepared))


def lose(*, actor: Actor, clock: Clock, target_id: int) -> bool:
    """Declares a send whose lease ran out unknown; True if this call did. The attempt stays open for a late receipt.

    A lease that ends says nothing about the remote, so this never frees an exclusive target.
    """
    return door.run(lambda: _lose(actor=actor, clock=clock, target_id=target_id), actor=actor, verb=Verb.WORK)


def finish(attempt: Attempt, receipt: Receipt, now: datetime) -> None:
    """Writes the receipt into an open attempt; from then on it never changes. Inside a door, the attempt locked."""
    attempt.finished_at = now
    attempt.outcome = receipt.outcome.value
    attempt.reason = receipt.reason[:1000]
    attempt.evidence = receipt.evidence
    columns = ["finished_at", "outcome", "reason", "evidence"]
    if receipt.spent:
        attempt.prepared = {}
        columns.append("prepared")
    attempt.save(update_fields=columns)


def _record(*, actor: Actor, clock: Clock, attempt_id: int, token: UUID, receipt: Receipt) -> Recorded:
    require(actor, Verb.WORK)
    seen = Attempt.objects.select_related("delivery__draft").get(pk=attempt_id, token=token)
    channel = locks.channel(seen.delivery.draft.channel_id) if receipt.pause else None
    locks.target(seen.delivery.target_id)
    locks.dispatch_claim(seen.delivery.target_id)
    draft = locks.draft(seen.delivery.draft_id)
    delivery = locks.delivery(seen.delivery_id)
    attempt = Attempt.objects.select_for_update().get(pk=attempt_id)
    now = clock()
    if channel is not None:
        pause.pause_channel_in(channel, actor=actor, now=now, reason=receipt.reason)
    if not _matches(attempt, delivery):
        return _keep_late(attempt, delivery, draft, receipt, actor=actor, now=now)
    finish(attempt, receipt, now)
    moved = outcomes.apply(receipt, attempt, delivery, draft, actor=actor, now=now)
    claims.settle(delivery, attempt, known=delivery.state != DeliveryState.UNKNOWN, now=now)
    return Recorded(True, moved)


def _matches(attempt: Attempt, delivery: Delivery) -> bool:
    open_states = (DeliveryState.SENDING, DeliveryState.UNKNOWN)
    newest = attempt.number == delivery.attempt_count
    return newest and attempt.finished_at is None and delivery.state in open_states


def _keep_late(
    attempt: Attempt, delivery: Delivery, draft: Draft, receipt: Receipt, *, actor: Actor, now: datetime
) -> Recorded:
    """Keeps a receipt that came too late to move anything; one that says delivered holds the delivery."""
    Observation.objects.create(
        delivery=delivery,
        kind=Observation.Kind.LATE_RESULT,
        attempt_number=attempt.number,
        answer=receipt.outcome.value,
        reason=receipt.reason[:1000],
        evidence=receipt.evidence,
        begun_at=attempt.started_at,
        recorded_at=now,
    )
    delivered = delivery.state == DeliveryState.DELIVERED
    if receipt.outcome == Outcome.DELIVERED and not delivered:
        delivery.held_at = delivery.next_check_at = now
        delivery.check_count = 0
        if outcomes.is_retraction(delivery):
            delivery.next_check_at = max(now, outcomes.in_flight_until(attempt))
        delivery.save_move("held_at", "next_check_at", "check_count")
        draft.save_move(*draft.touch(now))
    audit.of_draft(
        draft, actor=actor, action="late_result", now=now, reason=receipt.reason, outcome=receipt.outcome.value
    )
    return Recorded(False)


def _lose(*, actor: Actor, clock: Clock, target_id: int) -> bool:
    require(actor, Verb.WORK)
    claim: DispatchClaim = locks.dispatch_claim(target_id)
    if claim.state != ClaimState.SENDING or claim.token is None:
        return False
    attempt = Attempt.objects.select_related("delivery").get(token=claim.token)
    draft = locks.draft(attempt.delivery.draft_id)
    delivery = locks.delivery(attempt.delivery_id)
    now = clock()
    if claim.lease_until is None or claim.lease_until > now:
        return False
    reason = "The worker's lease ended before an answer was recorded, so the outcome is unknown."
    outcomes.to_unknown(delivery, draft, attempt, reason=reason, actor=actor, now=now)
    claims.settle(delivery, attempt, known=False, now=now)
    return True
