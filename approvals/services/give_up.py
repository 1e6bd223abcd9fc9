"""After a no of the gate: let the target go, and do what the no calls for, each in a transaction of its own."""

from approvals.domain.actor import Actor
from approvals.domain.errors import WrongState
from approvals.domain.gate import Cause, GateAnswer
from approvals.domain.states import DeliveryState
from approvals.permissions import Verb
from approvals.services import audit, door, expire, ground, holding, locks, outcomes
from approvals.services.begin import RESUMABLE
from approvals.services.door import Clock, Subject
from approvals.services.holding import Hold
from approvals.services.opening import LOOK_FIRST, LOST
from approvals.services.revoke import revoke_in

_RELEASE_ONLY = (Cause.PAUSED, Cause.HELD)
_INTEGRITY = "integrity: the stored bytes do not match the approved digest, or cannot be rendered."


def give_up(*, actor: Actor, clock: Clock, hold: Hold, answer: GateAnswer) -> None:
    """Lets the target go after a no and does what the no calls for."""
    if answer == LOOK_FIRST:
        return  # recorded already: the attempt is unknown and the claim says so
    holding.release(actor=actor, clock=clock, hold=hold, reason=answer.sentence)
    if answer != LOST:
        _follow(actor=actor, clock=clock, hold=hold, answer=answer)
    audit.record_refusal(actor=actor, verb=hold.gate, refusal=WrongState(answer.sentence), draft_id=hold.draft_id)


def _follow(*, actor: Actor, clock: Clock, hold: Hold, answer: GateAnswer) -> None:
    if hold.resumes:
        if not answer.has(*_RELEASE_ONLY):
            _cancel(actor=actor, clock=clock, hold=hold, reason=answer.sentence)
    elif answer.has(Cause.INTEGRITY):
        _revoke(actor=actor, clock=clock, hold=hold, reason=_INTEGRITY, alarm=True)
    elif answer.has(Cause.CORRECTS):
        _revoke(actor=actor, clock=clock, hold=hold, reason=answer.sentence)
    elif answer.has(Cause.EXPIRED):
        expire.expire(approval_id=hold.approval_id, actor=actor, clock=clock)
    elif answer.has(*ground.MOVED, Cause.STANDING):
        ground.reopen_if_moved(approval_id=hold.approval_id, actor=actor, clock=clock)


def _cancel(*, actor: Actor, clock: Clock, hold: Hold, reason: str) -> None:
    """Ends a waiting delivery whose gate said no. An unknown one may have arrived: it only is not sent again."""

    def body() -> None:
        draft = locks.draft(hold.draft_id)
        delivery = locks.delivery(hold.delivery_id)
        now = clock()
        if delivery.state not in RESUMABLE:
            return
        if delivery.state == DeliveryState.WAITING:
            delivery.cancel()
            outcomes.move_draft(draft, delivery, "fail")
        delivery.reason = draft.reason = reason[:1000]
        delivery.next_attempt_at = None
        delivery.save_move("reason", "next_attempt_at")
        draft.save_move("reason", *draft.touch(now))
        action = f"{'retraction' if outcomes.is_retraction(delivery) else 'delivery'}.{delivery.state}"
        audit.of_draft(draft, actor=actor, action=action, now=now, reason=reason)

    door.run(body, actor=actor, verb=Verb.WORK, subject=Subject(draft_id=hold.draft_id))


def _revoke(*, actor: Actor, clock: Clock, hold: Hold, reason: str, alarm: bool = False) -> None:
    def body() -> None:
        draft = locks.draft(hold.draft_id)
        approval = locks.approval(hold.approval_id, draft=draft)
        now = clock()
        if not approval.is_live:
            return
        revoke_in(draft, approval, verb="revoke", actor=actor, now=now, reason=reason)
        if alarm:
            audit.of_draft(draft, actor=actor, action="digest_mismatch", now=now, reason=reason)

    door.run(body, actor=actor, verb=Verb.WORK, subject=Subject(draft_id=hold.draft_id))
