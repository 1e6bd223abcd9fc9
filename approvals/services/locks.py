"""Row locks, always in this order: room, channel, target, dispatch claim, draft, approval, delivery, audit head.

On SQLite they are nothing (Django drops them) and nothing relies on them: the transaction itself is the lock there,
and every move is a conditional UPDATE anyway.
"""

from typing import TypeVar
from uuid import UUID

from approvals.domain.errors import NotFound
from approvals.models import Approval, Channel, Delivery, DispatchClaim, Draft, Room, Target

T = TypeVar("T")


def room(room_id: int) -> Room:
    return _found(Room.objects.select_for_update().filter(pk=room_id).first())


def channel(channel_id: int) -> Channel:
    return _found(Channel.objects.select_for_update(of=("self",)).select_related("room").filter(pk=channel_id).first())


def target(target_id: int) -> Target:
    return _found(Target.objects.select_for_update().filter(pk=target_id).first())


def dispatch_claim(target_id: int) -> DispatchClaim:
    claims = DispatchClaim.objects.select_for_update(of=("self",)).select_related("target")
    claim: DispatchClaim = _found(claims.filter(target_id=target_id).first())
    return claim


def draft(draft_id: int) -> Draft:
    """Locks a draft, then reads it and what it points to as they are now.

    In one statement PostgreSQL would, after a wait, join the new draft with rows from before it: a draft that was
    meanwhile given another target would seem not to exist.
    """
    _found(Draft.objects.select_for_update().filter(pk=draft_id).values("pk").first())
    drafts = Draft.objects.select_related("room", "channel__room", "channel__config", "target")
    found: Draft = _found(drafts.filter(pk=draft_id).first())
    return found


def approval(approval_id: UUID | None, *, draft: Draft) -> Approval:
    """Locks an approval of a locked draft; its `draft` is that very object."""
    approvals = Approval.objects.select_for_update(of=("self",)).select_related("revision", "target", "config__channel")
    found: Approval = _found(approvals.filter(pk=approval_id).first())
    found.draft = draft
    return found


def delivery(delivery_id: UUID) -> Delivery:
    deliveries = Delivery.objects.select_for_update(of=("self",)).select_related("config__channel", "target")
    found: Delivery = _found(deliveries.filter(pk=delivery_id).first())
    return found


def _found(row: T | None) -> T:
    if row is None:
        raise NotFound()
    return row
