"""Begin and resume: the gate right before bytes may leave. Everything it says yes to is committed first."""

from datetime import datetime

from approvals.domain.actor import Actor
from approvals.domain.gate import GateAnswer, may_send
from approvals.domain.states import ApprovalState, DeliveryState, DraftState
from approvals.models import Approval, Delivery
from approvals.permissions import Verb
from approvals.services import audit, door, ground, locks, opening, outbox
from approvals.services.door import Clock, Subject
from approvals.services.holding import Hold
from approvals.services.opening import LOST, Begun
from approvals.services.outbox import EventClass

RESUMABLE = (DeliveryState.WAITING, DeliveryState.UNKNOWN)


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


def _begin(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    claim, draft, approval = opening.lock(actor, hold)
    now = clock()
    if claim is None or not opening.is_live(claim, now):
        return LOST
    answer = may_send(ground.facts(approval, now=now, state=ApprovalState.APPROVED))
    if not answer.ok:
        return answer
    looks_first = opening.has_to_look_first(approval, None)
    delivery = _new_delivery(approval, now)
    attempt = opening.new_attempt(delivery, hold, owner=claim.owner, now=now)
    opening.send_claim(claim, hold, now=now)
    approval.consume()
    approval.delivery = delivery
    approval.save_move("delivery", expires_at__gt=now, **_binding_of(approval))
    draft.begin()
    draft.reason = ""
    draft.save_move("reason", *draft.touch(now), version=approval.version, approval_id=approval.pk)
    outbox.emit(approval, EventClass.USE, actor=actor, now=now)
    audit.of_draft(draft, actor=actor, action="dispatch.began", now=now, **opening.told(attempt))
    if looks_first:
        return opening.look_first(attempt, delivery, draft, actor=actor, now=now)
    return Begun(hold, attempt.pk, opening.job(approval, delivery, prepared=attempt.prepared), attempt.lease_until)


def _resume(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    claim, draft, approval = opening.lock(actor, hold)
    delivery = locks.delivery(hold.delivery_id)
    now = clock()
    if claim is None or not opening.is_live(claim, now) or delivery.state not in RESUMABLE:
        return LOST
    held = delivery.held_at is not None
    known = ground.facts(approval, now=now, state=ApprovalState.CONSUMED, config=delivery.config, held=held)
    answer = may_send(known)
    if not answer.ok:
        return answer
    looks_first = delivery.state == DeliveryState.WAITING and opening.has_to_look_first(approval, delivery)
    delivery.send()
    delivery.attempt_count += 1
    delivery.next_attempt_at = delivery.next_check_at = None
    delivery.save_move("attempt_count", "next_attempt_at", "next_check_at", held_at=None)
    attempt = opening.new_attempt(delivery, hold, owner=claim.owner, now=now)
    opening.send_claim(claim, hold, now=now)
    if draft.state == DraftState.DELIVERY_UNKNOWN:
        draft.resend()
    draft.save_move(*draft.touch(now), approval_id=approval.pk)
    audit.of_draft(draft, actor=actor, action="dispatch.resumed", now=now, **opening.told(attempt))
    if looks_first:
        return opening.look_first(attempt, delivery, draft, actor=actor, now=now)
    return Begun(hold, attempt.pk, opening.job(approval, delivery, prepared=attempt.prepared), attempt.lease_until)


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
