"""Begin and resume: the gate right before bytes may leave. Everything it says yes to is committed first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection

from approvals.connectors.base import Job
from approvals.domain.actor import Actor
from approvals.domain.errors import Unavailable, WrongState
from approvals.domain.gate import Cause, GateAnswer, Reason, may_send
from approvals.domain.states import ApprovalState, ClaimState, DeliveryState, DraftState
from approvals.models import Approval, Attempt, Delivery, DispatchClaim, Draft, Installation, walls
from approvals.permissions import Verb, require
from approvals.services import audit, door, expire, ground, holding, locks, outbox, rendering
from approvals.services.door import Clock, Subject
from approvals.services.holding import Hold
from approvals.services.outbox import EventClass
from approvals.services.revoke import revoke_in

_RELEASE_ONLY = (Cause.PAUSED, Cause.HELD)
LOST = GateAnswer((Reason(Cause.STALE, "The dispatch claim is no longer this worker's, or the work is done."),))
"""Not a no to these bytes: somebody else has the target or the delivery by now, and whatever follows is theirs."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Authority is spent and the attempt stands in the database: these bytes may leave, under this lease."""

    hold: Hold
    attempt_id: int
    job: Job
    lease_until: datetime


def begin(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    """Spends the approval and opens the first attempt, or gives every reason why not (then nothing was written)."""
    return door.run(
        lambda: _begin(actor=actor, clock=clock, hold=hold),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=hold.draft_id),
    )


def resume(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    """Opens a later attempt of a delivery through the same gate, with the delivery's own configuration."""
    return door.run(
        lambda: _resume(actor=actor, clock=clock, hold=hold),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=hold.draft_id),
    )


def give_up(*, actor: Actor, clock: Clock, hold: Hold, answer: GateAnswer) -> None:
    """Lets the target go after a no and does what the no calls for, each in a transaction of its own."""
    holding.release(actor=actor, clock=clock, hold=hold, reason=answer.sentence)
    if answer != LOST:
        _follow(actor=actor, clock=clock, hold=hold, answer=answer)
    _record_no(actor, hold, answer)


def _follow(*, actor: Actor, clock: Clock, hold: Hold, answer: GateAnswer) -> None:
    if hold.resumes:
        if not answer.has(*_RELEASE_ONLY):
            _cancel(actor=actor, clock=clock, hold=hold, reason=answer.sentence)
    elif answer.has(Cause.INTEGRITY):
        _revoke_broken(actor=actor, clock=clock, hold=hold)
    elif answer.has(Cause.EXPIRED):
        expire.expire(approval_id=hold.approval_id, actor=actor, clock=clock)
    elif answer.has(*ground.MOVED, Cause.STANDING):
        ground.reopen_if_moved(approval_id=hold.approval_id, actor=actor, clock=clock)


def _begin(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    claim, draft, approval = _lock(actor, hold)
    now = clock()
    if claim is None or not _is_live(claim, now):
        return LOST
    answer = may_send(ground.facts(approval, now=now, state=ApprovalState.APPROVED))
    if not answer.ok:
        return answer
    delivery = _new_delivery(approval, now)
    attempt = _new_attempt(delivery, hold, owner=claim.owner, now=now)
    _send_claim(claim, hold, now=now)
    approval.consume()
    approval.delivery = delivery
    approval.save_move("delivery", expires_at__gt=now, **_binding_of(approval))
    draft.begin()
    draft.reason = ""
    draft.save_move("reason", *draft.touch(now), version=approval.version, approval_id=approval.pk)
    outbox.emit(approval, EventClass.USE, actor=actor, now=now)
    audit.of_draft(draft, actor=actor, action="dispatch.began", now=now, **_told(attempt))
    return Begun(hold, attempt.pk, _job(approval, delivery, attempt), attempt.lease_until)


def _resume(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    claim, draft, approval = _lock(actor, hold)
    delivery = locks.delivery(hold.delivery_id)
    now = clock()
    if (
        claim is None
        or not _is_live(claim, now)
        or delivery.state not in (DeliveryState.WAITING, DeliveryState.UNKNOWN)
    ):
        return LOST
    held = delivery.held_at is not None
    known = ground.facts(approval, now=now, state=ApprovalState.CONSUMED, config=delivery.config, held=held)
    answer = may_send(known)
    if not answer.ok:
        return answer
    delivery.send()
    delivery.attempt_count += 1
    delivery.next_attempt_at = delivery.next_check_at = None
    delivery.save_move("attempt_count", "next_attempt_at", "next_check_at", held_at=None)
    attempt = _new_attempt(delivery, hold, owner=claim.owner, now=now)
    _send_claim(claim, hold, now=now)
    if draft.state == DraftState.DELIVERY_UNKNOWN:
        draft.resend()
    draft.save_move(*draft.touch(now), approval_id=approval.pk)
    audit.of_draft(draft, actor=actor, action="dispatch.resumed", now=now, **_told(attempt))
    return Begun(hold, attempt.pk, _job(approval, delivery, attempt), attempt.lease_until)


def _lock(actor: Actor, hold: Hold) -> tuple[DispatchClaim | None, Draft, Approval]:
    """Locks what both gates read, in order. The claim is None if it is another worker's by now."""
    require(actor, Verb.WORK)
    insist_on_this_database()
    _commit_to_disk()
    locks.target(hold.target_id)
    claim = holding.held_claim(hold)
    draft = locks.draft(hold.draft_id)
    return claim, draft, locks.approval(hold.approval_id, draft=draft)


def _is_live(claim: DispatchClaim, now: datetime) -> bool:
    return claim.state == ClaimState.RESERVED and claim.lease_until is not None and claim.lease_until > now


def insist_on_this_database() -> None:
    """Refuses to send from a copy: a restored or cloned database belongs to another installation."""
    installation = Installation.objects.first()
    owner = installation.instance_id if installation else "no installation"
    if owner != settings.REVIEWROOM_INSTANCE:
        raise Unavailable(
            f"This database belongs to {owner} and this installation is {settings.REVIEWROOM_INSTANCE}, so nothing is "
            "sent: a copy would send a second time. Only if the original no longer runs, set REVIEWROOM_INSTANCE to "
            "the database's."
        )
    if walls.problems(connection):
        raise Unavailable("The database's walls do not stand, so nothing is sent. Run manage.py migrate.")


def _commit_to_disk() -> None:
    """Makes this transaction's commit durable on PostgreSQL: authority is on disk before the bytes leave."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = on")


def _binding_of(approval: Approval) -> dict[str, object]:
    return {
        "version": approval.version,
        "digest": approval.digest,
        "target_version": approval.target_version,
        "config_id": approval.config_id,
        "rendering_digest": approval.rendering_digest,
    }


def _new_delivery(approval: Approval, now: datetime) -> Delivery:
    delivery: Delivery = Delivery.objects.create(
        state=DeliveryState.SENDING,
        id=approval.write_id,
        approval=approval,
        draft=approval.draft,
        target=approval.target,
        config=approval.config,
        attempt_count=1,
        created_at=now,
    )
    return delivery


def _new_attempt(delivery: Delivery, hold: Hold, *, owner: str, now: datetime) -> Attempt:
    """Opens the next attempt. What the last one prepared (a post-once link) goes with it, for while it lives."""
    last = delivery.attempts.order_by("-number").first()
    return Attempt.objects.create(
        delivery=delivery,
        number=delivery.attempt_count,
        epoch=hold.epoch,
        token=hold.token,
        owner=owner,
        lease_until=holding.lease_end(now),
        prepared=last.prepared if last else {},
        started_at=now,
    )


def _send_claim(claim: DispatchClaim, hold: Hold, *, now: datetime) -> None:
    claim.send()
    claim.lease_until = holding.lease_end(now)
    holding.save_claim(claim, hold, now=now, lease_until__gt=now)


def _job(approval: Approval, delivery: Delivery, attempt: Attempt) -> Job:
    revision = approval.revision
    return Job(
        request=rendering.render(revision, delivery.pk, delivery.config),
        binding=rendering.binding_of(revision),
        delivery_id=delivery.pk,
        settings=rendering.settings_of(delivery.config),
        operation=revision.operation,
        remote_id=delivery.remote_id or None,
        prepared=attempt.prepared,
    )


def _told(attempt: Attempt) -> dict[str, Any]:
    return {
        "delivery_id": str(attempt.delivery_id),
        "attempt": attempt.number,
        "epoch": attempt.epoch,
        "owner": attempt.owner,
    }


def _cancel(*, actor: Actor, clock: Clock, hold: Hold, reason: str) -> None:
    """Ends a waiting delivery whose gate said no. An unknown one may have arrived: it only is not sent again."""

    def body() -> None:
        draft = locks.draft(hold.draft_id)
        delivery = locks.delivery(hold.delivery_id)
        now = clock()
        if delivery.state not in (DeliveryState.WAITING, DeliveryState.UNKNOWN):
            return
        if delivery.state == DeliveryState.WAITING:
            delivery.cancel()
            draft.fail()
        delivery.reason = draft.reason = reason[:1000]
        delivery.next_attempt_at = None
        delivery.save_move("reason", "next_attempt_at")
        draft.save_move("reason", *draft.touch(now))
        action = f"delivery.{delivery.state}"
        audit.of_draft(draft, actor=actor, action=action, now=now, reason=reason)

    door.run(body, actor=actor, verb=Verb.WORK, subject=Subject(draft_id=hold.draft_id))


def _revoke_broken(*, actor: Actor, clock: Clock, hold: Hold) -> None:
    def body() -> None:
        draft = locks.draft(hold.draft_id)
        approval = locks.approval(hold.approval_id, draft=draft)
        now = clock()
        if approval.is_live:
            reason = "integrity: the stored bytes do not match the approved digest, or cannot be rendered."
            revoke_in(draft, approval, verb="revoke", actor=actor, now=now, reason=reason)
            audit.of_draft(draft, actor=actor, action="digest_mismatch", now=now, reason=reason)

    door.run(body, actor=actor, verb=Verb.WORK, subject=Subject(draft_id=hold.draft_id))


def _record_no(actor: Actor, hold: Hold, answer: GateAnswer) -> None:
    verb = "resume" if hold.resumes else "begin"
    audit.record_refusal(actor=actor, verb=verb, refusal=WrongState(answer.sentence), draft_id=hold.draft_id)
