"""Which states of the four machines may stand beside each other; nothing else may ever be in the database.

Found by exploring every order of events for two workers, two drafts and one target, with crashes, suspended workers
and late requests. The dispatch claim counts as far as it serves this draft: serving another is `idle` here.
"""

from dataclasses import dataclass

from approvals.domain.states import (
    ENDED_APPROVAL,
    ApprovalState,
    ClaimState,
    DeliveryState,
    DraftState,
)

A, W, C, T = ApprovalState, DeliveryState, ClaimState, DraftState
NONE = "none"


@dataclass(frozen=True, slots=True)
class Combination:
    """One draft as the database holds it: its state, and those of what belongs to it (`none` where there is none)."""

    draft: str
    approval: str
    write: str
    retraction: str
    claim: str
    exclusive: bool

    def __str__(self) -> str:
        kind = "exclusive" if self.exclusive else "append"
        return (
            f"draft {self.draft}, approval {self.approval}, write {self.write}, retraction {self.retraction}, "
            f"dispatch claim {self.claim} ({kind})"
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `append` is what the claim may be besides, on an append channel."""

    drafts: tuple[str, ...]
    approvals: tuple[str, ...]
    write: str
    retraction: str
    claims: tuple[str, ...]
    append: tuple[str, ...] = ()

    def allows(self, found: Combination) -> bool:
        return (
            found.draft in self.drafts
            and found.approval in self.approvals
            and (found.write, found.retraction) == (self.write, self.retraction)
            and (found.claim in self.claims or (not found.exclusive and found.claim in self.append))
        )


FREE = (C.IDLE, C.RESERVED)
SPENT = (A.CONSUMED,)
TABLE = (
    Row((T.DRAFT,), (NONE, *ENDED_APPROVAL), NONE, NONE, FREE),
    Row((T.IN_REVIEW,), (A.PENDING,), NONE, NONE, FREE),
    Row((T.APPROVED,), (A.APPROVED,), NONE, NONE, FREE),
    Row((T.CHANGES_REQUESTED, T.REJECTED), (A.REJECTED,), NONE, NONE, FREE),
    Row((T.EXPIRED,), (A.EXPIRED,), NONE, NONE, FREE),
    Row((T.REVOKED,), (NONE, *ENDED_APPROVAL), NONE, NONE, FREE),
    Row((T.SUBMITTING,), SPENT, W.SENDING, NONE, (C.SENDING,)),
    Row((T.SUBMITTING,), SPENT, W.WAITING, NONE, FREE),
    Row((T.DELIVERY_UNKNOWN,), SPENT, W.UNKNOWN, NONE, (C.UNCERTAIN,), FREE),
    Row((T.FAILED,), SPENT, W.REFUSED, NONE, (C.IDLE,), (C.RESERVED,)),
    Row((T.FAILED,), SPENT, W.CANCELLED, NONE, FREE),
    Row((T.SUBMITTED, T.CONFIRMED), SPENT, W.DELIVERED, NONE, (C.IDLE,), (C.RESERVED,)),
    Row((T.RETRACTING,), SPENT, W.DELIVERED, W.WAITING, FREE),
    Row((T.RETRACTING,), SPENT, W.DELIVERED, W.SENDING, (C.SENDING,)),
    Row((T.RETRACTING,), SPENT, W.DELIVERED, W.DELIVERED, (C.IDLE,)),
    Row((T.RETRACTION_UNKNOWN,), SPENT, W.DELIVERED, W.UNKNOWN, (C.UNCERTAIN,), (C.IDLE,)),
    Row((T.RETRACTION_UNKNOWN,), SPENT, W.DELIVERED, W.DELIVERED, (C.IDLE,)),
    Row((T.RETRACTED,), SPENT, W.DELIVERED, W.DELIVERED, (C.IDLE,)),
    Row((T.RETRACTION_FAILED,), SPENT, W.DELIVERED, W.DELIVERED, (C.IDLE,)),
    Row((T.RETRACTION_FAILED,), SPENT, W.DELIVERED, W.REFUSED, (C.IDLE,)),
    Row((T.RETRACTION_FAILED,), SPENT, W.DELIVERED, W.CANCELLED, FREE),
)


def is_allowed(found: Combination) -> bool:
    """True if the table has a row for this combination."""
    return any(row.allows(found) for row in TABLE)
