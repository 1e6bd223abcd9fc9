"""Decide and take back: one reviewer's verdict on one approval, counted once."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import connection

from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.domain.binding import digest_of
from approvals.domain.errors import (
    AlreadyDecided,
    InvalidPayload,
    NotEligible,
    NotFound,
    StaleRevision,
    TargetChanged,
    Unavailable,
    WrongState,
)
from approvals.domain.gate import Verdict, is_expired
from approvals.domain.states import ApprovalState
from approvals.models import Approval, Decision, Draft, Exclusion, walls
from approvals.permissions import Verb, require
from approvals.selectors.counting import newest_decisions, tally
from approvals.services import audit, authority, door, expire, ground, locks, outbox
from approvals.services.door import Clock, Key, Subject
from approvals.services.outbox import EventClass

VERDICTS = (Verdict.APPROVE, Verdict.REJECT, Verdict.REQUEST_CHANGES)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the reviewer decided on: all three are needed, none is ever looked up at click time."""

    approval_id: UUID
    version: int
    digest: str
    shown_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision that stands, and whether this call recorded it (a double click did not)."""

    decision: Decision
    draft: Draft
    recorded: bool


def decide(
    *, actor: Actor, clock: Clock, shown: Shown, verdict: Verdict, comment: str = "", key: Key | None = None
) -> Decided:
    """Records a verdict on exactly what was shown and moves the approval if the count says so.

    Raises StaleRevision, Superseded, Revoked, Expired, Consumed, WrongState, TargetChanged, AlreadyDecided,
    NotEligible, NotFound, InvalidPayload, Unavailable.
    """
    draft_id = _draft_of(shown.approval_id)
    return door.run(
        lambda: _decide(actor=actor, clock=clock, shown=shown, verdict=verdict, comment=comment),
        actor=actor,
        verb=Verb.DECIDE,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda decided: f"draft:{decided.draft.pk}",
    )


def take_back(*, actor: Actor, clock: Clock, approval_id: UUID, key: Key | None = None) -> Draft:
    """Takes one's own standing decision back by a further row. An approved draft returns to review with it.

    Names the approval only and is never refused as stale. Raises Consumed once sending has begun, and Expired when
    time ran out: what expired gets no new review by the way.
    """
    return door.run(
        lambda: _take_back(actor=actor, clock=clock, approval_id=approval_id),
        actor=actor,
        verb=Verb.TAKE_BACK,
        subject=Subject(draft_id=_draft_of(approval_id)),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def _decide(*, actor: Actor, clock: Clock, shown: Shown, verdict: Verdict, comment: str) -> Decided:
    draft, approval = _locked(shown.approval_id)
    now = clock()
    require(actor, Verb.DECIDE, draft=draft)
    if verdict not in VERDICTS:
        raise InvalidPayload("A verdict is approve, reject or request_changes.", pointer="/verdict")
    comment = words.checked(comment, pointer="/comment")
    standing = newest_decisions(approval).get(actor.person_id)
    if standing is not None and standing.verdict == verdict:
        return Decided(standing, draft, recorded=False)
    _check_binding(draft, approval, shown)
    _check_open(approval, now)
    _check_eligible(draft, actor)
    if standing is not None and standing.verdict != Verdict.TAKEN_BACK:
        raise AlreadyDecided(draft_id=draft.pk, approval_id=approval.pk)
    decision = _record(approval, actor=actor, verdict=verdict, comment=comment, shown=shown, now=now)
    _move(draft, approval, verdict, decision=decision, actor=actor, now=now)
    return Decided(decision, draft, recorded=True)


def _take_back(*, actor: Actor, clock: Clock, approval_id: UUID) -> Draft:
    draft, approval = _locked(approval_id)
    now = clock()
    require(actor, Verb.TAKE_BACK, draft=draft)
    standing = newest_decisions(approval).get(actor.person_id)
    if not approval.is_live:
        raise authority.refusal_for(approval)
    if is_expired(now, approval.expires_at):
        raise expire.refusal(approval)
    if standing is None or standing.verdict == Verdict.TAKEN_BACK:
        raise WrongState("No decision of yours stands on this approval.", draft_id=draft.pk, approval_id=approval.pk)
    shown = Shown(approval.pk, approval.version, approval.digest)
    _record(approval, actor=actor, verdict=Verdict.TAKEN_BACK, comment="", shown=shown, now=now)
    if approval.state == ApprovalState.APPROVED:
        reason = f"{actor.name} took their decision back."
        ground.back_to_review(draft, approval, verb="revoke", actor=actor, now=now, reason=reason)
    else:
        _count(approval)
        draft.save_move(*draft.touch(now, due_at=approval.expires_at), version=approval.version)
    return draft


def _draft_of(approval_id: UUID) -> int | None:
    draft_id: int | None = Approval.objects.filter(pk=approval_id).values_list("draft_id", flat=True).first()
    return draft_id


def _locked(approval_id: UUID) -> tuple[Draft, Approval]:
    draft_id = _draft_of(approval_id)
    if draft_id is None:
        raise NotFound()
    draft = locks.draft(draft_id)
    return draft, locks.approval(approval_id, draft=draft)


def _check_binding(draft: Draft, approval: Approval, shown: Shown) -> None:
    if (shown.version, shown.digest) != (approval.version, approval.digest):
        raise StaleRevision(draft_id=draft.pk, approval_id=approval.pk)


def _check_open(approval: Approval, now: datetime) -> None:
    """Holds state, time and ground: what is no longer current cannot be decided on."""
    if approval.state != ApprovalState.PENDING:
        raise authority.refusal_for(approval)
    if is_expired(now, approval.expires_at):
        raise expire.refusal(approval)
    if walls.problems(connection):
        raise Unavailable("The database's walls do not stand, so nothing is decided. Tell an operator.")
    if digest_of(bytes(approval.revision.canonical)) != approval.digest:
        raise Unavailable("The stored bytes do not match their digest, so nothing is decided. Tell an operator.")
    moved = ground.moved(approval)
    if moved:
        raise TargetChanged(
            f"{moved[0].message} Look at the draft again and decide on its new approval.",
            draft_id=approval.draft_id,
            approval_id=approval.pk,
            remedy=partial(ground.reopen_if_moved, approval_id=approval.pk),
        )


def _check_eligible(draft: Draft, actor: Actor) -> None:
    barred = set(Exclusion.objects.filter(draft=draft).values_list("user_id", flat=True))
    if actor.person_id in barred:
        raise NotEligible("You wrote part of this draft, so somebody else has to decide on it.", reason="author")
    authors = set(draft.revisions.values_list("author_id", flat=True))
    if not authors or authors - barred:
        raise NotEligible("Who wrote this draft is not known, so nobody can decide on it.", reason="author")


def _record(
    approval: Approval, *, actor: Actor, verdict: Verdict, comment: str, shown: Shown, now: datetime
) -> Decision:
    earlier = approval.decisions.filter(reviewer_id=actor.person_id).count()
    decision = Decision.objects.create(
        approval=approval,
        reviewer_id=actor.person_id,
        seq=earlier + 1,
        verdict=verdict.value,
        comment=comment,
        version=shown.version,
        digest=shown.digest,
        via=actor.via,
        shown_at=shown.shown_at,
        decided_at=now,
    )
    audit.of_draft(
        approval.draft,
        actor=actor,
        action="decision.taken_back" if verdict == Verdict.TAKEN_BACK else "decision.recorded",
        now=now,
        approval_id=str(approval.pk),
        verdict=verdict.value,
        digest=shown.digest,
        shown_at=audit.stamp(shown.shown_at) if shown.shown_at else None,
    )
    return decision


def _move(
    draft: Draft, approval: Approval, verdict: Verdict, *, decision: Decision, actor: Actor, now: datetime
) -> None:
    """Counts, and moves approval and draft if a threshold is met; else only the count moves."""
    counted, policy = tally(approval), approval.rules
    reason = f"{actor.name}: {decision.comment}"[: words.REASON_LIMIT] if decision.comment else f"By {actor.name}."
    if verdict == Verdict.REQUEST_CHANGES:
        _end(draft, approval, "request_changes", actor=actor, now=now, reason=reason)
    elif counted.rejects(policy):
        _end(draft, approval, "reject", actor=actor, now=now, reason=reason)
    elif verdict == Verdict.APPROVE and counted.meets(policy):
        _approve(draft, approval, actor=actor, now=now)
    else:
        _count(approval, expires_at__gt=now)
        draft.save_move(*draft.touch(now, due_at=approval.expires_at), version=approval.version)


def _count(approval: Approval, **where: object) -> None:
    """Counts a decision that moves no state, by the same conditional write as one that does."""
    approval.decision_count += 1
    approval.save_move("decision_count", version=approval.version, digest=approval.digest, **where)


def _approve(draft: Draft, approval: Approval, *, actor: Actor, now: datetime) -> None:
    policy = approval.rules
    not_before = draft.not_before or now
    approval.approve()
    approval.decision_count += 1
    approval.approved_at = now
    still_pending_until = approval.expires_at
    approval.expires_at = max(now, not_before) + policy.approval_ttl
    if policy.dispatch == "automatic":
        approval.dispatch_at = max(now + policy.dispatch_delay, not_before)
    approval.save_move(
        "decision_count",
        "approved_at",
        "expires_at",
        "dispatch_at",
        version=approval.version,
        digest=approval.digest,
        expires_at=still_pending_until,
        expires_at__gt=now,
    )
    draft.approve()
    draft.save_move(*draft.touch(now, due_at=approval.expires_at), version=approval.version, approval_id=approval.pk)
    outbox.emit(approval, EventClass.ISSUANCE, actor=actor, now=now)
    audit.of_draft(draft, actor=actor, action="approval.approved", now=now, approval_id=str(approval.pk))


def _end(draft: Draft, approval: Approval, verb: str, *, actor: Actor, now: datetime, reason: str) -> None:
    approval.decision_count += 1
    authority.end_approval(approval, "reject", actor=actor, now=now, reason=reason)
    getattr(draft, verb)()
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now), version=approval.version, approval_id=approval.pk)
    audit.of_draft(draft, actor=actor, action=f"draft.{draft.state}", now=now, reason=reason)
