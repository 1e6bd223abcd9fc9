"""Deliveries, their attempts and checks, and the dispatch claim, as facts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from approvals.domain.binding import short
from approvals.domain.states import ClaimState
from approvals.models import Attempt, Delivery, DispatchClaim, Draft, Observation
from approvals.web import words
from approvals.web.cards.lane import Lane


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str
    is_code: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """One send or check. `tone` is `unknown`, `bad`, `taken`, `proved` or empty."""

    number: int
    kind: str
    at: datetime
    icon: str
    tone: str
    outcome: str
    reason: str
    http: str
    took: str


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """The part of the page that moves. `poll_every` is empty once nothing moves any more."""

    lane: Lane
    updated_at: datetime
    attempts: list[AttemptLine]
    summary: str
    poll_url: str
    poll_every: str
    announce: str


SENT = {
    Attempt.Outcome.DELIVERED: ("status-submitted", "taken", "Taken by the remote"),
    Attempt.Outcome.REFUSED: ("status-failed", "bad", "Refused"),
    Attempt.Outcome.NOT_SENT: ("clock", "", "Not sent"),
    Attempt.Outcome.UNKNOWN: ("status-delivery_unknown", "unknown", "Unknown"),
}
SEEN = {
    ("lookup", "found"): ("tick", "taken", "Found"),
    ("lookup", "absent"): ("", "", "Not found"),
    ("lookup", "unknown"): ("status-delivery_unknown", "unknown", "Still unknown"),
    ("verify", "equal"): ("status-confirmed", "proved", "Read back, equal"),
    ("verify", "differs"): ("alert", "unknown", "Read back, differs"),
    ("verify", "gone"): ("alert", "unknown", "Read back, gone"),
    ("verify", "unknown"): ("status-delivery_unknown", "unknown", "Could not be read back"),
    ("verify", "impossible"): ("", "", "Cannot be read back"),
}
KINDS = {Observation.Kind.LOOKUP: "Look-up", Observation.Kind.VERIFY: "Read-back", Observation.Kind.LATE_RESULT: "Late"}
PHASES = {
    ClaimState.IDLE: "free",
    ClaimState.RESERVED: "reserved: a worker is about to send",
    ClaimState.SENDING: "sending now",
    ClaimState.UNCERTAIN: "held: the outcome is unknown",
}


def lines(deliveries: Iterable[Delivery]) -> list[AttemptLine]:
    """Gives all attempts and checks of a draft's deliveries, in the order they began."""
    found = sorted((line for delivery in deliveries for line in _lines(delivery)), key=lambda line: line.at)
    return [replace(line, number=number) for number, line in enumerate(found, 1)]


def summary(found: list[AttemptLine]) -> str:
    """Gives `1 send, 2 checks`."""
    sends = sum(line.kind in ("Send", "Retract") for line in found)
    checks = len(found) - sends
    return f"{words.plural(sends, 'send')}, {words.plural(checks, 'check')}. Times are UTC."


def facts(draft: Draft, delivery: Delivery | None, size: int) -> tuple[Fact, ...]:
    """Gives what identifies the delivery here and at the remote. Before the first send only the id it will have."""
    approval = draft.approval
    if approval is None:
        return ()
    digest = Fact("Digest", short(approval.digest), is_code=True, note=words.plural(size, "byte"))
    if delivery is None:
        return (Fact("Id", str(approval.write_id), is_code=True, note="when it is sent"), digest)
    verdict = Delivery.Verification(delivery.verification).label if delivery.verification else "not yet"
    held = (Fact("Held", "late evidence; a look-up or a person settles it"),) if delivery.held_at else ()
    return (
        Fact("Id", str(delivery.pk), is_code=True),
        digest,
        Fact("Remote object", delivery.remote_id or "none known", is_code=bool(delivery.remote_id)),
        Fact("Read back", verdict.lower()),
        *held,
    )


def claim_facts(claim: DispatchClaim, delivery: Delivery | None, now: datetime) -> tuple[Fact, ...]:
    """Gives who may write to the target now, and when somebody looks at this delivery next."""
    is_free = claim.state == ClaimState.IDLE
    serves = is_free or delivery is None or claim.delivery_id in (None, delivery.pk)
    found = [Fact("Epoch", str(claim.epoch)), Fact("Worker", claim.owner or "none")]
    found.append(Fact("Phase", PHASES[ClaimState(claim.state)], note="" if serves else "for another draft"))
    found.append(Fact("Lease", _lease(claim, now)))
    if delivery and delivery.next_check_at:
        found.append(Fact("Next check", *_when(delivery.next_check_at, now)))
    if delivery and delivery.next_attempt_at:
        found.append(Fact("Next send", *_when(delivery.next_attempt_at, now)))
    return tuple(found)


def _lease(claim: DispatchClaim, now: datetime) -> str:
    if claim.lease_until is None:
        return "none"
    if claim.state == ClaimState.IDLE:
        return f"released {words.moment(claim.changed_at, now, seconds=True)}" if claim.changed_at else "released"
    verb = "until" if claim.lease_until > now else "ended"
    return f"{verb} {words.moment(claim.lease_until, now, seconds=True)}"


def _when(at: datetime, now: datetime) -> tuple[str, bool, str]:
    return words.moment(at, now, seconds=True), False, f"in {words.span(at - now)}" if at > now else "due now"


def _lines(delivery: Delivery) -> Iterator[AttemptLine]:
    for attempt in delivery.attempts.all():
        yield _attempt(attempt, "Retract" if delivery.kind == Delivery.Kind.RETRACT else "Send")
    for seen in delivery.observations.all():
        yield _observation(seen)


def _attempt(attempt: Attempt, kind: str) -> AttemptLine:
    sending = ("status-submitting", "taken", "Sending now")
    icon, tone, outcome = SENT[Attempt.Outcome(attempt.outcome)] if attempt.outcome else sending
    return AttemptLine(
        number=0,
        kind=kind,
        at=attempt.started_at,
        icon=icon,
        tone=tone,
        outcome=outcome,
        reason=attempt.reason,
        http=_http(attempt.evidence),
        took=_took(attempt.started_at, attempt.finished_at),
    )


def _observation(seen: Observation) -> AttemptLine:
    icon, tone, outcome = SEEN.get((seen.kind, seen.answer), ("alert", "unknown", seen.answer.replace("_", " ")))
    return AttemptLine(
        number=0,
        kind=KINDS[Observation.Kind(seen.kind)],
        at=seen.begun_at,
        icon=icon,
        tone=tone,
        outcome=outcome,
        reason=seen.reason,
        http=_http(seen.evidence),
        took=_took(seen.begun_at, seen.recorded_at),
    )


def _http(evidence: dict[str, Any]) -> str:
    status = evidence.get("status")
    return str(status) if isinstance(status, int) else "none"


def _took(start: datetime, end: datetime | None) -> str:
    if end is None:
        return "running"
    duration = end - start
    return f"{duration / timedelta(seconds=1):.1f} s"
