"""What is due: reads for the workers. A read decides nothing; each piece of work is claimed by a conditional write."""

from datetime import datetime
from itertools import groupby, zip_longest
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Min, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from approvals.domain.states import LIVE_APPROVAL, ApprovalState, ClaimState, DeliveryState
from approvals.models import Approval, Delivery, DispatchClaim, TargetReading


class Due(NamedTuple):
    """A target with due work of one room, and since when the oldest of it is due."""

    room_id: int
    since: datetime
    target_id: int


_UNPAUSED = Q(draft__room__paused_at=None, draft__channel__paused_at=None)


def due_approvals(now: datetime) -> QuerySet[Approval]:
    """Gives approved drafts whose first send is due, oldest first; of two due at once the older draft."""
    due = Approval.objects.filter(state=ApprovalState.APPROVED, dispatch_at__isnull=False, dispatch_at__lte=now)
    return due.filter(_UNPAUSED).order_by("dispatch_at", "draft_id")


def due_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Gives deliveries whose next attempt is due, oldest first; an unknown one only where the receiver dedupes."""
    states = (DeliveryState.WAITING, DeliveryState.UNKNOWN)
    due = Delivery.objects.filter(state__in=states, next_attempt_at__isnull=False, next_attempt_at__lte=now)
    return due.filter(_UNPAUSED, held_at=None).order_by("next_attempt_at", "id")


def due_targets(now: datetime, *, limit: int) -> list[int]:
    """Gives the ids of free targets with due work, oldest work first within a room, rooms taking turns.

    Counted per room and target, so that neither a long queue nor a target that has to wait hides the others.
    """
    due = [
        *_oldest_per_target(due_deliveries(now), "next_attempt_at", now, limit),
        *_oldest_per_target(due_approvals(now), "dispatch_at", now, limit),
    ]
    return _taking_turns(due)[:limit]


def due_checks(now: datetime, *, limit: int) -> list[UUID]:
    """Gives the ids of deliveries to look up or read back now."""
    due = Delivery.objects.filter(next_check_at__isnull=False, next_check_at__lte=now)
    return list(due.order_by("next_check_at", "id").values_list("id", flat=True)[:limit])


def due_readings(now: datetime, *, limit: int) -> list[int]:
    """Gives the ids of targets whose reading is due."""
    due = TargetReading.objects.filter(next_read_at__isnull=False, next_read_at__lte=now)
    return list(due.order_by("next_read_at").values_list("target_id", flat=True)[:limit])


def expired_approvals(now: datetime, *, limit: int) -> list[UUID]:
    """Gives the ids of live approvals past their time."""
    live = Q(state=ApprovalState.PENDING) | Q(state=ApprovalState.APPROVED)  # as the index says it
    late = Approval.objects.filter(live, expires_at__lte=now)
    return list(late.order_by("expires_at", "id").values_list("id", flat=True)[:limit])


def lost_claims(now: datetime, *, limit: int) -> list[int]:
    """Gives the targets whose dispatch claim is sending past its lease: somebody died or hangs in the middle."""
    lost = DispatchClaim.objects.filter(state=ClaimState.SENDING, lease_until__lte=now)
    return list(lost.order_by("lease_until").values_list("target_id", flat=True)[:limit])


def live_on_moved_ground(target_id: int) -> list[UUID]:
    """Gives the live approvals of a target that were opened on an older version of it."""
    live = Approval.objects.filter(target_id=target_id, state__in=LIVE_APPROVAL)
    return list(live.filter(target_version__lt=F("target__version")).order_by("id").values_list("id", flat=True))


def _oldest_per_target(due: QuerySet[Any], moment: str, now: datetime, limit: int) -> list[Due]:
    """Gives, of each room, the `limit` free targets whose work has been due longest."""
    state, lease = "target__dispatch_claim__state", "target__dispatch_claim__lease_until__lte"
    free = due.filter(Q(**{state: ClaimState.IDLE}) | Q(**{state: ClaimState.RESERVED, lease: now}))
    oldest = free.order_by().values("draft__room_id", "target_id").annotate(since=Min(moment))
    place = Window(RowNumber(), partition_by="draft__room_id", order_by="since")
    rows = oldest.annotate(place=place).filter(place__lte=limit)
    return [Due(row["draft__room_id"], row["since"], row["target_id"]) for row in rows]


def _taking_turns(due: list[Due]) -> list[int]:
    """Orders targets in turns, one of each room in each turn, and by age within a turn."""
    by_room = [list(group) for _, group in groupby(sorted(due), key=lambda item: item.room_id)]
    turns = (sorted(filter(None, turn), key=lambda item: item.since) for turn in zip_longest(*by_room))
    return list(dict.fromkeys(item.target_id for turn in turns for item in turn))
