"""What the database holds: all of it, to be compared, and the histories in it, to be read."""

import json
from collections import Counter
from typing import Any

from django.apps import apps

from approvals.models import Approval, AuditEvent, Draft, OutboxEvent

Rows = dict[str, Counter[str]]


def rows() -> Rows:
    """Every row of every table, the audit apart."""
    return {
        model.__name__: Counter(repr(row) for row in model._default_manager.values_list())
        for model in apps.get_app_config("approvals").get_models(include_auto_created=True)
        if model.__name__ not in ("AuditChain", "AuditEvent")
    }


def actions(draft: Draft) -> list[str]:
    """What happened to a draft, oldest first."""
    return list(AuditEvent.objects.filter(draft=draft).order_by("id").values_list("action", flat=True))


def last_event(**where: Any) -> dict[str, Any]:
    """The body of the newest audit event."""
    event = AuditEvent.objects.filter(**where).order_by("-id").first()
    assert event is not None
    return json.loads(event.body)


def refusals() -> list[tuple[str, str]]:
    """Every recorded refusal as (action, code), oldest first."""
    bodies = AuditEvent.objects.filter(outcome="refused").order_by("id").values_list("body", flat=True)
    return [(body["action"], body["details"]["code"]) for body in map(json.loads, bodies)]


def emitted(approval: Approval | None = None) -> list[str]:
    """The classes of the outbox events, of one approval or of all, in the order of their rows."""
    events = OutboxEvent.objects.order_by("id")
    events = events.filter(approval=approval) if approval else events
    return list(events.values_list("event_class", flat=True))


def outcome(approval: Approval) -> str:
    """The state of an approval as it is stored now."""
    return Approval.objects.values_list("state", flat=True).get(pk=approval.pk)
