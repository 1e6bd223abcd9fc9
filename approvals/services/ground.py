"""The ground an approval stands on: whether it moved, and going back to review when it did (reopen)."""

from datetime import datetime
from uuid import UUID

from approvals.domain.actor import Actor, system
from approvals.domain.binding import digest_of
from approvals.domain.errors import Refusal, Unavailable
from approvals.domain.gate import Cause, Ground, Reason, SendFacts, is_expired, may_send
from approvals.domain.policy import Policy
from approvals.domain.states import DRAFT, ApprovalState
from approvals.models import Approval, ChannelConfig, Draft
from approvals.permissions import Verb
from approvals.selectors import work
from approvals.selectors.counting import tally
from approvals.services import audit, authority, corrections, door, locks, rendering
from approvals.services.door import Clock, Subject, database_now
from approvals.services.revoke import revoke_in

REOPENER = "dispatch_approved"
MOVED = (Cause.TARGET_MOVED, Cause.CONFIG_CHANGED, Cause.RENDERING_CHANGED)


def current(approval: Approval, config: ChannelConfig | None = None) -> Ground:
    """Gives what an approval would stand on if it were opened now, for the same bytes.

    A delivery in flight keeps the configuration it was begun with: then that is `config`. Bytes that cannot be
    rendered have an empty rendering digest, which no approval has.
    """
    draft = approval.draft
    config = config or draft.channel.config
    assert config is not None
    return Ground(
        version=draft.version,
        digest=approval.revision.digest,
        target_version=draft.target.version,
        config_id=config.pk,
        rendering_digest=_rendering_digest(approval, config),
    )


def facts(
    approval: Approval,
    *,
    now: datetime,
    state: ApprovalState,
    config: ChannelConfig | None = None,
    held: bool = False,
) -> SendFacts:
    """Collects everything the gate asks about sending an approval's bytes."""
    draft = approval.draft
    ground = current(approval, config)
    recomputed = digest_of(bytes(approval.revision.canonical))
    if not ground.rendering_digest and ground.config_id == approval.config_id:
        recomputed = "unreadable"  # nothing but the bytes can be at fault, and that is as bad as altered ones
    paused = [f"room {draft.room.slug}"] if draft.room.paused_at else []
    paused += [f"channel {draft.channel}"] if draft.channel.paused_at else []
    return SendFacts(
        now=now,
        state_ok=approval.state == state and draft.approval_id == approval.pk,
        expires_at=approval.expires_at,
        dispatch_at=approval.dispatch_at,
        approved=approval.ground,
        current=ground,
        recomputed_digest=recomputed,
        tally=tally(approval),
        policy=approval.rules,
        paused=tuple(paused),
        held=held,
        retired=draft.channel.retired_at is not None,
        not_corrigible=corrections.why_not(draft),
    )


def moved(approval: Approval) -> list[Reason]:
    """Says in what the ground of a live approval has moved; a stricter policy counts while it is pending."""
    answer = may_send(facts(approval, now=approval.opened_at, state=ApprovalState(approval.state)))
    reasons = [reason for reason in answer.reasons if reason.cause in MOVED]
    if approval.state == ApprovalState.PENDING and _policy_now(approval).is_stricter_than(approval.rules):
        reasons.append(Reason(Cause.CONFIG_CHANGED, "The policy became stricter since the approval was opened."))
    return reasons


def reopen_if_moved(*, approval_id: UUID, actor: Actor | None = None, clock: Clock = database_now) -> bool:
    """Sends a live approval whose ground moved, or whose approvers lost standing, back to review.

    True if this call did it. A transaction of its own; safe to run again.
    """
    by = actor or system(REOPENER)
    draft_id = Approval.objects.values_list("draft_id", flat=True).get(pk=approval_id)
    return door.run(
        lambda: _reopen_if_moved(approval_id=approval_id, draft_id=draft_id, actor=by, clock=clock),
        actor=by,
        verb=Verb.WORK,
        subject=Subject(draft_id=draft_id),
    )


def reopen_in(approval: Approval, draft: Draft, *, actor: Actor, now: datetime) -> bool:
    """The body of `reopen_if_moved`, for doors that hold the locks already."""
    if not approval.is_live or is_expired(now, approval.expires_at):
        return False
    reasons = moved(approval)
    if reasons:
        back_to_review(draft, approval, verb="supersede", actor=actor, now=now, reason=reasons[0].message)
        return True
    if approval.state == ApprovalState.APPROVED and not tally(approval).meets(approval.rules):
        reason = "An approver is no longer in good standing."
        back_to_review(draft, approval, verb="revoke", actor=actor, now=now, reason=reason)
        return True
    return False


def back_to_review(draft: Draft, approval: Approval, *, verb: str, actor: Actor, now: datetime, reason: str) -> None:
    """Ends a live approval, opens its successor on the ground of now, and puts the draft in review. Inside a door.

    Where the channel as configured now cannot carry these bytes there is nothing to review: the draft is revoked.
    """
    config = draft.channel.config
    if config is None or not _rendering_digest(approval, config):
        why = f"{reason} The channel cannot send this any more; change it and submit it again."
        revoke_in(draft, approval, verb="revoke", actor=actor, now=now, reason=why)
        return
    fresh = authority.replace_approval(
        draft, approval, approval.revision, verb=verb, actor=actor, now=now, reason=reason
    )
    if draft.state in DRAFT.edge("reopen").sources:
        draft.reopen()
    draft.reason = reason
    draft.save_move("approval", "reason", *draft.touch(now, due_at=fresh.expires_at), version=approval.version)
    audit.of_draft(draft, actor=actor, action="draft.reopened", now=now, reason=reason, approval_id=str(fresh.pk))


def _rendering_digest(approval: Approval, config: ChannelConfig) -> str:
    """Gives the digest of the request these bytes make with a configuration; nothing if they make none."""
    try:
        return rendering.render(approval.revision, approval.write_id, config).digest
    except Unavailable:
        raise  # the connector is missing, not the bytes at fault: nothing may end for that
    except Refusal:
        return ""


def reopen_on(target_id: int, *, actor: Actor | None = None, clock: Clock = database_now) -> None:
    """Sends what was approved for an older version of a target back to review, each in a transaction of its own."""
    for approval_id in work.live_on_moved_ground(target_id):
        reopen_if_moved(approval_id=approval_id, actor=actor, clock=clock)


def _reopen_if_moved(*, approval_id: UUID, draft_id: int, actor: Actor, clock: Clock) -> bool:
    draft = locks.draft(draft_id)
    approval = locks.approval(approval_id, draft=draft)
    return reopen_in(approval, draft, actor=actor, now=clock())


def _policy_now(approval: Approval) -> Policy:
    return approval.draft.channel.effective_policy()
