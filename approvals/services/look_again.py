"""Look again: a person has the remote asked now, after the workers have given up or before they would."""

from datetime import datetime

from approvals.connectors.base import Capability
from approvals.domain.actor import Actor
from approvals.domain.errors import Unsupported, WrongState
from approvals.domain.states import DeliveryState, DraftState
from approvals.models import Delivery, Draft
from approvals.permissions import Verb, require
from approvals.services import audit, corrections, door, locks, outcomes, rendering, retract
from approvals.services.door import Clock, Subject

UNPROVEN = (DraftState.SUBMITTED, DraftState.RETRACTING, DraftState.RETRACTION_UNKNOWN)


def look_again(*, actor: Actor, clock: Clock, draft_id: int) -> Draft:
    """Makes the next look-up or read-back of a draft due now. It only reads; what it sees is recorded as always.

    Raises WrongState where nothing is in doubt, Unsupported where the connector cannot look.
    """

    def body() -> Draft:
        draft = locks.draft(draft_id)
        seen = in_doubt(draft)
        delivery = locks.delivery(seen.pk) if seen is not None else None
        now = clock()
        require(actor, Verb.RETRY, draft=draft)
        if delivery is None:
            raise WrongState(f"Nothing about {draft.reference} is in doubt.", draft_id=draft.pk)
        if not can_look(delivery, draft):
            raise Unsupported("This channel cannot look that up. Record what is at the remote.", draft_id=draft.pk)
        delivery.next_check_at, delivery.check_count = _soonest(delivery, now), 0
        delivery.save_move("next_check_at", "check_count")
        draft.save_move(*draft.touch(now))
        audit.of_draft(draft, actor=actor, action="delivery.look_requested", now=now, delivery_id=str(delivery.pk))
        return draft

    return door.run(body, actor=actor, verb=Verb.RETRY, subject=Subject(draft_id=draft_id))


def in_doubt(draft: Draft) -> Delivery | None:
    """Gives the delivery a look could settle: unknown, held, or delivered and not yet read back."""
    undoing, write = retract.newest(draft), corrections.write_of(draft)
    for delivery in (undoing, write):
        if delivery is None:
            continue
        if delivery.state == DeliveryState.UNKNOWN or delivery.held_at is not None:
            return delivery
        is_newest = delivery is (undoing or write)
        if is_newest and delivery.state == DeliveryState.DELIVERED and draft.state in UNPROVEN:
            return delivery
    return None


def can_look(delivery: Delivery, draft: Draft) -> bool:
    """True where the connector can ask what would settle this delivery."""
    unknown_write = not outcomes.is_retraction(delivery) and delivery.state != DeliveryState.DELIVERED
    needed = Capability.LOOKUP if unknown_write else Capability.VERIFY
    return needed in rendering.capabilities(delivery.config, draft.operation)


def _soonest(delivery: Delivery, now: datetime) -> datetime:
    """Gives now; of a retraction not before a look can decide."""
    attempt = delivery.attempts.order_by("-number").first()
    if not outcomes.is_retraction(delivery) or attempt is None:
        return now
    return max(now, outcomes.in_flight_until(attempt))
