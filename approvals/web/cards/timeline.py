"""The history of a draft: its audit events in words, newest first."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.domain.binding import short
from approvals.models import AuditEvent


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    icon: str
    who: str
    text: str
    note: str
    ground: str


@dataclass(frozen=True, slots=True)
class History:
    events: list[Event]
    summary: str


PHRASES = {
    "draft.proposed": ("status-draft", "proposed revision {version}"),
    "draft.submitted": ("status-in_review", "submitted revision {version} for review"),
    "draft.revised": ("pencil", "wrote revision {version}"),
    "draft.saved": ("pencil", "saved"),
    "draft.changes_requested": ("status-changes_requested", "sent it back for changes"),
    "draft.rejected": ("status-rejected", "rejected it: the threshold is met"),
    "draft.expired": ("status-expired", "closed it: time ran out"),
    "draft.revoked": ("status-revoked", "revoked it"),
    "draft.withdrawn": ("status-revoked", "withdrew it"),
    "draft.reopened": ("status-in_review", "sent it back to review"),
    "draft.confirmed": ("status-confirmed", "read it back: it is there"),
    "approval.opened": ("ring", "opened the review of revision {version}"),
    "approval.approved": ("status-approved", "completed the approvals needed"),
    "approval.superseded": ("status-superseded", "replaced an approval by a newer one"),
    "approval.revoked": ("status-revoked", "ended an approval: revoked"),
    "approval.expired": ("status-expired", "ended an approval: expired"),
    "approval.rejected": ("status-rejected", "ended the review"),
    "decision.taken_back": ("bar", "took back their decision"),
    "draft.retracted": ("status-retracted", "saw that it is gone"),
    "dispatch.requested": ("status-submitting", "had it sent now"),
    "dispatch.reserved": ("clock", "reserved the target"),
    "dispatch.released": ("clock", "released the target"),
    "dispatch.began": ("status-submitting", "began to send: attempt {attempt}"),
    "dispatch.resumed": ("status-submitting", "began to send again: attempt {attempt}"),
    "delivery.delivered": ("status-submitted", "recorded: the remote took it as {remote_id}"),
    "delivery.unknown": ("status-delivery_unknown", "recorded: the outcome is unknown"),
    "delivery.refused": ("status-failed", "recorded: the remote refused it"),
    "delivery.waiting": ("clock", "recorded: nothing was sent"),
    "delivery.absent": ("alert", "proved that it is not at the remote"),
    "delivery.checked": ("search", "looked at the remote"),
    "delivery.unsettled": ("status-delivery_unknown", "gave up looking: a person has to settle it"),
    "delivery.look_requested": ("search", "had the remote checked"),
    "delivery.retried": ("status-submitting", "had it tried again"),
    "delivery.sent_again": ("status-submitting", "had it sent again"),
    "delivery.resolved": ("pencil", "recorded what is at the remote: {outcome}"),
    "delivery.released": ("tick", "settled the late evidence: it did not happen"),
    "delivery.cancelled": ("status-failed", "cancelled the delivery"),
    "retraction.requested": ("status-retracting", "asked to take it back"),
    "retraction.delivered": ("status-retracting", "recorded: the remote accepted to take it back"),
    "retraction.unknown": ("status-retraction_unknown", "recorded: nobody knows whether it was taken back"),
    "retraction.refused": ("status-retraction_failed", "recorded: the remote refused to take it back"),
    "retraction.waiting": ("clock", "recorded: nothing was sent to take it back"),
    "retraction.cancelled": ("status-retraction_failed", "cancelled the retraction"),
    "retraction.retried": ("status-retracting", "asked to take it back again"),
    "retraction.checked": ("search", "read back whether it is gone"),
    "retraction.ineffective": ("status-retraction_failed", "saw that it is still there"),
    "late_result": ("alert", "kept a late answer as evidence"),
    "digest_mismatch": ("alert", "found that the stored bytes do not match the approved digest"),
}
DECISIONS = {
    "approve": ("status-approved", "approved revision {version}"),
    "reject": ("status-rejected", "rejected revision {version}"),
    "request_changes": ("status-changes_requested", "requested changes to revision {version}"),
}


def event(row: AuditEvent) -> Event:
    """Gives one audit event in words; an action without a phrase is shown by its name, never left out."""
    body: dict[str, Any] = json.loads(row.body)
    details = body["details"]
    icon, phrase = _phrase(row, details)
    return Event(
        at=row.at,
        icon=icon,
        who=row.actor.partition(":")[2],
        text=phrase.format_map(_Known(details)),
        note=body["reason"],
        ground=_ground(details),
    )


def history(rows: Iterable[AuditEvent], *, total: str) -> History:
    """Gives the whole tab. Entries are never edited or removed; the page says so."""
    return History([event(row) for row in rows], f"{total}, newest first. Times are UTC. Entries are never edited.")


class _Known(dict[str, Any]):
    """Fills a phrase with what an event knows, and leaves a dash for what it does not."""

    def __missing__(self, key: str) -> str:
        return "–"


def _phrase(row: AuditEvent, details: dict[str, Any]) -> tuple[str, str]:
    if row.outcome == "refused":
        return "alert", f"tried to {row.action.removesuffix('.refused').replace('_', ' ')}; refused"
    if row.action == "decision.recorded":
        return DECISIONS.get(str(details.get("verdict")), ("comment", "decided"))
    return PHRASES.get(row.action, ("ring", row.action.replace(".", " ").replace("_", " ").replace("{", "(")))


def _ground(details: dict[str, Any]) -> str:
    version, digest = details.get("version"), details.get("digest")
    label = f"revision {version}" if version else ""
    return f"{label} {short(digest)}".strip() if isinstance(digest, str) else label
