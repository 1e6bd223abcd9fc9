"""The four state machines as data.

FSM decorators, database walls, buttons, the diagrams in the docs and the all-pairs tests are made from these tables.
An edge that is not here does not exist anywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    CONSUMED = "consumed"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"
    EXPIRED = "expired"


class DeliveryState(StrEnum):
    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


class ClaimState(StrEnum):
    IDLE = "idle"
    RESERVED = "reserved"
    SENDING = "sending"
    UNCERTAIN = "uncertain"


class DraftState(StrEnum):
    DRAFT = "draft"
    IN_REVIEW = "in_review"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    REVOKED = "revoked"
    SUBMITTING = "submitting"
    SUBMITTED = "submitted"
    CONFIRMED = "confirmed"
    DELIVERY_UNKNOWN = "delivery_unknown"
    FAILED = "failed"
    RETRACTING = "retracting"
    RETRACTED = "retracted"
    RETRACTION_UNKNOWN = "retraction_unknown"
    RETRACTION_FAILED = "retraction_failed"


@dataclass(frozen=True, slots=True)
class Edge:
    """One verb of a machine: from any of `sources` to `target`."""

    verb: str
    sources: tuple[str, ...]
    target: str


@dataclass(frozen=True, slots=True)
class Machine:
    """A named table of edges over a closed set of states; a row is born in one of `initial`."""

    name: str
    states: tuple[str, ...]
    initial: tuple[str, ...]
    edges: tuple[Edge, ...]

    def edge(self, verb: str) -> Edge:
        return next(edge for edge in self.edges if edge.verb == verb)

    def pairs(self) -> frozenset[tuple[str, str]]:
        """Gives every allowed (from, to)."""
        return frozenset((source, edge.target) for edge in self.edges for source in edge.sources)

    def all_pairs(self) -> Iterator[tuple[str, str]]:
        """Gives every thinkable (from, to) of two different states."""
        return ((a, b) for a in self.states for b in self.states if a != b)

    def verbs_from(self, state: str) -> tuple[str, ...]:
        return tuple(edge.verb for edge in self.edges if state in edge.sources)

    def terminal(self) -> frozenset[str]:
        return frozenset(self.states) - {source for source, _ in self.pairs()}


A, D, C, T = ApprovalState, DeliveryState, ClaimState, DraftState

APPROVAL = Machine(
    name="approval",
    states=tuple(A),
    initial=(A.PENDING,),
    edges=(
        Edge("approve", (A.PENDING,), A.APPROVED),
        Edge("consume", (A.APPROVED,), A.CONSUMED),
        Edge("reject", (A.PENDING,), A.REJECTED),
        Edge("supersede", (A.PENDING, A.APPROVED), A.SUPERSEDED),
        Edge("revoke", (A.PENDING, A.APPROVED), A.REVOKED),
        Edge("expire", (A.PENDING, A.APPROVED), A.EXPIRED),
    ),
)

DELIVERY = Machine(
    name="delivery",
    states=tuple(D),
    initial=(D.SENDING, D.WAITING),
    edges=(
        Edge("send", (D.WAITING, D.UNKNOWN), D.SENDING),
        Edge("deliver", (D.SENDING, D.UNKNOWN, D.WAITING, D.REFUSED, D.CANCELLED), D.DELIVERED),
        Edge("refuse", (D.SENDING, D.UNKNOWN), D.REFUSED),
        Edge("wait", (D.SENDING, D.UNKNOWN), D.WAITING),
        Edge("lose", (D.SENDING,), D.UNKNOWN),
        Edge("cancel", (D.WAITING,), D.CANCELLED),
        Edge("retry", (D.REFUSED, D.CANCELLED), D.WAITING),
    ),
)

DISPATCH_CLAIM = Machine(
    name="dispatch_claim",
    states=tuple(C),
    initial=(C.IDLE,),
    edges=(
        Edge("reserve", (C.IDLE, C.RESERVED), C.RESERVED),
        Edge("release", (C.RESERVED,), C.IDLE),
        Edge("send", (C.RESERVED,), C.SENDING),
        Edge("settle", (C.SENDING,), C.IDLE),
        Edge("lose", (C.SENDING,), C.UNCERTAIN),
        Edge("clear", (C.UNCERTAIN,), C.IDLE),
    ),
)

DRAFT = Machine(
    name="draft",
    states=tuple(T),
    initial=(T.DRAFT,),
    edges=(
        Edge("submit", (T.DRAFT, T.CHANGES_REQUESTED, T.REJECTED, T.EXPIRED, T.REVOKED), T.IN_REVIEW),
        Edge("rework", (T.CHANGES_REQUESTED, T.REJECTED, T.EXPIRED, T.REVOKED), T.DRAFT),
        Edge("reopen", (T.APPROVED,), T.IN_REVIEW),
        Edge("approve", (T.IN_REVIEW,), T.APPROVED),
        Edge("request_changes", (T.IN_REVIEW,), T.CHANGES_REQUESTED),
        Edge("reject", (T.IN_REVIEW,), T.REJECTED),
        Edge("revoke", (T.IN_REVIEW, T.APPROVED), T.REVOKED),
        Edge(
            "withdraw",
            (T.DRAFT, T.IN_REVIEW, T.APPROVED, T.CHANGES_REQUESTED, T.REJECTED, T.EXPIRED),
            T.REVOKED,
        ),
        Edge("expire", (T.IN_REVIEW, T.APPROVED), T.EXPIRED),
        Edge("begin", (T.APPROVED,), T.SUBMITTING),
        Edge("deliver", (T.SUBMITTING, T.DELIVERY_UNKNOWN, T.FAILED), T.SUBMITTED),
        Edge("fail", (T.SUBMITTING, T.DELIVERY_UNKNOWN), T.FAILED),
        Edge("lose", (T.SUBMITTING,), T.DELIVERY_UNKNOWN),
        Edge("resend", (T.DELIVERY_UNKNOWN,), T.SUBMITTING),
        Edge("retry", (T.FAILED,), T.SUBMITTING),
        Edge("confirm", (T.SUBMITTED,), T.CONFIRMED),
        Edge("retract", (T.SUBMITTED, T.CONFIRMED), T.RETRACTING),
        Edge("verify_gone", (T.RETRACTING, T.RETRACTION_UNKNOWN, T.RETRACTION_FAILED), T.RETRACTED),
        Edge("lose_retraction", (T.RETRACTING,), T.RETRACTION_UNKNOWN),
        Edge("fail_retraction", (T.RETRACTING, T.RETRACTION_UNKNOWN), T.RETRACTION_FAILED),
        Edge("retry_retraction", (T.RETRACTION_FAILED, T.RETRACTION_UNKNOWN), T.RETRACTING),
    ),
)

MACHINES = (APPROVAL, DELIVERY, DISPATCH_CLAIM, DRAFT)

LIVE_APPROVAL = (A.PENDING, A.APPROVED)
ENDED_APPROVAL = (A.REJECTED, A.SUPERSEDED, A.REVOKED, A.EXPIRED)
OPEN_DRAFT = (T.DRAFT, T.IN_REVIEW, T.CHANGES_REQUESTED, T.APPROVED)
"""Drafts that may still be sent: what `one_open_draft` counts."""

QUEUE_RANK = {
    T.DELIVERY_UNKNOWN: 0,
    T.RETRACTION_UNKNOWN: 0,
    T.IN_REVIEW: 1,
    T.CHANGES_REQUESTED: 2,
    T.APPROVED: 3,
    T.SUBMITTING: 3,
    T.RETRACTING: 3,
    T.FAILED: 4,
    T.RETRACTION_FAILED: 4,
    T.DRAFT: 5,
    T.SUBMITTED: 6,
    T.CONFIRMED: 7,
    T.REJECTED: 7,
    T.EXPIRED: 7,
    T.REVOKED: 7,
    T.RETRACTED: 7,
}
"""Where a draft stands in the queue: lower is more urgent; ties go by `due_at`."""
