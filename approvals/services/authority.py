"""Opening and ending approvals: the steps every verb shares. Bodies only; call them inside a door."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from approvals.domain.actor import Actor
from approvals.domain.errors import Consumed, Expired, Refusal, Revoked, Superseded, WrongState
from approvals.domain.states import ApprovalState, DraftState
from approvals.models import Approval, Draft, Revision
from approvals.services import audit, outbox, rendering
from approvals.services.outbox import EventClass

EMITTED = {"supersede": EventClass.SUPERSESSION, "revoke": EventClass.REVOCATION}
"""Ends that the audit sink is told of; expiry and rejection are not."""


def open_approval(
    draft: Draft, revision: Revision, *, actor: Actor, now: datetime, approval_id: UUID | None = None
) -> Approval:
    """Opens a pending approval for one revision on the ground of now, and makes it the draft's newest.

    The draft is locked and saved by the caller (`approval` is among the changed columns).
    """
    config = draft.channel.config
    if config is None or draft.channel.retired_at is not None:
        raise WrongState("The channel was retired. Choose another channel, then submit again.", draft_id=draft.pk)
    policy = draft.channel.effective_policy()
    approval: Approval = Approval(
        id=approval_id or uuid4(),
        draft=draft,
        revision=revision,
        target=draft.target,
        config=config,
        version=revision.number,
        digest=revision.digest,
        target_version=draft.target.version,
        policy=policy.snapshot(),
        required_approvals=policy.required_approvals,
        opened_at=now,
        expires_at=now + policy.review_ttl,
    )
    approval.rendering_digest = rendering.render(revision, approval.write_id, config).digest
    approval.save(force_insert=True)
    draft.approval = approval
    audit.of_draft(draft, actor=actor, action="approval.opened", now=now, **_facts(approval))
    return approval


def end_approval(
    approval: Approval,
    verb: str,
    *,
    actor: Actor,
    now: datetime,
    reason: str,
    successor_id: UUID | None = None,
) -> None:
    """Ends a live approval by `supersede`, `revoke`, `reject` or `expire`, and tells the outbox where it must."""
    getattr(approval, verb)()
    approval.ended_at = now
    approval.end_reason = reason
    approval.superseded_by_id = successor_id
    approval.save_move("ended_at", "end_reason", "superseded_by", version=approval.version, digest=approval.digest)
    if verb in EMITTED:
        outbox.emit(approval, EMITTED[verb], actor=actor, now=now, reason=reason, superseded_by=successor_id)
    audit.of_draft(
        approval.draft, actor=actor, action=f"approval.{approval.state}", now=now, reason=reason, **_facts(approval)
    )


def replace_approval(
    draft: Draft, old: Approval, revision: Revision, *, verb: str, actor: Actor, now: datetime, reason: str
) -> Approval:
    """Ends `old` and opens its successor on the ground of now; nothing is carried over.

    A revoked one has no successor link: its authority was taken, not replaced.
    """
    successor_id = uuid4()
    end_approval(
        old,
        verb,
        actor=actor,
        now=now,
        reason=reason,
        successor_id=successor_id if verb == "supersede" else None,
    )
    return open_approval(draft, revision, actor=actor, now=now, approval_id=successor_id)


def current_revision(draft: Draft) -> Revision:
    return draft.revisions.get(number=draft.version)


def refusal_for(approval: Approval) -> Refusal:
    """Gives the conflict that says how an approval is no longer what somebody thought."""
    if approval.state == ApprovalState.SUPERSEDED:
        return Superseded(draft_id=approval.draft_id, approval_id=approval.pk, successor_id=approval.superseded_by_id)
    kinds = {
        ApprovalState.REVOKED: Revoked,
        ApprovalState.EXPIRED: Expired,
        ApprovalState.CONSUMED: Consumed,
    }
    kind = kinds.get(ApprovalState(approval.state), WrongState)
    return kind(draft_id=approval.draft_id, approval_id=approval.pk)


def wrong_state(draft: Draft, what: str) -> Refusal:
    """Gives the conflict for a verb the draft's state does not allow; once consumed it is said as such."""
    if draft.approval is not None and draft.approval.state == ApprovalState.CONSUMED:
        begun = f"Sending of {draft.reference} has begun, so it cannot be {what}."
        return Consumed(begun, draft_id=draft.pk, approval_id=draft.approval_id)
    state = DraftState(draft.state).replace("_", " ")
    return WrongState(f"{draft.reference} is {state}, so it cannot be {what}.", draft_id=draft.pk)


def _facts(approval: Approval) -> dict[str, Any]:
    return {
        "approval_id": str(approval.pk),
        "digest": approval.digest,
        "target_version": approval.target_version,
        "expires_at": audit.stamp(approval.expires_at),
    }
