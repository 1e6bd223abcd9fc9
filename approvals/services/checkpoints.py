"""Checkpoints: where every chain stood when a heartbeat told the audit sink, so that a cut tail is noticed there.

No chain is locked for it. A head that moves meanwhile is told by the next heartbeat.
"""

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import F

from approvals.models import AuditChain, ChainCheckpoint, Heartbeat

HEADS_AT_MOST = 500


@dataclass(frozen=True, slots=True)
class Head:
    """The newest event of a chain: its number and its hash."""

    chain_id: int
    chain: str
    seq: int
    hash: str

    def told(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "chain_id"}


def moved(*, after: int = 0, limit: int = HEADS_AT_MOST) -> list[int]:
    """Gives chains (by id, from `after` on) whose head is another than the one told last. Needs no transaction.

    Another, not only a later one: a chain that was cut or rewritten is told like this, and the sink can compare.
    """
    chains = AuditChain.objects.filter(pk__gt=after, seq__gt=0)
    told = {"checkpoint__seq": F("seq"), "checkpoint__head": F("head")}
    return list(chains.exclude(**told).order_by("pk").values_list("pk", flat=True)[:limit])


def heads(chain_ids: list[int]) -> list[Head]:
    """Gives the heads of these chains as of now."""
    rows = AuditChain.objects.filter(pk__in=chain_ids).order_by("pk")
    return [Head(*row) for row in rows.values_list("pk", "key", "seq", "head")]


def note(told: list[Head], *, heartbeat: Heartbeat) -> None:
    """Notes what a heartbeat tells. Inside its transaction; one heartbeat is made at a time."""
    rows = [ChainCheckpoint(chain_id=head.chain_id, seq=head.seq, head=head.hash, heartbeat=heartbeat) for head in told]
    known = set(ChainCheckpoint.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))
    ChainCheckpoint.objects.bulk_create(row for row in rows if row.pk not in known)
    ChainCheckpoint.objects.bulk_update(
        [row for row in rows if row.pk in known], ["seq", "head", "heartbeat"], batch_size=100
    )
