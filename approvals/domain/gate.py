"""The gate: may this decision count, may these bytes be sent? Pure: facts in, verdict with *all* reasons out.

A yes here is only advice. The write that follows is conditional on the same facts, and zero rows mean no.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from approvals.domain.policy import Policy


class Verdict(StrEnum):
    """What one reviewer said on one approval."""

    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_CHANGES = "request_changes"
    TAKEN_BACK = "taken_back"


class Cause(StrEnum):
    """Why the gate says no; the service picks what happens next by it."""

    NOT_APPROVED = "not_approved"
    STALE = "stale"
    EXPIRED = "expired"
    NOT_YET = "not_yet"
    TARGET_MOVED = "target_moved"
    CONFIG_CHANGED = "config_changed"
    RENDERING_CHANGED = "rendering_changed"
    INTEGRITY = "integrity"
    STANDING = "standing"
    PAUSED = "paused"
    HELD = "held"
    RETIRED = "retired"
    CORRECTS = "corrects"
    UNSUPPORTED = "unsupported"
    CORRECTED = "corrected"
    NEWER_WRITE = "newer_write"


@dataclass(frozen=True, slots=True)
class Reason:
    """One failed condition, with a sentence for people."""

    cause: Cause
    message: str


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """Every condition that failed; none means yes."""

    reasons: tuple[Reason, ...]

    @property
    def ok(self) -> bool:
        return not self.reasons

    def has(self, *causes: Cause) -> bool:
        return any(reason.cause in causes for reason in self.reasons)

    @property
    def sentence(self) -> str:
        return " ".join(reason.message for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Standing:
    """A reviewer as of now: an active person who is a reviewer of the room, with these groups; barred if an author."""

    reviewer_id: int
    in_good_standing: bool
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Tally:
    """The count of one approval: who counts for it, who is against, and what each requirement has."""

    approvals: frozenset[int]
    rejections: frozenset[int]
    change_requests: frozenset[int]
    groups: Mapping[str, int]

    def meets(self, policy: Policy) -> bool:
        return len(self.approvals) >= policy.required_approvals and all(
            self.groups.get(item.group, 0) >= item.minimum for item in policy.requirements
        )

    def rejects(self, policy: Policy) -> bool:
        return len(self.rejections) >= policy.reject_threshold


def count(newest: Mapping[int, Verdict], standing: Mapping[int, Standing], policy: Policy) -> Tally:
    """Counts the newest verdict per reviewer: one person once, and only people in good standing."""
    good = {person for person in newest if person in standing and standing[person].in_good_standing}
    approvals = frozenset(person for person in good if newest[person] == Verdict.APPROVE)
    return Tally(
        approvals=approvals,
        rejections=frozenset(person for person in good if newest[person] == Verdict.REJECT),
        change_requests=frozenset(person for person in good if newest[person] == Verdict.REQUEST_CHANGES),
        groups={
            item.group: sum(item.group in standing[person].groups for person in approvals)
            for item in policy.requirements
        },
    )


@dataclass(frozen=True, slots=True)
class Ground:
    """What an approval stands on, or what is current: compared field by field."""

    version: int
    digest: str
    target_version: int
    config_id: int
    rendering_digest: str


@dataclass(frozen=True, slots=True)
class SendFacts:
    """Everything a send depends on. `now` is the database's clock, read after the last lock."""

    now: datetime
    state_ok: bool
    expires_at: datetime
    dispatch_at: datetime | None
    approved: Ground
    current: Ground
    recomputed_digest: str
    tally: Tally
    policy: Policy
    paused: tuple[str, ...] = ()
    held: bool = False
    retired: bool = False
    not_corrigible: str = ""  # why what these bytes correct can no longer be corrected


@dataclass(frozen=True, slots=True)
class RetractFacts:
    """Everything the undoing of a write depends on."""

    can_retract: bool
    remote_id: str
    corrected_by: str = ""  # the reference of the correction that replaced it
    is_newest: bool = True  # on an exclusive target: no other write was delivered since
    paused: tuple[str, ...] = ()
    held: bool = False


def may_retract(facts: RetractFacts) -> GateAnswer:
    """Gives every reason why a write must not be undone now."""
    return GateAnswer(tuple(_retract_reasons(facts)))


def may_send(facts: SendFacts) -> GateAnswer:
    """Gives every reason why these bytes must not go out now, for the first time or again."""
    return GateAnswer(tuple(_send_reasons(facts)))


def is_expired(now: datetime, expires_at: datetime) -> bool:
    """True from the very instant `expires_at` on."""
    return now >= expires_at


def _send_reasons(facts: SendFacts) -> Iterable[Reason]:
    if not facts.state_ok:
        yield Reason(Cause.NOT_APPROVED, "The approval is not in a state that covers a send.")
    if is_expired(facts.now, facts.expires_at):
        yield Reason(Cause.EXPIRED, "The approval has expired.")
    if facts.dispatch_at is None or facts.now < facts.dispatch_at:
        yield Reason(Cause.NOT_YET, "It is not due yet.")
    yield from _ground_reasons(facts)
    if not facts.tally.meets(facts.policy):
        yield Reason(Cause.STANDING, "The approvals that still count do not meet the policy.")
    for name in facts.paused:
        yield Reason(Cause.PAUSED, f"Sending is paused: {name}.")
    if facts.held:
        yield Reason(Cause.HELD, "Late evidence holds the delivery until somebody has looked at it.")
    if facts.retired:
        yield Reason(Cause.RETIRED, "The channel was retired.")
    if facts.not_corrigible:
        yield Reason(Cause.CORRECTS, facts.not_corrigible)


def _retract_reasons(facts: RetractFacts) -> Iterable[Reason]:
    if not facts.can_retract:
        yield Reason(Cause.UNSUPPORTED, "This channel has no way to take back what it published.")
    elif not facts.remote_id:
        yield Reason(Cause.UNSUPPORTED, "The object's id at the remote is not known, so it cannot be named there.")
    if facts.corrected_by:
        yield Reason(Cause.CORRECTED, f"{facts.corrected_by} corrected it since. Retract that one instead.")
    if not facts.is_newest:
        yield Reason(Cause.NEWER_WRITE, "A newer write stands at the target; undoing this one would remove that.")
    for name in facts.paused:
        yield Reason(Cause.PAUSED, f"Sending is paused: {name}.")
    if facts.held:
        yield Reason(Cause.HELD, "Late evidence holds the delivery until somebody has looked at it.")


def _ground_reasons(facts: SendFacts) -> Iterable[Reason]:
    approved, current = facts.approved, facts.current
    if facts.recomputed_digest != approved.digest:
        yield Reason(Cause.INTEGRITY, "The stored bytes do not match the approved digest.")
    if (approved.version, approved.digest) != (current.version, current.digest):
        yield Reason(Cause.STALE, "The draft has a newer revision than the approved one.")
    if approved.target_version != current.target_version:
        yield Reason(Cause.TARGET_MOVED, "The target was written to since the approval was opened.")
    if approved.config_id != current.config_id:
        yield Reason(Cause.CONFIG_CHANGED, "The channel's configuration changed since the approval was opened.")
    if approved.rendering_digest != current.rendering_digest:
        yield Reason(Cause.RENDERING_CHANGED, "The request would be rendered differently from the approved one.")
