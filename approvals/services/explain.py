"""Explain: one draft with all that decides whether it is sent, and in sentences why it is not. Changes nothing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from approvals.domain.binding import short
from approvals.domain.gate import GateAnswer, Tally, Verdict, may_send
from approvals.domain.states import ApprovalState, ClaimState, DeliveryState, DraftState
from approvals.models import Approval, Attempt, Delivery, DispatchClaim, Draft, Installation
from approvals.selectors.counting import newest_decisions, tally
from approvals.services import ground
from approvals.services.audit import stamp

_AT_REST = {
    DraftState.DRAFT: "It was never submitted for review, or was taken back to be reworked. Submit it.",
    DraftState.CHANGES_REQUESTED: "A reviewer asked for changes. Edit it and submit it again.",
    DraftState.REJECTED: "The reviewers said no. Edit it and submit it again, or leave it.",
    DraftState.EXPIRED: "Its time ran out. Submit it again.",
    DraftState.REVOKED: "Its approval was taken away, or it was withdrawn. Submit it again if it is still wanted.",
    DraftState.SUBMITTED: "It was sent and accepted; reading it back is the next step.",
    DraftState.CONFIRMED: "It was sent, and reads back as approved. There is nothing left to do.",
    DraftState.FAILED: "It was refused or cancelled. An operator can try again; else copy it into a new draft.",
    DraftState.RETRACTED: "It was sent, and taken back from the remote later.",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one draft's way out, as plain data, and the sentences a person needs first."""

    draft: dict[str, Any]
    approval: dict[str, Any] | None
    dispatch_claim: dict[str, Any]
    delivery: dict[str, Any] | None
    attempts: list[dict[str, Any]]
    gate: dict[str, Any] | None
    because: list[str]


def explain(draft: Draft, *, now: datetime) -> Explanation:
    """Gives why a draft is not sent, or what became of it, as of `now`."""
    draft = Draft.objects.select_related("room", "channel__room", "channel__config", "target", "author").get(
        pk=draft.pk
    )
    approval = _approval(draft)
    claim = DispatchClaim.objects.select_related("target").get(target_id=draft.target_id)
    delivery = draft.deliveries.select_related("config__channel").order_by("created_at").last()
    answer = _gate(approval, delivery, now)
    return Explanation(
        draft=_draft(draft),
        approval=_told_approval(approval) if approval else None,
        dispatch_claim=_claim(claim, draft),
        delivery=_delivery(delivery) if delivery else None,
        attempts=[_attempt(attempt) for attempt in delivery.attempts.order_by("number")] if delivery else [],
        gate=_told_gate(answer),
        because=_because(draft, approval, claim, delivery, answer, now),
    )


def _approval(draft: Draft) -> Approval | None:
    found: Approval | None = (
        Approval.objects.select_related("revision", "config__channel").filter(pk=draft.approval_id).first()
    )
    if found is not None:
        found.draft = draft
    return found


def _gate(approval: Approval | None, delivery: Delivery | None, now: datetime) -> GateAnswer | None:
    """Asks the very gate of the dispatcher: of the first send, or of another attempt."""
    if approval is None:
        return None
    if delivery is None:
        return may_send(ground.facts(approval, now=now, state=ApprovalState.APPROVED))
    held = delivery.held_at is not None
    consumed = ApprovalState.CONSUMED
    return may_send(ground.facts(approval, now=now, state=consumed, config=delivery.config, held=held))


def _draft(draft: Draft) -> dict[str, Any]:
    return {
        "reference": draft.reference,
        "title": draft.title,
        "state": draft.state,
        "reason": draft.reason,
        "version": draft.version,
        "room": draft.room.slug,
        "channel": draft.channel.slug,
        "operation": draft.operation,
        "target": str(draft.target),
        "target_version": draft.target.version,
        "author": draft.author.username,
        "not_before": _moment(draft.not_before),
        "updated_at": _moment(draft.updated_at),
    }


def _told_approval(approval: Approval) -> dict[str, Any]:
    decisions = newest_decisions(approval).values()
    return {
        "id": str(approval.pk),
        "state": approval.state,
        "version": approval.version,
        "digest": approval.digest,
        "target_version": approval.target_version,
        "required_approvals": approval.required_approvals,
        "approvals_counted": len(tally(approval).approvals),
        "decisions": [f"{decision.reviewer.username}: {decision.verdict}" for decision in decisions],
        "opened_at": _moment(approval.opened_at),
        "expires_at": _moment(approval.expires_at),
        "dispatch_at": _moment(approval.dispatch_at),
        "ended_at": _moment(approval.ended_at),
        "end_reason": approval.end_reason,
    }


def _claim(claim: DispatchClaim, draft: Draft) -> dict[str, Any]:
    serves = Approval.objects.filter(pk=claim.approval_id).values_list("draft_id", flat=True).first()
    held = claim.state != ClaimState.IDLE
    return {
        "state": claim.state,
        "epoch": claim.epoch,
        "owner": claim.owner if held else "",
        "lease_until": _moment(claim.lease_until) if held else None,
        "serves": f"RR-{serves}" if serves and held else None,
        "serves_this_draft": held and serves == draft.pk,
    }


def _delivery(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": str(delivery.pk),
        "kind": delivery.kind,
        "state": delivery.state,
        "remote_id": delivery.remote_id,
        "verification": delivery.verification,
        "reason": delivery.reason,
        "attempt_count": delivery.attempt_count,
        "next_attempt_at": _moment(delivery.next_attempt_at),
        "next_check_at": _moment(delivery.next_check_at),
        "held_at": _moment(delivery.held_at),
        "delivered_at": _moment(delivery.delivered_at),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "outcome": attempt.outcome or "open",
        "reason": attempt.reason,
        "owner": attempt.owner,
        "epoch": attempt.epoch,
        "started_at": _moment(attempt.started_at),
        "finished_at": _moment(attempt.finished_at),
        "lease_until": _moment(attempt.lease_until),
    }


def _told_gate(answer: GateAnswer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    reasons = [{"cause": reason.cause.value, "message": reason.message} for reason in answer.reasons]
    return {"open": answer.ok, "reasons": reasons}


def _because(
    draft: Draft,
    approval: Approval | None,
    claim: DispatchClaim,
    delivery: Delivery | None,
    answer: GateAnswer | None,
    now: datetime,
) -> list[str]:
    """Gives the reasons in the order a person should read them."""
    found = [_AT_REST[DraftState(draft.state)]] if draft.state in _AT_REST else []
    if draft.state == DraftState.IN_REVIEW and approval is not None:
        found += _missing(approval)
    if draft.state == DraftState.APPROVED and approval is not None:
        found += _not_begun(approval, answer, now)
    if delivery is not None and draft.state not in _AT_REST:
        found += _in_flight(delivery, answer)
    if draft.state in (DraftState.APPROVED, DraftState.SUBMITTING, DraftState.DELIVERY_UNKNOWN):
        found += _in_the_way(claim, draft, now) + _installation()
    if draft.reason and draft.reason not in found:
        found.append(f"Last recorded reason: {draft.reason}")
    return found


def _missing(approval: Approval) -> list[str]:
    """Says what the policy still asks for."""
    counted, policy = tally(approval), approval.rules
    lacking = policy.required_approvals - len(counted.approvals)
    found = [f"It waits for {lacking} more of {policy.required_approvals} approvals."] if lacking > 0 else []
    found += [
        f"It needs {item.minimum} from the group {item.group} and has {counted.groups[item.group]}."
        for item in policy.requirements
        if counted.groups[item.group] < item.minimum
    ]
    found += [f"{reason.message} It has to be reviewed again." for reason in ground.moved(approval)]
    return found + _not_counting(approval, counted)


def _not_counting(approval: Approval, counted: Tally) -> list[str]:
    """Says whose yes is there but no longer counts."""
    given = [found for found in newest_decisions(approval).values() if found.verdict == Verdict.APPROVE]
    return [
        f"The approval of {found.reviewer.username} does not count: not an active reviewer of the room any more."
        for found in given
        if found.reviewer_id not in counted.approvals
    ]


def _not_begun(approval: Approval, answer: GateAnswer | None, now: datetime) -> list[str]:
    if approval.dispatch_at is None:
        return ["It is approved, and this channel sends only when a person presses Send.", *_reasons(answer, "not_yet")]
    if answer is not None and answer.ok:
        return ["Nothing holds it back: the next beat of the dispatcher sends it. Is run_worker running?"]
    if approval.dispatch_at > now:
        return [f"It is due at {stamp(approval.dispatch_at)}.", *_reasons(answer, "not_yet")]
    return _reasons(answer) + _not_counting(approval, tally(approval))


def _reasons(answer: GateAnswer | None, *but: str) -> list[str]:
    return [reason.message for reason in (answer.reasons if answer else ()) if reason.cause not in but]


def _in_flight(delivery: Delivery, answer: GateAnswer | None) -> list[str]:
    found = []
    if delivery.state == DeliveryState.SENDING:
        found.append("A worker is sending it now, or was stopped while it did; after its lease the outcome is unknown.")
    if delivery.state == DeliveryState.WAITING and delivery.next_attempt_at is not None:
        found.append(f"The next attempt is at {stamp(delivery.next_attempt_at)}.")
        found += _reasons(answer)
    if delivery.state == DeliveryState.UNKNOWN:
        found.append("Nobody knows whether it arrived, so it is not sent again on a guess.")
        found.append(_next_look(delivery))
    if delivery.held_at is not None:
        found.append("Late evidence holds it until somebody has looked at it.")
    return found


def _next_look(delivery: Delivery) -> str:
    if delivery.next_check_at is not None:
        return f"The remote is looked up at {stamp(delivery.next_check_at)}."
    if delivery.next_attempt_at is not None:
        return f"The receiver drops repetitions, so it is sent again at {stamp(delivery.next_attempt_at)}."
    return "It waits for an operator to look at the remote and record what is there."


def _in_the_way(claim: DispatchClaim, draft: Draft, now: datetime) -> list[str]:
    """Says who else holds the target."""
    serves = Approval.objects.filter(pk=claim.approval_id).values_list("draft_id", flat=True).first()
    if claim.state == ClaimState.IDLE or serves == draft.pk or claim.lease_until is None:
        return []
    if claim.state == ClaimState.UNCERTAIN:
        return [f"The target is blocked: RR-{serves} may still arrive there. Settle that delivery first."]
    late = "; its lease is over, so the sweeper frees it" if claim.lease_until <= now else ""
    return [f"{claim.owner} is busy with RR-{serves} on the same target until {stamp(claim.lease_until)}{late}."]


def _installation() -> list[str]:
    installation = Installation.objects.first()
    if installation is None or installation.instance_id != settings.REVIEWROOM_INSTANCE:
        return ["This database belongs to another installation, so no worker here sends anything."]
    return []


def _moment(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None


def headline(found: Explanation) -> str:
    """Gives one line: reference, state, version and short digest."""
    approval = found.approval
    digest = f" {short(approval['digest'])}" if approval else ""
    told = found.draft
    return f"{told['reference']} {told['title']}: {told['state'].replace('_', ' ')}, version {told['version']}{digest}"
