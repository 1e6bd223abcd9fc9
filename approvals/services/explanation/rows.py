"""The case as plain data: what the database holds about a draft's way out, ready for JSON or a terminal."""

from datetime import datetime
from typing import Any

from approvals.domain.states import ClaimState
from approvals.models import Approval, Attempt, Delivery, Observation
from approvals.selectors.counting import newest_decisions, tally
from approvals.services import corrections
from approvals.services.audit import stamp
from approvals.services.explanation.case import Case, Gate, served

NEWEST_OBSERVATIONS = 10


def draft(case: Case) -> dict[str, Any]:
    row = case.draft
    return {
        "reference": row.reference,
        "title": row.title,
        "state": row.state,
        "state_now": case.state.value,
        "reason": row.reason,
        "version": row.version,
        "room": row.room.slug,
        "channel": row.channel.slug,
        "operation": row.operation,
        "target": str(row.target),
        "target_version": row.target.version,
        "author": row.author.username,
        "not_before": moment(row.not_before),
        "updated_at": moment(row.updated_at),
    }


def approval(row: Approval) -> dict[str, Any]:
    decisions = newest_decisions(row).values()
    return {
        "id": str(row.pk),
        "state": row.state,
        "version": row.version,
        "digest": row.digest,
        "target_version": row.target_version,
        "required_approvals": row.required_approvals,
        "approvals_counted": len(tally(row).approvals),
        "decisions": [f"{decision.reviewer.username}: {decision.verdict}" for decision in decisions],
        "opened_at": moment(row.opened_at),
        "expires_at": moment(row.expires_at),
        "dispatch_at": moment(row.dispatch_at),
        "ended_at": moment(row.ended_at),
        "end_reason": row.end_reason,
    }


def claim(case: Case) -> dict[str, Any]:
    row, serves = case.claim, served(case.claim)
    held = row.state != ClaimState.IDLE
    return {
        "state": row.state,
        "epoch": row.epoch,
        "owner": row.owner if held else "",
        "lease_until": moment(row.lease_until) if held else None,
        "serves": f"RR-{serves}" if serves else None,
        "serves_this_draft": serves == case.draft.pk,
        "delivery": str(row.delivery_id) if held else None,
    }


def delivery(row: Delivery) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "kind": row.kind,
        "state": row.state,
        "remote_id": row.remote_id,
        "verification": row.verification,
        "reason": row.reason,
        "attempt_count": row.attempt_count,
        "check_count": row.check_count,
        "next_attempt_at": moment(row.next_attempt_at),
        "next_check_at": moment(row.next_check_at),
        "held_at": moment(row.held_at),
        "delivered_at": moment(row.delivered_at),
    }


def attempts(case: Case) -> list[dict[str, Any]]:
    """Gives every try at the write and at each retraction, oldest first."""
    rows = Attempt.objects.filter(delivery__draft=case.draft).select_related("delivery")
    return [_attempt(row) for row in rows.order_by("started_at", "id")]


def observations(case: Case) -> list[dict[str, Any]]:
    """Gives the newest of what look-ups, read-backs, late receipts and people said, oldest first."""
    rows = Observation.objects.filter(delivery__draft=case.draft).select_related("delivery").order_by("-id")
    return [_observation(row) for row in reversed(rows[:NEWEST_OBSERVATIONS])]


def related(case: Case) -> dict[str, Any]:
    """Gives the references of the drafts it corrects, is corrected by, and of corrections not settled yet."""
    replaced_by = corrections.corrected_by(case.draft)
    under_way = case.draft.corrections.filter(state__in=corrections.UNDER_WAY).order_by("id")
    return {
        "corrects": case.draft.corrects.reference if case.draft.corrects else None,
        "corrected_by": replaced_by.reference if replaced_by else None,
        "corrections_under_way": [row.reference for row in under_way],
    }


def gate(found: Gate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    reasons = [{"cause": reason.cause.value, "message": reason.message} for reason in found.answer.reasons]
    return {"name": found.name, "open": found.answer.ok, "reasons": reasons}


def moment(value: datetime | None) -> str | None:
    return stamp(value) if value else None


def _attempt(row: Attempt) -> dict[str, Any]:
    return {
        "kind": row.delivery.kind,
        "number": row.number,
        "outcome": row.outcome or "open",
        "reason": row.reason,
        "owner": row.owner,
        "epoch": row.epoch,
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "lease_until": moment(row.lease_until),
    }


def _observation(row: Observation) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "of": row.delivery.kind,
        "answer": row.answer,
        "reason": row.reason,
        "attempt": row.attempt_number,
        "begun_at": moment(row.begun_at),
        "recorded_at": moment(row.recorded_at),
    }
