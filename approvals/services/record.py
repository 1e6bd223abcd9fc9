"""Record: what a connector returned becomes state. A receipt outranks the sweeper's guess."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from approvals.connectors.base import Capability, Outcome, Receipt
from approvals.domain import retry
from approvals.domain.actor import Actor
from approvals.domain.states import ClaimState, DeliveryState, DraftState
from approvals.models import Attempt, Delivery, DispatchClaim, Draft, Observation, Target
from approvals.permissions import Verb, require
from approvals.services import audit, door, locks, pause, rendering
from approvals.services.door import Clock, Subject

_random = SystemRandom()


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


def has_unknown_before(delivery: Delivery, number: int) -> bool:
    """True while an earlier attempt may have arrived: neither refused nor proven absent."""
    earlier = delivery.attempts.filter(number__gt=delivery.settled_through, number__lt=number)
    return earlier.filter(Q(outcome=Attempt.Outcome.UNKNOWN) | Q(finished_at=None)).exists()


def settle_claim(delivery: Delivery, attempt: Attempt, *, known: bool, now: datetime) -> None:
    """Moves the dispatch claim with the outcome, if it still serves this attempt.

    A reservation for sending once more what proves to be delivered is let go: nobody else would ever come for it.
    """
    claim = locks.dispatch_claim(delivery.target_id)
    serves = (claim.epoch, claim.token) == (attempt.epoch, attempt.token)
    if serves and claim.state == ClaimState.SENDING:
        keeps = not known and delivery.config.channel.is_exclusive
        claim.lose() if keeps else claim.settle()
    elif serves and claim.state == ClaimState.UNCERTAIN and known:
        claim.clear()
    elif claim.state == ClaimState.RESERVED and _is_needless(claim, delivery):
        claim.release()
    else:
        return
    claim.changed_at = now
    claim.save_move("changed_at", epoch=claim.epoch, token=claim.token)


def deliver(
    delivery: Delivery, draft: Draft, *, remote_id: str, reason: str, actor: Actor, now: datetime
) -> int | None:
    """Moves delivery and draft to delivered; an exclusive target's version grows once. Gives that target's id.

    Inside a door, with target, dispatch claim, draft and delivery locked.
    """
    delivery.deliver()
    delivery.remote_id = remote_id
    delivery.reason = ""
    delivery.delivered_at = now
    delivery.next_attempt_at = None
    delivery.next_check_at = now
    delivery.check_count = 0
    delivery.held_at = None
    delivery.save_move(
        "remote_id", "reason", "delivered_at", "next_attempt_at", "next_check_at", "check_count", "held_at"
    )
    draft.deliver()
    draft.reason = ""
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(
        draft,
        actor=actor,
        action="delivery.delivered",
        now=now,
        reason=reason,
        delivery_id=str(delivery.pk),
        remote_id=remote_id,
    )
    if not delivery.config.channel.is_exclusive:
        return None
    Target.objects.filter(pk=delivery.target_id).update(version=F("version") + 1)
    return delivery.target_id


def _is_needless(claim: DispatchClaim, delivery: Delivery) -> bool:
    return claim.delivery_id == delivery.pk and delivery.state == DeliveryState.DELIVERED


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
    _finish(attempt, receipt, now)
    moved = _apply(receipt, attempt, delivery, draft, actor=actor, now=now)
    known = delivery.state != DeliveryState.UNKNOWN
    settle_claim(delivery, attempt, known=known, now=now)
    return Recorded(True, moved)


def _matches(attempt: Attempt, delivery: Delivery) -> bool:
    open_states = (DeliveryState.SENDING, DeliveryState.UNKNOWN)
    newest = attempt.number == delivery.attempt_count
    return newest and attempt.finished_at is None and delivery.state in open_states


def _finish(attempt: Attempt, receipt: Receipt, now: datetime) -> None:
    attempt.finished_at = now
    attempt.outcome = receipt.outcome.value
    attempt.reason = receipt.reason[:1000]
    attempt.evidence = receipt.evidence
    columns = ["finished_at", "outcome", "reason", "evidence"]
    if receipt.spent:
        attempt.prepared = {}
        columns.append("prepared")
    attempt.save(update_fields=columns)


def _apply(
    receipt: Receipt, attempt: Attempt, delivery: Delivery, draft: Draft, *, actor: Actor, now: datetime
) -> int | None:
    """Moves delivery and draft by the receipt; while an earlier attempt is unknown, a no speaks only for itself."""
    if receipt.outcome == Outcome.DELIVERED:
        return deliver(delivery, draft, remote_id=receipt.remote_id or "", reason=receipt.reason, actor=actor, now=now)
    if receipt.outcome == Outcome.UNKNOWN or has_unknown_before(delivery, attempt.number):
        asked = receipt.retry_after_seconds
        _to_unknown(delivery, draft, reason=receipt.reason, asked_seconds=asked, actor=actor, now=now)
    elif receipt.outcome == Outcome.REFUSED:
        _to_refused(delivery, draft, attempt, reason=receipt.reason, actor=actor, now=now)
    else:
        _to_waiting(delivery, draft, attempt, receipt, actor=actor, now=now)
    return None


def _to_unknown(
    delivery: Delivery, draft: Draft, *, reason: str, actor: Actor, now: datetime, asked_seconds: float | None = None
) -> None:
    """Says that nobody knows. What can be looked up is; what cannot but dedupes is sent again; the rest waits."""
    can = rendering.capabilities(delivery.config, draft.operation)
    delivery.reason = reason[:1000]
    delivery.check_count = 0
    delivery.next_check_at = now if Capability.LOOKUP in can else None
    resends = Capability.IDEMPOTENCY_KEY in can and Capability.LOOKUP not in can
    resends = resends and not delivery.config.channel.is_exclusive
    delivery.next_attempt_at = now + _pause_before(delivery.attempt_count, asked_seconds) if resends else None
    columns = ("reason", "check_count", "next_check_at", "next_attempt_at")
    if delivery.state == DeliveryState.SENDING:
        delivery.lose()
        delivery.save_move(*columns)
        draft.lose()
    else:
        delivery.save_move(*columns)
    draft.reason = reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="delivery.unknown", now=now, reason=reason, delivery_id=str(delivery.pk))


def _to_refused(
    delivery: Delivery, draft: Draft, attempt: Attempt, *, reason: str, actor: Actor, now: datetime
) -> None:
    delivery.refuse()
    delivery.reason = reason[:1000]
    delivery.settled_through = attempt.number
    delivery.next_check_at = None
    delivery.save_move("reason", "settled_through", "next_check_at")
    draft.fail()
    draft.reason = reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(draft, actor=actor, action="delivery.refused", now=now, reason=reason, delivery_id=str(delivery.pk))


def _to_waiting(
    delivery: Delivery, draft: Draft, attempt: Attempt, receipt: Receipt, *, actor: Actor, now: datetime
) -> None:
    delivery.wait()
    delivery.reason = receipt.reason[:1000]
    delivery.settled_through = attempt.number
    delivery.next_attempt_at = now + _pause_before(attempt.number, receipt.retry_after_seconds)
    delivery.next_check_at = None
    delivery.save_move("reason", "settled_through", "next_attempt_at", "next_check_at")
    if draft.state == DraftState.DELIVERY_UNKNOWN:
        draft.resend()
    draft.reason = receipt.reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(
        draft, actor=actor, action="delivery.waiting", now=now, reason=receipt.reason, delivery_id=str(delivery.pk)
    )


def _pause_before(attempts: int, asked_seconds: float | None = None) -> timedelta:
    """Gives the wait before the next attempt: back-off with jitter, and never less than the remote asked for."""
    own = retry.backoff(attempts, jitter=_random.random())
    return timedelta(seconds=max(own, asked_seconds or 0.0))


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
        delivery.held_at = now
        delivery.next_check_at = now
        delivery.save_move("held_at", "next_check_at")
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
    _to_unknown(delivery, draft, reason=reason, actor=actor, now=now)
    settle_claim(delivery, attempt, known=False, now=now)
    return True
