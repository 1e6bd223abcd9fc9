"""Explain: one draft with all that decides what becomes of it, and in sentences why it is not sent and what is next.

Changes nothing. The sentences come from the same gates, selectors and predicates that the verbs and workers ask.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.domain.binding import short
from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Draft
from approvals.services.explanation import case as cases
from approvals.services.explanation import doubt, obstacles, published, rows, sending
from approvals.services.explanation.case import Case, Line, Next, Why

T = DraftState
_SENTENCES: dict[DraftState, Callable[[Case], Iterator[Line]]] = {
    T.DRAFT: sending.never_submitted,
    T.IN_REVIEW: sending.in_review,
    T.CHANGES_REQUESTED: sending.changes_requested,
    T.APPROVED: sending.approved,
    T.REJECTED: sending.rejected,
    T.EXPIRED: sending.expired,
    T.REVOKED: sending.revoked,
    T.SUBMITTING: sending.submitting,
    T.SUBMITTED: published.submitted,
    T.CONFIRMED: published.confirmed,
    T.DELIVERY_UNKNOWN: sending.unknown,
    T.FAILED: sending.failed,
    T.RETRACTING: published.retracting,
    T.RETRACTED: published.retracted,
    T.RETRACTION_UNKNOWN: published.retraction_unknown,
    T.RETRACTION_FAILED: published.retraction_failed,
}
_LEAVING = (T.APPROVED, T.SUBMITTING, T.DELIVERY_UNKNOWN, T.RETRACTING)
"""States in which a worker may be about to make a request, so that what stands outside of the draft matters."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one draft's way out and back, as plain data, and the sentences a person needs first."""

    draft: dict[str, Any]
    approval: dict[str, Any] | None
    dispatch_claim: dict[str, Any]
    delivery: dict[str, Any] | None
    retraction: dict[str, Any] | None
    attempts: list[dict[str, Any]]
    observations: list[dict[str, Any]]
    corrections: dict[str, Any]
    gate: dict[str, Any] | None
    because: list[str]
    next: list[str]


def explain(draft: Draft, *, now: datetime) -> Explanation:
    """Gives why a draft is not sent, what became of it, and what comes next, as of `now`."""
    case = cases.read(draft.pk, now)
    lines = list(dict.fromkeys(_lines(case)))
    return Explanation(
        draft=rows.draft(case),
        approval=rows.approval(case.approval) if case.approval else None,
        dispatch_claim=rows.claim(case),
        delivery=rows.delivery(case.write) if case.write else None,
        retraction=rows.delivery(case.undoing) if case.undoing else None,
        attempts=rows.attempts(case),
        observations=rows.observations(case),
        corrections=rows.related(case),
        gate=rows.gate(case.gate),
        because=[str(line) for line in lines if isinstance(line, Why)],
        next=[str(line) for line in lines if isinstance(line, Next)],
    )


def headline(found: Explanation) -> str:
    """Gives one line: reference, state, version and short digest."""
    approval = found.approval
    digest = f" {short(approval['digest'])}" if approval else ""
    told = found.draft
    state = told["state_now"].replace("_", " ")
    return f"{told['reference']} {told['title']}: {state}, version {told['version']}{digest}"


def _lines(case: Case) -> Iterator[Line]:
    """Gives the sentences in the order a person should read them."""
    yield from _SENTENCES[case.state](case)
    yield from doubt.held(case)
    if case.state in _LEAVING and not _is_accepted(case):
        yield from obstacles.outside(case)
    yield from published.corrected(case)
    if case.draft.reason:
        yield Why(f"Last recorded reason: {case.draft.reason}")


def _is_accepted(case: Case) -> bool:
    """True where the last request is done and only a read-back is waited for."""
    return case.undoing is not None and case.undoing.state == DeliveryState.DELIVERED
