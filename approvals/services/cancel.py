"""Cancel: end a delivery that waits for its next attempt. Nothing of it is on its way."""

from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.domain.errors import WrongState
from approvals.domain.states import DeliveryState
from approvals.models import Delivery, Draft
from approvals.permissions import Verb, require
from approvals.services import audit, door, locks, outcomes, retract
from approvals.services.door import Clock, Key, Subject


def cancel(*, actor: Actor, clock: Clock, draft_id: int, reason: str, key: Key | None = None) -> Draft:
    """Ends the waiting delivery of a draft: a write leaves it failed, a retraction leaves its object public.

    Raises WrongState where nothing waits: what is being sent, or may have arrived, cannot be called back.
    """

    def body() -> Draft:
        draft = locks.draft(draft_id)
        waiting = draft.deliveries.filter(state=DeliveryState.WAITING).first()
        delivery = locks.delivery(waiting.pk) if waiting is not None else None
        now = clock()
        require(actor, Verb.CANCEL, draft=draft)
        why = words.checked(reason, pointer="/reason", limit=words.REASON_LIMIT, required=True)
        if delivery is None or delivery.state != DeliveryState.WAITING:
            raise WrongState(
                f"No delivery of {draft.reference} waits, so there is nothing to cancel.", draft_id=draft.pk
            )
        if delivery.held_at is not None:
            raise retract.held(draft)
        _end(delivery, draft, reason=why)
        draft.save_move("reason", *draft.touch(now))
        action = "retraction.cancelled" if outcomes.is_retraction(delivery) else "delivery.cancelled"
        audit.of_draft(draft, actor=actor, action=action, now=now, reason=why, delivery_id=str(delivery.pk))
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.CANCEL,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def _end(delivery: Delivery, draft: Draft, *, reason: str) -> None:
    delivery.cancel()
    delivery.reason, delivery.next_attempt_at = reason, None
    delivery.save_move("reason", "next_attempt_at", held_at=None)
    outcomes.move_draft(draft, delivery, "fail")
    draft.reason = reason
