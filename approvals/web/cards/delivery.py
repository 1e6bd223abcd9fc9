"""Deliveries, their attempts and checks, and the dispatch claim, as facts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from approvals.domain.binding import short
from approvals.domain.states import ClaimState, DeliveryState
from approvals.models import Attempt, Delivery, DispatchClaim, Draft, Observation
from approvals.web import words
from approvals.web.cards import evidence
from approvals.web.cards.evidence import Evidence
from approvals.web.cards.facts import Fact
from approvals.web.cards.lane import Lane


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """One send or look, or what a person recorded. `tone` is `unknown`, `bad`, `taken`, `proved` or empty."""

    number: int
    kind: str
    at: datetime
    icon: str
    tone: str
    outcome: str
    reason: str
    status: str
    took: str
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """The part of the page that moves. `poll_every` is empty once nothing moves any more.

    `attempts_mark` changes with the attempts, so that a table somebody reads in is left alone while it does not.
    """

    lane: Lane
    updated_at: datetime
    attempts: list[AttemptLine]
    attempts_mark: str
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
SENDING = ("status-submitting", "taken", "Sending now")
UNANSWERED = ("status-delivery_unknown", "unknown", "No answer recorded")
LATE = {
    "delivered": ("alert", "unknown", "Late: taken by the remote"),
    "refused": ("alert", "", "Late: refused"),
    "not_sent": ("alert", "", "Late: not sent"),
    "unknown": ("alert", "unknown", "Late: unknown"),
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
SEEN_OF_UNDOING = {
    **SEEN,
    ("verify", "equal"): ("status-retraction_failed", "bad", "Still readable"),
    ("verify", "differs"): ("status-retraction_failed", "bad", "Still readable, changed"),
    ("verify", "gone"): ("status-retracted", "", "Read back, gone"),
}
RECORDED = {
    (Delivery.Kind.WRITE, "delivered"): ("pencil", "", "Recorded: it is there"),
    (Delivery.Kind.WRITE, "not_delivered"): ("pencil", "", "Recorded: it is not there"),
    (Delivery.Kind.RETRACT, "delivered"): ("pencil", "", "Recorded: it is gone"),
    (Delivery.Kind.RETRACT, "not_delivered"): ("pencil", "", "Recorded: it is still there"),
}
KINDS = {
    Observation.Kind.LOOKUP: "Look-up",
    Observation.Kind.VERIFY: "Read-back",
    Observation.Kind.LATE_RESULT: "Late",
    Observation.Kind.RESOLUTION: "By a person",
}
SENDS = ("Send", "Retract")
RUNNING = "running"
UNDOING_STANDS = {
    DeliveryState.WAITING: "waits to be made",
    DeliveryState.SENDING: "being made now",
    DeliveryState.DELIVERED: "accepted",
    DeliveryState.REFUSED: "refused",
    DeliveryState.UNKNOWN: "may have arrived",
    DeliveryState.CANCELLED: "not made: cancelled",
}
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
    sends = sum(line.kind in SENDS for line in found)
    checks = len(found) - sends
    return f"{words.plural(sends, 'send')}, {words.plural(checks, 'check')}. Times are UTC."


def mark(found: list[AttemptLine]) -> str:
    """Gives a short text that changes when a line is added or finished."""
    return f"{len(found)}.{sum(line.took != RUNNING for line in found)}"


def facts(draft: Draft, delivery: Delivery | None, size: int) -> tuple[Fact, ...]:
    """Gives what identifies the delivery here and at the remote. Before the first send only the id it will have."""
    approval = draft.approval
    if approval is None:
        return ()
    digest = Fact("Digest", short(approval.digest), is_code=True, note=words.plural(size, "byte"))
    if delivery is None:
        return (Fact("Id", str(approval.write_id), is_code=True, note="when it is sent"), digest)
    verdict = Delivery.Verification(delivery.verification).label if delivery.verification else "not yet"
    return (
        Fact("Id", str(delivery.pk), is_code=True),
        digest,
        Fact("Remote object", delivery.remote_id or "none known", is_code=bool(delivery.remote_id)),
        Fact("Read back", verdict.lower()),
        *_held(delivery),
    )


def undoing_facts(undoing: Delivery | None) -> tuple[Fact, ...]:
    """Gives what identifies the newest retraction, and how it stands."""
    if undoing is None:
        return ()
    stands = UNDOING_STANDS[DeliveryState(undoing.state)]
    seen = {"gone": "gone", "": "not yet"}.get(undoing.verification, "still readable")
    return (
        Fact("Id", str(undoing.pk), is_code=True),
        Fact("Remote object", undoing.remote_id or "none known", is_code=bool(undoing.remote_id)),
        Fact("Request", stands),
        Fact("Read back", seen),
        *_held(undoing),
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


def _held(delivery: Delivery) -> tuple[Fact, ...]:
    return (Fact("Held", "late evidence; a look or a person settles it"),) if delivery.held_at else ()


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
        yield _attempt(attempt, delivery)
    for seen in delivery.observations.all():
        yield _recorded(seen, delivery) if seen.kind == Observation.Kind.RESOLUTION else _seen(seen, delivery)


def _attempt(attempt: Attempt, delivery: Delivery) -> AttemptLine:
    is_undoing, is_sending = delivery.kind == Delivery.Kind.RETRACT, delivery.state == DeliveryState.SENDING
    icon, tone, outcome = SENDING if is_sending else UNANSWERED
    if attempt.outcome:
        icon, tone, outcome = SENT[Attempt.Outcome(attempt.outcome)]
    if is_undoing and attempt.outcome == Attempt.Outcome.DELIVERED:
        icon, tone, outcome = "status-retracting", "", "Accepted by the remote"
    worker = (Fact("Worker", attempt.owner, note=f"epoch {attempt.epoch}"),)
    return AttemptLine(
        number=0,
        kind=SENDS[is_undoing],
        at=attempt.started_at,
        icon=icon,
        tone=tone,
        outcome=outcome,
        reason=attempt.reason,
        status=evidence.status(attempt.evidence),
        took=_took(attempt.started_at, attempt.finished_at, otherwise=RUNNING if is_sending else ""),
        evidence=evidence.evidence(attempt.evidence, worker),
    )


def _seen(seen: Observation, delivery: Delivery) -> AttemptLine:
    table = SEEN_OF_UNDOING if delivery.kind == Delivery.Kind.RETRACT else SEEN
    otherwise = ("alert", "unknown", seen.answer.replace("_", " "))
    is_late = seen.kind == Observation.Kind.LATE_RESULT
    icon, tone, outcome = table.get((seen.kind, seen.answer), otherwise)
    if is_late:
        icon, tone, outcome = LATE.get(seen.answer, otherwise)
    return AttemptLine(
        number=0,
        kind=KINDS[Observation.Kind(seen.kind)],
        at=seen.recorded_at if is_late else seen.begun_at,
        icon=icon,
        tone=tone,
        outcome=outcome,
        reason=seen.reason,
        status=evidence.status(seen.evidence),
        took="" if is_late else _took(seen.begun_at, seen.recorded_at),
        evidence=evidence.evidence(seen.evidence),
    )


def _recorded(seen: Observation, delivery: Delivery) -> AttemptLine:
    """Gives what a person said; the sentence of theirs is the evidence."""
    kept = seen.evidence if isinstance(seen.evidence, dict) else {}
    key = (Delivery.Kind(delivery.kind), str(kept.get("outcome", "")))
    icon, tone, outcome = RECORDED.get(key, ("pencil", "", "Recorded"))
    return AttemptLine(
        number=0,
        kind=KINDS[Observation.Kind.RESOLUTION],
        at=seen.recorded_at,
        icon=icon,
        tone=tone,
        outcome=f"{outcome}, by {str(kept.get('by', 'somebody')).partition(':')[2] or 'somebody'}",
        reason=seen.reason,
        status="none",
        took="",
        evidence=evidence.evidence(kept),
    )


def _took(start: datetime, end: datetime | None, *, otherwise: str = "") -> str:
    return f"{(end - start) / timedelta(seconds=1):.1f} s" if end else otherwise
