"""Verify the audit chains: every link recomputed from its stored body, every head from its links."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from approvals.domain.errors import Refusal
from approvals.domain.strict_json import parse_json
from approvals.models import AuditChain, AuditEvent
from approvals.services.audit import stamp

ROWS = 1000
NO_LINK = "0" * 64


def problems(seen: Counter[str]) -> Iterator[str]:
    """Gives the first fault of each chain: what follows a broken link proves nothing."""
    heads = {chain.pk: chain for chain in AuditChain.objects.order_by("pk")}
    seen["chains"] = len(heads)
    events = AuditEvent.objects.order_by("chain_id", "seq").iterator(chunk_size=ROWS)
    for chain_id, links in groupby(events, key=lambda event: event.chain_id):
        yield from _chain(heads.pop(chain_id), links, seen)
    for chain in heads.values():
        if (chain.seq, chain.head) != (0, NO_LINK):
            yield f"Chain {chain.key}: all of its {chain.seq} events are gone."


def facts(text: str) -> dict[str, Any]:
    """Gives a stored JSON object; an empty one for text that is none, so that a check can go on and say so."""
    try:
        value = parse_json(text)
    except Refusal:
        return {}
    return value if isinstance(value, dict) else {}


def _chain(chain: AuditChain, links: Iterator[AuditEvent], seen: Counter[str]) -> Iterator[str]:
    seq, link, fault = 0, NO_LINK, ""
    for event in links:
        seen["events"] += 1
        fault = fault or _fault(event, chain.key, seq + 1, link)
        seq, link = event.seq, event.hash
    if fault:
        yield f"Chain {chain.key}: {fault}"
    elif (chain.seq, chain.head) != (seq, link):
        yield f"Chain {chain.key}: its head speaks of event {chain.seq}, but the last one there is event {seq}."


def _fault(event: AuditEvent, key: str, seq: int, link: str) -> str:
    """Says what is wrong with one link; empty if nothing is."""
    if event.seq != seq:
        return f"event {seq} is missing (row {event.pk} is event {event.seq})."
    if event.prev_hash != link:
        return f"event {seq} (row {event.pk}) does not follow the one before it."
    if hashlib.sha256(event.body.encode()).hexdigest() != event.hash:
        return f"event {seq} (row {event.pk}) was altered: its body does not match its hash."
    body = facts(event.body)
    wrong = [name for name, value in _columns(event, key).items() if value != _said(body, name)]
    return f"event {seq} (row {event.pk}) was altered: its {wrong[0]} differs from its body." if wrong else ""


def _said(body: dict[str, Any], name: str) -> Any:
    actor = body.get("actor")
    return (actor.get("label") if isinstance(actor, dict) else None) if name == "actor" else body.get(name)


def _columns(event: AuditEvent, key: str) -> dict[str, Any]:
    return {
        "chain": key,
        "seq": event.seq,
        "prev_hash": event.prev_hash,
        "at": stamp(event.at),
        "actor": event.actor,
        "action": event.action,
        "outcome": event.outcome,
        "draft_id": event.draft_id,
    }
