"""What the audit sink must be told, inserted in the transaction that made it true."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import rfc8785
from django.conf import settings

from approvals.domain.actor import Actor
from approvals.models import Approval, OutboxEvent
from approvals.services.audit import stamp

EVENT_SCHEMA = "audit-core.event.v1alpha1"
EventClass = OutboxEvent.EventClass


def emit(
    approval: Approval,
    event_class: OutboxEvent.EventClass,
    *,
    actor: Actor,
    now: datetime,
    reason: str = "",
    superseded_by: UUID | None = None,
) -> OutboxEvent:
    """Inserts one event. Inside atomic, with the approval locked: so the order per approval is defined.

    The payload is stored as the bytes that will be posted, so every retry is byte-equal.
    """
    event_id = uuid4()
    payload: dict[str, Any] = {
        "schema_version": EVENT_SCHEMA,
        "event_id": str(event_id),
        "observed_at": stamp(now),
        "tenant": settings.REVIEWROOM_TENANT,
        "scope": settings.REVIEWROOM_SCOPE,
        "source": "approval-engine",
        "actor": actor.label,
        "action": f"approval.{event_class.value}",
        "resource": f"approval:{approval.pk}",
        "outcome": "success",
        "reason": reason or None,
        "details": _details(approval, event_class, superseded_by),
    }
    return OutboxEvent.objects.create(
        event_id=event_id,
        event_class=event_class,
        approval=approval,
        payload=rfc8785.dumps(payload).decode(),
        created_at=now,
        next_attempt_at=now,
    )


def _details(approval: Approval, event_class: OutboxEvent.EventClass, superseded_by: UUID | None) -> dict[str, Any]:
    return {
        "class": event_class.value,
        "approval_id": str(approval.pk),
        "binding_digest": approval.digest,
        "superseded_by": str(superseded_by) if superseded_by else None,
        "draft_id": approval.draft_id,
        "revision": approval.version,
        "target_id": approval.target_id,
        "target_version": approval.target_version,
    }
