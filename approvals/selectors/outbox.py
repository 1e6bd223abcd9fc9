"""How the outbox stands: what waits, since when, what is parked, and what is held back behind it."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet

from approvals.models import OutboxEvent, SinkState

ENDINGS = (OutboxEvent.EventClass.REVOCATION, OutboxEvent.EventClass.SUPERSESSION)
"""What tells that an approval no longer holds: late news of these is what somebody may act on wrongly."""


def undrained() -> QuerySet[OutboxEvent]:
    """Gives what the sink does not have yet."""
    return OutboxEvent.objects.filter(drained_at=None)


def parked() -> QuerySet[OutboxEvent]:
    """Gives what the sink will not take as it is; tried again every hour. What is drained is parked no more."""
    return OutboxEvent.objects.filter(parked_at__isnull=False)


def held() -> QuerySet[OutboxEvent]:
    """Gives what waits behind a parked event of its approval."""
    return undrained().filter(is_held(), parked_at=None, approval__in=parked().values("approval"))


def held_endings() -> int:
    """Gives how many revocations and supersessions are held."""
    return held().filter(event_class__in=ENDINGS).count()


def is_held() -> Exists:
    """Gives the condition that an earlier event of the same approval is parked."""
    return Exists(parked().filter(approval=OuterRef("approval"), id__lt=OuterRef("id")))


def oldest() -> OutboxEvent | None:
    """Gives the event that waits longest."""
    return undrained().order_by("id").first()


def lag(now: datetime) -> timedelta:
    """Gives how long the oldest event has been waiting."""
    event = oldest()
    return max(now - event.created_at, timedelta(0)) if event else timedelta(0)


def waiting_for(now: datetime) -> QuerySet[OutboxEvent]:
    """Gives what is not tried before some later time: parked or postponed."""
    return undrained().filter(Q(parked_at__isnull=False) | Q(next_attempt_at__gt=now))


def sink_state() -> SinkState:
    """Gives how the sink stands; open if nobody has said otherwise."""
    return SinkState.objects.first() or SinkState()
