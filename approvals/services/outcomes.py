"""What an outcome does to a delivery and its draft, for writes and retractions alike.

Bodies only: target, dispatch claim, draft and delivery are locked by the caller, and the claim is settled by it.
"""

from datetime import datetime, timedelta
from random import SystemRandom

from django.conf import settings
from django.db.models import F, Q

from approvals.connectors.base import Capability, Outcome, Receipt
from approvals.domain import retry
from approvals.domain.actor import Actor
from approvals.domain.states import DRAFT, DeliveryState, DraftState
from approvals.models import Attempt, Delivery, Draft, Target
from approvals.services import audit, readings, rendering

_random = SystemRandom()
_MOVE = {
    "lose": ("lose", "lose_retraction"),
    "fail": ("fail", "fail_retraction"),
    "resend": ("resend", "retry_retraction"),
}
"""The draft's verb for what happens to its write, and to its retraction."""


def is_retraction(delivery: Delivery) -> bool:
    return delivery.kind == Delivery.Kind.RETRACT


def in_flight_until(attempt: Attempt) -> datetime:
    """Gives when a request of this attempt, and whatever the network still holds of it, has surely acted or never will.

    A finished attempt made its request before it ended; the worker of an open one may make it until its lease ends.
    """
    last = attempt.finished_at or attempt.lease_until
    return last + timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS)


def horizon(delivery: Delivery) -> datetime:
    """Gives until when a stopped worker may still wake and send: the latest lease end of all attempts, plus grace."""
    leases = delivery.attempts.values_list("lease_until", flat=True)
    latest = max(leases, default=delivery.created_at)
    return latest + timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS)


def apply(
    receipt: Receipt, attempt: Attempt, delivery: Delivery, draft: Draft, *, actor: Actor, now: datetime
) -> int | None:
    """Moves delivery and draft by a receipt; while an earlier attempt is unknown, a no speaks only for itself.

    Gives the id of an exclusive target whose version grew.
    """
    if receipt.outcome == Outcome.DELIVERED:
        remote_id = receipt.remote_id or ""
        return deliver(delivery, draft, remote_id=remote_id, reason=receipt.reason, actor=actor, now=now)
    if receipt.outcome == Outcome.UNKNOWN or has_unknown_before(delivery, attempt.number):
        asked = receipt.retry_after_seconds
        to_unknown(delivery, draft, attempt, reason=receipt.reason, asked_seconds=asked, actor=actor, now=now)
    elif receipt.outcome == Outcome.REFUSED:
        to_refused(delivery, draft, attempt, reason=receipt.reason, actor=actor, now=now)
    else:
        _to_waiting(delivery, draft, attempt, receipt, actor=actor, now=now)
    return None


def has_unknown_before(delivery: Delivery, number: int) -> bool:
    """True while an earlier attempt may have arrived: neither refused nor proven absent."""
    earlier = delivery.attempts.filter(number__gt=delivery.settled_through, number__lt=number)
    return earlier.filter(Q(outcome=Attempt.Outcome.UNKNOWN) | Q(finished_at=None)).exists()


def deliver(
    delivery: Delivery, draft: Draft, *, remote_id: str, reason: str, actor: Actor, now: datetime
) -> int | None:
    """Moves a delivery to delivered, and with a write its draft; an exclusive target's version grows once.

    A retraction that the remote accepted proves nothing yet: its draft moves only when it reads back as gone.
    """
    delivery.deliver()
    if remote_id and not is_retraction(delivery):
        delivery.remote_id = remote_id
    delivery.reason = ""
    delivery.delivered_at = now
    delivery.next_attempt_at = None
    delivery.next_check_at = _first_read_back(delivery, now)
    delivery.check_count = 0
    delivery.held_at = None
    delivery.save_move(
        "remote_id", "reason", "delivered_at", "next_attempt_at", "next_check_at", "check_count", "held_at"
    )
    if not is_retraction(delivery):
        draft.deliver()
        draft.reason = ""
        _tell_original(draft)
    elif delivery.next_check_at is None and draft.state == DraftState.RETRACTING:
        draft.lose_retraction()
        draft.reason = "The remote accepted it, but this channel cannot read back whether it is gone."
    draft.save_move("reason", *draft.touch(now))
    audit.of_draft(
        draft,
        actor=actor,
        action=_action(delivery, "delivered"),
        now=now,
        reason=reason,
        delivery_id=str(delivery.pk),
        remote_id=delivery.remote_id,
    )
    return _grow(delivery, now)


def to_unknown(
    delivery: Delivery,
    draft: Draft,
    attempt: Attempt,
    *,
    reason: str,
    actor: Actor,
    now: datetime,
    asked_seconds: float | None = None,
) -> None:
    """Says that nobody knows. What can be looked up is; what cannot but dedupes is sent again; the rest waits."""
    delivery.reason = reason[:1000]
    delivery.check_count = 0
    _plan_for_unknown(delivery, draft, attempt, asked_seconds, now)
    columns = ("reason", "check_count", "next_check_at", "next_attempt_at")
    if delivery.state == DeliveryState.SENDING:
        delivery.lose()
        move_draft(draft, delivery, "lose")
    delivery.save_move(*columns)
    draft.reason = reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    _tell(delivery, draft, "unknown", reason=reason, actor=actor, now=now)


def to_refused(delivery: Delivery, draft: Draft, attempt: Attempt, *, reason: str, actor: Actor, now: datetime) -> None:
    """Ends a delivery with a no that speaks for all its attempts."""
    delivery.refuse()
    delivery.reason = reason[:1000]
    delivery.settled_through = attempt.number
    delivery.next_check_at = delivery.next_attempt_at = None
    delivery.save_move("reason", "settled_through", "next_check_at", "next_attempt_at")
    move_draft(draft, delivery, "fail")
    draft.reason = reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    _tell(delivery, draft, "refused", reason=reason, actor=actor, now=now)


def move_draft(draft: Draft, delivery: Delivery, what: str) -> None:
    """Calls the draft's verb for what happened to its write or its retraction; saved by the caller."""
    getattr(draft, _MOVE[what][is_retraction(delivery)])()


def back_to_waiting(draft: Draft, delivery: Delivery) -> None:
    """Moves the draft of a delivery that waits again, where it does not stand there already."""
    verb = _MOVE["resend"][is_retraction(delivery)]
    if draft.state in DRAFT.edge(verb).sources:
        getattr(draft, verb)()


def _to_waiting(
    delivery: Delivery, draft: Draft, attempt: Attempt, receipt: Receipt, *, actor: Actor, now: datetime
) -> None:
    delivery.wait()
    delivery.reason = receipt.reason[:1000]
    delivery.settled_through = attempt.number
    delivery.next_attempt_at = now + _pause_before(attempt.number, receipt.retry_after_seconds)
    delivery.next_check_at = None
    delivery.save_move("reason", "settled_through", "next_attempt_at", "next_check_at")
    back_to_waiting(draft, delivery)
    draft.reason = receipt.reason[:1000]
    draft.save_move("reason", *draft.touch(now))
    _tell(delivery, draft, "waiting", reason=receipt.reason, actor=actor, now=now)


def _plan_for_unknown(
    delivery: Delivery, draft: Draft, attempt: Attempt, asked_seconds: float | None, now: datetime
) -> None:
    """Sets when the remote is asked, or sent to again. A retraction is never sent again on a guess: it is read back."""
    can = rendering.capabilities(delivery.config, draft.operation)
    delivery.next_attempt_at = delivery.next_check_at = None
    if is_retraction(delivery):
        if Capability.VERIFY in can:
            delivery.next_check_at = max(now, in_flight_until(attempt))
    elif Capability.LOOKUP in can:
        delivery.next_check_at = now
    elif Capability.IDEMPOTENCY_KEY in can and not delivery.config.channel.is_exclusive:
        delivery.next_attempt_at = now + _pause_before(delivery.attempt_count, asked_seconds)


def _first_read_back(delivery: Delivery, now: datetime) -> datetime | None:
    """Gives when a delivered write is compared, and when a retraction counts as gone; None if it cannot be read."""
    if not is_retraction(delivery):
        return now
    if Capability.VERIFY not in rendering.capabilities(delivery.config, delivery.draft.operation):
        return None
    return now + timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS)


def _tell_original(draft: Draft) -> None:
    """Counts a change of the draft that this one corrects: from now on it reads as corrected."""
    Draft.objects.filter(pk=draft.corrects_id).update(seq=F("seq") + 1)


def _grow(delivery: Delivery, now: datetime) -> int | None:
    """Counts a change of an exclusive target, and asks for it to be read for whoever reviews the next draft."""
    if not delivery.config.channel.is_exclusive:
        return None
    Target.objects.filter(pk=delivery.target_id).update(version=F("version") + 1)
    readings.schedule(delivery.target_id, now)
    return delivery.target_id


def _pause_before(attempts: int, asked_seconds: float | None = None) -> timedelta:
    """Gives the wait before the next attempt: back-off with jitter, and never less than the remote asked for."""
    own = retry.backoff(attempts, jitter=_random.random())
    return timedelta(seconds=max(own, asked_seconds or 0.0))


def _action(delivery: Delivery, what: str) -> str:
    return f"retraction.{what}" if is_retraction(delivery) else f"delivery.{what}"


def _tell(delivery: Delivery, draft: Draft, what: str, *, reason: str, actor: Actor, now: datetime) -> None:
    audit.of_draft(
        draft, actor=actor, action=_action(delivery, what), now=now, reason=reason, delivery_id=str(delivery.pk)
    )
