"""What is due: reads for the workers. A read decides nothing; each piece of work is claimed by a conditional write."""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby, zip_longest
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from approvals.domain.states import LIVE_APPROVAL, ApprovalState, ClaimState, DeliveryState
from approvals.models import Approval, Delivery, DispatchClaim

_UNPAUSED = Q(draft__room__paused_at=None, draft__channel__paused_at=None)


def due_approvals(now: datetime) -> QuerySet[Approval]:
    """Gives approved drafts whose first send is due, oldest first."""
    due = Approval.objects.filter(state=ApprovalState.APPROVED, dispatch_at__isnull=False, dispatch_at__lte=now)
    return due.filter(_UNPAUSED).order_by("dispatch_at", "id")


def due_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Gives deliveries whose next attempt is due, oldest first; an unknown one only where the receiver dedupes."""
    states = (DeliveryState.WAITING, DeliveryState.UNKNOWN)
    due = Delivery.objects.filter(state__in=states, next_attempt_at__isnull=False, next_attempt_at__lte=now)
    return due.filter(_UNPAUSED, held_at=None).order_by("next_attempt_at", "id")


def due_targets(now: datetime, *, limit: int) -> list[int]:
    """Gives the ids of free targets with due work, oldest work first within a room, rooms taking turns."""
    rows = [
        *due_deliveries(now).values_list("draft__room_id", "target_id", "next_attempt_at")[: limit * 4],
        *due_approvals(now).values_list("draft__room_id", "target_id", "dispatch_at")[: limit * 4],
    ]
    free = _free({target_id for _, target_id, _ in rows}, now)
    return _taking_turns([row for row in rows if row[1] in free])[:limit]


def due_checks(now: datetime, *, limit: int) -> list[UUID]:
    """Gives the ids of deliveries to look up or read back now."""
    due = Delivery.objects.filter(next_check_at__isnull=False, next_check_at__lte=now)
    return list(due.order_by("next_check_at", "id").values_list("id", flat=True)[:limit])


def expired_approvals(now: datetime, *, limit: int) -> list[UUID]:
    """Gives the ids of live approvals past their time."""
    late = Approval.objects.filter(state__in=LIVE_APPROVAL, expires_at__lte=now)
    return list(late.order_by("expires_at", "id").values_list("id", flat=True)[:limit])


def lost_claims(now: datetime, *, limit: int) -> list[int]:
    """Gives the targets whose dispatch claim is sending past its lease: somebody died or hangs in the middle."""
    lost = DispatchClaim.objects.filter(state=ClaimState.SENDING, lease_until__lte=now)
    return list(lost.order_by("lease_until").values_list("target_id", flat=True)[:limit])


def live_on_moved_ground(target_id: int) -> list[UUID]:
    """Gives the live approvals of a target that were opened on an older version of it."""
    live = Approval.objects.filter(target_id=target_id, state__in=LIVE_APPROVAL)
    return list(live.filter(target_version__lt=F("target__version")).order_by("id").values_list("id", flat=True))


def _free(target_ids: set[int], now: datetime) -> set[int]:
    free = Q(state=ClaimState.IDLE) | Q(state=ClaimState.RESERVED, lease_until__lte=now)
    return set(DispatchClaim.objects.filter(free, target_id__in=target_ids).values_list("target_id", flat=True))


def _taking_turns(rows: list[Any]) -> list[int]:
    ordered = sorted(rows, key=lambda row: (row[0], row[2]))
    by_room: list[Iterable[int]] = [
        dict.fromkeys(target_id for _, target_id, _ in group) for _, group in groupby(ordered, key=lambda row: row[0])
    ]
    turns = zip_longest(*by_room)
    return list(dict.fromkeys(target_id for turn in turns for target_id in turn if target_id is not None))
