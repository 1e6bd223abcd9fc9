"""Revoke and withdraw: taking authority away. Names the approval or draft only, and is never refused as stale."""

from datetime import datetime
from uuid import UUID

from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.domain.errors import NotFound
from approvals.domain.states import DRAFT
from approvals.models import Approval, Draft
from approvals.permissions import Verb, require
from approvals.services import audit, authority, door, locks
from approvals.services.door import Clock, Key, Subject


def revoke(*, actor: Actor, clock: Clock, approval_id: UUID, reason: str, key: Key | None = None) -> Draft:
    """Takes a live approval away; its draft is then revoked. Raises Consumed once sending has begun."""
    draft_id = Approval.objects.filter(pk=approval_id).values_list("draft_id", flat=True).first()

    def body() -> Draft:
        if draft_id is None:
            raise NotFound()
        draft = locks.draft(draft_id)
        approval = locks.approval(approval_id, draft=draft)
        now = clock()
        require(actor, Verb.REVOKE, draft=draft)
        why = words.checked(reason, pointer="/reason", limit=words.REASON_LIMIT, required=True)
        if not approval.is_live:
            raise authority.refusal_for(approval)
        revoke_in(draft, approval, verb="revoke", actor=actor, now=now, reason=why)
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.REVOKE,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def withdraw(*, actor: Actor, clock: Clock, draft_id: int, reason: str, key: Key | None = None) -> Draft:
    """Takes a draft off the table; a live approval is revoked with it. Raises Consumed once sending has begun."""

    def body() -> Draft:
        draft = locks.draft(draft_id)
        live = draft.approval is not None and draft.approval.is_live
        approval = locks.approval(draft.approval_id, draft=draft) if live else None
        now = clock()
        require(actor, Verb.WITHDRAW, draft=draft)
        why = words.checked(reason, pointer="/reason", limit=words.REASON_LIMIT, required=True)
        if draft.state not in DRAFT.edge("withdraw").sources:
            raise authority.wrong_state(draft, "withdrawn")
        revoke_in(draft, approval, verb="withdraw", actor=actor, now=now, reason=why)
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.WITHDRAW,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def revoke_in(draft: Draft, approval: Approval | None, *, verb: str, actor: Actor, now: datetime, reason: str) -> None:
    """Revokes a draft and its live approval, if it has one. Inside a door, rows locked."""
    if approval is not None:
        authority.end_approval(approval, "revoke", actor=actor, now=now, reason=reason)
    getattr(draft, verb)()
    draft.reason = reason
    draft.save_move("reason", *draft.touch(now), version=draft.version)
    past = {"revoke": "revoked", "withdraw": "withdrawn"}[verb]
    audit.of_draft(draft, actor=actor, action=f"draft.{past}", now=now, reason=reason)
