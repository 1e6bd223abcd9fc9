"""Reads audit chains from the database in order, in bounded pieces, with no query left open between them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Max, Min, Q

from approvals.models import AuditChain, AuditEvent, Draft
from approvals.services.audit import draft_chain, room_chain

ROWS = 1000
"""Events in memory at once, and the most that one query gives."""
CHAINS = 500
COLUMNS = ("chain_id", "seq", "prev_hash", "hash", "body", "id", "at", "actor", "action", "outcome", "draft_id")


class Head(NamedTuple):
    """A chain and what its head says, with what the newest heartbeat told about it."""

    id: int
    key: str
    seq: int
    hash: str
    told_seq: int | None
    told_hash: str | None
    told_by: int | None


class Row(NamedTuple):
    """One event as its columns say."""

    chain_id: int
    seq: int
    prev_hash: str
    hash: str
    body: str
    id: int
    at: datetime
    actor: str
    action: str
    outcome: str
    draft_id: int | None


class Period(NamedTuple):
    """From `since` on, and before `until`; None is no bound."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_all(self) -> bool:
        return self.since is None and self.until is None


ALL = Period()


def every_chain() -> Iterator[Head]:
    """Gives the heads of all chains, the oldest first."""
    last = 0
    while rows := _heads(Q(pk__gt=last), limit=CHAINS):
        yield from rows
        last = rows[-1].id


def chains_of_room(room_id: int) -> Iterator[Head]:
    """Gives the head of the room's own chain, then those of its drafts, the oldest first."""
    yield from _heads(Q(key=room_chain(room_id)))
    last = 0
    drafts = Draft.objects.filter(room_id=room_id).order_by("pk")
    while ids := list(drafts.filter(pk__gt=last).values_list("pk", flat=True)[:CHAINS]):
        found = {head.key: head for head in _heads(Q(key__in=[draft_chain(pk) for pk in ids]))}
        yield from (found[key] for key in map(draft_chain, ids) if key in found)
        last = ids[-1]


def chain_of_draft(draft_id: int) -> Iterator[Head]:
    yield from _heads(Q(key=draft_chain(draft_id)))


def with_events(heads: Iterable[Head], period: Period = ALL) -> Iterator[tuple[Head, Iterable[Row]]]:
    """Gives each chain with its events, in order; of a period, one stretch without gaps.

    Times in a chain need not rise, for many write to it at once: a stretch runs from its first event in the period to
    its last, whatever stands between. Chains with nothing in the period are left out.
    """
    for group in _groups(heads):
        spans = _spans(group, period)
        kept = [head for head in group if head.id in spans]
        if len(kept) == 1:
            yield kept[0], _long(kept[0], spans[kept[0].id])
        elif kept:
            yield from _short(kept, spans)


def _heads(condition: Q, limit: int | None = None) -> list[Head]:
    names = ("pk", "key", "seq", "head", "checkpoint__seq", "checkpoint__head", "checkpoint__heartbeat_id")
    return [Head(*row) for row in AuditChain.objects.filter(condition).order_by("pk").values_list(*names)[:limit]]


def _groups(heads: Iterable[Head]) -> Iterator[list[Head]]:
    """Puts short chains together for one query, and lets a long one stand alone."""
    group: list[Head] = []
    size = 0
    for head in heads:
        if group and (size + head.seq > ROWS or len(group) >= CHAINS):
            yield group
            group, size = [], 0
        group.append(head)
        size += head.seq
    if group:
        yield group


def _spans(group: list[Head], period: Period) -> dict[int, tuple[int, int | None]]:
    """Gives, for each chain with something in the period, the first and the last event of it."""
    if period.is_all:
        return {head.id: (1, None) for head in group}
    first = Min("seq", filter=Q(at__gte=period.since)) if period.since else Min("seq")
    last = Max("seq", filter=Q(at__lt=period.until)) if period.until else Max("seq")
    events = AuditEvent.objects.filter(chain_id__in=[head.id for head in group]).order_by()
    rows = events.values_list("chain_id").annotate(first=first, last=last)
    return {chain: (low, high) for chain, low, high in rows if low is not None and high is not None and low <= high}


def _short(group: list[Head], spans: dict[int, tuple[int, int | None]]) -> Iterator[tuple[Head, Iterable[Row]]]:
    found: dict[int, list[Row]] = defaultdict(list)
    events = AuditEvent.objects.filter(chain_id__in=[head.id for head in group]).order_by("chain_id", "seq")
    for row in map(Row._make, events.values_list(*COLUMNS)):
        low, high = spans[row.chain_id]
        if row.seq >= low and (high is None or row.seq <= high):
            found[row.chain_id].append(row)
    yield from ((head, found[head.id]) for head in group)


def _long(head: Head, span: tuple[int, int | None]) -> Iterator[Row]:
    low, high = span
    events = AuditEvent.objects.filter(chain_id=head.id).order_by("seq")
    if high is not None:
        events = events.filter(seq__lte=high)
    last = -1 if high is None else low - 1  # a number below 1 is a fault that is to be seen
    while rows := list(map(Row._make, events.filter(seq__gt=last).values_list(*COLUMNS)[:ROWS])):
        yield from rows
        last = rows[-1].seq
