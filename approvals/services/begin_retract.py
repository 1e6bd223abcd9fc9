"""Begin a retraction: the gate right before an undoing may leave, the first time and every time after."""

from approvals.domain.actor import Actor
from approvals.domain.gate import GateAnswer, may_retract
from approvals.domain.states import DeliveryState, DraftState
from approvals.permissions import Verb
from approvals.services import audit, corrections, door, locks, opening, retract
from approvals.services.door import Clock, Subject
from approvals.services.holding import Hold
from approvals.services.opening import LOST, Begun


def begin_retract(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    """Opens an attempt at undoing a write, or gives every reason why not (then nothing was written)."""
    return door.run(
        lambda: _begin_retract(actor=actor, clock=clock, hold=hold),
        actor=actor,
        verb=Verb.WORK,
        subject=Subject(draft_id=hold.draft_id),
    )


def _begin_retract(*, actor: Actor, clock: Clock, hold: Hold) -> Begun | GateAnswer:
    claim, draft, approval = opening.lock(actor, hold)
    write = corrections.write_of(draft)
    delivery = locks.delivery(hold.delivery_id)
    now = clock()
    waits = delivery.state == DeliveryState.WAITING and draft.state == DraftState.RETRACTING
    if claim is None or not opening.is_live(claim, now) or not waits:
        return LOST
    assert write is not None  # there is nothing to retract without one
    answer = may_retract(retract.facts(draft, write, held=delivery.held_at is not None))
    if not answer.ok:
        return answer
    looks_first = opening.has_to_look_first(approval, delivery)
    delivery.send()
    delivery.attempt_count += 1
    delivery.next_attempt_at = delivery.next_check_at = None
    delivery.save_move("attempt_count", "next_attempt_at", "next_check_at", held_at=None)
    attempt = opening.new_attempt(delivery, hold, owner=claim.owner, now=now)
    opening.send_claim(claim, hold, now=now)
    draft.save_move(*draft.touch(now), approval_id=approval.pk)
    audit.of_draft(draft, actor=actor, action="retraction.began", now=now, **opening.told(attempt))
    if looks_first:
        return opening.look_first(attempt, delivery, draft, actor=actor, now=now)
    job = opening.job(approval, write, prepared={}, retraction_id=delivery.pk)
    return Begun(hold, attempt.pk, job, attempt.lease_until)
