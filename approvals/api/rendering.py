"""From rows to documents. `now` is the database's time of this answer: what is past its time reads as expired."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from approvals.api import links, offers
from approvals.api.documents import (
    ApprovalBrief,
    ApprovalDocument,
    Claim,
    ClaimApproval,
    ClaimTarget,
    DecisionDocument,
    DeliveryDocument,
    DraftDocument,
    EventDocument,
    RequirementDocument,
    RevisionDocument,
    TargetDocument,
)
from approvals.domain import binding as bindings
from approvals.domain.errors import InvalidPayload
from approvals.domain.gate import Standing, Tally, Verdict
from approvals.domain.states import ApprovalState, DeliveryState
from approvals.models import Approval, AuditEvent, Channel, Decision, Delivery, Draft, Revision, Target
from approvals.selectors import drafts as reads
from approvals.selectors.counting import tallies

CLAIM_SCHEMA = "approval-claim.v1"
CLAIM_LIFE = timedelta(seconds=60)


def draft(
    row: Draft,
    now: datetime,
    *,
    kind: type[DraftDocument] = DraftDocument,
    counted: dict[UUID, Tally] | None = None,
    **more: Any,
) -> DraftDocument:
    """Gives a draft that `selectors.drafts` has read whole; `kind` and `more` widen the document."""
    approval, revision = reads.newest_approval(row), reads.newest_revision(row)
    if counted is None:
        counted = tallies([approval] if approval else [])
    write, retraction = _deliveries(row)
    return kind(
        id=row.pk,
        reference=row.reference,
        room=row.room.slug,
        target=target(row.channel, row.target),
        operation=row.operation,
        title=row.title,
        note=row.note,
        context=row.context,
        state=reads.state_at(row, now),
        reason=row.reason,
        version=row.version,
        digest=revision.digest,
        payload=payload(revision),
        author=row.author.username,
        acts_for=row.acts_for.username if row.acts_for else None,
        not_before=row.not_before,
        approval=_brief(approval, counted[approval.pk], now) if approval else None,
        decisions=_decisions(row),
        dispatch_at=_dispatch_at(approval, now) if approval else None,
        delivery=_delivery(write),
        retraction=_delivery(retraction),
        corrects=row.corrects_id,
        corrected_by=row.corrected_by_id,  # type: ignore[attr-defined]
        links=_draft_links(row) | offers.of(row, approval, write, retraction, now),
        **more,
    )


def page(rows: list[Draft], now: datetime) -> list[DraftDocument]:
    """Gives many drafts; their approvals are counted together."""
    newest = [approval for approval in map(reads.newest_approval, rows) if approval is not None]
    counted = tallies(newest)
    return [draft(row, now, counted=counted) for row in rows]


def target(channel: Channel, row: Target) -> TargetDocument:
    return TargetDocument(
        channel=channel.slug,
        connector=row.connector,
        account=row.account,
        resource=row.resource,
        version=row.version,
    )


def payload(row: Revision) -> dict[str, Any] | None:
    """Gives the payload the stored bytes hold; None if they are no binding any more, which no reader should hide."""
    try:
        return bindings.load(bytes(row.canonical)).payload
    except InvalidPayload:
        return None


def decision(row: Decision) -> DecisionDocument:
    return DecisionDocument(
        reviewer=row.reviewer.username,
        verdict=row.verdict,
        comment=row.comment,
        version=row.version,
        decided_at=row.decided_at,
    )


def revision(row: Revision) -> RevisionDocument:
    return RevisionDocument(
        draft=row.draft_id,
        number=row.number,
        operation=row.operation,
        target=target(row.channel, row.target),
        payload=payload(row),
        digest=row.digest,
        canonical_bytes=len(row.canonical),
        author=row.author.username,
        acts_for=row.acts_for.username if row.acts_for else None,
        created_at=row.created_at,
        links={
            "self": links.revision(row.draft_id, row.number),
            "draft": links.draft(row.draft_id),
            "canonical": links.canonical(row.draft_id, row.number),
        },
    )


def event(row: AuditEvent) -> EventDocument:
    """Gives one audit event, without the addresses people came from."""
    body = json.loads(row.body)
    return EventDocument(
        seq=row.seq,
        at=row.at,
        actor=row.actor,
        via=body["actor"]["via"],
        action=row.action,
        outcome=row.outcome,
        reason=body["reason"],
        details=body["details"],
        correlation_id=body["correlation_id"],
        hash=row.hash,
    )


def approval(row: Approval, now: datetime) -> ApprovalDocument:
    """Gives an approval that `selectors.drafts` has read, counted anew."""
    return ApprovalDocument(
        id=row.pk,
        state=reads.approval_state_at(row, now),
        draft=row.draft_id,
        version=row.version,
        digest=row.digest,
        target=target(row.draft.channel, row.target),
        target_version=row.target_version,
        required_approvals=row.required_approvals,
        approvals_counted=len(tallies([row])[row.pk].approvals),
        requirements=[RequirementDocument(**item) for item in row.policy["requirements"]],
        decisions=[decision(item) for item in row.decisions.all()],
        opened_at=row.opened_at,
        approved_at=row.approved_at,
        not_before=row.draft.not_before,
        dispatch_at=_dispatch_at(row, now),
        expires_at=row.expires_at,
        ended_at=row.ended_at,
        reason=row.end_reason,
        superseded_by=row.superseded_by_id,
        links=_approval_links(row),
    )


def claim(row: Approval, standings: dict[int, Standing], now: datetime) -> Claim:
    """Gives the approval claim: everybody whose newest verdict is to approve, and whether they still count."""
    approvers = [item for item in _newest(row.decisions.all()) if item.verdict == Verdict.APPROVE]
    life = min(CLAIM_LIFE, row.expires_at - now) if row.is_live else CLAIM_LIFE
    listed = [
        ClaimApproval(
            approver=item.reviewer.username,
            decided_at=item.decided_at,
            in_good_standing=item.reviewer_id in standings and standings[item.reviewer_id].in_good_standing,
        )
        for item in approvers
    ]
    return Claim(
        schema_version=CLAIM_SCHEMA,
        approval_id=row.pk,
        issuer=settings.REVIEWROOM_ISSUER,
        state=reads.approval_state_at(row, now),
        binding_digest=row.digest,
        draft_id=row.draft_id,
        revision=row.version,
        target=ClaimTarget(connector=row.target.connector, account=row.target.account, resource=row.target.resource),
        target_version=row.target_version,
        required_approvals=row.required_approvals,
        approvals=listed,
        approvals_counted=sum(item.in_good_standing for item in listed),
        issued_at=row.approved_at,
        not_before=row.draft.not_before,
        expires_at=row.expires_at,
        observed_at=now,
        max_age_seconds=max(0, int(life.total_seconds())),
        superseded_by=row.superseded_by_id,
    )


def _brief(row: Approval, counted: Tally, now: datetime) -> ApprovalBrief:
    return ApprovalBrief(
        id=row.pk,
        state=reads.approval_state_at(row, now),
        required_approvals=row.required_approvals,
        approvals_counted=len(counted.approvals),
        expires_at=row.expires_at,
    )


def _decisions(row: Draft) -> list[DecisionDocument]:
    rows = [item for approval_row in row.approvals.all() for item in approval_row.decisions.all()]
    return [decision(item) for item in sorted(rows, key=lambda item: item.pk)]


def _newest(decisions: Iterable[Decision]) -> Iterable[Decision]:
    return {item.reviewer_id: item for item in decisions}.values()


def _dispatch_at(row: Approval, now: datetime) -> datetime | None:
    """Gives when sending may begin; nothing for what will not be sent (any more)."""
    return row.dispatch_at if reads.approval_state_at(row, now) == ApprovalState.APPROVED else None


def _deliveries(row: Draft) -> tuple[Delivery | None, Delivery | None]:
    by_age = sorted(row.deliveries.all(), key=lambda item: (item.created_at, item.state != DeliveryState.DELIVERED))
    newest = {item.kind: item for item in by_age}
    return newest.get(Delivery.Kind.WRITE), newest.get(Delivery.Kind.RETRACT)


def _delivery(row: Delivery | None) -> DeliveryDocument | None:
    if row is None:
        return None
    return DeliveryDocument(
        id=row.pk,
        state=row.state,
        remote_id=row.remote_id or None,
        verification=row.verification or None,
        held_at=row.held_at,
    )


def _draft_links(row: Draft) -> dict[str, str]:
    found = {
        "self": links.draft(row.pk),
        "page": links.page(row.pk),
        "revision": links.revision(row.pk, row.version),
        "canonical": links.canonical(row.pk, row.version),
        "events": links.events(row.pk),
    }
    if row.approval_id:
        found |= {"approval": links.approval(row.approval_id), "claim": links.claim(row.approval_id)}
    others = {"corrects": row.corrects_id, "corrected_by": row.corrected_by_id}  # type: ignore[attr-defined]
    return found | {name: links.draft(other) for name, other in others.items() if other is not None}


def _approval_links(row: Approval) -> dict[str, str]:
    found = {
        "self": links.approval(row.pk),
        "claim": links.claim(row.pk),
        "draft": links.draft(row.draft_id),
        "canonical": links.canonical(row.draft_id, row.version),
    }
    if row.superseded_by_id:
        found["successor"] = links.approval(row.superseded_by_id)
    return found
