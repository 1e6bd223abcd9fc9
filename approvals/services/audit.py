"""The local history: append-only, hash-chained, written in the transaction of the change it tells of."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import rfc8785
from django.db import transaction

from approvals.domain.actor import Actor
from approvals.domain.errors import LostRace, Refusal
from approvals.models import AuditChain, AuditEvent, Draft, Room
from approvals.models.clock import database_now

SYSTEM_CHAIN = "system"
REFUSALS_PER_MINUTE = 60
"""Beyond this many an actor's refusals are only counted by metrics, so that nobody can flood the history."""


def draft_chain(draft_id: int) -> str:
    return f"draft:{draft_id}"


def room_chain(room_id: int) -> str:
    return f"room:{room_id}"


def append(
    *,
    chain: str,
    actor: Actor,
    action: str,
    now: datetime,
    draft_id: int | None = None,
    outcome: str = "success",
    reason: str = "",
    details: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Adds one link to a chain. Inside atomic only; the chain's head is the last lock a transaction takes."""
    head, _ = AuditChain.objects.select_for_update().get_or_create(key=chain)
    facts = {
        "at": stamp(now),
        "actor": {"label": actor.label, "user_id": actor.user_id, "via": actor.via, "address": actor.address},
        "correlation_id": actor.correlation_id,
        "action": action,
        "outcome": outcome,
        "reason": reason,
        "draft_id": draft_id,
        "details": dict(details or {}),
    }
    return _link(head, facts, actor=actor, now=now)


def _link(head: AuditChain, facts: dict[str, Any], *, actor: Actor, now: datetime) -> AuditEvent:
    """Hashes the facts onto the head of a chain and moves the head by a conditional write."""
    place: dict[str, Any] = {"chain": head.key, "seq": head.seq + 1, "prev_hash": head.head}
    body = rfc8785.dumps(place | facts).decode()
    link = hashlib.sha256(body.encode()).hexdigest()
    if not AuditChain.objects.filter(pk=head.pk, seq=head.seq).update(seq=head.seq + 1, head=link):
        raise LostRace(f"audit chain {head.key}")
    return AuditEvent.objects.create(
        chain=head,
        seq=head.seq + 1,
        at=now,
        actor=actor.label,
        action=facts["action"],
        outcome=facts["outcome"],
        draft_id=facts["draft_id"],
        body=body,
        prev_hash=head.head,
        hash=link,
    )


def of_draft(draft: Draft, *, actor: Actor, action: str, now: datetime, reason: str = "", **details: Any) -> AuditEvent:
    """Adds a link to the draft's own chain, with where the draft stands after the change."""
    facts = {"state": draft.state, "version": draft.version, **details}
    return append(
        chain=draft_chain(draft.pk),
        actor=actor,
        action=action,
        now=now,
        draft_id=draft.pk,
        reason=reason,
        details=facts,
    )


def of_room(room: Room, *, actor: Actor, action: str, now: datetime, reason: str = "", **details: Any) -> AuditEvent:
    """Adds a link to the room's chain: members, policy, channels, pauses."""
    return append(chain=room_chain(room.pk), actor=actor, action=action, now=now, reason=reason, details=details)


def record_refusal(
    *, actor: Actor, verb: str, refusal: Refusal, draft_id: int | None = None, room_id: int | None = None
) -> None:
    """Records, in a transaction of its own, that something was asked for and refused. Call it after the rollback.

    What strangers ask for goes to the system chain: a draft's own history holds only its room's people.
    """
    with transaction.atomic():
        now = database_now()
        if _is_flood(actor, now):
            return
        append(
            chain=_refusal_chain(refusal, draft_id, room_id),
            actor=actor,
            action=f"{verb}.refused",
            now=now,
            draft_id=None if refusal.code == "not_found" else draft_id,
            outcome="refused",
            reason=str(refusal),
            details={"code": refusal.code, "asked_for_draft": _storable(draft_id)},
        )


def stamp(moment: datetime) -> str:
    """Gives RFC 3339 in UTC with microseconds: `2026-11-30T12:00:00.000000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _storable(number: int | None) -> int | str | None:
    """Gives a number as it is while canonical JSON can hold it; whoever asks may name any number."""
    return number if number is None or number < 2**53 else str(number)


def _refusal_chain(refusal: Refusal, draft_id: int | None, room_id: int | None) -> str:
    if refusal.code == "not_found":
        return SYSTEM_CHAIN
    if draft_id is not None and Draft.objects.filter(pk=draft_id).exists():
        return draft_chain(draft_id)
    return room_chain(room_id) if room_id is not None else SYSTEM_CHAIN


def _is_flood(actor: Actor, now: datetime) -> bool:
    recent = AuditEvent.objects.filter(actor=actor.label, outcome="refused", at__gt=now - timedelta(minutes=1))
    return recent[:REFUSALS_PER_MINUTE].count() >= REFUSALS_PER_MINUTE
