"""Expire: time ran out. Run by the sweeper, and by whoever observes it."""

from functools import partial
from uuid import UUID

from approvals.domain.actor import Actor, system
from approvals.domain.errors import Expired
from approvals.domain.gate import is_expired
from approvals.models import Approval
from approvals.permissions import Verb
from approvals.services import audit, authority, door, locks
from approvals.services.door import Clock, Subject, database_now

SWEEPER = "sweep_expired"


def expire(*, approval_id: UUID, actor: Actor | None = None, clock: Clock = database_now) -> bool:
    """Ends a live approval whose time has come; True if this call did. Anybody may run it, as often as they like."""
    by = actor or system(SWEEPER)
    draft_id = Approval.objects.values_list("draft_id", flat=True).get(pk=approval_id)
    return door.run(
        lambda: _expire(approval_id=approval_id, draft_id=draft_id, actor=by, clock=clock),
        actor=by,
        verb=Verb.WORK,
        subject=Subject(draft_id=draft_id),
    )


def refusal(approval: Approval, *, clock: Clock = database_now) -> Expired:
    """Gives the conflict for an approval found past its time; the door then persists the expiry."""
    return Expired(
        draft_id=approval.draft_id,
        approval_id=approval.pk,
        remedy=partial(expire, approval_id=approval.pk, clock=clock),
    )


def _expire(*, approval_id: UUID, draft_id: int, actor: Actor, clock: Clock) -> bool:
    draft = locks.draft(draft_id)
    approval = locks.approval(approval_id, draft=draft)
    now = clock()
    if not approval.is_live or not is_expired(now, approval.expires_at):
        return False
    reason = f"The time to {'send' if approval.approved_at else 'review'} it ran out."
    authority.end_approval(approval, "expire", actor=actor, now=now, reason=reason)
    draft.expire()
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now), version=approval.version, approval_id=approval.pk)
    audit.of_draft(draft, actor=actor, action="draft.expired", now=now, reason=reason)
    return True
