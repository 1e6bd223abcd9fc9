"""Manual dispatch: a person says that an approved draft may go out now."""

from approvals.domain.actor import Actor
from approvals.domain.errors import Paused, WrongState
from approvals.domain.gate import is_expired
from approvals.domain.states import ApprovalState
from approvals.models import Draft
from approvals.permissions import Verb, require
from approvals.services import audit, authority, door, expire, locks
from approvals.services.door import Clock, Key, Subject


def dispatch(*, actor: Actor, clock: Clock, draft_id: int, key: Key | None = None) -> Draft:
    """Makes an approved draft of a manual channel due; a worker sends it. Pressing twice changes nothing."""
    return door.run(
        lambda: _dispatch(actor=actor, clock=clock, draft_id=draft_id),
        actor=actor,
        verb=Verb.DISPATCH,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def _dispatch(*, actor: Actor, clock: Clock, draft_id: int) -> Draft:
    draft = locks.draft(draft_id)
    if draft.approval_id is None:
        require(actor, Verb.DISPATCH, draft=draft)
        raise authority.wrong_state(draft, "sent")
    approval = locks.approval(draft.approval_id, draft=draft)
    now = clock()
    require(actor, Verb.DISPATCH, draft=draft)
    if approval.state != ApprovalState.APPROVED:
        raise authority.wrong_state(draft, "sent")
    if is_expired(now, approval.expires_at):
        raise expire.refusal(approval)
    if approval.rules.dispatch != "manual":
        raise WrongState("This channel sends by itself once the delay is over.", draft_id=draft.pk)
    if draft.room.paused_at or draft.channel.paused_at:
        raise Paused(draft_id=draft.pk)
    if approval.dispatch_at is None:
        approval.dispatch_at = max(now, draft.not_before or now)
        approval.save_move("dispatch_at", version=approval.version, digest=approval.digest, expires_at__gt=now)
        draft.save_move(*draft.touch(now, due_at=approval.expires_at), approval_id=approval.pk)
        audit.of_draft(draft, actor=actor, action="dispatch.requested", now=now, approval_id=str(approval.pk))
    return draft
