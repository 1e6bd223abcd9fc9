"""The refusals: one tree, one stable code each. The docstring is the default message.

Which HTTP status a code becomes is decided in `api/` and `web/`, nowhere else.
"""

import inspect
from collections.abc import Callable
from typing import ClassVar
from uuid import UUID


class Refusal(Exception):
    """This cannot be done now. Reload the page and look at the current state."""

    code: ClassVar[str] = "wrong_state"

    def __init__(
        self,
        message: str | None = None,
        *,
        pointer: str | None = None,
        line: int | None = None,
        column: int | None = None,
        reason: str | None = None,
        draft_id: int | None = None,
        approval_id: UUID | None = None,
        successor_id: UUID | None = None,
        remedy: Callable[[], object] | None = None,
    ) -> None:
        """`remedy` is run by the door after the rollback, in a transaction of its own (expire, reopen)."""
        super().__init__(message or inspect.cleandoc(type(self).__doc__ or ""))
        self.pointer = pointer
        self.line = line
        self.column = column
        self.reason = reason
        self.draft_id = draft_id
        self.approval_id = approval_id
        self.successor_id = successor_id
        self.remedy = remedy


class Conflict(Refusal):
    """What you acted on is no longer what is current. Nothing was recorded."""


class StaleRevision(Conflict):
    """The draft changed since you looked. Nothing was recorded; look at the current revision and decide on that."""

    code = "stale_revision"


class AlreadyDecided(Conflict):
    """Another decision of yours stands on this approval. Take it back first, then decide again."""

    code = "already_decided"


class Superseded(Conflict):
    """A newer approval replaced this one. Nothing was recorded; open the newer one."""

    code = "superseded"


class Revoked(Conflict):
    """This approval was revoked. Nothing was recorded; submit the draft again to have it reviewed."""

    code = "revoked"


class Expired(Conflict):
    """The time for this approval ran out. Nothing was recorded; its author can submit the draft again."""

    code = "expired"


class Consumed(Conflict):
    """Sending has begun, so the approval can no longer be taken away. Retract the published object instead."""

    code = "consumed"


class WrongState(Conflict):
    """The draft is not in a state that allows this. Reload it and look at its state."""

    code = "wrong_state"


class StaleView(Conflict):
    """The page you decided on is too old or was not shown in full. Look at the content again, then decide."""

    code = "stale_view"


class OpenDraftExists(Conflict):
    """Another open draft writes to the same target, and the policy allows one. Finish or withdraw that one first."""

    code = "open_draft_exists"


class Duplicate(Conflict):
    """The same bytes were proposed in this room within the last 30 days, and the policy refuses duplicates."""

    code = "duplicate"


class Unsupported(Conflict):
    """The connector of this channel cannot do this."""

    code = "unsupported"


class DispatchClaimHeld(Conflict):
    """Another worker holds the dispatch claim of this target. Wait until it has finished."""

    code = "dispatch_claim_held"


class TargetChanged(Conflict):
    """The target, its channel or the policy moved on since this approval was opened. Review it again."""

    code = "target_changed"


class Paused(Conflict):
    """The channel or its room is paused. An operator has to resume it first."""

    code = "paused"


class IdempotencyInProgress(Conflict):
    """The first request with this Idempotency-Key is still running. Ask again in a few seconds."""

    code = "idempotency_in_progress"


class IdempotencyMismatch(Refusal):
    """This Idempotency-Key was used for a different request. Use a new key for a new request."""

    code = "idempotency_mismatch"


class InvalidPayload(Refusal):
    """The request cannot be accepted as it is. The pointer names the field to correct."""

    code = "invalid_payload"


class PreconditionRequired(Refusal):
    """Send the version you edited in If-Match (the draft's ETag), so that nobody's change is overwritten."""

    code = "precondition_required"


class NotFound(Refusal):
    """There is nothing here under this name, or it is not yours to see."""

    code = "not_found"


class Unauthenticated(Refusal):
    """Log in, or send a valid bearer token."""

    code = "unauthenticated"


class Forbidden(Refusal):
    """This token does not have the scope for this call. Ask an operator for one that has."""

    code = "forbidden"


class NotEligible(Refusal):
    """You cannot do this on this draft."""

    code = "not_eligible"


class TooLarge(Refusal):
    """The request is too large. Shorten the payload."""

    code = "too_large"


class RateLimited(Refusal):
    """Too many requests. Wait a moment and try again."""

    code = "rate_limited"


class Unavailable(Refusal):
    """The service refuses to act until an operator has repaired it. Ask them to look at the system checks."""

    code = "unavailable"


class NotImplementedYet(Refusal):
    """This verb is part of the contract but is not available in this version."""

    code = "unavailable"


class LostRace(Exception):
    """A conditional update matched no row: somebody else moved it first. Carries no user message on purpose."""
